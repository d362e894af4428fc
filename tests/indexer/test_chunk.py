"""Chunks of code, configuration and documentation: along units, bounded, nothing left out."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.chunking.chunker import chunks
from indexer.parsers import config, plain
from indexer.parsers.code import parser as code
from lineage.records import Chunk, Document, WorkId


def python(text: str) -> Document:
    return code.parse("pkg/a.py", text.encode(), WorkId("repo:github.com/a/b"), "sha")


def lines(found: list[Chunk]) -> list[tuple[str, int, int]]:
    return [(chunk.symbol, chunk.start_line, chunk.end_line) for chunk in found]


def function(name: str, count: int, indent: str = "") -> str:
    return f"{indent}def {name}(a):\n" + "".join(f"{indent}    x{n} = a\n" for n in range(count - 1))


def uncovered(document: Document) -> list[str]:
    shown = {line for chunk in chunks(document) for line in range(chunk.start_line, chunk.end_line + 1)}
    return [line for number, line in enumerate(document.text.split("\n"), 1) if line.strip() and number not in shown]


def test_a_function_is_a_chunk_and_imports_and_constants_are_together() -> None:
    document = python("import a\nimport b\n\nLR = 1\nWD = 2\n\n\n" + function("f", 5) + "\n\n" + function("g", 60))
    assert lines(chunks(document)) == [("", 1, 5), ("f", 8, 12), ("g", 15, 74)]


def test_small_functions_beside_each_other_share_a_chunk_that_names_them() -> None:
    found = chunks(python("".join(f"def f{n}(): return {n}\n" for n in range(5))))
    assert lines(found) == [("f0, f1, f2, f3, f4", 1, 5)]
    assert found[0].header == "pkg/a.py · f0, f1, f2, f3, f4"


def test_a_small_class_is_one_chunk_and_a_large_one_is_its_header_and_methods() -> None:
    small = "class A(B):\n" + function("f", 5, "    ") + function("g", 5, "    ")
    large = 'class A(B):\n    """Doc."""\n    x = 1\n' + function("f", 30, "    ") + "\n" + function("g", 30, "    ")
    header = chunks(python(large))[1].header
    assert lines(chunks(python(small))) == [("A", 1, 11)]
    assert lines(chunks(python(large))) == [("A", 1, 3), ("A.f", 4, 33), ("A.g", 35, 64)]
    assert header == "pkg/a.py · A.f · class A(B)"


def test_a_long_function_is_cut_between_statements_into_like_parts_with_its_header() -> None:
    body = "".join(f"    for i in a:\n        b{n}()\n        c{n}()\n\n" for n in range(30))
    found = chunks(python("def train(a):\n" + '    """Fit it."""\n' + body))
    assert {(chunk.symbol, chunk.header) for chunk in found} == {("train", "pkg/a.py · train")}
    assert all(chunk.text.startswith("    for") for chunk in found[1:])
    assert [chunk.end_line - chunk.start_line + 1 for chunk in found] == [25, 23, 23, 23, 23]


def test_the_line_that_opens_a_class_goes_with_what_follows() -> None:
    text = function("f", 10) + "\n\nclass A:\n" + function("g", 50, "    ") + function("h", 20, "    ")
    assert lines(chunks(python(text))) == [("f", 1, 10), ("A.g", 13, 63), ("A.h", 64, 83)]


def test_offsets_lines_and_text_agree() -> None:
    document = python("\n\n# a\nx = 1\n\n" + function("f", 80))
    for chunk in chunks(document):
        assert chunk.text == document.text[chunk.start : chunk.end]
        assert chunk.text.split("\n") == document.text.split("\n")[chunk.start_line - 1 : chunk.end_line]


def test_ids_name_the_same_text_for_ever_and_differ_between_files() -> None:
    document = python(function("f", 5))
    (first,) = chunks(document)
    assert first.id == "c_b5d9f25c7432dc2f1dfb"
    assert chunks(document) == [first]
    assert chunks(replace(document, blob="another commit")) == [first]
    assert chunks(replace(document, text=document.text + "# edited\n"))[0].id != first.id
    assert chunks(replace(document, path="other.py"))[0].id != first.id
    assert chunks(replace(document, work=WorkId("fork")))[0].id != first.id
    assert chunks(replace(document, parser="code@3"))[0].id != first.id


def test_configuration_keys_keep_company_and_are_named() -> None:
    document = config.parse("c.yaml", b"lr: 1\nwd: 2\nmodel:\n  dim: 8\n", WorkId("w"), "b")
    assert lines(chunks(document)) == [("lr, wd, model", 1, 4)]


def test_a_heading_goes_with_its_words_and_long_sections_are_cut() -> None:
    text = "# A\n## B\nwords\n## C\n" + "A sentence of some length here.\n" * 200
    found = chunks(plain.parse("README.md", text.encode(), WorkId("w"), "b"))
    assert found[0].section == ("A",)
    assert found[0].text == "# A\n## B\nwords"
    assert {chunk.section for chunk in found[1:]} == {("A", "C")}


def test_one_endless_line_is_cut_at_its_sentences() -> None:
    text = "x = '" + "One more sentence here. " * 900 + "'\n"
    found = chunks(python(text))
    assert " ".join(chunk.text for chunk in found) == text.rstrip("\n")
    assert all(chunk.text.endswith(".") and len(chunk.text) <= 2_400 for chunk in found[:-1])


@pytest.mark.parametrize("text", ["", "\n\n  \n", "#" * 9_000, "\n".join("}" * 300), " \n" * 500 + "x\n" * 500])
def test_bounds_hold_and_nothing_is_left_out(text: str) -> None:
    document = python(text)
    assert uncovered(document) == []
    assert all(len(chunk.text) <= 2_400 and chunk.end_line - chunk.start_line < 60 for chunk in chunks(document))


_LINE = st.sampled_from(
    [
        "import x",
        "X = 1",
        "def f(a):",
        "    return a",
        "class A:",
        "    def g(self):",
        "        pass",
        "",
        "# note",
        "@deco",
        "x = [",
        "]",
        "y" * 3_000,
    ]
)


@settings(max_examples=150, deadline=None, database=None)
@given(st.lists(_LINE, max_size=200))
def test_any_arrangement_of_lines_is_covered_within_bounds(rows: list[str]) -> None:
    document = python("\n".join(rows))
    found = chunks(document)
    assert uncovered(document) == []
    assert all(len(chunk.text) <= 2_400 and chunk.end_line - chunk.start_line < 60 for chunk in found)
    assert len({chunk.id for chunk in found}) == len(found)


def test_a_section_ends_where_it_ends_and_is_cut_between_its_blocks() -> None:
    code = "```\n" + "run --lr 0.1\n\n" * 15 + "```\n"
    text = "# A\n" + "Words. " * 220 + "\n\n" + code + "\nShort.\n\n# B\nSome\nmore\nOther.\n"
    found = chunks(plain.parse("README.md", text.encode(), WorkId("w"), "b"))
    assert [(chunk.section, chunk.text.split("\n")[0][:5], chunk.text[-6:]) for chunk in found] == [
        (("A",), "# A", "Words."),
        (("A",), "```", "Short."),
        (("B",), "# B", "Other."),
    ]


def test_a_long_table_of_a_readme_is_parted_between_rows_and_says_its_heads_and_what_led_to_it() -> None:
    rows = "".join(f"| model {n} | 0.0{n} | {n} epochs |\n" for n in range(50))
    text = "# Zoo\n" + "Words. " * 20 + "\n\nThe settings of **all** [models](x):\n\n| Name | lr | length |\n|:--|--:|---|\n" + rows + "\nEnd.\n"
    document = plain.parse("README.md", text.encode(), WorkId("w"), "b")
    found = [chunk for chunk in chunks(document) if chunk.role == "table"]
    assert [chunk.header for chunk in found] == [
        "README.md > Zoo · The settings of all models:",
        "README.md > Zoo · The settings of all models: · | Name | lr | length |",
        "README.md > Zoo · The settings of all models: · | Name | lr | length |",
    ]
    assert [(chunk.start_line, chunk.end_line) for chunk in found] == [(6, 24), (25, 41), (42, 59)]
    assert {chunk.section for chunk in found} == {("Zoo",)}
    assert uncovered(document) == []


def options(count: int, indent: str = "") -> str:
    return "".join(
        f"{indent}parser.add_argument('--option-{n}', type=float, default=0.{n}, help='what option {n} is good for')\n" for n in range(count)
    )


def test_the_many_options_of_a_program_are_cut_between_options_with_the_parser_named() -> None:
    text = "import a\n\ndef get_args():\n    parser = ArgumentParser('Train')\n" + options(30, "    ") + "    return parser.parse_args()\n"
    found = chunks(python(text))
    assert [(chunk.role, chunk.symbol, chunk.start_line, chunk.end_line) for chunk in found] == [
        ("config", "get_args", 1, 11),
        ("config", "get_args", 12, 19),
        ("config", "get_args", 20, 27),
        ("config", "get_args", 28, 35),
    ]
    assert found[1].header == "pkg/a.py · get_args · parser = ArgumentParser('Train')"


def test_few_options_stay_with_the_function_that_has_them() -> None:
    text = "def get_args():\n    parser = ArgumentParser()\n" + options(5, "    ") + "    return parser.parse_args()\n"
    assert [(chunk.symbol, chunk.start_line, chunk.end_line) for chunk in chunks(python(text))] == [("get_args", 1, 8)]


def test_options_below_the_main_guard_are_units_apart_from_what_is_done_with_them() -> None:
    text = "if __name__ == '__main__':\n    parser = ArgumentParser()\n" + options(20, "    ") + "    args = parser.parse_args()\n"
    text += "    for i in a:\n        train(i)\n        more(i)\n        test(i)\n"
    found = [(chunk.role, chunk.start_line, chunk.end_line) for chunk in chunks(python(text))]
    assert found == [("config", 1, 9), ("config", 10, 16), ("config", 17, 23), ("module", 24, 27)]


def test_the_many_fields_of_a_class_are_cut_between_fields_and_its_methods_stand_alone() -> None:
    fields = "".join(f"    field_{n}: float = field(default={n}.0, metadata={{'help': 'what field {n} is good for'}})\n" for n in range(25))
    found = chunks(python("X = 1\n\n@dataclass\nclass Config:\n" + fields + "\n" + function("check", 6, "    ")))
    assert [(chunk.role, chunk.symbol, chunk.start_line, chunk.end_line) for chunk in found] == [
        ("config", "Config", 1, 13),
        ("config", "Config", 14, 21),
        ("config", "Config", 22, 29),
        ("method", "Config.check", 31, 36),
    ]
    assert found[1].header == "pkg/a.py · Config · class Config"


def test_options_of_click_and_flags_of_absl_are_settings_too() -> None:
    click = "".join(f"@click.option('--option-{n}', default={n}, help='what option {n} of the program is good for')\n" for n in range(20))
    flags = "".join(f"flags.DEFINE_integer('flag_{n}', {n}, 'what flag {n} of the program is good for')\n" for n in range(20))
    assert {chunk.role for chunk in chunks(python(flags))} == {"config"}
    found = chunks(python("@click.command()\n" + click + function("main", 8)))
    assert [(chunk.role, chunk.start_line, chunk.end_line) for chunk in found][-1] == ("function", 22, 29)
    assert {chunk.role for chunk in found[:-1]} == {"config"}
