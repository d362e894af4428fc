"""Every built-in parser of single files keeps the contract of parsers, and so do the languages of the code parser."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from indexer.parsers import config, notebook, plain
from indexer.parsers.code import parser as code
from indexer.parsers.code.languages import languages
from lineage.testing import ParserContract

CELLS = [{"cell_type": "code", "source": "a = 1"}, {"cell_type": "markdown", "source": "# Title\n\nText."}]
NOTEBOOK = {"nbformat": 4, "metadata": {}, "cells": CELLS}


def built_in(module: Any, version: str, *suffixes: str) -> Any:
    """A built-in parser in the form of another package's; the table of `select` has its suffixes."""
    return SimpleNamespace(parse=module.parse, VERSION=version, SUFFIXES=suffixes)


class TestCode(ParserContract):
    def module(self) -> Any:
        return built_in(code, code.VERSION, ".py", ".c")

    def samples(self) -> Mapping[str, bytes]:
        return {"a.py": b"def f(x):\n    return x\n\n\nclass A:\n    lr = 1e-4\n", "b.c": b"int f(int x) { return x; }\nint g() { return 1; }\n"}


class TestConfig(ParserContract):
    def module(self) -> Any:
        return built_in(config, config.VERSION, ".yaml", ".json")

    def samples(self) -> Mapping[str, bytes]:
        return {"a.yaml": b"model:\n  width: 64\noptimizer:\n  lr: 0.1\n", "b.json": b'{"lr": 0.1, "model": {"width": 64}}'}


class TestNotebook(ParserContract):
    def module(self) -> Any:
        return built_in(notebook, notebook.VERSION, ".ipynb")

    def samples(self) -> Mapping[str, bytes]:
        return {"a.ipynb": json.dumps(NOTEBOOK).encode()}


class TestPlain(ParserContract):
    def module(self) -> Any:
        return built_in(plain, plain.VERSION, ".md", ".txt")

    def samples(self) -> Mapping[str, bytes]:
        return {"README.md": b"# Title\n\nSome words.\n\n## Usage\n\nMore words.\n", "notes.txt": b"one\n\ntwo\n"}


@pytest.mark.parametrize("name", sorted(languages()))
def test_every_language_finds_what_it_names(name: str) -> None:
    """A grammar that cannot be loaded, or node types that it does not have, would cut every file by lines without a word."""
    from indexer.parsers.code.languages import get_parser

    language = languages()[name]
    if not language.grammar:
        return
    parser = get_parser(language.grammar)
    assert parser, name
    known = {parser.language.node_kind_for_id(number) for number in range(parser.language.node_kind_count)}
    assert not language.functions or language.functions & known, name
    assert not language.classes or language.classes & known, name
