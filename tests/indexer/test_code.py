"""Source code to units: names, lines and headers, for Python and the other languages of papers' repositories."""

from __future__ import annotations

import itertools

import pytest

from indexer.parsers.code import parser
from lineage.errors import ParseError
from lineage.records import Document, Status, WorkId

MODEL = '''import torch
from torch import nn

LR = 1e-4

# Truncated normal, as in BERT.
@torch.no_grad()
def init(m):
    """Initialise weights.

    More words.
    """
    return m


class Net(nn.Module):
    """A small net."""

    depth = 3

    def __init__(self, dim: int = 8):
        super().__init__()
        self.dim = dim

    class Inner:
        pass


if __name__ == "__main__":
    init(Net())
'''


def parse(text: str | bytes, path: str = "pkg/net.py") -> Document:
    return parser.parse(path, text if isinstance(text, bytes) else text.encode(), WorkId("repo:github.com/a/b"), "sha")


def units(document: Document) -> list[tuple[str, str, int, int]]:
    def line(offset: int) -> int:
        return document.text.count("\n", 0, offset) + 1

    return [(span.role, ".".join(span.path), line(span.start), line(span.end)) for span in document.spans]


def test_python_gives_functions_classes_methods_and_runs_of_statements() -> None:
    assert units(parse(MODEL)) == [
        ("module", "", 1, 2),
        ("module", "", 4, 4),
        ("function", "init", 6, 13),
        ("class", "Net", 16, 26),
        ("method", "Net.__init__", 21, 23),
        ("class", "Net.Inner", 25, 26),
        ("module", "", 29, 30),
    ]


def test_a_header_says_path_class_signature_and_docstring() -> None:
    headers = {".".join(span.path): span.header for span in parse(MODEL).spans}
    assert headers["init"] == "pkg/net.py · def init(m) · Initialise weights."
    assert headers["Net.__init__"] == "pkg/net.py · class Net(nn.Module) · A small net. · def __init__(self, dim: int=8)"


def test_a_long_function_lists_its_statements_so_that_it_can_be_cut() -> None:
    body = "".join(f"    if a:\n        x{n} = 1\n" for n in range(30))
    found = parse(f"def f(a):\n{body}").spans
    assert [span.role for span in found] == ["function"] + ["block"] * 30


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("def f(x):\n    print 'hi'\n    return x\n", "not valid Python 3 (line 2: "),
        ("def f(x):\n    return (x\n", "not valid Python 3 (line 2: "),
        ("def f(x):\n\treturn x\n\n<<<<<<< HEAD\n", "not valid Python 3 (line 4: "),
    ],
)
def test_python_that_does_not_parse_is_read_all_the_same_and_says_so(text: str, reason: str) -> None:
    document = parse(text)
    assert ("function", "f") in [(role, name) for role, name, _, _ in units(document)]
    assert document.status is Status.OK_REPAIRED
    assert document.detail.startswith(reason)


def test_nesting_that_no_parser_stands_is_repaired_rather_than_lost() -> None:
    assert parse("x = " + "(" * 5_000 + ")" * 5_000).status is Status.OK_REPAIRED


def test_lines_count_as_in_the_file_whatever_its_newlines() -> None:
    assert units(parse(b"\xef\xbb\xbfx = 1\r\n\r\ndef f():\r\n    return '\x0c'\r\n"))[1] == ("function", "f", 3, 4)


CPP = """// Adds.
template <typename T>
T add(T a) {
  return a;
}
namespace foo {
class Bar : public Base {
  int run() const {
    return 1;
  }
};
}
"""
TS = """/** Trains. */
export class Net extends Base {
  async run(x: number): Promise<void> {
    await y();
  }
}
export const train = async (a: string) => {
  b();
};
"""


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.cpp", CPP, [("function", "add", 1, 5), ("class", "Bar", 7, 11), ("method", "Bar.run", 8, 10)]),
        ("a.cu", "__global__ void k(int n) {\n  n;\n}\n", [("function", "k", 1, 3)]),
        ("a.ts", TS, [("class", "Net", 1, 6), ("method", "Net.run", 3, 5), ("function", "train", 7, 9)]),
        ("a.js", "const f = function(a) {\n  return 1;\n};\n", [("function", "f", 1, 3)]),
        ("a.jl", '"Doc"\nfunction train!(m; lr=0.1)\n    m\nend\n', [("function", "train!", 1, 4)]),
        ("a.R", "# fits\nfit <- function(x) {\n  x\n}\n", [("function", "fit", 1, 4)]),
        ("a.lua", "function M.train(a)\n  return a\nend\n", [("function", "M.train", 1, 3)]),
        ("a.rs", "impl Foo for A {\n    fn go(&self) -> i32 {\n        1\n    }\n}\n", [("class", "A", 1, 5), ("method", "A.go", 2, 4)]),
        ("a.go", "// Run runs.\nfunc (a *A) Run(x int) error {\n\treturn nil\n}\n", [("function", "Run", 1, 4)]),
        ("A.java", "class A {\n  int run() {\n    return 1;\n  }\n}\n", [("class", "A", 1, 5), ("method", "A.run", 2, 4)]),
        ("a.m", "function [a, b] = foo(x)\na = x;\nend\nfunction bar()\nend\n", [("function", "foo", 1, 3), ("function", "bar", 4, 6)]),
    ],
)
def test_other_languages_give_their_units(path: str, text: str, expected: list[tuple[str, str, int, int]]) -> None:
    assert units(parse(text, path)) == expected


