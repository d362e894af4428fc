"""The languages found in papers' repositories, how each one's syntax tree names its units, and the only loader of grammars.

Node types are those of the tree-sitter grammars packed in semble-grammars. CUDA has no grammar there and is read as C++,
MATLAB has none at all and is cut by its `function` lines (`indexer.parsers.code.parser`).
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath

from tree_sitter import Language as Grammar
from tree_sitter import Parser, Tree

from lineage.registry import load_installed, load_object

_C = "function_definition preproc_function_def", "struct_specifier union_specifier enum_specifier class_specifier"
_C_WRAPPERS = "preproc_if preproc_ifdef preproc_else preproc_elif linkage_specification namespace_definition template_declaration declaration_list"
_JS = (
    "function_declaration generator_function_declaration method_definition function_signature abstract_method_signature",
    "class_declaration abstract_class_declaration interface_declaration enum_declaration class",
    "export_statement class_body statement_block ambient_declaration internal_module module",
)
_SUFFIXES = {
    "python": ".py .pyx .pyi .pyw .pxd .bzl",
    "c": ".c",
    "cpp": ".cpp .h .cc .cxx .hpp .hh .hxx .inl .mm",
    "cuda": ".cu .cuh",
    "javascript": ".js .mjs .cjs .jsx",
    "typescript": ".ts .mts .cts",
    "tsx": ".tsx",
    "julia": ".jl",
    "r": ".r",
    "lua": ".lua",
    "rust": ".rs",
    "go": ".go",
    "java": ".java",
    "scala": ".scala",
    "ruby": ".rb",
    "bash": ".sh .bash .zsh .slurm .sbatch .qsub .pbs",
    "matlab": ".m",
    "perl": ".pl .pm",
    "haskell": ".hs",
    "diff": ".patch .diff",
}
_BY_SUFFIX = {suffix: language for language, suffixes in _SUFFIXES.items() for suffix in suffixes.split()}
_SHEBANGS = (("python", "python"), ("Rscript", "r"), ("julia", "julia"), ("perl", "perl"), ("ruby", "ruby"), ("node", "javascript"), ("sh", "bash"))


@dataclass(frozen=True)
class Language:
    """One language: its grammar, and the node types that make functions, classes and wrappers to look into.

    `grammar` is a name of semble-grammars, or `module:function` of a tree-sitter binding (`tree_sitter_zig:language`). `suffixes` are
    those of a language that another package registers; for the ones here they stand in a table of their own.
    """

    grammar: str
    functions: frozenset[str] = frozenset()
    classes: frozenset[str] = frozenset()
    wrappers: frozenset[str] = frozenset()
    suffixes: tuple[str, ...] = ()


def _language(grammar: str, functions: str = "", classes: str = "", wrappers: str = "") -> Language:
    return Language(grammar, frozenset(functions.split()), frozenset(classes.split()), frozenset(wrappers.split()))


LANGUAGES: dict[str, Language] = {
    "python": _language("python", "function_definition", "class_definition", "decorated_definition block module"),
    "c": _language("c", *_C, _C_WRAPPERS),
    "cpp": _language("cpp", *_C, _C_WRAPPERS + " field_declaration_list"),
    "cuda": _language("cpp", *_C, _C_WRAPPERS + " field_declaration_list"),
    "javascript": _language("javascript", *_JS),
    "typescript": _language("typescript", *_JS),
    "tsx": _language("tsx", *_JS),
    "julia": _language(
        "julia", "function_definition short_function_definition macro_definition", "struct_definition abstract_definition", "module_definition block"
    ),
    "r": _language("r"),
    "lua": _language("lua", "function_declaration function_definition_statement local_function_definition_statement"),
    "rust": _language("rust", "function_item macro_definition", "struct_item enum_item trait_item impl_item union_item", "mod_item declaration_list"),
    "go": _language("go", "function_declaration method_declaration", "type_declaration"),
    "java": _language(
        "java",
        "method_declaration constructor_declaration compact_constructor_declaration",
        "class_declaration interface_declaration enum_declaration record_declaration annotation_type_declaration",
        "class_body interface_body enum_body enum_body_declarations",
    ),
    "scala": _language("scala", "function_definition", "class_definition object_definition trait_definition", "template_body"),
    "ruby": _language("ruby", "method singleton_method", "class module", "body_statement"),
    "bash": _language("bash", "function_definition"),
    "matlab": _language(""),
    "perl": _language("perl", "function_definition"),
    "haskell": _language("haskell", "function", "data_type class", "declarations"),
    "diff": _language(""),
}


@cache
def languages() -> dict[str, Language]:
    """Every known language by name: the ones here, and those of other packages (entry points of `lineage.languages`)."""
    return dict(load_installed("languages")) | LANGUAGES


@cache
def _by_suffix() -> dict[str, str]:
    return {suffix: name for name, language in languages().items() for suffix in language.suffixes} | _BY_SUFFIX


def language_of(path: str, first_line: str = "") -> str:
    """The language of a file by its suffix, else by its `#!` line; empty if it is no program."""
    language_name = _by_suffix().get(PurePosixPath(path).suffix.lower(), "")
    if language_name or not first_line.startswith("#!"):
        return language_name
    return next((language for word, language in _SHEBANGS if word in first_line), "")


SECONDS = 5.0
"""Processor time for one tree; honest files of a megabyte take one second, some hostile ones make a grammar quadratic."""

_BLOCK = 65536


@cache
def get_parser(grammar: str) -> Parser | None:
    """The parser of a grammar, or None if it is not available here."""
    if not grammar:
        return None
    if ":" in grammar:
        return Parser(Grammar(load_object(grammar, f"the grammar {grammar}")()))
    import semble_grammars

    try:
        parser: Parser = semble_grammars.get_parser(grammar)
    except (semble_grammars.GrammarLoadError, semble_grammars.LanguageNotFoundError, semble_grammars.UnsupportedPlatformError):
        return None
    return parser


def parse(parser: Parser, data: bytes) -> Tree:
    """The tree of a whole file; raises `TimeoutError` where the grammar does not finish in `SECONDS`, whatever else the machine does."""
    deadline = time.thread_time() + SECONDS
    try:
        return parser.parse(lambda offset, _: data[offset : offset + _BLOCK], progress_callback=lambda *_: time.thread_time() > deadline)
    except ValueError as error:
        parser.reset()
        raise TimeoutError(f"the grammar did not finish in {SECONDS:g} s") from error


def warm(*grammars: str) -> None:
    """Load grammars now, while this process may still write the cache."""
    for grammar in grammars:
        get_parser(grammar)
