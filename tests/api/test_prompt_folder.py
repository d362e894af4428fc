"""A folder in place of a chat endpoint: who answers its prompts is the model, and is trusted as little."""

from __future__ import annotations

from contextlib import suppress

import pytest
from typer.testing import CliRunner

from api.bootstrap import Parts
from api.cli.app import app
from api.operations import Service
from lineage import settings
from lineage.errors import AnswersMissing, SettingsError
from tests.api.test_model_claims import HONEST, SPREAD, home, listed, pointing, replying, service
from tests.fakes.chat_server import ChatServer

__all__ = ["home"]

SAID = replying(statements=[HONEST], files=listed, read=[SPREAD], choices=pointing("    return clip(inputs, low=0.02)"))


def reading(home, folder):
    return Service(Parts(settings.load(home=home, llm_model="m-1", llm_base_url=f"prompts:{folder}")))


def answer_all(folder, reply=SAID):
    """Answer the prompts that wait; how many there were."""
    waiting = [prompt for prompt in folder.glob("*.md") if not prompt.with_suffix(".json").exists()]
    for prompt in waiting:
        text = prompt.read_text()
        prompt.with_suffix(".json").write_text(reply([{"content": text}, {"content": text}]))
    return len(waiting)


def in_rounds(ask, folder, reply=SAID):
    """What is answered in the end, and the prompts of each round."""
    rounds = []
    while True:
        with suppress(AnswersMissing):
            return ask(), rounds
        rounds.append(answer_all(folder, reply))


@pytest.mark.parametrize("honest", [True, False])
def test_a_report_is_that_of_an_endpoint_and_prompts_wait_for_those_that_they_depend_on(home, tmp_path_factory, honest):
    folder = tmp_path_factory.mktemp("prompts") / "new"
    report, rounds = in_rounds(lambda: reading(home, folder).gaps(model=True, no_target_code=honest), folder)
    with ChatServer(SAID) as server:
        assert service(home, server).gaps(model=True, no_target_code=honest) == report
        assert len(server.requests) == sum(rounds)
    assert len(rounds) >= 3
    assert all(rounds)
    assert folder.stat().st_mode & 0o777 == 0o700


def test_an_answer_and_an_audit_wait_too(home, tmp_path):
    folder, code = tmp_path / "prompts", tmp_path / "code"
    code.mkdir()
    (code / "train.py").write_text("lr = 0.5\n")
    for ask in (lambda: reading(home, folder).answer("how are inputs clipped?", model=True), lambda: reading(home, folder).audit(code, model=True)):
        _, rounds = in_rounds(ask, folder, replying_nothing)
        assert rounds


def replying_nothing(messages):
    return "{}"


@pytest.mark.parametrize("said", ["", "{", "[]", "{}", "\x00", '{"taken": 3}', "[" * 100_000])
def test_a_malformed_answer_is_counted_and_can_be_mended(home, tmp_path, said):
    folder = tmp_path / "prompts"
    report, _ = in_rounds(lambda: reading(home, folder).gaps(model=True), folder, lambda _: said)
    assert "answers were malformed" in report.notes[-1]
    for answer in folder.glob("*.json"):
        answer.unlink()
    report, _ = in_rounds(lambda: reading(home, folder).gaps(model=True), folder)
    assert "malformed" not in report.notes[-1]


def test_the_command_says_what_waits_and_a_rehearsal_writes_nothing(home, tmp_path, monkeypatch):
    monkeypatch.setenv("LINEAGE_LLM_MODEL", "agent")
    monkeypatch.setenv("LINEAGE_LLM_BASE_URL", f"prompts:{tmp_path / 'prompts'}")
    asked = ["gaps", "--home", str(home), "--model"]
    assert CliRunner().invoke(app, [*asked, "--dry-run"]).exit_code == 0
    assert not (tmp_path / "prompts").exists()
    failed = CliRunner().invoke(app, asked).exception
    assert isinstance(failed, AnswersMissing)
    assert "prompts wait for an answer" in str(failed)
    assert failed.exit_code == 4


def test_a_folder_that_cannot_be_written_is_a_typed_error(home, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingsError, match="cannot be used"):
        reading(home, tmp_path / "file" / "prompts").gaps(model=True)
