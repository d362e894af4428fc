"""Source code in any language to a `Document`: functions, methods, classes, runs of statements, shell commands.

Python is read by its own `ast`, tolerant tree-sitter grammars read the rest, Python 2 and broken Python included; what
has no grammar is cut by its lines. Nothing is run and nothing is imported.
"""

from __future__ import annotations

from indexer.parsers.code import lines as by_lines
from indexer.parsers.code import patches, python, shell, trees
from indexer.parsers.code.grammars import get_parser
from indexer.parsers.code.languages import language_of, languages
from indexer.parsers.code.spans import LineIndex, spans
from indexer.parsers.code.units import CodeUnit
from indexer.parsers.decode import decode
from lineage.errors import ParseError
from lineage.records import Document, Status, WorkId

VERSION = "code@2"


def parse(path: str, data: bytes, work: WorkId, blob: str) -> Document:
    """The document of one source file; raises `ParseError` where it is no program of a known language."""
    text = decode(data)
    language = language_of(path, text.partition("\n")[0])
    if language not in languages():
        raise ParseError(Status.WRONG_TYPE, f"{path}: no programming language is known by this name")
    units, status, detail = outline(text, language)
    code_spans = spans(units, LineIndex(text), (path,))
    return Document(work, path, text, code_spans, VERSION, "code", language, blob, status=status, detail=detail)


def outline(text: str, language: str) -> tuple[tuple[CodeUnit, ...], Status, str]:
    """Units of a program, with `ok_repaired` or `partial` and the reason where its first reader gave up."""
    if language == "python":
        try:
            return python.outline(text), Status.OK, ""
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            return _tolerant(text, language, f"not valid Python 3 ({_reason(error)}); read by a tolerant grammar")
    return (patches.outline(text), Status.OK, "") if language == "diff" else _tolerant(text, language, "")


def _tolerant(text: str, language: str, detail: str) -> tuple[tuple[CodeUnit, ...], Status, str]:
    grammar = languages()[language]
    parser = get_parser(grammar.grammar)
    if parser is None:
        why = "no grammar could be loaded; cut by lines" if grammar.grammar else ""
        return by_lines.outline(text), Status.PARTIAL if why else Status.OK, why
    try:
        units = shell.outline(text, parser) if language == "bash" else trees.outline(text, parser, grammar)
    except TimeoutError as error:
        return by_lines.outline(text), Status.PARTIAL, f"{error}; cut by lines"
    return units, Status.OK_REPAIRED if detail else Status.OK, detail


def _reason(error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return f"line {error.lineno}: {error.msg}"
    return "nested too deeply" if isinstance(error, RecursionError | MemoryError) else str(error)[:100]
