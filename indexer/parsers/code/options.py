"""Statements by which a program says its settings and their defaults: argparse, click, absl flags, fields, yacs, ConfigDict."""

from __future__ import annotations

import ast
import re

LEAST = 4
"""Settings in a row from which they are a unit of their own."""

FIELDS = 8
"""The like of the fields of a class."""

_ADDS = {"add_argument", "add_option", "add_flag", "option", "ConfigDict", "CfgNode", "ArgumentParser", "add_argument_group"}
_AROUND = {"parse_args", "parse_known_args", "set_defaults", "add_mutually_exclusive_group", "add_subparsers", "add_parser"}
_DEFINES = re.compile(r"(?:DEFINE|mark_flag)_?\w{0,40}\Z")


def is_option(node: ast.stmt) -> bool:
    """Whether a statement says one setting, or belongs to those that do (the parser made, the arguments parsed)."""
    value = node.value if isinstance(node, ast.Expr | ast.Assign) else None
    if isinstance(value, ast.Call):
        name = called(value)
        return name in _ADDS or name in _AROUND or bool(_DEFINES.match(name))
    return _is_field(node)


def _is_field(node: ast.stmt) -> bool:
    """`cfg.model.depth = 12`, in a module or a function; what an object keeps of itself is none."""
    if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Attribute):
        return False
    root: ast.expr = node.targets[0]
    while isinstance(root, ast.Attribute):
        root = root.value
    return isinstance(root, ast.Name) and root.id not in {"self", "cls"} and is_plain(node.value)


def is_plain(value: ast.expr | None) -> bool:
    """Whether a value is written out: a number, a word, or a row of them."""
    if isinstance(value, ast.UnaryOp):
        return is_plain(value.operand)
    if isinstance(value, ast.List | ast.Tuple):
        return all(is_plain(expr) for expr in value.elts[:20])
    return isinstance(value, ast.Constant)


def is_setting(node: ast.stmt) -> bool:
    """Whether a statement of a class is a field with its default, or the words below one."""
    if isinstance(node, ast.AnnAssign):
        return True
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    return isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)


def called(call: ast.expr) -> str:
    """The last name of what is called, "" where that has none."""
    function = call.func if isinstance(call, ast.Call) else call
    return function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
