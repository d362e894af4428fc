from __future__ import annotations

import gzip
import io
import os
import tarfile

import pytest

from indexer.sources import local
from lineage.errors import NotFound, UsageError
from lineage.records import Status

TEX = b"\\documentclass{article}\\begin{document}Hello\\end{document}"
PDF = b"%PDF-1.7\n%%EOF\n"


def test_a_pdf_a_tex_file_and_an_eprint_are_papers_by_their_bytes(tmp_path):
    for name, data, media_type in (
        ("paper.pdf", PDF, "application/pdf"),
        ("paper.tex", TEX, "text/x-tex"),
        ("plain.tex", b"Hello, I am plain.", "text/x-tex"),
        ("paper.tar.gz", gzip.compress(TEX, mtime=0), "application/gzip"),
        ("misnamed.tex", PDF, "application/pdf"),
    ):
        (tmp_path / name).write_bytes(data)
        found = local.paper(tmp_path / name)
        assert (found.data, found.media_type, found.work.kind) == (data, media_type, "paper")


def test_a_paper_is_named_by_its_content_and_called_by_its_file(tmp_path):
    for name in ("one.pdf", "two.tar.gz"):
        (tmp_path / name).write_bytes(PDF)
    one, two = local.paper(tmp_path / "one.pdf").work, local.paper(tmp_path / "two.tar.gz").work
    assert one.id == two.id
    assert one.id.startswith("local:")
    assert (one.title, two.title, one.meta) == ("one", "two", {"file": "one.pdf"})


@pytest.mark.parametrize(
    ("content", "words"), [(b"", "is empty"), (b"<html></html>", "html"), (b"PK\x03\x04", "zip"), (b"just text", "text"), (b"\0\1\2" * 50, "binary")]
)
def test_what_is_no_paper_is_refused_in_words(tmp_path, content, words):
    (tmp_path / "x.pdf").write_bytes(content)
    with pytest.raises(UsageError, match=words):
        local.paper(tmp_path / "x.pdf")


def test_a_path_that_is_not_there_is_not_found(tmp_path):
    for read in (local.paper, local.code):
        with pytest.raises(NotFound, match="there is no"):
            read(tmp_path / "nothing.pdf")


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.pdf")
    with pytest.raises(UsageError, match="not a regular file"):
        local.paper(tmp_path / "pipe.pdf")


def test_a_folder_of_tex_is_a_paper_packed_like_an_eprint(tmp_path):
    (tmp_path / "sections").mkdir()
    (tmp_path / "main.tex").write_bytes(TEX)
    (tmp_path / "sections/one.tex").write_bytes(b"One.")
    (tmp_path / "refs.bib").write_bytes(b"@misc{a}")
    (tmp_path / "figure.png").write_bytes(b"\x89PNG\0\0")
    (tmp_path / "stolen.tex").symlink_to("/etc/passwd")
    assert not local.is_code(tmp_path)
    found = local.paper(tmp_path)
    assert found == local.paper(tmp_path)
    with tarfile.open(fileobj=io.BytesIO(found.data)) as tar:
        assert [(member.name, member.isreg()) for member in tar] == [
            ("figure.png", False),
            ("main.tex", True),
            ("refs.bib", True),
            ("stolen.tex", False),
            ("sections/one.tex", True),
        ]
    assert b"root:" not in found.data


def test_a_folder_of_code_gives_every_file_once_read_or_with_its_reason(tmp_path):
    root = tmp_path / "repo"
    for name, content in {
        "train.py": b"lr = 1e-3\n",
        "conf/a.yaml": b"lr: 1\n",
        "model.py": b"\0\1\2",
        "weights.pt": b"x",
        "big.py": b"#" * 3_000_000,
        ".git/config": b"[core]",
        "node_modules/x/y.js": b"x",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)
    (root / "link.py").symlink_to("/etc/passwd")
    (root / "loop").symlink_to(root)
    os.mkfifo(root / "pipe.py")
    assert local.is_code(root)
    found = local.code(root)
    assert {member.name: member.status for member in found.members} == {
        ".git": Status.POLICY_SKIPPED,
        "big.py": Status.TOO_LARGE,
        "link.py": Status.POLICY_SKIPPED,
        "loop": Status.POLICY_SKIPPED,
        "model.py": Status.POLICY_SKIPPED,
        "node_modules": Status.POLICY_SKIPPED,
        "pipe.py": Status.POLICY_SKIPPED,
        "train.py": Status.OK,
        "weights.pt": Status.POLICY_SKIPPED,
        "conf/a.yaml": Status.OK,
    }
    assert {member.name: member.data for member in found.members if member.data} == {"train.py": b"lr = 1e-3\n", "conf/a.yaml": b"lr: 1\n"}
    assert all(member.detail for member in found.members if member.data is None)
    assert (found.work.kind, found.work.title) == ("code", "repo")


def test_a_folder_is_named_by_its_content_not_by_its_place(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.py").write_text("x = 1\n")
    one, two = local.code(tmp_path / "one"), local.code(tmp_path / "two")
    assert (one.work.id, one.digest) == (two.work.id, two.digest)
    (tmp_path / "two/a.py").write_text("x = 2\n")
    assert local.code(tmp_path / "two").work.id != one.work.id


def test_a_folder_without_anything_to_read_is_refused(tmp_path):
    with pytest.raises(UsageError, match="no file that can be read"):
        local.code(tmp_path)
    with pytest.raises(UsageError, match="no TeX document"):
        local.paper(tmp_path)


def test_names_that_are_no_unicode_are_kept_readable(tmp_path):
    (tmp_path / os.fsdecode(b"caf\xe9.py")).write_text("x = 1\n")
    assert [member.name for member in local.code(tmp_path).members] == ["caf\\xe9.py"]


def test_a_repository_that_keeps_its_paper_beside_the_code_is_code_and_an_eprint_with_a_script_is_a_paper(tmp_path):
    for name in ("paper/main.tex", "a.py", "b.py", "c.sh"):
        (tmp_path / "repo" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "repo" / name).write_text(r"\documentclass{article}\begin{document}x\end{document}")
    for name in ("main.tex", "method.tex", "macros.sty", "plot.py"):
        (tmp_path / "paper" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "paper" / name).write_text(r"\documentclass{article}\begin{document}x\end{document}")
    assert local.is_code(tmp_path / "repo")
    assert not local.is_code(tmp_path / "paper")
