"""Files that a user names are read whole or refused with the line that is wrong, and written only where a file may be."""

from __future__ import annotations

import io
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from api.cli import files
from lineage.errors import BadBundle, SettingsError, UsageError
from retrieval.evaluation import Gold


@pytest.fixture
def written(tmp_path):
    """A file of this content."""

    def write(content, name="rows.jsonl"):
        path = tmp_path / name
        path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
        return path

    return write


def test_objects_come_with_their_lines_and_blank_lines_are_passed_over(written):
    assert list(files.objects(written('\ufeff{"a": 1}\r\n\n  \n{"b": 2}\n'))) == [(1, {"a": 1}), (4, {"b": 2})]


def test_other_ends_of_lines_inside_of_a_text_end_no_object(written):
    assert list(files.objects(written('{"a": "x\u2028y\u0085z"}\n{"b": 1}'))) == [(1, {"a": "x\u2028y\u0085z"}), (2, {"b": 1})]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"a": 1}\n\n{"a": ', "line 3: not JSON"),
        ('{"a": 1}\n[1]', "line 2: a JSON object is expected"),
        ("[" * 100_000, "line 1: not JSON"),
        (b"\xff\xfe{}", "is not UTF-8 text"),
    ],
)
def test_a_line_that_is_no_object_is_named(written, content, said):
    with pytest.raises(UsageError, match=said):
        list(files.objects(written(content)))


def test_as_many_lines_and_bytes_as_are_said_are_taken_and_no_more(written, monkeypatch):
    monkeypatch.setattr(files, "MAX_BATCH", 3)
    monkeypatch.setattr(files, "MAX_FILE", 9)
    assert len(list(files.objects(written("{}\n{}\n{}\n")))) == 3
    with pytest.raises(UsageError, match="more than 9 bytes"):
        list(files.objects(written("{}\n{}\n{}\n ")))
    monkeypatch.setattr(files, "MAX_FILE", 99)
    with pytest.raises(UsageError, match="4 lines; at most 3"):
        list(files.objects(written("{}\n{}\n{}\n{}")))


def test_what_cannot_be_opened_says_why(tmp_path):
    for path, said in ((tmp_path / "none", "No such file"), (tmp_path, "Is a directory")):
        with pytest.raises(UsageError, match=f"cannot be read: {said}"):
            list(files.objects(path))
        with pytest.raises(SettingsError, match="cannot be read"):
            files.fragments(path)


def test_questions_go_by_either_name_and_need_an_id(written):
    assert files.questions(written('{"id": 7, "text": "a"}\n{"id": "x", "query": "b"}')) == ([("7", "a"), ("x", "b")], True)
    for row in ('{"text": "a"}', '{"id": 1}', '{"id": 1, "text": null}'):
        with pytest.raises(UsageError, match=r'line 1: \{"id": …, "text": …\} is expected'):
            files.questions(written(row))


@pytest.mark.parametrize("text", ['""', '"  "', "7", '["a"]'])
def test_a_question_is_a_text_with_words(written, text):
    with pytest.raises(UsageError, match="line 1: `text` must be a question"):
        list(files.questions(written(f'{{"id": 1, "text": {text}}}')))


def test_a_batch_comes_from_standard_input_too(monkeypatch):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b'{"id": 1, "text": "a"}\n')))
    assert files.questions(Path("-")) == ([("1", "a")], True)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"nothing")))
    assert files.questions(Path("-")) == ([("1", "nothing")], False)


def test_a_gold_file_is_of_the_one_lineage_that_all_of_its_lines_name(written):
    assert files.lineage_of(written('{"lineage": "a"}\n{"lineage": "a"}')) == "a"
    assert files.lineage_of(written('{"lineage": "a"}\n{}')) == ""
    assert files.lineage_of(written('{"lineage": "a"}\n{"lineage": "b"}')) == ""
    assert files.lineage_of(written("")) == ""


def test_cases_are_those_of_a_lineage_numbered_by_their_lines(written):
    row = '"query": "?", "gold": "c_1"'
    path = written(f'{{{row}}}\n{{{row}, "lineage": "b"}}\n{{{row}, "lineage": "a", "id": "own"}}\n{{{row}, "lineage": null}}')
    assert [(case.id, case.gold) for case in files.cases(path, "a")] == [(name, ((Gold(chunk="c_1"),),)) for name in ("1", "own", "4")]
    assert len(files.cases(path, "b")) == 3
    with pytest.raises(UsageError, match="has no question for c"):
        files.cases(written(f'{{{row}, "lineage": "a"}}'), "c")
    with pytest.raises(UsageError, match="line 2: there is no query"):
        files.cases(written(f'{{{row}}}\n{{"gold": "c"}}'), "a")


def test_fragments_are_one_a_line_without_comments(written):
    assert files.fragments(written("# all of it\n github.com/a/b \r\n\n#x\ngithub.com/c#d\n")) == ("github.com/a/b", "github.com/c#d")
    assert files.fragments(None) == ()


def test_a_file_may_be_new_or_replaced_and_nothing_else_may(tmp_path):
    (tmp_path / "old").touch()
    assert files.writable(tmp_path / "new") == tmp_path / "new"
    assert files.writable(tmp_path / "old") == tmp_path / "old"
    (tmp_path / "link").symlink_to(tmp_path / "old")
    (tmp_path / "dangling").symlink_to(tmp_path / "none")
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "dangling", "pipe", "."):
        with pytest.raises(UsageError, match="exists and is not a regular file"):
            files.writable(tmp_path / name)
    with pytest.raises(UsageError, match="there is no folder"):
        files.writable(tmp_path / "none" / "x")


def test_a_path_is_made_absolute_and_an_identifier_is_not(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "paper.tex").touch()
    assert files.absolute("paper.tex") == str((tmp_path / "paper.tex").resolve())
    for text in ("https://arxiv.org/abs/2504.17192", "arxiv:2504.17192", "no such thing"):
        assert files.absolute(text) == text


@pytest.mark.parametrize(("content", "said"), [(b"", "it is empty"), (b"just words", "it is plain text"), (b"%PDF-1.5\n", "it is a pdf file")])
def test_what_is_no_archive_is_told_by_what_it_is(written, content, said):
    with pytest.raises(BadBundle, match=said):
        files.check_archive(written(content))


def test_an_archive_and_what_others_will_tell_of_are_let_through(written, tmp_path):
    files.check_archive(written(b"\x1f\x8b\x08" + bytes(20)))
    files.check_archive(tmp_path / "none")
