"""What a person, a script and an impatient user get from the command line."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from api.cli import app, display, display_gaps, exit_codes, terminal
from api.wire.stored import linked
from lineage import generation as layout
from lineage.records import UNKNOWN, Answer, Fact, Hit, Query
from lineage.results import Conflict, Consensus, FactOccurrence, Gaps, Value
from retrieval.context.token_budget import TokenEstimator
from tests.demo import NAME, TARGET
from tests.fakes import small_lineage as small
from tests.upstream import Upstream
from tests.upstream.faults import Fault, Faults, MutateJson, Status

ROOT = Path(__file__).resolve().parents[2]
QUESTION = "how is the encoder initialized?"
SMALL = "arxiv:9908.00105"
HEAVY = ("torch", "sentence_transformers", "pymupdf", "faiss", "onnxruntime", "semanticscholar", "arxiv", "openai", "networkx")


@dataclass(frozen=True)
class Ended:
    """How a command ended: exit code, stdout, stderr."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """What `--json` printed: exactly one object under its schema version."""
        value = json.loads(self.out)
        assert list(value) == ["schema_version", "data"]
        assert value["schema_version"] == "1"
        return value["data"]

    @property
    def error(self) -> Any:
        """The error that `--json` printed."""
        value = json.loads(self.out)
        assert list(value) == ["schema_version", "error"]
        return value["error"]


@pytest.fixture
def lineage(monkeypatch, capsys):
    """Runs a command line in this process, as the entry point does."""

    def run(*words: str) -> Ended:
        monkeypatch.setattr(sys, "argv", ["lineage", *words])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            app.main()
        out, err = capsys.readouterr()
        assert "\x1b" not in out + err
        assert "Traceback" not in err or ended.value.code == 1
        return Ended(int(ended.value.code or 0), out, err)

    return run


@pytest.fixture
def asked(lineage, built):
    """The same over the demonstration lineage."""
    return lambda *words: lineage(*words, "--home", str(built.home))


def in_a_process(*words: str, program: str = "from api.cli.app import main; main()", **env: str) -> Ended:
    done = subprocess.run(
        [sys.executable, "-c", program, *words], cwd=ROOT, env=os.environ | env, capture_output=True, text=True, check=False, timeout=60
    )
    return Ended(done.returncode, done.stdout, done.stderr)


# -- help


COMMANDS = tuple(app._COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_and_json(lineage, command):
    shown = lineage(command, "--help")
    assert shown.code == 0
    assert "--json" in shown.out
    assert shown.err == ""
    assert "\n  Example" in shown.out


def test_help_names_every_command_and_what_to_start_with(lineage):
    shown = lineage("--help")
    assert all(re.search(rf"^  {command}\b", shown.out, re.MULTILINE) for command in COMMANDS)
    assert "lineage build arxiv:2504.17192" in " ".join(shown.out.split())


def test_without_a_command_the_help_goes_to_stderr(lineage):
    shown = lineage()
    assert (shown.code, shown.out) == (2, "")
    assert "Commands:" in shown.err


@pytest.mark.parametrize("words", [["--help"], ["list"], ["query", "--help"]])
def test_nothing_heavy_is_imported_at_start(tmp_path, words):
    program = (
        "import sys\nfrom api.cli.app import main\ntry:\n    main()\nfinally:\n"
        f"    print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    ended = in_a_process(*words, program=program, LINEAGE_HOME=str(tmp_path))
    assert (ended.code, ended.err) == (0, "[]\n")


def test_a_variable_that_sets_nothing_is_said_once_with_the_one_that_is_meant(lineage, monkeypatch):
    monkeypatch.setenv("LINEAGE_OFLINE", "1")
    monkeypatch.setenv("LINEAGE_XYZZY", "1")
    ended = lineage("list")
    assert ended.err.splitlines() == [
        "warning: LINEAGE_OFLINE is not a setting of lineage; is LINEAGE_OFFLINE meant?",
        "warning: LINEAGE_XYZZY is not a setting of lineage; `lineage doctor` lists the settings",
    ]


def test_a_text_is_no_bundle_and_is_told_so(lineage, tmp_path):
    file = tmp_path / "gold.jsonl"
    file.write_text('{"query": "?"}\n')
    ended = lineage("import", str(file), "--quiet")
    assert ended.code == 2
    assert ended.err == f"error: {file} is not a bundle: it is plain text\n  hint: `lineage export` makes one\n"


# -- answers


def test_json_of_every_command_that_reads_is_one_object(asked):
    commands = (["list"], ["show"], ["status"], ["check"], ["check", "--read-data"], ["doctor"], ["graph"], ["references", NAME], ["query", QUESTION])
    for words in commands:
        ended = asked(*words, "--json")
        assert (ended.code, ended.err) == (0, ""), words
        assert ended.out.count("\n") == 1, words
        assert ended.data is not None
        assert not set(json.loads(ended.out)) & {"error"}


def test_text_of_every_command_that_reads_is_on_stdout(asked):
    said = {
        ("list",): NAME,
        ("show", "--full"): "inherits most from:",
        ("show",): "next, several at once: lineage query",
        ("status",): "reference  8 in = ",
        ("check",): "no problems found",
        ("doctor",): "embedder",
        ("graph", "--format", "dot"): "digraph",
        ("references", NAME, "--top", "2"): "8 references of TinyMask",
        ("query", QUESTION, "--format", "full"): "1. github.com/",
    }
    for words, part in said.items():
        ended = asked(*words)
        assert (ended.code, ended.err) == (0, ""), words
        assert part in ended.out, words


def test_an_overview_says_what_became_of_each_repository(asked):
    states = {link["repo"]: link["state"] for link in asked("show", "--json").data["links"]}
    assert states["repo:github.com/slateworks/plainvit"] == {
        "status": "ok",
        "detail": "",
        "archived": False,
        "fork": False,
        "fork_of": "",
        "renamed_from": ["aoki-lab/plain-vit-small"],
        "undescribed": False,
        "words": ["renamed from aoki-lab/plain-vit-small"],
    }
    assert states["repo:github.com/qmori/softcrop"]["words"] == []
    shown = asked("show", "--full").out
    assert "github.com/slateworks/plainvit @a714732e (MIT) [renamed from aoki-lab/plain-vit-small]  official of arxiv:9910.00103" in shown
    assert "github.com/qmori/softcrop @e59c63fb (BSD-3-Clause)  official of arxiv:9909.00104" in shown


HIT = [
    *("rank", "score", "chunk", "kind", "text", "citation", "source", "focus", "lineage", "license"),
    *("from_target", "trust", "flags", "signals"),
]


def test_a_hit_of_code_is_as_the_contract_says(asked):
    answer = asked("query", QUESTION, "--kind", "code", "-k", "3", "--json").data
    assert answer["lineage"] == NAME
    assert re.fullmatch(r"\d{6}-[0-9a-f]{8}", answer["generation"])
    hit = answer["hits"][0]
    assert list(hit)[: len(HIT)] == HIT
    assert re.fullmatch(r"github\.com/[\w-]+/[\w.-]+/[\w./-]+#L\d+-L\d+@[0-9a-f]{8}", hit["citation"])
    assert list(hit["source"]) == ["work", "title", "path", "start_line", "end_line", "symbol", "commit", "url"]
    assert re.fullmatch(r"https://github\.com/.+/blob/[0-9a-f]{40}/.+#L\d+-L\d+", hit["source"]["url"])
    assert sorted(hit["focus"]) == ["end_line", "start_line"]
    assert sorted(hit["lineage"]) == ["distance", "of", "role", "why"]
    assert hit["trust"] == "untrusted-third-party"
    assert {tuple(sorted(signal)) for signal in hit["signals"]} == {("rank", "retriever", "score")}
    assert [one["rank"] for one in answer["hits"]] == [1, 2, 3]


def test_a_hit_of_a_paper_is_as_the_contract_says(asked):
    hits = asked("query", "initialisation of the encoder: truncated normal", "--kind", "paper", "-k", "20", "--json").data["hits"]
    tex = next(hit for hit in hits if "page" not in hit["source"])
    assert list(tex)[: len(HIT)] == HIT
    assert re.fullmatch(r"arXiv:\d{4}\.\d{5}v\d#.+", tex["citation"])
    assert {"work", "title", "section", "label", "url"} <= set(tex["source"])
    assert tex["source"]["url"].startswith("https://arxiv.org/abs/")


def test_a_hit_of_a_pdf_has_its_page_and_box(asked):
    hits = asked("query", "soft crop of area with colour and blur", "--kind", "paper", "-k", "50", "--json").data["hits"]
    source = next(hit["source"] for hit in hits if hit["source"]["work"] == "arxiv:9909.00104" and "page" in hit["source"])
    assert source["page"] >= 1
    assert len(source["box"]) == 4


def test_search_is_another_name_for_query(asked):
    assert asked("search", QUESTION, "--json").data == asked("query", QUESTION, "--json").data


def test_k_and_kind_bound_the_answer(asked):
    hits = asked("query", "learning rate", "-k", "4", "--kind", "config", "--json").data["hits"]
    assert 0 < len(hits) <= 4
    assert {hit["kind"] for hit in hits} == {"config"}


def test_a_batch_answers_line_by_line_with_twenty_hits_each(asked, tmp_path):
    path = tmp_path / "questions.jsonl"
    path.write_text('{"id": "a", "text": "encoder"}\n\n{"id": 7, "query": "warmup"}\n', encoding="utf-8")
    ended = asked("query", "--batch", str(path))
    assert (ended.code, ended.err) == (0, "")
    rows = [json.loads(line) for line in ended.out.splitlines()]
    assert [row["id"] for row in rows] == ["a", "7"]
    assert [sorted(row) for row in rows] == [["hits", "id", "notes", "supported"]] * 2
    assert [len(row["hits"]) for row in rows] == [20, 20]
    assert rows[0]["hits"][0]["text"] == asked("query", "encoder", "-k", "20", "--json").data["hits"][0]["text"]


def test_a_compact_answer_is_lines_under_citations_within_its_budget(asked):
    ended = asked("query", "how is the encoder initialized", "--max-tokens", "900")
    assert re.search(r"^\w+/\S+ \(\w\S+@\w+, [\w.-]+, \w+\)\n\d+: ", ended.out, re.MULTILINE)
    assert re.search(r"^\w+/\S+:\d+: \S", ended.out, re.MULTILINE)
    assert TokenEstimator().count(ended.out) < 1000
    assert "`lineage read PATH:3-20...`" in ended.out


def test_compact_forms_say_where_a_lineage_comes_from(asked):
    assert asked("query", "encoder").out.startswith("origin: built through a mirror\n")
    assert "\norigin: built through a mirror\n" in asked("show").out


def test_the_forms_of_an_answer_are_those_of_the_options(asked):
    question = ("query", "how is the encoder initialized", "-k", "2")
    assert asked(*question, "--format", "json").out == asked(*question, "--json").out
    assert asked(*question, "--format", "compact").out == asked(*question).out
    assert asked(*question, "--format", "short").code == 2


def test_a_compact_batch_has_a_heading_for_each_question(asked, tmp_path):
    path = tmp_path / "questions.jsonl"
    path.write_text('{"id": "a", "text": "encoder"}\n{"id": "b\\n[1] x", "text": "learning rate"}\n')
    out = asked("query", "--batch", str(path), "--format", "compact").out
    assert [line for line in out.splitlines() if line.startswith("== ")] == ["== 1. encoder", "== 2. learning rate"]


def test_several_questions_are_those_in_quotes_or_the_lines_of_a_file(asked, tmp_path):
    several = asked("query", "the encoder", "learning rate").out
    assert [line for line in several.splitlines() if line.startswith("== ")] == ["== 1. the encoder", "== 2. learning rate"]
    path = tmp_path / "questions.txt"
    path.write_text("the encoder\n\nlearning rate\n")
    assert asked("query", "--batch", str(path)).out == several
    assert [json.loads(line)["id"] for line in asked("query", "--batch", str(path), "--json").out.splitlines()] == ["1", "3"]
    assert "== " not in asked("query", "how", "is", "the", "encoder").out


def test_a_batch_is_put_to_one_work_if_it_is_named(asked, tmp_path):
    path = tmp_path / "questions.jsonl"
    path.write_text('{"id": "a", "text": "encoder"}\n', encoding="utf-8")
    repo = next(hit["source"]["work"] for hit in asked("query", "encoder", "--json").data["hits"] if hit["kind"] == "code")
    (row,) = [json.loads(line) for line in asked("query", "--batch", str(path), "--work", repo).out.splitlines()]
    assert {hit["source"]["work"] for hit in row["hits"]} == {repo}
    assert asked("query", "--batch", str(path), "--work", "no/such").code == 3
    assert asked("query", "encoder", "--batch", str(path)).code == 2


def test_a_graph_is_written_to_a_file_and_says_so_on_stderr(asked, tmp_path):
    ended = asked("graph", "--out", str(tmp_path / "picture.html"))
    assert (ended.code, ended.out) == (0, "")
    assert ended.err == f"wrote {tmp_path / 'picture.html'}\n"
    assert (tmp_path / "picture.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_reader_who_has_had_enough_ends_the_command_in_peace(built):
    program = f"{sys.executable} -c 'from api.cli.app import main; main()' graph --home {built.home} | head -c 10 >/dev/null; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", program], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
    assert (done.stdout, done.stderr) == ("0\n", "")


@pytest.mark.parametrize("words", ["--json", "2>&1"])
def test_a_reader_who_has_gone_changes_no_exit_code_of_an_error(built, words):
    program = f"{sys.executable} -c 'from api.cli.app import main; main()' query x -l nope --home {built.home} {words}"
    piped = ["bash", "-c", f"{program} | head -c 0; echo ${{PIPESTATUS[0]}}"]
    done = subprocess.run(piped, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout == "3\n"
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


ODD = "a\x1b]0;x\x07\u202e\nFORGED\r\x9b2J"


def odd_texts() -> dict[str, str]:
    """Every kind of answer that shows names, paths, licences and units, with a hostile one in each."""
    work = replace(small.works()[2], license=ODD, id=ODD, meta={"commit": ODD})
    hit = Hit(1, 0.5, replace(small.chunks()[0], path=ODD, copies=(ODD,), symbol=ODD), work)
    fact = Fact("lr", "1", ODD, work.id, hit.chunk.id, "config", 3, scope=ODD)
    held = FactOccurrence(fact, hit, overridden=(replace(fact, value=ODD),))
    link = replace(small.links()[0], repo=ODD, paper=ODD)
    manifest = SimpleNamespace(lineage="x", created=ODD, counts={"chunks": 1}, target=ODD, title=ODD, provenance=UNKNOWN)
    conflict = Conflict("lr", ODD, "paper-code", (held,), 0.5, ODD)
    return {
        "query": display.answer(Answer(Query("q"), "x", "1", (hit,), (ODD,))),
        "show": "\n".join(display._code(SimpleNamespace(links=linked([link], {ODD: work}, {})))),
        "list": display.lineages([manifest]),
        "facts": display.consensus(Consensus("lr", "rate", (Value("1", ODD, (held,)),), "x", "1")),
        "gaps": display_gaps.gaps(Gaps("x", "1", replace(work, title=""), (), (), (conflict,))),
    }


@pytest.mark.parametrize("command", ["query", "show", "list", "facts", "gaps"])
def test_names_of_strangers_neither_make_lines_nor_steer_a_terminal(command):
    shown = terminal.plain(odd_texts()[command])
    assert "FORGED" in shown
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", shown), ascii(shown)
    assert not re.search(r"^FORGED", shown, re.MULTILINE)


def test_nothing_that_is_said_to_a_person_steers_a_terminal(capsys):
    exit_codes.say("a\x1b[2J\rb\u202e\tc\nd\x9b")
    exit_codes.say('"a\u202e"', exact=True)
    assert capsys.readouterr().out == 'a [2J b \tc\nd \n"a\u202e"\n'


def test_what_is_no_file_is_not_replaced_and_a_folder_that_is_not_there_is_named(asked, tmp_path):
    target = tmp_path / "precious"
    target.write_text("x", encoding="utf-8")
    (tmp_path / "link").symlink_to(target)
    os.mkfifo(tmp_path / "pipe")
    wrong = {
        tmp_path / "link": "link exists and is not a regular file",
        tmp_path / "pipe": "pipe exists and is not a regular file",
        tmp_path: "exists and is not a regular file",
        tmp_path / "nothere" / "x": f"there is no folder {tmp_path / 'nothere'}",
        target / "x": f"there is no folder {target}",
        tmp_path / ("x" * 300): "cannot be written: File name too long",
    }
    for path, said in wrong.items():
        for words in ([], ["--lock"]):
            ended = asked("export", NAME, str(path), *words)
            assert ended.code == 2, (path, ended.err)
            assert said in ended.err.splitlines()[0]
    assert (tmp_path / "link").is_symlink()
    assert asked("export", NAME, str(target)).code == 0
    assert target.stat().st_size > 1000


def test_what_is_piped_is_utf_8_whatever_the_locale(built):
    ended = in_a_process("query", "which optimizer?", "-k", "1", "--home", str(built.home), PYTHONIOENCODING="ascii", PYTHONUTF8="0", LC_ALL="C")
    assert (ended.code, ended.err) == (0, "")
    assert "·" in ended.out


# -- building


@pytest.fixture
def mirrored(monkeypatch, upstream):
    monkeypatch.setenv("LINEAGE_MIRROR", upstream.url)
    return upstream


BUILD = ("--papers", "0", "--repos", "0")


def test_a_build_tells_its_outcome_as_the_contract_says(lineage, mirrored):
    ended = lineage("build", SMALL, *BUILD, "--json")
    assert ended.code == 0
    data = ended.data
    assert {"lineage", "generation", "target", "references", "lineage_papers", "repositories", "chunks", "facts"} <= set(data)
    assert {"requests", "seconds", "content_hash", "ledger"} <= set(data)
    assert data["lineage"] == "arxiv-9908.00105"
    assert set(data["references"]) == {"total", "by_status"}
    assert set(data["seconds"]) == {"fetch", "parse", "embed", "write", "report", "wall"}
    ledger = data["ledger"]
    assert ledger["in"] == ledger["ok"] + ledger["degraded"] + ledger["failed"] + ledger["excluded"]
    assert "target" in ended.err
    quiet = lineage("build", SMALL, *BUILD, "--quiet")
    assert (quiet.code, quiet.err) == (0, "")
    assert "up to date" in quiet.out
    assert "requests      none" in quiet.out
    offline = lineage("build", SMALL, *BUILD, "--offline", "--json")
    assert (offline.data["unchanged"], offline.data["content_hash"]) == (True, data["content_hash"])
    strict = lineage("build", TARGET, *BUILD, "--strict", "--json")
    assert strict.code == 5
    assert strict.data["ledger"]["degraded"] > 0
    assert strict.err.endswith("  hint: lineage status arxiv-9912.00001 lists them\n")


def test_what_is_added_by_hand_is_there_and_an_unknown_lineage_cannot_be_added_to(lineage, mirrored, tmp_path):
    assert lineage("add", "nope", "https://github.com/qmori/softcrop").code == 3
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "quokka.py").write_text("def quokka_schedule(step):\n    return 0.125 * step\n", encoding="utf-8")
    lineage("build", SMALL, *BUILD)
    ended = lineage("add", "arxiv-9908.00105", str(tmp_path / "mine"), "--json")
    assert ended.code == 0, ended.err
    assert ended.data["repositories"] == 1


def test_a_dry_run_says_what_would_be_fetched(lineage, mirrored):
    ended = lineage("build", TARGET, "--dry-run", "--json")
    assert ended.code == 0
    assert {"papers", "repos", "requests", "minutes", "megabytes"} <= set(ended.data)
    assert lineage("list", "--json").data == []


# -- how commands end


def test_wrong_usage_ends_with_2_in_words_and_in_json(lineage):
    for words, part in WRONG.items():
        ended = lineage(*words)
        assert (ended.code, ended.out) == (2, ""), words
        assert re.match(rf"error: .*{part}", ended.err, re.IGNORECASE), ended.err
        assert len(ended.err.splitlines()) <= 2
        said = lineage(*words, "--json")
        assert said.code == said.error["exit_code"] == 2
        assert said.err == ended.err


WRONG: dict[Sequence[str], str] = {
    ("frobnicate",): "no such command 'frobnicate'",
    ("build",): "missing argument",
    ("build", "adam"): "'adam' is not an identifier",
    ("build", "x", "--papers", "many"): "--papers",
    ("build", TARGET, "--depth", "9"): "--depth",
    ("build", TARGET, "--code-as-of", "then"): "--code-as-of",
    ("build", TARGET, "--frob"): "no such option",
    ("query",): "the question is empty",
    ("query", "x", "-k", "0"): "-k",
    ("query", "x", "-k", "101"): "-k",
    ("query", "x", "--kind", "poem"): "there is no kind 'poem'",
    ("graph", "x", "-l", "x"): "the lineage is named twice",
}


@pytest.mark.parametrize(
    "words",
    [
        *(("show", TARGET), ("status", "9912.00001v1"), ("gaps", TARGET, "--topic", "optimizer"), ("graph", TARGET), ("check", TARGET)),
        *(("query", QUESTION, "-l", "https://arxiv.org/abs/9912.00001"), ("answer", QUESTION, "-l", TARGET)),
        *(("context", "train", "-l", TARGET), ("facts", "lr", "-l", TARGET), ("references", TARGET)),
        *(("show", "-l", TARGET), ("graph", "--lineage", NAME), ("report", "-l", TARGET), ("references", "-l", TARGET)),
    ],
    ids=lambda words: words[0],
)
def test_a_target_is_a_name_of_its_lineage_for_every_command(asked, monkeypatch, words):
    monkeypatch.setenv("LINEAGE_OFFLINE", "1")
    assert asked(*words, "--json").code == 0


def test_what_is_not_there_ends_with_3(asked, lineage):
    ended = asked("query", QUESTION, "--lineage", "nope")
    assert ended.code == 3
    assert ended.err.endswith(f"  hint: known: {NAME}\n")
    for words in (("query", "x", "--lineage", "../.."), ("check", "../../etc")):
        assert asked(*words).code == 3
    empty = lineage("query", QUESTION, "--json")
    assert empty.error | {"message": ""} == {"type": "NotFound", "message": "", "hint": "build one: lineage build arxiv:2504.17192", "exit_code": 3}


@pytest.mark.parametrize(
    ("words", "taken"), [(("--profile", "deep", "--papers", "0", "--repos", "0"), (0, 0, 2)), (("--profile", "fast", "--depth", "2"), (8, 5, 2))]
)
def test_a_profile_says_how_much_a_build_takes_in_and_flags_win_over_it(lineage, mirrored, tmp_path, words, taken):
    assert lineage("build", SMALL, *words, "--home", str(tmp_path)).code == 0
    with layout.open_generation(tmp_path, "arxiv-9908.00105") as generation:
        asked = generation.catalog.meta()["request"]
    assert (asked["papers"], asked["repos"], asked["depth"]) == taken


def test_an_upstream_that_cannot_be_reached_ends_with_4(lineage, monkeypatch):
    monkeypatch.setenv("LINEAGE_MIRROR", "http://127.0.0.1:9")
    ended = lineage("build", TARGET)
    assert ended.code == 4
    assert "127.0.0.1" in ended.err or "cannot be reached" in ended.err
    assert ended.err.endswith("  hint: check the network connection and run the same command again; what was fetched is kept\n")
    assert lineage("build", TARGET, "--offline").code == 4


def test_a_damaged_store_ends_with_6_and_says_where(lineage, built, tmp_path):
    shutil.copytree(built.home / "lineages", tmp_path / "lineages")
    path = layout.generation_folder(tmp_path, NAME, layout.current(tmp_path, NAME)) / layout.MANIFEST
    path.chmod(0o644)
    path.write_text("{}", encoding="utf-8")
    checked = lineage("check", "--home", str(tmp_path))
    assert checked.code == 6
    assert str(path) in checked.out
    assert checked.err.startswith("error: 1 findings")
    assert [finding["place"] for finding in lineage("check", "--json", "--home", str(tmp_path)).data] == [str(path)]
    for words in (["query", QUESTION], ["show"], ["status"], ["graph"], ["list"]):
        ended = lineage(*words, "--home", str(tmp_path))
        assert ended.code == 6, words
        assert str(path) in ended.err


def test_a_bug_ends_with_1_and_asks_for_a_report(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["lineage", "list", "--json"])

    def broken(**_: object) -> None:
        raise ZeroDivisionError("by\x1bnought")

    with pytest.raises(SystemExit) as ended:
        exit_codes.run(broken)
    out, err = capsys.readouterr()
    assert ended.value.code == 1
    assert json.loads(out)["error"]["exit_code"] == 1
    assert "Traceback" in err
    assert err.endswith("error: a bug in lineage (ZeroDivisionError: by nought)\n  hint: please report it with the lines above\n")


def test_ctrl_c_ends_with_130(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["lineage"])

    def interrupted(**_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(SystemExit) as ended:
        exit_codes.run(interrupted)
    assert ended.value.code == 130
    assert capsys.readouterr().err == "error: interrupted\n  hint: finished work is kept; run the same command again to resume\n"


def test_ctrl_c_while_it_is_being_imported_ends_with_130_too():
    program = (
        "import os, signal, sys\nfrom importlib.abc import MetaPathFinder\n"
        "class Told(MetaPathFinder):\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'typer':\n            os.kill(os.getpid(), signal.SIGINT)\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # what runs in the background is told to ignore it
        "sys.meta_path.insert(0, Told())\nfrom api.cli.start import main\nmain()"
    )
    ended = in_a_process("list", program=program)
    assert (ended.code, ended.out, ended.err) == (130, "", "error: interrupted\n")


@pytest.mark.parametrize(("words", "code"), [(["--version"], 0), (["query"], 2)])
def test_a_command_ends_with_its_code_once_what_is_registered_for_the_end_has_run(words, code):
    ended = in_a_process(*words, program="import atexit\natexit.register(print, 'the end')\nfrom api.cli.start import main\nmain()")
    assert ended.code == code
    assert ended.out.endswith("the end\n")


def test_a_full_disk_that_nobody_caught_ends_with_4(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["lineage"])

    def full(**_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "/store/x")

    with pytest.raises(SystemExit) as ended:
        exit_codes.run(full)
    assert ended.value.code == 4
    assert "no room left" in capsys.readouterr().err


def test_an_answer_that_cannot_be_written_is_said(built):
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    program = f"unset PYTHONUNBUFFERED; {sys.executable} -c 'from api.cli.app import main; main()' list --home {built.home} >/dev/full"
    done = subprocess.run(["bash", "-c", program], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 4
    assert done.stderr.startswith("error: the answer cannot be written: No space left on device\n")


# -- the first hour


@pytest.mark.parametrize("command", COMMANDS)
def test_the_summary_of_a_command_is_not_cut_in_the_list(lineage, command):
    shown = lineage("--help").out
    row = next(line for line in shown.splitlines() if re.match(rf"  {command}\b", line))
    assert not row.endswith("...")


def test_a_text_needs_no_quotes(asked):
    quoted, bare = asked("query", QUESTION, "--json"), asked("query", *QUESTION.split(), "--json")
    assert bare.data == quoted.data
    assert asked("facts", "weight", "decay", "--json").data["name"] == "weight_decay"
    assert "put a text in quotes" in asked("query", "what", "--ema").err


def test_lists_and_status_show_titles(asked):
    title = asked("status", "--json").data["title"]
    assert title.startswith("TinyMask")
    assert asked("list", "--json").data[0]["title"] == title
    assert title in asked("list").out
    assert title in asked("status").out


def test_an_empty_batch_says_so(asked, tmp_path):
    (tmp_path / "none.jsonl").write_text("")
    ended = asked("query", "--batch", str(tmp_path / "none.jsonl"))
    assert (ended.code, ended.out) == (0, "")
    assert ended.err == f"note: {tmp_path / 'none.jsonl'} holds no questions\n"


def test_a_build_that_finds_nothing_to_read_ends_with_3(lineage, monkeypatch, world, tmp_path):
    faults = Faults(
        (
            Fault(r"arxiv\.org|github|huggingface", Status(404)),
            Fault(r"/references", MutateJson(lambda page: page | {"data": []})),
            Fault(r"search/match", MutateJson(lambda page: {"data": [row | {"abstract": None} for row in page["data"]]})),
            Fault(r"graph/v1/paper/", MutateJson(lambda page: page | {"abstract": None})),
        )
    )
    with Upstream(world, faults=faults) as running:
        monkeypatch.setenv("LINEAGE_MIRROR", running.url)
        ended = lineage("build", "ProbeBench: Linear Probes Done with Care", "--home", str(tmp_path))
    assert ended.code == 3
    assert "error: nothing to read was found for 'ProbeBench: Linear Probes Done with Care'" in ended.err
    assert "lineage build ./paper.pdf" in ended.err
    assert not list(tmp_path.glob("lineages/*/CURRENT"))


# -- grep and read


def test_grep_prints_a_citation_and_its_line_definitions_first(asked):
    ended = asked("grep", "-w", "sincos_2d", "--kind", "code")
    assert ended.code == 0
    first, *others = ended.out.splitlines()
    assert first == "plainvit/plainvit/pos_embed.py:14: def sincos_2d(dim, grid):"
    assert others
    assert asked("grep", "sincos_2d", "--json").data["matches"][0]["definition"]


def test_what_nothing_matches_ends_with_3_and_no_expression_with_2(asked):
    assert asked("grep", "nothing_is_called_so").code == 3
    assert asked("grep", "(").code == 2


def test_read_takes_what_grep_prints(asked):
    cited = asked("grep", "def sincos_2d", "-F").out.partition(": ")[0]
    ended = asked("read", cited, "plainvit/plainvit/pos_embed.py:15")
    assert ended.code == 0
    assert "def sincos_2d(dim, grid):" in ended.out
    assert "\nplainvit/plainvit/pos_embed.py:15 in sincos_2d (from line 14); 29 lines\n" in ended.out
    assert "named in:" not in ended.out
    assert "named in:" in asked("read", cited, "--lines", "14-15", "--callers").out
    assert asked("read", "plainvit/none.py:3").code == 3
