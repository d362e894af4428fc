"""`lineage check` finds what was to be kept out, whichever way it came in."""

from __future__ import annotations

import hashlib

import pytest

from indexer.store.blobs import Blobs
from indexer.store.generations import Store
from indexer.store.verify import verify
from indexer.transport.cache import Answers, CachedResponse, Request
from lineage.records import CodeLink, Document, Tier, Work, WorkId
from tests.upstream.archives import Member, tar_gz

TARGET = Work(WorkId("arxiv:2401.00001"), title="TinyMask: Masked Modelling for Small Encoders", aliases=(WorkId("doi:10.1/tiny.mask"),))
OWN = WorkId("repo:github.com/tiny/mask")
OTHER = WorkId("repo:github.com/some/one")
FILES = {f"mask/part{n}.py": f"def part{n}(x):\n    return x + {n}\n" + f"# the reason for part {n}\n" * 20 for n in range(4)}
HASHES = tuple(hashlib.sha256(text.encode()).hexdigest() for text in FILES.values())
ALONE = {"no_target_code": True, "blacklist": []}
LISTED = {"no_target_code": False, "blacklist": ["https://github.com/tiny/mask"]}


def document(work, path, text, kind="code", blob=""):
    return Document(work, path, text, (), "code@1", kind, blob=blob)


def build(home, *, works=(), documents=(), links=(), request=ALONE, names=(), name="small"):
    with Store(home).writing(name) as writing, writing.draft() as draft:
        with draft.catalog() as catalog:
            catalog.add_works([TARGET, *works])
            catalog.add_links(links)
            for one in documents:
                catalog.add_document(one)
            for key, value in {"target": TARGET.id, "request": request, "kept_out": list(HASHES), "kept_out_names": list(names)}.items():
                catalog.set_meta(key, value)
            catalog.finish()
        draft.commit(target=TARGET.id, fingerprint="f", made_by="test")


def problems(home, *, read_data=False):
    return [finding.problem for finding in verify(home, "small", read_data)]


INNOCENT = document(OTHER, "model.py", "def forward(x):\n    return x\n" * 30)


def test_a_lineage_that_kept_its_word_has_no_findings(tmp_path):
    build(
        tmp_path, works=[Work(OTHER, "code")], documents=[INNOCENT], links=[CodeLink(WorkId("arxiv:2006.10726"), OTHER, Tier.OFFICIAL)], names=[OWN]
    )
    assert problems(tmp_path) == []


def test_a_lineage_that_was_to_keep_nothing_out_may_hold_everything(tmp_path):
    copies = [document(OTHER, path, text) for path, text in FILES.items()]
    build(tmp_path, works=[Work(OWN, "code")], documents=copies, links=[CodeLink(TARGET.id, OWN, Tier.OFFICIAL)], request={})
    assert problems(tmp_path) == []


@pytest.mark.parametrize(
    ("planted", "said"),
    [
        ({"documents": [document(OWN, "a.py", "x = 1\n")], "names": [OWN]}, "github.com/tiny/mask is the target's own code"),
        ({"works": [Work(OTHER, "code", aliases=(OWN,))], "names": [OWN]}, "github.com/tiny/mask is the target's own code"),
        ({"works": [Work(OTHER, "code", meta={"fork_of": "tiny/mask"})], "names": [OWN]}, "a fork of github.com/tiny/mask"),
        ({"works": [Work(OTHER, "code")], "documents": [document(OTHER, p, t) for p, t in FILES.items()]}, "4 of its 4 files are files of"),
        (
            {"documents": [document(OTHER, "README.md", f"# Official code of {TARGET.title}\nThis is the code of the paper.\n", "docs")]},
            "its README says that it is the target's code",
        ),
        ({"links": [CodeLink(TARGET.id, OWN, Tier.OFFICIAL, ("latex",))]}, "the target's own code (official, said by latex)"),
        ({"links": [CodeLink(WorkId("doi:10.1/tiny.mask"), OTHER, Tier.AUTHOR, ("readme",))]}, "the target's own code (author, said by readme)"),
        ({"works": [Work(OWN, "code")], "request": LISTED}, "on the blacklist: github.com/tiny/mask"),
        ({"works": [Work(OTHER, "code", meta={"fork_of": "tiny/mask"})], "request": LISTED}, "a fork of github.com/tiny/mask: on the blacklist"),
        ({"links": [CodeLink(TARGET.id, OWN, Tier.MENTIONED)], "request": LISTED}, "on the blacklist: github.com/tiny/mask"),
    ],
    ids=["documents", "former name", "fork", "identical files", "readme", "link", "link by another id", "listed", "fork of listed", "listed link"],
)
def test_what_was_to_be_kept_out_is_found(tmp_path, planted, said):
    build(tmp_path, **planted)
    found = problems(tmp_path)
    assert len(found) == 1
    assert said in found[0]
    assert "was to be kept out" in found[0]


def plant_tarball(home, repo, files):
    blobs = Blobs(home)
    request = Request("GET", f"https://codeload.github.com/{repo}/tar.gz/{'a' * 40}")
    blob = blobs.put(tar_gz([Member(f"x-{'a' * 40}/{path}", text.encode()) for path, text in files.items()]), "application/gzip", request.url)
    Answers(home, blobs).keep(request, CachedResponse(200, {}, blob, request.url))
    return blob


def test_a_tarball_of_the_targets_code_that_stayed_in_the_store_is_found(tmp_path):
    build(tmp_path, names=[OWN])
    plant_tarball(tmp_path, "tiny/mask", FILES)
    assert problems(tmp_path) == [
        "is the tarball of repo:github.com/tiny/mask, which small was to keep out: github.com/tiny/mask is the target's own code"
    ]


def test_a_copy_under_another_name_is_found_by_what_is_in_it(tmp_path):
    build(tmp_path, names=[OWN])
    plant_tarball(tmp_path, "who/ever", FILES)
    assert problems(tmp_path) == []
    assert "4 of its 4 files are files of the target's own code" in problems(tmp_path, read_data=True)[0]


def test_a_tarball_that_another_lineage_holds_is_its_own(tmp_path):
    build(tmp_path, names=[OWN])
    plant_tarball(tmp_path, "tiny/mask", FILES)
    build(tmp_path, documents=[document(OWN, "a.py", "x = 1\n", blob="a" * 40)], request={}, name="other")
    assert problems(tmp_path, read_data=True) == []
