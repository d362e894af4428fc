"""Rename variables that are called `one`, `found`, `said`, `held` or `told` after what they hold, by the types that mypy infers.

    python tools/name_variables.py [--write] PACKAGE ...

A `Work` becomes `work`, a list of them `works`, a match of a regular expression `match`. Where the new name is taken in the
function, or the type tells nothing (`str`, `int`, mixtures), the variable is listed and left to a person.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import keyword
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from mypy import build, options
from mypy.modulefinder import BuildSource
from mypy.nodes import NameExpr
from mypy.server.subexpr import get_subexpressions
from mypy.types import Instance, NoneType, TupleType, Type, UnionType, get_proper_type

NAMES = {"one", "found", "said", "held", "told"}
NOUNS = {
    "Match": "match",
    "CodeLink": "link",
    "LedgerRow": "row",
    "FactOccurrence": "occurrence",
    "WorkRelation": "relation",
    "BibEntry": "entry",
    "RoleVerdict": "verdict",
    "SearchHit": "hit",
    "Path": "path",
    "PurePosixPath": "path",
    "AuditFinding": "finding",
    "Element": "element",
    "_Element": "element",
    "Node": "node",
    "Generation": "generation",
    "ChecklistItem": "item",
    "Term": "term",
    "BuildReport": "report",
    "WrittenAnswer": "answer",
    "TargetSentence": "sentence",
    "ReferenceLink": "link",
    "Row": "row",
}
SKIP = {"str", "int", "float", "bool", "bytes", "object", "complex", "function", "ndarray", "bytearray"}
MANY = {
    "list",
    "tuple",
    "set",
    "frozenset",
    "Sequence",
    "Iterable",
    "Iterator",
    "Collection",
    "Generator",
    "deque",
    "AbstractSet",
    "Set",
    "KeysView",
    "ValuesView",
}
MAPS = {"dict", "Mapping", "defaultdict", "Counter", "OrderedDict", "MutableMapping"}


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.lstrip("_")).lower()


def plural(noun: str) -> str:
    if noun.endswith(("s", "x", "ch", "sh")):
        return noun + "es"
    return noun[:-1] + "ies" if noun.endswith("y") and noun[-2] not in "aeiou" else noun + "s"


def noun(kind: Type | None, depth: int = 0) -> str:
    """The word for a value of a type, or the empty string."""
    kind = get_proper_type(kind) if kind is not None else None
    if isinstance(kind, UnionType):
        some = [item for item in map(get_proper_type, kind.items) if not isinstance(item, NoneType)]
        words = {noun(item, depth) for item in some}
        return words.pop() if len(words) == 1 else ""
    if isinstance(kind, TupleType):
        if kind.partial_fallback.type.name not in {"tuple"}:
            return NOUNS.get(kind.partial_fallback.type.name) or snake(kind.partial_fallback.type.name)
        words = {noun(item, depth + 1) for item in kind.items}
        return plural(words.pop()) if len(words) == 1 and "" not in words and depth == 0 else ""
    if not isinstance(kind, Instance):
        return ""
    name = kind.type.name
    if name in MANY and kind.args and depth == 0:
        item = noun(kind.args[0], 1)
        return plural(item) if item else ""
    if name in MAPS and len(kind.args) == 2 and depth == 0:
        item = noun(kind.args[1], 1)
        many = get_proper_type(kind.args[1])
        if not item and isinstance(many, Instance) and many.type.name in MANY and many.args:
            item = noun(many.args[0], 1)
        return f"{plural(item)}_by_key" if item else ""
    if name in SKIP or name in MANY or name in MAPS:
        return ""
    return NOUNS.get(name) or snake(name)


def types_of(packages: list[str]) -> dict[str, dict[tuple[int, int], Type]]:
    """Inferred types by file and place (line, column)."""
    chosen = options.Options()
    chosen.export_types = chosen.preserve_asts = True
    chosen.incremental = False
    chosen.ignore_missing_imports = True
    chosen.follow_imports_for_stubs = True
    chosen.python_version = (3, 11)
    chosen.strict_optional = True
    chosen.fine_grained_incremental = False
    sources = [
        BuildSource(str(path), ".".join(path.with_suffix("").parts).removesuffix(".__init__"))
        for package in packages
        for path in sorted(Path(package).rglob("*.py"))
    ]
    made = build.build(sources, options=chosen)
    places: dict[str, dict[tuple[int, int], Type]] = defaultdict(dict)
    by_node = made.types
    for name, state in made.graph.items():
        if state.tree is None or name.partition(".")[0] not in packages:
            continue
        for node in get_subexpressions(state.tree):
            if isinstance(node, NameExpr):
                kind = by_node.get(node) or getattr(node.node, "type", None)
                if kind is not None:
                    places[state.path][node.line, node.column] = kind
    return places


SCOPES = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef)


def binds(scope: ast.AST, name: str) -> bool:
    """Whether a scope itself (not a nested one) binds the name."""
    if isinstance(scope, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        return any(isinstance(node, ast.Name) and node.id == name for part in scope.generators for node in ast.walk(part.target))
    if isinstance(scope, ast.Lambda):
        return any(arg.arg == name for arg in [*scope.args.args, *scope.args.kwonlyargs])
    args = scope.args
    if any(arg.arg == name for arg in [*args.posonlyargs, *args.args, *args.kwonlyargs, *filter(None, [args.vararg, args.kwarg])]):
        return True
    return any(isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store) for node in own(scope))


def own(scope: ast.AST) -> Iterator[ast.AST]:
    """Nodes of a scope without those of nested comprehensions' targets, lambdas and functions; walrus targets in comprehensions count."""
    stack = list(ast.iter_child_nodes(scope))
    while stack:
        node = stack.pop()
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            stack += [walrus.target for walrus in ast.walk(node) if isinstance(walrus, ast.NamedExpr)]
            continue
        if isinstance(node, (ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        yield node
        stack += ast.iter_child_nodes(node)


def region(scope: ast.AST, name: str) -> Iterator[ast.AST]:
    """Every use of the name that means this scope's variable."""
    stack = list(ast.iter_child_nodes(scope))
    while stack:
        node = stack.pop()
        if isinstance(node, SCOPES) and binds(node, name):
            if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
                stack.append(node.generators[0].iter)  # evaluated outside
            continue
        if (isinstance(node, ast.Name) and node.id == name) or (isinstance(node, ast.arg) and node.arg == name):
            yield node
        stack += ast.iter_child_nodes(node)


def keywords(files: list[Path]) -> set[tuple[str, str]]:
    """(callee, keyword) of every call."""
    called = set()
    for path in files:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                callee = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                called |= {(callee, word.arg) for word in node.keywords if word.arg}
    return called


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="+")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    files = [path for package in args.packages for path in sorted(Path(package).rglob("*.py"))]
    everywhere = [*files, *Path("tests").rglob("*.py"), *Path("benchmarks").rglob("*.py")]
    called, types, tally = keywords(everywhere), types_of(args.packages), Counter()
    for path in files:
        source = path.read_text("utf-8")
        tree = ast.parse(source)
        known = types.get(str(path), {})
        top = {n.name for n in tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef))}
        top |= {a.asname or a.name for n in ast.walk(tree) if isinstance(n, (ast.Import, ast.ImportFrom)) for a in n.names}
        top |= {t.id for n in tree.body if isinstance(n, ast.Assign) for t in n.targets if isinstance(t, ast.Name)}
        edits: list[tuple[int, int, str, str]] = []
        functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
        inner = {id(n) for f in functions for n in ast.walk(f) if n is not f and isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))}
        for function in (f for f in functions if id(f) not in inner):
            taken = {n.id for n in ast.walk(function) if isinstance(n, ast.Name)} | {n.arg for n in ast.walk(function) if isinstance(n, ast.arg)}
            fresh: dict[int, set[str]] = defaultdict(set)
            for scope in [n for n in ast.walk(function) if isinstance(n, SCOPES)]:
                for name in sorted(NAMES):
                    if not binds(scope, name):
                        continue
                    uses = list(region(scope, name))
                    if (
                        isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef))
                        and any(isinstance(u, ast.arg) for u in uses)
                        and (scope.name, name) in called
                    ):
                        tally["keyword"] += 1
                        continue
                    words = {noun(known[u.lineno, u.col_offset]) for u in uses if isinstance(u, ast.Name) and (u.lineno, u.col_offset) in known}
                    words -= {""} if len(words) > 1 else set()
                    word = words.pop() if len(words) == 1 else ""
                    if not word or word in NAMES:
                        tally["untold"] += 1
                        print(f"{path}:{uses[0].lineno} {name}: no type tells it")
                        continue
                    bad = (taken - {name}) | top | set(dir(builtins)) | set(keyword.kwlist)
                    if word in bad or word in fresh[id(function)]:
                        tally["taken"] += 1
                        print(f"{path}:{uses[0].lineno} {name}: {word} is taken")
                        continue
                    if not isinstance(scope, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)):
                        fresh[id(function)].add(word)
                    tally["renamed"] += 1
                    edits += [(u.lineno, u.col_offset, name, word) for u in uses]
        if args.write and edits:
            lines = [line.encode() for line in source.splitlines(keepends=True)]
            for line, column, name, word in sorted(set(edits), reverse=True):
                text = lines[line - 1]
                assert text[column : column + len(name)] == name.encode(), (path, line, text)
                lines[line - 1] = text[:column] + word.encode() + text[column + len(name) :]
            path.write_text(b"".join(lines).decode(), "utf-8")
    print(tally)


if __name__ == "__main__":
    main()
