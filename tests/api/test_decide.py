"""The log of decisions: what is recorded is checked, kept beside the lineage, and found wherever the detail is spoken of."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from api.bootstrap import Parts
from api.cli.app import app
from api.local import Lineage
from api.operations import Service
from api.rest.app import application
from api.server.engines import KeptParts
from api.server.security import AccessPolicy
from indexer.bundle.read import read
from lineage import settings
from lineage.decisions import Decision, Decisions, markdown
from lineage.errors import BadBundle, NotFound, UnsupportedDecision, UsageError
from tests.api.mcp_desk import Store, called
from tests.fakes import small_lineage
from tests.fakes.embedder import HashingEmbedder

RATE = "c_tent_conf.yaml_1"
STATED = "c_0001_main.tex_88"


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


@pytest.fixture
def service(store):
    return store.service


@pytest.fixture
def home(tmp_path):
    """A store whose lineage is asked by words alone, as any process can."""
    small_lineage.build(tmp_path / "home")
    return tmp_path / "home"


def log_of(store):
    return store.home / "lineages" / "small" / "decisions.jsonl"


def row(service, name, **asked):
    return next(gap for gap in service.gaps(**asked).gaps if gap.decision and gap.decision.name == name)


def test_a_decision_that_its_lines_state_is_kept_and_shown_where_the_detail_is_spoken_of(service):
    made = service.decide("lr", "0.001", RATE, note="as Tent", by="Ada")
    assert (made.name, made.support, made.by, made.number) == ("learning_rate", "stated", "Ada", 1)
    assert "lr: 1e-3" in made.quote
    assert row(service, "learning_rate").decision.value == "0.001"
    pack = service.context("write the training loop", tokens=2000)
    assert pack.items[0].kind == "decided"
    assert "`0.001`; decided by Ada" in pack.text
    text = markdown(service.decisions())
    assert "## learning rate: `0.001`" in text
    assert "as Tent" in text


@pytest.mark.parametrize(
    ("name", "value", "because"),
    [("learning rate", "1e-4", RATE), ("learning rate", "0.02", STATED), ("weight decay", "1e-3", RATE), ("optimizer", "sgd", RATE)],
)
def test_what_the_lines_do_not_state_is_refused_with_the_lines_and_kept_as_unsupported_by_force(service, name, value, because):
    with pytest.raises(UnsupportedDecision) as refused:
        service.decide(name, value, because)
    assert "These say:\n  " in refused.value.hint
    assert not service.decisions().decisions
    assert service.decide(name, value, because, force=True).support == "unsupported"
    assert any("does not bear it out" in note for note in service.gaps().notes)


def test_a_detail_is_decided_by_the_title_that_gaps_shows(service):
    made = service.decide("Warm-Up", "5", RATE, force=True)
    assert made.name == "warmup"
    assert service.withdraw("Warm-up").withdrawn


def test_the_quote_is_the_line_that_states_it(service):
    assert service.decide("lr", "0.001", RATE).quote.strip() == "lr: 1e-3"


@pytest.mark.parametrize("because", ["c_0123456789abcdef", "nobody/nothing/a.py:3", "arXiv:1111.11111#4"])
def test_a_citation_of_nothing_is_refused_even_by_force(service, because):
    with pytest.raises((NotFound, UsageError)):
        service.decide("lr", "1e-3", because, force=True)


def test_the_last_decision_on_a_detail_counts_and_can_be_withdrawn(service, store):
    service.decide("lr", "1e-3", RATE)
    service.decide("learning rate", "5", RATE, force=True)
    assert [decision.value for decision in service.decisions().decisions] == ["5"]
    service.withdraw("lr")
    assert not service.decisions().decisions
    assert log_of(store).read_bytes().count(b"\n") == 3
    with pytest.raises(NotFound):
        service.withdraw("lr")


def test_it_survives_a_rebuild_and_says_when_its_citation_is_gone(service, store):
    service.decide("lr", "1e-3", RATE)
    service.decide("betas", "[0.9, 0.999]", RATE)
    config = small_lineage.CONFIG.replace("1e-3", "5e-3")
    pieces = [replace(chunk, text=config) if chunk.id == RATE else chunk for chunk in small_lineage.chunks()]
    small_lineage.build(store.home, HashingEmbedder(), pieces)
    assert {decision.name: decision.support for decision in service.decisions().decisions} == {"learning_rate": "unsupported", "adam_betas": "stated"}
    small_lineage.build(store.home, HashingEmbedder(), [chunk for chunk in small_lineage.chunks() if chunk.id != RATE])
    assert {decision.support for decision in service.decisions().decisions} == {"unresolved"}
    assert "no longer resolves" in row(service, "learning_rate").decision.who


def test_what_rests_on_the_targets_own_code_is_not_told_without_it(service):
    service.decide("forward", "self.head", "c_/own_model.py_1")
    assert service.decisions().decisions[0].from_target_code
    assert row(service, "forward")
    assert not any(gap.decision for gap in service.gaps(no_target_code=True).gaps)
    assert "self.head" not in service.context("write forward", tokens=2000, no_target_code=True).items[0].text


def test_two_processes_that_decide_at_once_lose_nothing(store):
    code = (
        "import sys; from api.operations import Service; from api.bootstrap import Parts; from lineage import settings; from pathlib import Path\n"
        "service = Service(Parts(settings.load(home=Path(sys.argv[1]))))\n"
        f"[service.decide(sys.argv[2] + str(n), '1e-3', '{RATE}', force=True) for n in range(8)]"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, str(store.home), name]) for name in ("left", "right")]
    assert [process.wait(120) for process in running] == [0, 0]
    found = store.service.decisions()
    assert len(found.decisions) == 16
    assert sorted(decision.number for decision in found.decisions) == list(range(1, 17))
    assert not found.notes


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-20], lambda data: data.replace(b'"5"', b'"6"'), lambda data: data + b'{"torn', lambda data: b"\xff\n" + data]
)
def test_a_damaged_line_is_told_and_nothing_else_is_lost(service, store, damage):
    service.decide("lr", "1e-3", RATE)
    service.decide("weight decay", "5", RATE, force=True)
    log_of(store).write_bytes(damage(log_of(store).read_bytes()))
    found = service.decisions()
    assert found.notes
    assert "learning_rate" in {decision.name for decision in found.decisions}
    before = log_of(store).read_bytes()
    service.decide("betas", "[0.9, 0.999]", RATE)
    assert log_of(store).read_bytes().startswith(before)
    assert "adam_betas" in {decision.name for decision in service.decisions().decisions}
    assert any("decision log" in finding.problem for finding in service.check())


def test_a_line_that_is_gone_is_noticed(service, store):
    for value in ("1e-3", "0.001"):
        service.decide("lr", value, RATE)
    log_of(store).write_bytes(log_of(store).read_bytes().split(b"\n", 1)[1])
    assert "lacks entries" in service.decisions().notes[0]


def test_an_audit_expects_what_was_decided(service, tmp_path):
    service.decide("lr", "1e-3", RATE, by="Ada")
    service.decide("betas", "[0.9, 0.999]", RATE)
    code = tmp_path / "code"
    code.mkdir()
    (code / "train.py").write_text("learning_rate = 0.1\nadam_betas = (0.9, 0.999)\n")
    findings = {finding.name: finding for finding in service.audit(code).findings}
    assert (findings["learning_rate"].verdict, findings["learning_rate"].expected, findings["learning_rate"].strength) == (
        "deviation",
        "1e-3",
        "decided",
    )
    assert "train.py#L1" in findings["learning_rate"].where
    assert findings["adam_betas"].verdict == "match"
    assert "Ada" in findings["learning_rate"].why


def test_it_travels_in_a_bundle_and_says_so_and_what_was_decided_there_stays(built, tmp_path):
    import shutil

    homes = [tmp_path / "one", tmp_path / "two"]
    shutil.copytree(built.home, homes[0])
    one, two = (Service(Parts(settings.load(home=home, offline=True))) for home in homes)
    hit = one.query("learning rate", kind="config").hits[0]
    one.decide("learning rate", "3.25", hit.chunk.id, by="Ada", force=True)
    path = tmp_path / "demo.lineage"
    one.export("", path)
    assert read(path).decisions[0].quote == ""
    two.import_(path)
    [decision] = two.decisions().decisions
    assert (decision.value, decision.by, decision.support) == ("3.25", "Ada", "unsupported")
    assert "imported from bundle" in decision.who
    two.decide("learning rate", "4.5", hit.chunk.id, force=True)
    two.import_(path)
    assert [decision.value for decision in two.decisions().decisions] == ["4.5"]


def test_a_bundle_with_a_row_that_is_no_decision_is_refused(built, tmp_path):
    from indexer.bundle import form
    from tests.indexer.test_bundle import members, packed

    path = tmp_path / "demo.lineage"
    built.service.export("", path)
    found = members(path)
    manifest = json.loads(found.pop(form.MANIFEST))
    found[form.DECISIONS] = b'{"name": "", "value": "x"}\n'
    manifest["members"][form.DECISIONS] = vars(form.sealed(found[form.DECISIONS]))
    with pytest.raises(BadBundle):
        read(packed(tmp_path / "bad.lineage", {**found, form.MANIFEST: json.dumps(manifest).encode()}))


# -- the doors


def test_a_decision_that_came_with_a_bundle_brings_no_markup_into_the_file_for_people():
    image = "![x](https://evil.example/x.png) <img src=x> `"
    made = markdown(Decisions("x", "1", (Decision("lr", image, image, "quoted", by=image, note=image, title=image, origin=image),)))
    assert made.count(r"!\[x\](https://evil.example/x.png) \<img src=x\> \`") == 4
    assert made.count("![") == made.count("`![x](https://evil.example/x.png) <img src=x> '`") == 2  # as code


def test_the_command_records_lists_exports_and_withdraws(home, tmp_path):
    def run(*words):
        return CliRunner().invoke(app, ["decide", *words, "--home", str(home)])

    assert "learning rate = 1e-3" in run("lr", "1e-3", "--because", RATE, "--by", "Ada").stdout
    assert "1 decisions" in run("--list").stdout
    assert json.loads(run("--list", "--json").stdout)["data"]["decisions"][0]["by"] == "Ada"
    out = tmp_path / "DECISIONS.md"
    assert run("--export", str(out)).exit_code == 0
    assert "decided by Ada" in out.read_text()
    assert "DECIDED" in CliRunner().invoke(app, ["gaps", "--home", str(home)]).stdout
    assert "withdrawn" in run("--remove", "lr").stdout
    for words in ((), ("lr", "1"), ("lr", "1e-3", "--because", RATE, "--list")):
        assert isinstance(run(*words).exception, UsageError)


def test_rest_and_the_client_in_process_give_the_same(home):
    with TestClient(application(settings.load(home=home), AccessPolicy(rate=1e6)), base_url="http://127.0.0.1") as client:
        body = {"name": "lr", "value": "1e-3", "because": RATE, "by": "Ada"}
        made = client.post("/api/v1/decisions", json=body)
        assert made.status_code == 200, made.text
        assert client.post("/api/v1/decisions", json={**body, "value": "7"}).status_code == 422
        rows = client.get("/api/v1/decisions").json()["decisions"]
        assert [found["value"] for found in rows] == ["1e-3"]
        assert any(gap["decision"] for gap in client.get("/api/v1/gaps").json()["gaps"])
        parts = KeptParts(settings.load(home=home))
        with Lineage(parts=parts) as local:
            assert local.decisions().decisions[0].by == "Ada"
            assert local.decide("betas", "[0.9, 0.999]", RATE).support == "stated"
        assert client.delete("/api/v1/decisions", params={"name": "lr"}).json()["withdrawn"]


def test_an_agent_decides_through_gaps_and_only_what_the_lines_state(store):
    server = store.server()
    made = called(server, "lineage_gaps", name="lr", value="1e-3", because=RATE, note="as Tent")
    assert not made.is_error
    assert "Recorded: learning rate = 1e-3" in made.content[0].text
    refused = called(server, "lineage_gaps", name="lr", value="7", because=RATE)
    assert refused.is_error
    assert "does not state" in refused.content[0].text
    assert called(server, "lineage_gaps", value="7", because=RATE).is_error
    rows = called(server, "lineage_gaps", limit=20).structured_content["gaps"]
    assert any("an agent" in found["decided"] for found in rows)
