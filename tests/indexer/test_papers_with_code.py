"""The Papers-with-Code archive: read as a stream, joined by arXiv id or title, and refused in words where it is none."""

from __future__ import annotations

import gzip
import json

import pytest

from indexer.sources import papers_with_code
from indexer.sources.papers_with_code import PapersWithCode, rows
from lineage.errors import ParseError, SettingsError
from lineage.records import Status, Tier, Work, WorkId
from tests.demo import Demo

ROWS = [
    {"paper_arxiv_id": "2006.10726", "paper_title": "Tent", "repo_url": "https://github.com/DequanWang/tent", "is_official": True},
    {"paper_arxiv_id": "2006.10726v3", "paper_title": "Tent", "repo_url": "https://github.com/some/port", "is_official": False},
    {"paper_arxiv_id": None, "paper_title": "A Müller's View: Of Things!", "repo_url": "https://github.com/a/view", "mentioned_in_paper": True},
    {"paper_arxiv_id": "1111.22222", "paper_title": "Another", "repo_url": "https://github.com/another/one", "is_official": True},
    {"paper_arxiv_id": "2006.10726", "paper_title": "Tent", "repo_url": "nowhere", "is_official": True},
    {"paper_arxiv_id": 7, "paper_title": ["x"], "repo_url": {}},
    {},
]
TENT, VIEW = (
    Work(WorkId("s2:abc"), title="TENT: fully", aliases=(WorkId("arxiv:2006.10726"),)),
    Work(WorkId("s2:def"), title="A Müller's view of things"),
)


@pytest.fixture(params=["links.json", "links.json.gz"])
def archive(tmp_path, request):
    path = tmp_path / request.param
    text = json.dumps(ROWS, ensure_ascii=False, indent=1).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


def test_links_are_joined_by_arxiv_id_and_by_title_and_say_who_said_so(archive):
    found = PapersWithCode(archive).links([TENT, VIEW])
    assert [(link.paper, link.repo, link.tier, link.said_by) for link in found] == [
        ("s2:abc", "repo:github.com/DequanWang/tent", Tier.OFFICIAL, ("papers-with-code",)),
        ("s2:abc", "repo:github.com/some/port", Tier.REIMPLEMENTATION, ("papers-with-code",)),
        ("s2:def", "repo:github.com/a/view", Tier.MENTIONED, ("papers-with-code",)),
    ]


def test_rows_come_whole_however_the_blocks_fall(archive, monkeypatch):
    for size in (1, 7, 64):
        monkeypatch.setattr(papers_with_code, "_BLOCK", size)
        assert list(rows(archive)) == ROWS


def test_an_empty_list_has_no_rows(tmp_path):
    path = tmp_path / "a.json"
    path.write_text("\ufeff [ ]\n")
    assert list(rows(path)) == []


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"", Status.WRONG_TYPE),
        (b'{"a": 1}', Status.WRONG_TYPE),
        (b"[1, 2]", Status.WRONG_TYPE),
        (b"[" + b'{"a":' * 200_000, Status.WRONG_TYPE),
        (b'[{"a": 1}', Status.TRUNCATED),
        (b'[{"a": 1}, {"b', Status.TRUNCATED),
        (b'[{"a": 1}, {b: 2}]', Status.TRUNCATED),
        (b'[{"a": "' + b"x" * 3_000_000, Status.TOO_LARGE),
        (gzip.compress(json.dumps(ROWS).encode())[:-20], Status.BAD_ARCHIVE),
        (b"\x1f\x8bnothing", Status.BAD_ARCHIVE),
        (b"[" + b" " * 100_000 + b"]]]" + b"\xff\xfe", None),
    ],
    ids=["empty", "object", "numbers", "nested", "open", "cut", "no JSON", "long row", "cut gzip", "no gzip", "tail"],
)
def test_a_file_that_is_no_archive_is_a_typed_error(tmp_path, content, status):
    path = tmp_path / "links.json"
    path.write_bytes(content)
    if status is None:
        assert list(rows(path)) == []
        return
    with pytest.raises(ParseError) as error:
        list(rows(path))
    assert error.value.status is status


def test_more_rows_than_there_can_be_are_too_large(tmp_path, monkeypatch):
    path = tmp_path / "links.json"
    path.write_text("[" + "{}," * 500 + "{}]")
    monkeypatch.setattr(papers_with_code, "MAX_ROWS", 100)
    monkeypatch.setattr(papers_with_code, "_BLOCK", 100)
    with pytest.raises(ParseError) as error:
        list(rows(path))
    assert error.value.status is Status.TOO_LARGE


def test_a_setting_that_names_no_file_is_refused_in_words(tmp_path):
    with pytest.raises(SettingsError, match="links_archive"):
        PapersWithCode(tmp_path / "none.json")


def test_a_build_takes_its_links_and_a_broken_file_is_a_row(tmp_path, upstream):
    archive = tmp_path / "links.json"
    archive.write_text(json.dumps([{"paper_arxiv_id": "9907.00106", "repo_url": "https://github.com/warm/flat", "is_official": True}]))
    demo = Demo(tmp_path / "home", upstream.url, links_archive=archive)
    demo.build(papers=0, repos=0)
    assert ("arxiv:9907.00106", "repo:github.com/warm/flat") in {(link.paper, link.repo) for link in demo.service.show().links}
    archive.write_text("[")
    made = demo.build(papers=0, repos=0)
    assert {row.subject: row.status for row in made.losses}["code links by papers-with-code"] is Status.TRUNCATED
