from __future__ import annotations

import gzip
import io
import os
import tarfile
from contextlib import ExitStack
from pathlib import Path

import pytest

from indexer.sources.arxiv import Arxiv, is_withdrawn
from lineage import ids
from lineage.errors import SourceError
from lineage.records import Status
from tests.fakes.http import transport
from tests.upstream import Fault, Faults, Upstream, World
from tests.upstream.faults import Gzip, LieAboutLength, ReplaceBody, Shorten, Truncate, captcha
from tests.upstream.faults import Status as Says

TEX = rb"\documentclass{article}\begin{document}Hello\end{document}"


def paper(n, **more):
    return {
        "key": f"{n:040x}",
        "title": f"Paper\n  {n}",
        "corpus": n,
        "arxiv": f"2504.{n:05d}",
        "published": "2025-04-01T00:00:00Z",
        "authors": ["Ada L."],
    } | more


@pytest.fixture
def ask(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    (tmp_path / "data/source").mkdir(parents=True)
    (tmp_path / "data/source/main.tex").write_bytes(TEX)
    (tmp_path / "data/one.tex").write_bytes(TEX)
    (tmp_path / "data/withdrawn.tex").write_bytes(b"%auto-ignore\nThis paper has been withdrawn by the authors.\n")
    (tmp_path / "data/paper.pdf").write_bytes(b"%PDF-1.7\n%%EOF\n")

    with ExitStack() as stack:

        def asked(papers, *faults, **flags):
            upstream = stack.enter_context(Upstream(World.of({"papers": papers}, tmp_path / "data"), Faults(faults)))
            arxiv = Arxiv(stack.enter_context(transport(tmp_path, upstream.url, **flags)))
            arxiv.upstream = upstream
            return arxiv

        yield asked


def test_an_entry_has_its_version_comment_categories_and_links(ask):
    arxiv = ask([paper(1, doi="10.1000/X", comment="8 pages", versions=3, abstract="We  do\nthings.", categories=["cs.LG", "stat.ML"])])
    work = arxiv.paper(ids.parse("2504.00001"))
    assert (work.id, work.aliases, work.title, work.authors, work.year, work.abstract) == (
        "arxiv:2504.00001",
        ("doi:10.1000/x",),
        "Paper 1",
        ("Ada L.",),
        2025,
        "We do things.",
    )
    assert work.meta == {
        "version": 3,
        "comment": "8 pages",
        "categories": "cs.LG stat.ML",
        "published": "2025-04-01",
        "updated": "2025-04-01",
        "pdf_url": "https://arxiv.org/pdf/2504.00001v3",
    }


def test_many_papers_take_one_request_and_missing_ones_are_absent(ask):
    arxiv = ask([paper(n) for n in range(1, 61)])
    wanted = [ids.arxiv_id(f"2504.{n:05d}")[0] for n in range(1, 70)]
    assert sorted(arxiv.papers([*wanted, "doi:10.1/x", "s2:" + "a" * 40])) == [f"arxiv:2504.{n:05d}" for n in range(1, 61)]
    assert len(arxiv.upstream.requests) == 1


def test_old_identifiers_are_asked_for_as_they_are(ask):
    arxiv = ask([paper(1, arxiv="hep-th/9901001")])
    assert list(arxiv.papers(["arxiv:hep-th/9901001"])) == ["arxiv:hep-th/9901001"]


def test_an_identifier_that_arxiv_chokes_on_does_not_take_the_others_with_it(ask):
    error = b"""<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>http://arxiv.org/api/errors#incorrect_id_format_for_x</id>
    <title>Error</title><summary>incorrect id format for x</summary></entry></feed>"""
    arxiv = ask([paper(n) for n in range(1, 9)], Fault(r"2504\.00003", ReplaceBody(error)))
    found = arxiv.papers([ids.arxiv_id(f"2504.{n:05d}")[0] for n in range(1, 9)])
    assert sorted(found) == [f"arxiv:2504.{n:05d}" for n in (1, 2, 4, 5, 6, 7, 8)]


def test_an_empty_feed_is_asked_for_once_more_because_arxiv_sends_them_by_mistake(ask):
    empty = b'<feed xmlns="http://www.w3.org/2005/Atom"></feed>'
    arxiv = ask([paper(1)], Fault("api/query", ReplaceBody(empty), times=1))
    assert list(arxiv.papers(["arxiv:2504.00001"])) == ["arxiv:2504.00001"]


ENTRY = '<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>http://arxiv.org/abs/2504.00001v1</id>{}</entry></feed>'


@pytest.mark.parametrize("inner", ["", "<updated>2025-01-01T00:00:00Z</updated>", "<title>x</title>"])
def test_an_entry_without_its_dates_is_absent(ask, inner):
    arxiv = ask([paper(1)], Fault("api/query", ReplaceBody(ENTRY.format(inner).encode())))
    assert arxiv.papers(["arxiv:2504.00001"]) == {}


def test_a_date_that_is_none_makes_the_feed_unreadable(ask):
    arxiv = ask([paper(1)], Fault("api/query", ReplaceBody(ENTRY.format("<updated>soon</updated>").encode())))
    with pytest.raises(SourceError) as error:
        arxiv.papers(["arxiv:2504.00001"])
    assert error.value.status is Status.WRONG_TYPE


@pytest.mark.parametrize(
    ("action", "status"),
    [
        (Says(503), Status.UPSTREAM_5XX),
        (Says(403), Status.FORBIDDEN),
        (captcha(), Status.WRONG_TYPE),
        (Truncate(), Status.TRUNCATED),
        (Shorten(), Status.TRUNCATED),
    ],
)
def test_every_failure_is_a_source_error(ask, action, status):
    arxiv = ask([paper(1)], Fault(".", action))
    with pytest.raises(SourceError) as error:
        arxiv.papers(["arxiv:2504.00001"])
    assert error.value.status is status


def test_the_package_neither_waits_nor_retries_by_itself(ask):
    arxiv = ask([paper(1)], Fault(".", Says(500)))
    with pytest.raises(SourceError):
        arxiv.papers(["arxiv:2504.00001"])
    assert len(arxiv.upstream.requests) == 5


def test_an_eprint_is_what_its_bytes_are(ask):
    arxiv = ask([paper(1, source="source"), paper(2, source="one.tex"), paper(3, pdf="paper.pdf")])
    kinds = [arxiv.eprint(ids.arxiv_id(f"2504.{n:05d}")[0]).media_type for n in (1, 2, 3)]
    assert kinds == ["application/gzip", "application/gzip", "application/pdf"]


def test_a_version_is_part_of_the_address(ask):
    arxiv = ask([paper(1, source="source", versions=3)])
    arxiv.eprint("arxiv:2504.00001", "v2")
    assert [request.path for request in arxiv.upstream.requests] == ["/e-print/2504.00001v2"]


@pytest.mark.parametrize(
    ("action", "status", "words"),
    [
        (ReplaceBody(b"%!PS-Adobe-2.0\n"), Status.WRONG_TYPE, "PostScript"),
        (captcha(), Status.WRONG_TYPE, "web page"),
        (ReplaceBody(b""), Status.TRUNCATED, "empty"),
        (ReplaceBody(b"\x00\x01\x02\x03" * 100), Status.WRONG_TYPE, "unknown format"),
        (Truncate(0.3), Status.TRUNCATED, ""),
        (Shorten(0.6), Status.TRUNCATED, "ends in the middle"),
        (LieAboutLength(-20), Status.TRUNCATED, ""),
        (Says(404), Status.NOT_FOUND, ""),
        (Says(403), Status.FORBIDDEN, ""),
    ],
)
def test_a_bad_eprint_says_what_came_instead(ask, action, status, words):
    arxiv = ask([paper(1, source="source")], Fault("e-print", action))
    with pytest.raises(SourceError, match=words or None) as error:
        arxiv.eprint("arxiv:2504.00001")
    assert error.value.status is status


def test_a_withdrawn_paper_has_no_source(ask):
    arxiv = ask([paper(1, source="withdrawn.tex")])
    with pytest.raises(SourceError) as error:
        arxiv.eprint("arxiv:2504.00001")
    assert error.value.status is Status.WITHDRAWN


def test_a_source_that_a_server_calls_compressed_is_kept_as_it_came(ask):
    arxiv = ask([paper(1, source="source")], Fault("e-print", Gzip(times=0, declared=1)))
    blob = arxiv.eprint("arxiv:2504.00001")
    data = arxiv._transport.blobs.get(blob.sha256)
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(data))) as tar:
        assert tar.getnames() == ["main.tex"]


