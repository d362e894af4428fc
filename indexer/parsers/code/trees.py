"""Units of a source file by its tree-sitter tree: tolerant of errors, the same walk for every language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from tree_sitter import Node, Parser

from indexer.parsers.code.languages import Language, parse
from indexer.parsers.code.spans import LONG, CodeUnit, comment_text, leading, one_line

_MAX_DEPTH = 12
_CALLED = re.compile(r"([A-Za-z_~][\w.:!~]*)\s*(?:<[^<>]{0,80}>\s*)?\(")
_WORD = re.compile(r"[A-Za-z_][\w.]*")
_ASSIGNED = re.compile(r"(?:(?:export|default|local|const|let|var|static)\s+)*([A-Za-z_.][\w.:$]*)\s*(?::[^=\n]{0,80})?(?:<-|=)")
_VALUES = {"arrow_function", "function_expression", "function_definition", "function"}
_AROUND = {"template_declaration", "decorated_definition", "export_statement", "namespace_definition", "linkage_specification", "mod_item"}
_BODIES = {"block", "compound_statement", "statement_block", "body", "function_body", "do_block", "body_statement"}


def outline(text: str, parser: Parser, language: Language) -> tuple[CodeUnit, ...]:
    """Functions, classes and runs of statements; damaged stretches stay in the runs around them. May raise `TimeoutError`."""
    data = text.encode("utf-8", "replace")
    return _TreeOutline(text.split("\n"), data, language).units(parse(parser, data).root_node, 0, 0, "module")


class _TreeOutline:
    def __init__(self, lines: list[str], data: bytes, language: Language) -> None:
        self.lines = lines
        self.data = data
        self.language = language

    def units(self, parent: Node, floor: int, depth: int, role: str) -> tuple[CodeUnit, ...]:
        """The units among the children of a node, those of wrappers included."""
        code_units: list[CodeUnit] = []
        statements: list[CodeUnit] = []
        for node in self._children(parent, depth):
            before = max(floor, code_units[-1].last if code_units else 0, statements[-1].last if statements else 0)
            unit = self._unit(node, before, depth, role)
            if unit.role == "block":
                statements.append(unit)
                continue
            if statements and self._documents(statements[-1], unit):
                unit = replace(unit, first=statements.pop().first)
            code_units.extend(_flush(statements, role))
            statements = []
            code_units.append(unit)
        return (*code_units, *_flush(statements, role))

    def _children(self, parent: Node, depth: int) -> Iterator[Node]:
        for node in parent.named_children:
            if "comment" in node.type:
                continue
            if node.type in self.language.wrappers and depth < _MAX_DEPTH and self._holds_units(node, depth + 1):
                yield from self._children(node, depth + 1)
            elif parent.type not in _AROUND or node.type in self.language.functions or node.type in self.language.classes or _assigns_function(node):
                yield node

    def _documents(self, statement: CodeUnit, unit: CodeUnit) -> bool:
        """Whether a statement is the documentation string above a unit (Julia)."""
        return statement.last == unit.first - 1 and self.lines[statement.first - 1].lstrip().startswith('"')

    def _holds_units(self, node: Node, depth: int) -> bool:
        kinds = self.language.functions | self.language.classes
        return any(
            child.type in kinds or (child.type in self.language.wrappers and depth < _MAX_DEPTH and self._holds_units(child, depth + 1))
            for child in node.named_children
        )

    def _unit(self, node: Node, floor: int, depth: int, role: str) -> CodeUnit:
        if node.type in self.language.classes and depth < _MAX_DEPTH:
            return self._named(node, floor, "class", self._members(node, depth))
        if node.type in self.language.functions or _assigns_function(node):
            return self._named(node, floor, "method" if role == "class" else "function", ())
        first, last = _rows(node)
        return CodeUnit(max(first, min(floor + 1, last)), last, "block", parts=self._statements(node, 0))

    def _members(self, node: Node, depth: int) -> tuple[CodeUnit, ...]:
        parts = self.units(node.child_by_field_name("body") or node, node.start_point[0] + 1, depth + 1, "class")
        return tuple(part for part in parts if part.name)

    def _named(self, node: Node, floor: int, role: str, parts: tuple[CodeUnit, ...]) -> CodeUnit:
        start, last = _rows(self._decorated(node))
        first = leading(self.lines, start, floor)
        signature = self._signature(node)
        words = comment_text(self.lines, first, start - 1)
        header = f"{signature} · {words}" if words else signature
        if role != "class" and last - first >= LONG:
            parts = self._statements(node, 0)
        return CodeUnit(first, last, role, self._name(node, signature), header, parts)

    def _decorated(self, node: Node) -> Node:
        parent = node.parent
        return parent if parent and parent.type in {"decorated_definition", "template_declaration", "export_statement"} else node

    def _statements(self, node: Node, depth: int) -> tuple[CodeUnit, ...]:
        """The statements inside a long node, found at most a few levels down."""
        first, last = _rows(node)
        if last - first < LONG or depth > _MAX_DEPTH:
            return ()
        blocks = [child for child in node.named_children if child.type in _BODIES]
        inner = [child for block in blocks for child in block.named_children] or node.named_children
        return tuple(CodeUnit(*_rows(child), "block", parts=self._statements(child, depth + 1)) for child in inner)

    def _signature(self, node: Node) -> str:
        body = node.child_by_field_name("body")
        end = body.start_byte if body else node.end_byte
        head = self.data[node.start_byte : min(end, node.start_byte + 800)].decode("utf-8", "replace")
        return one_line(head if body else head.partition("\n")[0]).rstrip(" {:=")

    def _name(self, node: Node, signature: str) -> str:
        first = node.named_children[0] if node.named_children else node
        named = node.child_by_field_name("name") or node.child_by_field_name("type") or first.child_by_field_name("name")
        if named and not _assigns_function(node) and (node.type != "function_definition" or self.language.grammar == "python"):
            return self._text(named)
        match = _ASSIGNED.match(signature) if _assigns_function(node) else _CALLED.search(signature)
        if match:
            return match[1]
        words = _WORD.findall(signature)
        return words[-1] if words else ""

    def _text(self, node: Node) -> str:
        return one_line(self.data[node.start_byte : node.end_byte].decode("utf-8", "replace"), 80)


def _rows(node: Node) -> tuple[int, int]:
    """First and last line of a node; a node that ends at the start of a line does not reach into it."""
    first, last = node.start_point[0] + 1, node.end_point[0] + 1
    return first, max(first, last - (node.end_point[1] == 0))


def _assigns_function(node: Node) -> bool:
    """`f <- function(...)`, `const f = (...) => ...`, `local f = function ...`: down to the assigned value."""
    if node.start_point[0] == node.end_point[0]:
        return False
    for _ in range(4):
        value = next(filter(None, map(node.child_by_field_name, ("value", "right", "rhs"))), None) or _last_child(node)
        if value is None:
            return False
        if value.type in _VALUES:
            return True
        node = value
    return False


def _last_child(node: Node) -> Node | None:
    holds = node.type.endswith(("declaration", "declarator", "statement", "expression", "list"))
    return node.named_children[-1] if holds and node.named_children else None


def _flush(statements: list[CodeUnit], role: str) -> list[CodeUnit]:
    if not statements:
        return []
    first, last = statements[0].first, max(unit.last for unit in statements)
    return [CodeUnit(first, last, role, parts=tuple(statements) if last - first >= LONG else ())]