def test_a_shell_script_gives_its_commands_with_their_flags() -> None:
    text = "#!/bin/bash\nexport A=1\nB=2\n\n# fine-tune\npython -m train \\\n  --lr 1e-4 \\\n  --wd 0.1\n"
    text += "for s in 1 2; do\n  python eval.py --seed $s\ndone\n"
    assert units(parse(text, "run.sh")) == [("module", "", 1, 3), ("command", "python -m train", 5, 8), ("command", "for eval.py", 9, 11)]


def test_a_hostile_shell_script_is_read_soon() -> None:
    assert units(parse(f"sh {'a' * 200_000}\n", "run.sh")) == [("command", f"sh {'a' * 76}…", 1, 1)]


def test_a_patch_gives_its_hunks_with_the_file_and_the_function_that_each_changes() -> None:
    text = "Subject: use DyT\n\ndiff --git a/net.py b/net.py\n--- a/net.py\n+++ b/net.py\n@@ -9,3 +9,3 @@ class Block(nn.Module):\n     a = 1\n"
    text += "-    norm = LayerNorm\n+    norm = DyT\n@@ -40 +40 @@\n-x\n+y\ndiff --git a/run.sh b/run.sh\n"
    text += "--- a/run.sh\n+++ b/run.sh\n@@ -1 +1 @@\n-1\n+2\n"
    document = parse(text, "dyt.patch")
    assert document.language == "diff"
    assert units(document) == [("module", "", 1, 2), ("function", "Block", 6, 9), ("function", "", 10, 12), ("function", "", 16, 19)]
    assert [span.header for span in document.spans][1:] == [
        "dyt.patch · changes net.py · class Block(nn.Module):",
        "dyt.patch · changes net.py",
        "dyt.patch · changes run.sh",
    ]


def test_what_is_only_called_a_patch_is_one_run_of_lines() -> None:
    assert units(parse("apply with care\nand read\n", "notes.diff")) == [("module", "", 1, 3)]


def test_a_script_without_suffix_is_known_by_its_first_line() -> None:
    assert parse("#!/usr/bin/env python\ndef f():\n    pass\n", "bin/run").language == "python"


def test_what_is_no_program_is_refused() -> None:
    with pytest.raises(ParseError) as caught:
        parse("words", "notes")
    assert caught.value.status is Status.WRONG_TYPE


@pytest.mark.parametrize("path", ["a.py", "a.cpp", "a.js", "a.rs", "a.sh", "a.m", "a.jl", "a.r", "a.patch"])
@pytest.mark.parametrize("junk", [b"", b"\0", b"}{)(" * 200, b"\xff\xfe\x00", b"class " * 300, b"def f(:\n" * 50, "ü🎉\n".encode() * 9])
def test_garbage_gives_a_document_with_spans_inside_it(path: str, junk: bytes) -> None:
    document = parse(junk, path)
    assert all(0 <= span.start <= span.end <= len(document.text) for span in document.spans)
    assert list(document.spans) == sorted(document.spans, key=lambda span: (span.start, -span.end))


def test_a_grammar_that_does_not_finish_is_given_up_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("indexer.parsers.code.languages.SECONDS", 0.0)
    document = parse("\\\n" * 2_000 + "def f():\n    pass\n$\n")
    assert (document.status, document.detail) == (Status.PARSE_TIMEOUT, "the grammar did not finish in 0 s; cut by lines")
    assert ("function", "f") in [(role, name) for role, name, _, _ in units(document)]


def test_a_busy_machine_does_not_give_up_a_grammar(monkeypatch: pytest.MonkeyPatch) -> None:
    hours = itertools.count(0, 3600.0)
    monkeypatch.setattr("time.monotonic", lambda: next(hours))
    document = parse("function f(x)\n  2(x)!\nend\n" * 500, "a.jl")
    assert document.status is Status.OK
