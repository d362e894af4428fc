"""Bundles: what goes out, what stays, what comes in, and what a stranger's file may not do."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from indexer.archives.members import repo_members
from indexer.bundle.form import is_work
from indexer.bundle.read import read
from indexer.bundle.write import export
from indexer.parsers.select import by_name
from indexer.sources.local import is_path
from lineage.errors import BadBundle, NotFound, UsageError
from lineage.generation import open_generation
from lineage.ids import doi_id
from lineage.text.hidden_text import is_name
from tests.demo import NAME, TARGET, Demo
from tests.fakes import small_lineage
from tests.fakes.embedder import HashingEmbedder

KEPT_IN = {"repo:github.com/fennlab/probe-bench", "arxiv:9910.00103"}
QUESTIONS = ("how is the encoder initialized?", "which augmentations are applied during pretraining?", "learning rate schedule and warmup")


@pytest.fixture(scope="module")
def bundle(built, tmp_path_factory):
    path = tmp_path_factory.mktemp("bundle") / "demo.lineage"
    return built.service.export(NAME, path)


@pytest.fixture(scope="module")
def whole(built, tmp_path_factory):
    return Path(built.service.export(NAME, tmp_path_factory.mktemp("bundle") / "all.lineage", all_texts=True).path)


def members(path: Path) -> dict[str, bytes]:
    with tarfile.open(path) as tar:
        return {member.name: tar.extractfile(member).read() for member in tar}


def packed(path: Path, found: dict[str, bytes], extra: tuple[tarfile.TarInfo, ...] = ()) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for name, data in found.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
        for info in extra:
            tar.addfile(info, io.BytesIO(b"x" * info.size))
    return path


def forged(source: Path, path: Path, **changed: bytes) -> Path:
    """The bundle with members changed and a manifest that is right about them, as an adversary would write it."""
    return resealed(path, members(source) | {f"{name}.jsonl": data for name, data in changed.items()})


def resealed(path: Path, found: dict[str, bytes]) -> Path:
    manifest = json.loads(found["manifest.json"])
    for name, data in found.items():
        if name != "manifest.json":
            manifest["members"][name] = {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    return packed(path, found | {"manifest.json": json.dumps(manifest).encode()})


def forged_meta(source: Path, path: Path, **values: object) -> Path:
    found = members(source)
    return resealed(path, found | {"meta.json": json.dumps(json.loads(found["meta.json"]) | values).encode()})


def forged_request(source: Path, path: Path, **values: object) -> Path:
    request = json.loads(members(source)["meta.json"])["request"]
    return forged_meta(source, path, request={**request, **values})


def state(home: Path) -> set[str]:
    return {str(path.relative_to(home)) for path in home.rglob("*") if "cache" not in path.parts} if home.exists() else set()


def test_the_same_lineage_gives_the_same_bytes(built, bundle, tmp_path):
    assert built.service.export(NAME, tmp_path / "again.lineage").sha256 == bundle.sha256


def test_texts_without_a_licence_to_pass_on_are_left_out_and_listed(bundle):
    out = {work.work for work in bundle.works if not work.carried}
    assert out == KEPT_IN, [(w.work, w.license, w.carried) for w in bundle.works]
    licences = members(Path(bundle.path))["LICENCES.md"].decode()
    assert all(work.work in licences for work in bundle.works)


def test_no_passage_of_a_text_that_was_left_out_is_anywhere_in_the_bundle(built, bundle):
    found = members(Path(bundle.path))  # references and links quote single sentences, with their source
    everything = "\n".join(found[f"{name}.jsonl"].decode() for name in ("works", "documents", "chunks", "ledger"))
    with open_generation(built.home, NAME) as generation:
        chunks = generation.catalog.chunks(range(generation.manifest.counts["chunks"]))
    lines = {line.strip() for chunk in chunks if chunk.work in KEPT_IN for line in chunk.text.splitlines() if len(line.strip()) > 60}
    carried = {line.strip() for chunk in chunks if chunk.work not in KEPT_IN for line in chunk.text.splitlines()}
    assert len(lines - carried) > 20
    assert [line for line in lines - carried if json.dumps(line)[1:-1] in everything] == []


def test_a_bundle_names_no_path_of_the_machine_that_made_it(tmp_path, upstream):
    source = tmp_path / "very-private" / "paper.tex"
    source.parent.mkdir()
    source.write_text(r"\documentclass{article}\begin{document}\title{Mine}\section{One}Some words of my own.\end{document}")
    demo = Demo(tmp_path / "home", upstream.url)
    demo.build(str(source), name="mine")
    made = demo.service.export("mine", tmp_path / "mine.lineage", all_texts=True)
    assert b"very-private" not in b"".join(members(Path(made.path)).values())
    other = Demo(tmp_path / "other", upstream.url).service
    there = other.import_(tmp_path / "mine.lineage")
    assert there.whole
    assert any("paper.tex" in note for note in there.notes)
    with pytest.raises(UsageError, match="was built from local files you do not have"):
        other.add("mine", [str(source)])


def test_no_file_that_a_bundle_names_is_ever_read(whole, tmp_path, monkeypatch, upstream):
    local = ["own/secret", "My Papers", "2504.17192", "github.com/o/private", "s.tex", "~/x", "../x", "/etc/hosts"]
    request = {"target": TARGET, "add": [*local, "https://github.com/slateworks/plainvit", "doi:10.1000/x"]}
    path = forged_request(whole, tmp_path / "x.lineage", **request)
    other = Demo(tmp_path / "home", upstream.url)
    made = other.service.import_(path)
    assert any("own/secret, s.tex, ~/x ..." in note for note in made.notes)
    for name in local[:-3]:  # they come into being only after the import, where one then stands
        (tmp_path / "here" / name).mkdir(parents=True)
        (tmp_path / "here" / name / "a.py").write_text("secret = 1\n")
    monkeypatch.chdir(tmp_path / "here")
    with open_generation(other.home, NAME) as generation:
        kept = generation.catalog.meta()["request"]
    assert [one for one in (kept["target"], *kept["add"]) if is_path(one)] == []
    assert {kept["target"], *kept["add"]} >= {TARGET, '"My Papers"', "arxiv:2504.17192", "https://github.com/o/private", "doi:10.1000/x"}
    assert not {*local} & {*kept["add"]}


def test_the_target_of_a_bundle_may_not_be_a_file_either(whole, tmp_path, upstream):
    (tmp_path / "own.tex").write_text(r"\documentclass{article}\begin{document}\title{Mine}\section{One}Words.\end{document}")
    other = Demo(tmp_path / "home", upstream.url)
    other.service.import_(forged_request(whole, tmp_path / "x.lineage", target=str(tmp_path / "own.tex"), add=[]))
    with pytest.raises(UsageError, match="was built from local files you do not have"):
        other.service.add(NAME, ["https://github.com/slateworks/plainvit"])


def test_a_whole_bundle_opens_without_a_network_and_answers_the_same(built, whole, tmp_path):
    other = Demo(tmp_path, "", packaged=True, offline=True)
    made = other.service.import_(whole)
    assert (made.whole, made.content_hash) == (True, built.report.content_hash)
    assert other.service.check() == ()
    for question in QUESTIONS:
        ours, theirs = built.service.query(question).hits, other.service.query(question).hits
        assert [(hit.chunk, hit.score) for hit in theirs] == [(hit.chunk, hit.score) for hit in ours]


def test_offline_what_was_left_out_is_named_and_the_rest_answers(bundle, tmp_path):
    other = Demo(tmp_path, "", packaged=True, offline=True)
    made = other.service.import_(Path(bundle.path))
    assert not made.whole
    assert set(made.missing) == KEPT_IN
    assert other.service.check() == ()
    with open_generation(tmp_path, NAME) as generation:
        rows = [row for row in generation.catalog.ledger("source") if row.status == "licence_restricted"]
    assert {row.work for row in rows} == set(made.missing)
    hits = other.service.query("what does the linear probe's train loop do?", k=60).hits
    left = [hit for hit in hits if hit.chunk.work in KEPT_IN]
    assert left
    assert all(hit.chunk.text.startswith("[This passage of ") and "no licence is known" in hit.chunk.text for hit in left)
    assert all(hit.chunk.start_line and hit.chunk.path for hit in left)


def test_what_was_left_out_is_fetched_again_and_is_the_same_to_the_last_hash(built, bundle, tmp_path, upstream):
    other = Demo(tmp_path, upstream.url, packaged=True)
    made = other.service.import_(Path(bundle.path))
    assert set(made.fetched) == KEPT_IN
    assert made.missing == {}
    assert made.content_hash == built.report.content_hash
    assert other.service.check() == ()
    assert {request.host for request in upstream.requests} == {"codeload.github.com", "export.arxiv.org"}


def test_an_import_without_a_network_is_completed_by_the_same_command_later(built, bundle, tmp_path, upstream):
    assert not Demo(tmp_path, "", offline=True).service.import_(Path(bundle.path)).whole
    later = Demo(tmp_path, upstream.url).service.import_(Path(bundle.path))
    assert later.content_hash == built.report.content_hash
    upstream.forget()
    assert Demo(tmp_path, upstream.url).service.import_(Path(bundle.path)).unchanged
    assert upstream.requests == []


def test_a_source_that_hands_out_something_else_now_is_not_taken_for_the_same(world, bundle, tmp_path):
    from tests.upstream import Upstream

    changed = {name: replace(repo, folder="repos/softcrop") if "probe" in name else repo for name, repo in world.repositories.items()}
    with Upstream(replace(world, repositories=changed)) as running:
        made = Demo(tmp_path, running.url).service.import_(Path(bundle.path))
    assert set(made.missing) == {"repo:github.com/fennlab/probe-bench"}
    assert "are not what they were" in made.missing["repo:github.com/fennlab/probe-bench"]
    assert not made.whole


def test_a_name_that_another_lineage_has_is_not_taken_from_it(bundle, tmp_path):
    other = Demo(tmp_path, "", offline=True)
    small_lineage.build(tmp_path, HashingEmbedder(), name=NAME)
    before = state(tmp_path)
    with pytest.raises(UsageError, match="another lineage"):
        other.service.import_(Path(bundle.path))
    assert state(tmp_path) == before
    assert other.service.import_(Path(bundle.path), name="theirs").lineage == "theirs"


def test_a_build_of_the_same_target_never_mistakes_an_import_for_its_own_work(whole, tmp_path):
    Demo(tmp_path, "", offline=True).service.import_(whole)
    with open_generation(tmp_path, NAME) as generation:
        assert generation.manifest.fingerprint == f"bundle:{read(whole).id}:whole"


def test_a_lexical_generation_travels_as_well(tmp_path):
    small_lineage.build(tmp_path / "a", pieces=small_lineage.chunks()[:2])
    with open_generation(tmp_path / "a", "small") as generation:
        export(generation, tmp_path / "small.lineage", "all")
    other = Demo(tmp_path / "b", "", offline=True)
    assert other.service.import_(tmp_path / "small.lineage").whole
    assert other.service.query("trunc_normal_ std").hits[0].chunk.path == "tent.py"


def test_a_bundle_of_the_fast_index_asks_for_no_other_embedder(tmp_path):
    small_lineage.build(tmp_path / "a", HashingEmbedder(name="static-8@x"), pieces=small_lineage.chunks()[:2])
    with open_generation(tmp_path / "a", "small") as generation:
        export(generation, tmp_path / "small.lineage", "all")
    made = Demo(tmp_path / "b", "", offline=True).service.import_(tmp_path / "small.lineage")
    assert [note for note in made.notes if "LINEAGE_EMBEDDER" in note] == []


# -- a stranger's file


def refused(path: Path, home: Path, match: str) -> None:
    before = state(home)
    with pytest.raises(BadBundle, match=match):
        Demo(home, "", offline=True).service.import_(path)
    assert state(home) - before <= {"blobs", "requests", "politeness"}
    assert not (home / "lineages").exists()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0" * 4096,
        b"PK\x03\x04",
        b"{}",
        b"SQLite format 3\0" + b"\0" * 4096,
        gzip.compress(b"x" * 100, mtime=0),
        gzip.compress(b"\0" * 100_000_000, mtime=0),
    ],
    ids=["empty", "zeros", "zip", "json", "sqlite", "gzip", "bomb"],
)
def test_what_is_no_bundle_is_refused_in_words(tmp_path, content):
    (tmp_path / "x.lineage").write_bytes(content)
    refused(tmp_path / "x.lineage", tmp_path / "home", "not a bundle|cannot be read as a bundle")


def test_a_file_that_is_not_there_is_said_to_be_missing(tmp_path):
    with pytest.raises(NotFound, match="no file"):
        read(tmp_path / "x.lineage")


@pytest.mark.parametrize("part", [1, 100, 5_000, -200])
def test_a_bundle_cut_short_is_refused(whole, tmp_path, part):
    (tmp_path / "x.lineage").write_bytes(whole.read_bytes()[:part])
    refused(tmp_path / "x.lineage", tmp_path / "home", "bundle")


def test_no_flipped_bit_gets_through(whole, tmp_path):
    content = whole.read_bytes()
    rng = np.random.default_rng(7)
    unnoticed = 0
    for n in rng.integers(10, len(content) - 10, 60):
        spoiled = bytearray(content)
        spoiled[n] ^= 1 << int(rng.integers(8))
        (tmp_path / "x.lineage").write_bytes(spoiled)
        try:
            unnoticed += read(tmp_path / "x.lineage").id != read(whole).id
        except BadBundle:
            continue
    assert unnoticed == 0


@pytest.mark.parametrize("name", ["../../evil", "/etc/passwd", "catalog.db", "index.faiss", "model.pkl", "gen/x", "C:evil", "a\nb"])
def test_members_with_other_names_are_refused_and_written_nowhere(whole, tmp_path, name):
    packed(tmp_path / "x.lineage", {**members(whole), name: b"x"})
    refused(tmp_path / "x.lineage", tmp_path / "home", "bundle")
    assert not [path for path in tmp_path.rglob("*") if path.name in {"evil", "catalog.db", "index.faiss", "model.pkl"}]


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_are_refused(whole, tmp_path, kind):
    info = tarfile.TarInfo("facts.jsonl")
    info.type, info.linkname = kind, "/etc/passwd"
    packed(tmp_path / "x.lineage", {k: v for k, v in members(whole).items() if k != "facts.jsonl"}, (info,))
    refused(tmp_path / "x.lineage", tmp_path / "home", "bundle")


def test_a_second_member_of_the_same_name_is_refused(whole, tmp_path):
    packed(tmp_path / "x.lineage", members(whole), (tarfile.TarInfo("facts.jsonl"),))
    refused(tmp_path / "x.lineage", tmp_path / "home", "bundle")


def test_a_member_that_is_not_as_its_hash_says_is_refused(whole, tmp_path):
    packed(tmp_path / "x.lineage", {**members(whole), "works.jsonl": members(whole)["works.jsonl"].replace(b"MIT", b"BSD")})
    refused(tmp_path / "x.lineage", tmp_path / "home", "works.jsonl is not what was written")


def _lines(path: Path, name: str) -> list[dict]:
    return [json.loads(line) for line in members(path)[f"{name}.jsonl"].splitlines()]


def _dumped(rows: list[dict]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def _with(rows: list[dict], **values: object) -> bytes:
    return _dumped([{**rows[0], **values}, *rows[1:]])


@pytest.mark.parametrize(
    ("member", "change"),
    [
        ("works", lambda rows: _with(rows, id="../../../etc/passwd")),
        ("works", lambda rows: _with(rows, title="changed")),
        ("works", lambda rows: _dumped(rows[1:])),
        ("works", lambda rows: b"[" * 100_000 + b"\n"),
        ("works", lambda rows: b'{"id": "arxiv:1", "title": "\\ud800"}\n'),
        ("references", lambda rows: _with(rows, score="NaN")),
        ("references", lambda rows: _dumped([*rows, rows[0]])),
        ("documents", lambda rows: _with(rows, text="other words")),
        ("documents", lambda rows: _with(rows, work="arxiv:0000.00000")),
        ("chunks", lambda rows: _dumped([{**rows[0], "chunk": {**rows[0]["chunk"], "end": 10**9}}, *rows[1:]])),
        ("chunks", lambda rows: _dumped([{**rows[0], "chunk": {**rows[0]["chunk"], "path": "nowhere"}}, *rows[1:]])),
        ("chunks", lambda rows: _dumped([{**rows[0], "chunk": {**rows[0]["chunk"], "symbol": "evil"}}, *rows[1:]])),
        ("ledger", lambda rows: _dumped([*rows, rows[0]])),
        ("ledger", lambda rows: _with(rows, status="fine")),
        ("facts", lambda rows: b"null\n"),
        ("links", lambda rows: b"\xff\xfe\n"),
    ],
)
def test_records_that_do_not_fit_are_refused_although_every_hash_is_right(whole, tmp_path, member, change):
    forged(whole, tmp_path / "x.lineage", **{member: change(_lines(whole, member))})
    refused(tmp_path / "x.lineage", tmp_path / "home", "x.lineage|jsonl|does not hold|sound")


@pytest.mark.parametrize("odd", ["\n", "\t", "\x1b[2J", "\x85", "\u2003", " ", "\u2028", "\u202e", "\u200b", "\u00ad", "\ufe0f", "\U000e0041"])
def test_an_identifier_that_a_reader_cannot_see_whole_is_none(odd):
    assert is_work("repo:github.com/a/b-c")
    assert not is_work(f"repo:github.com/a/b{odd}c")
    assert not is_work(f"arxiv:{odd}")
    assert doi_id(f"10.1000/a{odd}b") is None


@pytest.mark.parametrize(
    ("member", "field"),
    [("works", "id"), ("works", "aliases"), ("references", "cited"), ("links", "repo"), ("facts", "work"), ("ledger", "work"), ("documents", "path")],
)
def test_names_that_a_reader_cannot_see_whole_are_refused_wherever_they_stand(whole, tmp_path, member, field):
    name = "repo:github.com/a/\u202eb"
    forged(whole, tmp_path / "x.lineage", **{member: _with(_lines(whole, member), **{field: [name] if field == "aliases" else name})})
    refused(tmp_path / "x.lineage", tmp_path / "home", "not an identifier|cannot be seen")


@pytest.mark.parametrize("odd", ["\n", "\t", "\x1b[2J", "\x85", "\u2028", "\u202e", "\u200b", "\u00ad", "\U000e0041"])
def test_a_path_that_a_reader_cannot_see_whole_comes_neither_out_of_a_bundle_nor_out_of_an_archive(odd):
    assert not is_name(f"a{odd}b.py")
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        tar.addfile(tarfile.TarInfo(f"top/a{odd}b.py"))
    assert [member.status for member in repo_members(out.getvalue(), by_name)] == ["unsafe_path"]


def test_paths_of_honest_repositories_may_be_written_in_any_script():
    assert all(map(is_name, ["my file.py", "Übung/größe.py", "می\u200cخواهم.md", "⚠️ notes.md", "🧑\u200d🔬.ipynb", "報告　書.md", "a\u00a0b.py"]))


@pytest.mark.parametrize(
    ("member", "change"),
    [
        ("works", lambda row: row | {"year": 2**63}),
        ("references", lambda row: row | {"number": 10**30}),
        ("references", lambda row: row | {"distance": -(10**30)}),
        ("documents", lambda row: row | {"pages": 2**64}),
        ("chunks", lambda row: row | {"chunk": row["chunk"] | {"page": 2**64}}),
        ("chunks", lambda row: row | {"chunk": row["chunk"] | {"end_line": 2**64}}),
        ("facts", lambda row: row | {"line": 2**64}),
    ],
)
def test_numbers_that_no_catalogue_can_hold_are_refused(whole, tmp_path, member, change):
    rows = _lines(whole, member)
    forged(whole, tmp_path / "x.lineage", **{member: _dumped([change(rows[0]), *rows[1:]])})
    refused(tmp_path / "x.lineage", tmp_path / "home", "larger than any")


@pytest.mark.parametrize(
    ("key", "value"), [("source", "x"), ("source", None), ("source", 10**40), ("reference", 1), ("reference", True), ("member", -1), ("other", 3)]
)
def test_sums_of_the_ledger_that_are_none_are_refused(whole, tmp_path, key, value):
    forged_meta(whole, tmp_path / "x.lineage", **{f"ledger_in.{key}": value})
    refused(tmp_path / "x.lineage", tmp_path / "home", "its sum is another")


@pytest.mark.parametrize(
    "values", [{"depth": 10**9}, {"depth": -1}, {"papers": -5}, {"papers": 1e30}, {"repos": 501}, {"name": "../x"}, {"depth": "many"}]
)
def test_a_request_that_nobody_could_have_made_is_refused(whole, tmp_path, values):
    forged_request(whole, tmp_path / "x.lineage", **values)
    refused(tmp_path / "x.lineage", tmp_path / "home", "meta.json")


@pytest.mark.parametrize(
    "vectors",
    [np.ones((3, 4), np.float32), np.full((1, 384), np.nan, np.float32), np.array([{"a": 1}], object)],
    ids=["shape", "nan", "pickle"],
)
def test_vectors_that_are_none_are_refused_and_nothing_is_unpickled(whole, tmp_path, vectors):
    out = io.BytesIO()
    np.save(out, vectors, allow_pickle=True)
    found = {**members(whole), "vectors.npy": out.getvalue()}
    manifest = json.loads(found["manifest.json"])
    manifest["members"]["vectors.npy"] = {"size": len(out.getvalue()), "sha256": hashlib.sha256(out.getvalue()).hexdigest()}
    packed(tmp_path / "x.lineage", found | {"manifest.json": json.dumps(manifest).encode()})
    refused(tmp_path / "x.lineage", tmp_path / "home", "vectors.npy")


@pytest.mark.parametrize(
    "manifest",
    [
        b"[]",
        b"{",
        b"null",
        b'{"format": "lineage-bundle"}',
        b'{"format": "lineage-bundle", "version": 99}',
        b"[" * 100_000,
        b'{"format": "zip", "version": 1}',
    ],
)
def test_a_manifest_of_another_form_is_refused(whole, tmp_path, manifest):
    packed(tmp_path / "x.lineage", {**members(whole), "manifest.json": manifest})
    refused(tmp_path / "x.lineage", tmp_path / "home", "manifest|bundle")


@pytest.mark.parametrize("name", ["../x", "/x", "a/b", "", ".hidden", "x" * 200])
def test_a_bundle_that_names_its_lineage_like_a_path_is_refused(whole, tmp_path, name):
    found = members(whole)
    manifest = json.loads(found["manifest.json"]) | {"lineage": name}
    packed(tmp_path / "x.lineage", found | {"manifest.json": json.dumps(manifest).encode()})
    refused(tmp_path / "x.lineage", tmp_path / "home", "manifest.json")
