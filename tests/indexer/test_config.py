"""Configuration by top-level key, nothing interpreted."""

from __future__ import annotations

import pytest

from indexer.chunking.chunker import chunks
from indexer.parsers import config
from lineage.errors import ParseError
from lineage.records import Document, Status, WorkId


def parse(path: str, text: str) -> Document:
    return config.parse(path, text.encode(), WorkId("w"), "b")


def keys(document: Document) -> list[tuple[str, str]]:
    return [(".".join(span.path), document.text[span.start : span.end]) for span in document.spans]


def test_yaml_is_cut_at_its_top_level_keys_with_their_comments() -> None:
    text = "# what we ran\nlr: 1e-4  # peak\nmodel:\n  dim: 8\n\n# data\n'data':\n  - a\n"
    assert keys(parse("c.yaml", text)) == [
        ("lr", "# what we ran\nlr: 1e-4  # peak"),
        ("model", "model:\n  dim: 8"),
        ("data", "# data\n'data':\n  - a"),
    ]


def test_json_is_cut_at_its_members() -> None:
    text = '{\n "lr": 1e-4,\n "model": {\n  "dim": [1,\n 2]\n },\n "s": "a\\"b"\n}\n'
    assert keys(parse("c.json", text)) == [("lr", ' "lr": 1e-4,'), ("model", ' "model": {\n  "dim": [1,\n 2]\n },'), ("s", ' "s": "a\\"b"')]


@pytest.mark.parametrize(
    ("path", "text", "names"),
    [
        ("p.toml", "name = 1\n[tool.x]\na = 2\n[[y]]\nb = 3\n", ["name", "tool.x", "a", "y", "b"]),
        ("p.ini", "[train]\nlr = 1\n", ["train", "lr"]),
        ("c.gin", "import x\ntrain.lr = 0.1\nscope/Adam.beta = 0.9\n", ["train", "scope/Adam"]),
        ("Dockerfile", "FROM x\nRUN y \\\n  z\n", ["FROM", "RUN"]),
        ("Makefile", "A := 1\nall: b\n\tgo\n", ["A", "all"]),
        ("requirements.txt", "torch==2\nnumpy\n\npytest\n", ["", ""]),
    ],
)
def test_other_forms_are_cut_by_their_lines(path: str, text: str, names: list[str]) -> None:
    assert [".".join(span.path) for span in parse(path, text).spans] == names


def test_templates_and_comments_that_a_strict_parser_refuses_are_read() -> None:
    assert [name for name, _ in keys(parse("c.yaml", "a: {{ x }}\nb: *nowhere\nc: !!python/object/apply:os.system ['ls']\n"))] == ["a", "b", "c"]
    broken = parse("c.json", '{"a": 1, // why\n "b": 2}\n')
    assert [name for name, _ in keys(broken)] == ["b"]
    assert (broken.status, broken.detail) == (Status.OK_REPAIRED, "not valid JSON; cut by lines")


@pytest.mark.parametrize(
    "text",
    [
        "[" + "1,\n" * 300 + "1]",
        "{" + ",\n".join(f'"k{n}": {n}' for n in range(3_000)) + "}",
        '{"a": [' + "0.123456," * 1_000 + "1]}",
    ],
)
def test_json_that_holds_data_is_refused_with_its_reason(text: str) -> None:
    with pytest.raises(ParseError, match="data, not configuration") as caught:
        parse("c.json", text)
    assert caught.value.status is Status.POLICY_SKIPPED


def test_prompts_on_one_line_of_json_are_kept() -> None:
    document = parse("prompts.json", '{"a": "' + "Think step by step. " * 400 + '", "b": "Act."}')
    assert keys(document) == [("a", document.text)]


@pytest.mark.parametrize("text", ["", "{", '{"a"', '{"a":', "[" * 50_000, '{"a":' * 50_000, ": : :", "\\\n" * 9])
@pytest.mark.parametrize("path", ["a.json", "a.yaml", "a.toml", "a.gin", "Makefile"])
def test_garbage_gives_a_document_or_a_parse_error(path: str, text: str) -> None:
    assert parse(path, text).text == text


def test_a_long_section_of_yaml_is_cut_between_its_keys_which_are_named_by_their_path() -> None:
    layers = "".join(f"    layer_{n}:\n      width: {n}\n      depth: {n}\n" for n in range(20))
    text = "lr: 0.1\nmodel:\n  name: vit\n  encoder:\n" + layers + "  head: linear\nseed: 1\n"
    found = chunks(config.parse("c.yaml", text.encode(), WorkId("w"), "b"))
    assert [(chunk.start_line, chunk.end_line) for chunk in found] == [(1, 34), (35, 66)]
    assert found[1].symbol.startswith("model.encoder.layer_10, model.encoder.layer_11")
