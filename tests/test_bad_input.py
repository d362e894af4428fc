"""Bad targets, bad files, upstreams in a bad state: the right exit code, one clear line, nothing half-written."""

from __future__ import annotations

import gzip
import io
import json
import re
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from api.cli import app
from lineage.records import Status
from tests.demo import DEMO, TARGET, Demo
from tests.upstream import Upstream
from tests.upstream.faults import Both, Fault, Faults, MutateJson, ReplaceBody, SetHeader, rate_limited
from tests.upstream.faults import Status as Answer

QUICK = ("--papers", "0", "--repos", "0")


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str


@pytest.fixture
def lineage(monkeypatch, capsys):
    """Runs a command line in this process; it may never end in a traceback, a flood or an escape code."""

    def run(*words: str) -> Ended:
        monkeypatch.setattr(sys, "argv", ["lineage", *words])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            app.main()
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        assert "\x1b" not in out + err
        assert len(err) < 5_000
        return Ended(int(ended.value.code or 0), out, err)

    return run


@pytest.fixture
def mirrored(monkeypatch, upstream):
    monkeypatch.setenv("LINEAGE_MIRROR", upstream.url)
    return upstream


def nothing_half_written(home: Path) -> bool:
    """No file under a temporary name, no generation and no name of a lineage without one."""
    files = [path for path in home.rglob("*") if path.is_file()]
    asides = [path for path in files if path.name.startswith((".tmp", ".part")) or path.name.endswith("-journal")]
    return not asides and not [path for path in files if "gen" in path.parts]


def errors(ended: Ended) -> list[str]:
    """The lines of stderr from the error on."""
    lines = ended.err.splitlines()
    return lines[next(n for n, line in enumerate(lines) if line.startswith("error: ")) :]


# -- targets that name nothing


TARGETS = {
    "arxiv:2101.99999": (3, "no service knows arxiv:2101.99999", "check the identifier"),
    "doi:10.1234/no.such": (3, "no service knows", "check the identifier"),
    '"A Paper That Nobody Ever Wrote"': (3, "no paper is called", "arXiv id or DOI"),
    "adam": (2, "'adam' is not an identifier", "examples:"),
    "": (2, "missing argument: a target, or --lock FILE", "lineage build arxiv:2504.17192"),
    "   ": (2, "a target is an identifier", ""),
    "a\x00b": (2, "a target is an identifier", ""),
    "a\x1b[31m\nb": (2, "a target is an identifier", ""),
    "arxiv:../../etc/passwd": (2, "is not a valid arxiv identifier", ""),
    "https://evil.example/2504.17192": (2, "", ""),
    "file:///etc/passwd": (2, "", ""),
    "./nowhere.pdf": (3, "there is no file or folder ./nowhere.pdf", "check the path"),
    "nowhere.pdf": (3, "there is no file or folder nowhere.pdf", "check the path"),
    "~nobody-of-that-name/x.pdf": (3, "there is no file or folder", "check the path"),
    "/" + "x" * 300: (3, "there is no file or folder", "check the path"),
    "x" * 300: (2, "is not an identifier", "examples:"),
    "x" * 10_000_000: (2, "a target is an identifier", ""),
    "\udcff\udcfe": (2, "", ""),
}


@pytest.mark.parametrize("target", TARGETS, ids=lambda text: ascii(text[:24]))
def test_a_target_that_is_none_is_refused_in_one_line(lineage, mirrored, tmp_path, target):
    code, part, hint = TARGETS[target]
    ended = lineage("build", target)
    assert ended.code == code, ended.err
    said = errors(ended)
    assert part in said[0]
    assert (hint in said[1]) if hint else len(said) <= 2
    assert nothing_half_written(tmp_path / "home")


def test_an_ambiguous_title_lists_what_to_choose_from(lineage, monkeypatch, world):
    def twins(page):
        return {"data": [page["data"][0], {**page["data"][0], "paperId": "f" * 40, "externalIds": {"DOI": "10.1/twin"}}]}

    with Upstream(world, faults=Faults((Fault(r"search/match", MutateJson(twins)),))) as running:
        monkeypatch.setenv("LINEAGE_MIRROR", running.url)
        ended = lineage("build", '"ProbeBench: Linear Probes Done with Care"')
    assert ended.code == 3
    said = errors(ended)
    assert said[0].startswith("error: 2 papers are called")
    assert said[1] == "  hint: choose one of:"
    assert len(said) == 4


# -- files that are no papers


def encrypted() -> bytes:
    import pymupdf

    document = pymupdf.open()
    document.new_page().insert_text((72, 72), "nobody may read this")
    return document.tobytes(encryption=pymupdf.PDF_ENCRYPT_AES_256, owner_pw="o", user_pw="u")


def blank() -> bytes:
    import pymupdf

    document = pymupdf.open()
    document.new_page()
    return document.tobytes()


