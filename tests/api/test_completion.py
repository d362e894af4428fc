"""What a shell offers when a command line is completed."""

from __future__ import annotations

import sys

import pytest

from api.cli import app
from tests.fakes import small_lineage


@pytest.fixture
def run(monkeypatch, capsys):
    """Runs `lineage` in this process with variables set, as a shell does; gives what it prints."""

    def told(*words: str, **env: str) -> str:
        for name, value in env.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(sys, "argv", ["lineage", *words])
        with pytest.raises(SystemExit):
            app.main()
        return capsys.readouterr().out

    return told


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("lineage gap", ["gaps"]),
        ("lineage show ", ["small"]),
        ("lineage query x --lineage sm", ["small"]),
        ("lineage query x --kind co", ["code", "config"]),
        ("lineage graph --format gr", ["graphml"]),
        ("lineage build x --profile ", ["fast", "default", "deep"]),
        ("lineage mcp --print-config c", ["claude", "codex", "cursor"]),
    ],
)
def test_commands_lineages_and_choices_are_completed(run, tmp_path, line, offered):
    small_lineage.build(tmp_path)
    at = str(len(line.split(" ")) - 1)
    assert run(_LINEAGE_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=at, LINEAGE_HOME=str(tmp_path)).split() == offered


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_each_shell_can_be_shown(run, shell):
    said = run("--show-completion", shell, _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert f"_LINEAGE_COMPLETE=complete_{shell}" in said


def test_it_is_installed_into_the_shells_own_place(run, tmp_path):
    run("--install-completion", "bash", HOME=str(tmp_path), _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert list(tmp_path.rglob("lineage.sh"))