def test_a_pdf_is_a_pdf_or_an_error(ask):
    arxiv = ask([paper(1, pdf="paper.pdf"), paper(2, source="source")])
    assert arxiv.pdf("arxiv:2504.00001").media_type == "application/pdf"
    with pytest.raises(SourceError) as error:
        arxiv.pdf("arxiv:2504.00002")
    assert error.value.status is Status.NOT_FOUND
    arxiv = ask([paper(3, pdf="paper.pdf")], Fault("/pdf/", ReplaceBody(TEX)))
    with pytest.raises(SourceError, match="tex came instead of the PDF"):
        arxiv.pdf("arxiv:2504.00003")


@pytest.mark.parametrize(
    ("comment", "abstract", "withdrawn"),
    [
        ("This paper has been withdrawn by the author due to an error in Lemma 2.", "", True),
        ("Withdrawn", "", True),
        ("", "This submission has been withdrawn by arXiv administrators.", True),
        ("8 pages. Accepted at ICML.", "We study how cash is withdrawn from machines.", False),
        ("", "", False),
    ],
)
def test_withdrawal_is_read_from_the_comment_or_the_beginning_of_the_abstract(comment, abstract, withdrawn):
    assert is_withdrawn(comment, abstract) is withdrawn


def test_nothing_of_an_eprint_is_written_but_the_blob_and_the_request(ask, tmp_path):
    ask([paper(1, source="source")]).eprint("arxiv:2504.00001")
    written = {path.relative_to(tmp_path).parts[0] for path in Path(tmp_path).rglob("*") if path.is_file()} - {"data"}
    assert written == {"blobs", "requests", "politeness"}