def archive(*names: str) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name in names:
            content = b"\\documentclass{article}\\begin{document}Nothing to see\\end{document}" if name.endswith(".tex") else b"text"
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return out.getvalue()


FILES = {
    "empty.pdf": (lambda: b"", 2, "is empty"),
    "text.pdf": (lambda: b"hello, I am text", 2, "cannot be read as a paper"),
    "page.pdf": (lambda: b"<!doctype html><html><body>sign in</body></html>", 2, "cannot be read as a paper"),
    "drawing.ps": (lambda: b"%!PS-Adobe-3.0\nshowpage\n", 2, "cannot be read as a paper"),
    "locked.pdf": (encrypted, 3, "asks for a password"),
    "scan.pdf": (blank, 3, "without text"),
    "cut.pdf": (lambda: (DEMO / "papers/9909.00104.pdf").read_bytes()[:900], 3, "cannot be read as a paper"),
    "random.pdf": (lambda: b"%PDF-1.7\n" + bytes(range(256)) * 40, 3, "cannot be read as a paper"),
    "nothing.tex": (lambda: b"", 2, "is empty"),
    "notes.tar.gz": (lambda: archive("a.txt"), 3, "cannot be read as a paper"),
    "escaping.tar.gz": (lambda: archive("../../evil.txt"), 3, "cannot be read as a paper"),
    "broken.gz": (lambda: gzip.compress(b"\\documentclass{article}" * 99)[:40], 3, "cannot be read as a paper"),
    "bomb.gz": (lambda: gzip.compress(bytes(300_000_000), 1), 3, "cannot be read as a paper"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_no_paper_is_refused_and_leaves_no_lineage(lineage, mirrored, tmp_path, name):
    content, code, part = FILES[name]
    (tmp_path / name).write_bytes(content())
    ended = lineage("build", str(tmp_path / name))
    assert ended.code == code, ended.err
    assert part in errors(ended)[0]
    assert "  hint: " in errors(ended)[1]
    assert mirrored.requests == []
    assert nothing_half_written(tmp_path / "home")
    assert not list(tmp_path.rglob("evil*"))


def test_a_folder_with_nothing_in_it_is_refused(lineage, mirrored, tmp_path):
    (tmp_path / "nothing").mkdir()
    ended = lineage("build", str(tmp_path / "nothing"))
    assert ended.code == 2
    assert "holds no" in errors(ended)[0]
    assert nothing_half_written(tmp_path / "home")


def test_devices_are_no_papers(lineage, mirrored):
    for path in ("/dev/zero", "/dev/null", "/proc/self/mem"):
        assert lineage("build", path).code == 2


# -- strings that attack


NAMES = ("../..", "../../etc/passwd", "a/b", "a\\b", ".hidden", "CON\x00", "a\x1b[31m", "x" * 81, "x" * 10_000_000, "..", "a..b", "ä")


@pytest.mark.parametrize("name", NAMES, ids=lambda text: ascii(text[:16]))
def test_a_name_that_could_leave_the_store_is_refused_everywhere(lineage, mirrored, tmp_path, name):
    commands = (
        *(("build", TARGET, "--name", name), ("add", name, "x"), ("query", "x", "--lineage", name), ("show", name)),
        *(("status", name), ("check", name), ("graph", name)),
    )
    for words in commands:
        ended = lineage(*words)
        named = words[0] == "build"
        assert ended.code == (2 if named else 3), words[0]
        assert ("cannot name a lineage" if named else "there is no lineage") in errors(ended)[0]
    assert mirrored.requests == []
    assert not (tmp_path / "home" / "lineages").exists()


def test_additions_that_cannot_be_are_refused_before_anything_is_asked(lineage, mirrored):
    wrong = {"": 2, "x" * 10_000_000: 2, "a\x1b[31m": 2, "./nowhere": 3, "nowhere.pdf": 3, "~nobody-of-that-name/x": 3, "https://evil.example/a/b": 2}
    for source, code in wrong.items():
        ended = lineage("build", TARGET, *QUICK, "--add", source)
        assert ended.code == code, ended.err
        assert errors(ended)[0].startswith("error: --add")
    assert mirrored.requests == []


def test_a_home_that_cannot_be_is_refused_by_every_command(lineage, tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    for home in (tmp_path / "file", tmp_path / "file" / "below", tmp_path / ("x" * 300), "x" * 10_000_000, "~nobody-of-that-name/x"):
        for words in (("list",), ("query", "x"), ("build", TARGET), ("doctor",), ("check",)):
            ended = lineage(*words, "--home", str(home))
            assert ended.code == 2, (words, ended)
            assert len(errors(ended)) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="modes of POSIX")
def test_a_home_that_may_not_be_written_is_said(lineage, mirrored, tmp_path):
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    try:
        (locked / "probe").touch()
    except PermissionError:
        ended = lineage("build", TARGET, "--home", str(locked / "home"))
        assert ended.code == 2
        assert "cannot be written: Permission denied" in errors(ended)[0]
        assert errors(ended)[1] == "  hint: set LINEAGE_HOME (or --home) to a folder of yours"
    else:
        pytest.skip("whoever runs this may write everywhere")


def test_settings_that_make_no_sense_are_named(lineage, monkeypatch, tmp_path):
    for name, value in {"LINEAGE_THREADS": "many", "LINEAGE_MIRROR": "ftp://x", "LINEAGE_DEADLINE": "-1", "LINEAGE_EMBEDDER": "nonsense"}.items():
        with monkeypatch.context() as context:
            context.setenv(name, value)
            ended = lineage("build", "arxiv:9912.00001")
            assert ended.code == 2, (name, ended.err)
            assert value in ended.err or name.removeprefix("LINEAGE_").lower() in ended.err
    (tmp_path / "config.toml").write_text("home = [", encoding="utf-8")
    monkeypatch.setenv("LINEAGE_CONFIG", str(tmp_path / "config.toml"))
    ended = lineage("list")
    assert ended.code == 2
    assert "config.toml" in errors(ended)[0]


# -- questions


QUESTIONS = {
    "": "the question is empty",
    " \n\t ": "the question is empty",
    "x" * 5_120: "the question has 5,120 bytes; at most 4,096 are taken",
    "y" * 10_000_000: "at most 4,096 are taken",
    "a\x00b": "control character U+0000",
    "a\x1b[2Jb": "control character U+001B",
    "\udcff": "control character U+DCFF",
}


@pytest.mark.parametrize("text", QUESTIONS, ids=lambda text: ascii(text[:12]))
def test_a_question_that_is_none_is_refused(lineage, built, text):
    ended = lineage("query", text, "--home", str(built.home))
    assert (ended.code, ended.out) == (2, "")
    assert QUESTIONS[text] in errors(ended)[0]


@pytest.mark.parametrize(
    "text",
    ['AND OR NOT ("*', 'NEAR(a b, 3) {col}: ^x "', "'; DROP TABLE chunks; --", "%s %n {0} ${HOME}", "\\begin{align}\\frac{a}{b}", "¿qué?" * 300, "*"],
)
def test_operators_in_a_question_are_words(lineage, built, text):
    ended = lineage("query", text, "-k", "2", "--json", "--home", str(built.home))
    assert ended.code == 0, ended.err
    assert "hits" in json.loads(ended.out)["data"]


BATCHES = {
    "malformed": (b'{"id": 1, "text": "a"}\n[]\n', "line 2: a JSON object is expected"),
    "no json": (b'{"id": 1, what is this?\n', "line 1:"),
    "no text": (b'{"id": 1}\n', "line 1:"),
    "binary": (bytes(range(256)) * 100, "is not UTF-8 text"),
    "deep": (b"[" * 100_000 + b"\n", "line 1:"),
    "too many": (b'{"id": 1, "text": "a"}\n' * 100_001, "has 100,001 lines; at most 100,000 are taken"),
}


@pytest.mark.parametrize("name", BATCHES)
def test_a_batch_that_is_none_is_refused_before_any_answer(lineage, built, tmp_path, name):
    content, part = BATCHES[name]
    (tmp_path / "batch.jsonl").write_bytes(content)
    ended = lineage("query", "--batch", str(tmp_path / "batch.jsonl"), "--home", str(built.home))
    assert (ended.code, ended.out) == (2, "")
    assert part in errors(ended)[0]


def test_batches_without_end_and_folders_are_no_batches(lineage, built, tmp_path):
    for path in ("/dev/zero", str(tmp_path), str(tmp_path / "nowhere"), "x" * 10_000_000):
        ended = lineage("query", "--batch", path, "--home", str(built.home))
        assert (ended.code, ended.out) == (2, ""), path


def test_blacklists_that_cannot_be_read_are_refused_before_anything_is_asked(lineage, mirrored, tmp_path):
    (tmp_path / "binary").write_bytes(bytes(range(256)))
    for path in ("/dev/zero", str(tmp_path), str(tmp_path / "nowhere"), str(tmp_path / "binary")):
        assert lineage("build", TARGET, "--blacklist", path).code == 2
    assert mirrored.requests == []


# -- upstreams in a bad state


def troubled(world, tmp_path, *faults: Fault, **wanted):
    with Upstream(world, faults=Faults(faults)) as running:
        demo = Demo(tmp_path, running.url)
        made = demo.build(**wanted)
        assert made.ledger["in"] == sum(made.ledger[outcome] for outcome in ("ok", "degraded", "failed", "excluded"))
        return made, {row.subject: row for row in demo.service.status().losses}, running.requests


EPRINTS = {
    "postscript": (ReplaceBody(b"%!PS-Adobe-2.0\n" + b"showpage\n" * 50), Status.WRONG_TYPE),
    "html": (Both((ReplaceBody(b"<!doctype html><html><body>No</body></html>"), SetHeader("Content-Type", "text/html"))), None),
    "withdrawn": (ReplaceBody(gzip.compress(b"%auto-ignore\nThis paper has been withdrawn by the authors.\n")), Status.WITHDRAWN),
    "empty": (ReplaceBody(b""), None),
    "gone": (Answer(404, b"not found", media_type="text/plain"), Status.NOT_FOUND),
    "an archive without TeX": (ReplaceBody(archive("readme.txt")), None),
    "itself in itself": (ReplaceBody(gzip.compress(b"\\documentclass{article}\\begin{document}\\input{ms}\\input{main}\\end{document}")), None),
}


@pytest.mark.parametrize("name", EPRINTS)
def test_an_eprint_that_is_none_leaves_the_target_with_what_else_is_known(world, tmp_path, name):
    action, _ = EPRINTS[name]
    made, losses, _ = troubled(world, tmp_path, Fault(r"e-print/9912\.00001", action), papers=0, repos=0)
    assert made.target.id == TARGET
    assert made.references["total"] >= 7
    assert name == "itself in itself" or "text of the target" in losses


REPOSITORIES = {
    "gone": (404, Status.NOT_FOUND),
    "blocked": (451, Status.LEGAL_451),
    "empty": (409, Status.EMPTY),
}


@pytest.mark.parametrize("name", REPOSITORIES)
def test_a_repository_that_is_not_to_be_had_is_a_row_and_the_others_are_there(world, tmp_path, name):
    code, status = REPOSITORIES[name]
    body = json.dumps({"message": "Git Repository is empty." if code == 409 else "no", "block": {"reason": "dmca"}}).encode()
    made, losses, asked = troubled(
        world, tmp_path, Fault(r"api\.github\.com/repos/qmori/softcrop" + ("/commits" if code == 409 else ""), Answer(code, body))
    )
    assert made.repositories >= 1
    assert losses["repo:github.com/qmori/softcrop"].status is status
    assert not [request for request in asked if request.host == "codeload.github.com" and "softcrop" in request.path]


def test_a_renamed_repository_is_kept_under_the_name_it_has_now(built):
    shown = built.service.show()
    names = {link.repo for link in shown.links}
    assert "repo:github.com/slateworks/plainvit" in names
    assert "repo:github.com/aoki-lab/plain-vit-small" not in names


def test_a_quota_that_ends_in_mid_run_ends_the_asking_and_loses_no_repository(world, tmp_path):
    made, _, asked = troubled(world, tmp_path, Fault(r"api\.github\.com", rate_limited("4102444800"), skip=2))
    refused = [request for request in asked if request.host == "api.github.com" and request.status == 403]
    assert 1 <= len(refused) <= 4
    assert made.repositories == 4


def test_a_tarball_refused_in_mid_run_is_a_row_and_the_next_run_gets_it(world, tmp_path):
    made, losses, _ = troubled(world, tmp_path, Fault(r"codeload.*softcrop", Answer(503)))
    assert losses["repo:github.com/qmori/softcrop"].status is Status.UPSTREAM_5XX
    whole, after, _ = troubled(world, tmp_path)
    assert (made.repositories, whole.repositories) == (3, 4)
    assert not [subject for subject in after if subject.startswith("repo:")]


def test_arxiv_that_refuses_is_asked_nothing_more(world, tmp_path):
    made, losses, asked = troubled(world, tmp_path, Fault(r"export\.arxiv\.org/(e-print|pdf)", Answer(403, b"denied", media_type="text/plain")))
    assert len([request for request in asked if request.host == "export.arxiv.org" and request.status == 403]) == 1
    assert any(row.status is Status.FORBIDDEN for row in losses.values())
    assert made.references["total"] >= 7


def test_a_paper_that_cites_itself_is_not_its_own_ancestor(world, tmp_path):
    def itself(page):
        own = {
            "paperId": "0" * 40,
            "title": "TinyMask: Masked Image Modelling for Encoders of Five Million Parameters",
            "externalIds": {"ArXiv": "9912.00001"},
        }
        return {**page, "data": [*page["data"], {"contexts": [], "intents": [], "isInfluential": True, "citedPaper": own}]}

    made, _, _ = troubled(world, tmp_path, Fault(r"/references", MutateJson(itself)), papers=2, repos=0, depth=2)
    shown = Demo(tmp_path, "http://127.0.0.1:9").service.show()
    assert not [edge for edge in shown.references if edge.citing == edge.cited]
    assert re.fullmatch(r"\d{6}-[0-9a-f]{8}", made.generation)
