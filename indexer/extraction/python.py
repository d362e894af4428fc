"""Settings and facts of Python: defaults of options, fields and parameters, constants, settings, literal arguments of calls.

Read from the syntax tree; nothing is imported or run. A name that a module binds once to a literal counts as that
literal, a class that is given (`act_layer=nn.GELU`) as the choice of its name; what a branch sets (`if variant == "34b":`)
holds for it alone. The walk keeps its own stack, since a file may nest deeper than the interpreter recurses.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from indexer.extraction.collector import Sink
from lineage.hyperparameters.terms import CallPattern, fold
from lineage.hyperparameters.values import Expression, Plain, literal
from lineage.records import FactKind
from lineage.text.syntax import Function, defaults, module

_OPTIONS = {"add_argument", "add_option", "add_arg", "option", "add_flag"}
_DEFINES = {"DEFINE_float", "DEFINE_integer", "DEFINE_string", "DEFINE_bool", "DEFINE_boolean", "DEFINE_enum", "DEFINE_list"}
_FIELDS = {"Field", "field", "Option", "Argument", "ib", "attrib", "Factory", "Param", "Query"}
_WRAPPERS = {"float", "int", "str", "tuple", "list", "bool"}
_LOOKUPS = {"get", "setdefault", "pop", "getattr"}
_FUNCTIONAL = {"F", "functional", "nn"}
"""Modules whose functions do what a class of the same name does."""
_HOLDERS = {"self", "cls", "args", "cfg", "config", "conf", "opt", "opts", "options", "params", "hparams", "flags", "FLAGS", "settings"}
"""What has attributes of its own: `args.adam` is no class."""
_SCHEDULES = re.compile(r"(cosine|linear|step|poly)[a-z_]{0,30}sched", re.IGNORECASE)
_NOT_ADAM = re.compile(r"(?:grad|sgd|prop|lars)(?=[.:]|\Z)", re.IGNORECASE)
"""How optimizers end whose `betas` are none of Adam's: NovoGrad."""
_LINES = 6
_LEAVES = (ast.Name, ast.Constant, ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.Import, ast.ImportFrom, ast.alias)
_NODES = 400_000
_BLOCK = 5
"""Names given literals, from which on the constants of a module are settings."""


@dataclass(frozen=True)
class _Place:
    """Where a node stands: the names around it, innermost last, what its value is bound to, the branches that it is in."""

    scope: tuple[str, ...] = ()
    inside: str = "module"
    target: str = ""
    branches: tuple[str, ...] = ()

    @property
    def around(self) -> str:
        """The definitions around it."""
        return ".".join(part for part in self.scope if part != "__init__")

    @property
    def name(self) -> str:
        """The definitions around it and its branches."""
        return ".".join(part for part in (self.around, *self.branches) if part)


def read(text: str, sink: Sink, holds_settings: bool = False) -> None:
    """Put the settings and facts of a module into `sink`; raises one of `UNREADABLE` for text that is none.

    With `holds_settings` the module is named after what it runs or sets, so that its constants are settings.
    """
    _ModuleReader(text, module(text), sink, holds_settings).run()


class _ModuleReader:
    def __init__(self, text: str, tree: ast.Module, sink: Sink, holds_settings: bool) -> None:
        self.lines = text.split("\n")
        self.tree = tree
        self.sink = sink
        self.holds_settings = holds_settings
        self.block: list[tuple[int, str, Plain, FactKind, str]] = []
        self.constants = _constants(tree)
        self.running = _running(tree)
        self.classes = {
            fold(name): CallPattern((), call.states) for name, call in sink.ontology.calls.items() if name[:1].isupper() and name != "Softplus"
        }

    def run(self) -> None:
        """Every node once, in no order that matters."""
        stack: list[tuple[ast.AST, _Place]] = [(self.tree, _Place())]
        left = _NODES
        while stack and left:
            left -= 1
            node, place = stack.pop()
            inner = self._node(node, place)
            if isinstance(node, ast.Dict):
                stack.extend(_members(node, place))
                continue
            if isinstance(node, ast.If) and (branch := _branch(node.test)):
                stack.extend((child, replace(place, branches=(*place.branches, branch))) for child in node.body)
                stack.extend((child, place) for child in (node.test, *node.orelse))
                continue
            stack.extend((child, inner) for child in ast.iter_child_nodes(node) if not isinstance(child, _LEAVES))
        for constant in sorted(self.block, key=lambda row: row[:2]) if len(self.block) >= _BLOCK else ():
            self.sink.setting(*constant)

    def _node(self, node: ast.AST, place: _Place) -> _Place:
        """Read one node; gives the place of its children."""
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                return self._function(node, place)
            case ast.ClassDef():
                return replace(place, scope=(*place.scope, node.name), inside="class", target="")
            case ast.Assign():
                return self._assigned(node, node.targets, node.value, place)
            case ast.AnnAssign() if node.value:
                return self._assigned(node, [node.target], node.value, place)
            case ast.Call():
                return self._call(node, place)
            case ast.Dict():
                self._dict(node, place)
            case ast.keyword() if node.arg and isinstance(node.value, ast.Dict | ast.Call):
                return replace(place, target=node.arg)
        return place

    def said(self, node: ast.expr) -> str:
        """The source of an expression, shortened where it is long."""
        first, last = node.lineno, node.end_lineno or node.lineno
        rows = [line.encode("utf-8", "replace") for line in self.lines[first - 1 : min(last, first + _LINES)]]
        if last < first + _LINES:
            rows[-1] = rows[-1][: node.end_col_offset]
        rows[0] = rows[0][node.col_offset :]
        return b"\n".join(rows)[:400].decode("utf-8", "replace")

    def put(self, written: str, node: ast.expr, place: _Place, kind: FactKind, *, context: str = "", line: int = 0, scope: str | None = None) -> None:
        """A value under a name, if it is one of the ontology's."""
        if written == "betas" and _NOT_ADAM.search(place.name):
            return
        value = self._resolved(node)
        source_words = self.said(node) if value is node else f"{self.said(node)} = {self.said(value)}"
        within = place.name if scope is None else scope
        line, context = line or node.lineno, context or within
        if isinstance(value, ast.Name | ast.Attribute):
            self._class(line, written, value, source_words, context, within, kind)
        else:
            self.sink.node(line, written, value, source_words, context=context, scope=within, kind=kind)

    def setting(self, written: str, node: ast.expr, kind: FactKind, scope: str, line: int) -> None:
        """A name that is given a literal, as it is written."""
        with suppress(Expression):
            self.sink.setting(line, written, literal(self._resolved(node)), kind, scope)

    def _constant(self, written: str, node: ast.expr, place: _Place, kind: FactKind, scope: str, line: int) -> None:
        """The same for what a module of settings sets outside of its functions."""
        if self.holds_settings and written and place.inside != "function":
            with suppress(Expression):
                self.block.append((line, written, literal(self._resolved(node)), kind, scope))

    def _class(self, line: int, written: str, value: ast.expr, words: str, context: str, scope: str, kind: FactKind) -> None:
        """`act_layer=nn.GELU`: a class that is a known choice of what it is given for."""
        *before, last = _dotted(value).split(".")
        naming = self.sink.ontology.naming(written, context)
        term = self.sink.ontology.terms[naming.name] if naming else None
        given = (before and before[0] not in _HOLDERS) or last[:1].isupper()
        if term and given and term.type == "choice" and fold(last) in term.choices:
            self.sink.text(line, written, last, context=context, scope=scope, kind=kind)

    def _resolved(self, node: ast.expr) -> ast.expr:
        """The literal behind `float("1e-4")`, behind a module's constant, behind a field's default."""
        for _ in range(4):
            if isinstance(node, ast.Name) and node.id in self.constants:
                node = self.constants[node.id]
            elif (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id in _WRAPPERS
                and len(node.args) == 1
                and not node.keywords
            ):
                node = node.args[0]
            elif isinstance(node, ast.Call) and (inner := _field(node)) is not None:
                node = inner
            elif isinstance(node, ast.Call) and _dotted(node.func).rpartition(".")[2] == "partial" and node.args:
                node = node.args[0]
            elif isinstance(node, ast.Lambda) and not node.args.args:
                node = node.body
            else:
                return node
        return node

    # -- definitions

    def _function(self, node: Function, place: _Place) -> _Place:
        inner = replace(place, scope=(*place.scope, node.name), inside="function", target="")
        for argument, default in defaults(node.args):
            self.put(argument.arg, default, inner, "default", line=argument.lineno)
            if node.name == "__init__" and place.inside == "class":
                self.setting(argument.arg, default, "call", inner.around, argument.lineno)
        return inner

    def _assigned(self, node: ast.Assign | ast.AnnAssign, targets: Sequence[ast.expr], value: ast.expr, place: _Place) -> _Place:
        for target in targets:
            for expr, bound in _pairs(target, value):
                self._bound(node, expr, bound, place)
        return replace(place, target=_dotted(targets[0]) or place.target)

    def _bound(self, node: ast.stmt, target: ast.expr, value: ast.expr, place: _Place) -> None:
        local = isinstance(target, ast.Name) and place.inside == "function"
        running = isinstance(target, ast.Name) and target.id in self.running
        if isinstance(value, ast.Dict) or (local and (running or not _is_plain(self._resolved(value)) or _is_counter(value))):
            return
        written, kind = _dotted(target), "default"
        if isinstance(target, ast.Attribute) and not written.startswith(("self.", "cls.")):
            kind = "config"
        elif isinstance(target, ast.Subscript):
            key = _string(target.slice)
            written, kind = f"{_dotted(target.value)}.{key}" if key else "", "config"
        if written:
            self._constant(written.rpartition(".")[2], value, place, kind, written.rpartition(".")[0] or place.around, node.lineno)  # type: ignore[arg-type]
            around = ".".join((place.name, *written.removeprefix("self.").split(".")[:-1]))
            self.put(written.removeprefix("self."), value, place, kind, context=around, line=node.lineno)  # type: ignore[arg-type]

    def _dict(self, node: ast.Dict, place: _Place) -> None:
        scope = ".".join(part for part in (place.name, place.target.removeprefix("self.")) if part)
        members = [(_string(key), value) for key, value in zip(node.keys, node.values, strict=True)]
        group = any(written == "params" for written, _ in members)
        for written, value in members:
            exempt = group and written == "weight_decay" and _is_counter(value)  # the group without decay: an exception of the setting
            if written and not exempt and not isinstance(value, ast.Dict):
                self.put(written, value, place, "config", line=value.lineno, scope=scope)
                self._constant(written, value, place, "config", place.target, value.lineno)

    # -- calls

    def _call(self, node: ast.Call, place: _Place) -> _Place:
        callee = _dotted(node.func)
        last = callee.rpartition(".")[2]
        if last in _OPTIONS or last in _DEFINES:
            self._option(node, last, place)
            return place
        if last in _LOOKUPS:
            self._lookup(node, last, place)
        call_pattern = self.sink.ontology.calls.get(last)
        if not call_pattern and {*callee.split(".")[-2:-1]} & _FUNCTIONAL and "loss" not in place.name.lower():
            call_pattern = self.classes.get(fold(last))
        if call_pattern:
            self._known(node, callee, call_pattern, place)
        self._schedule(node, last, place)
        self._keywords(node, _dotted(node.args[0]) if last == "partial" and node.args else callee, place)
        return replace(place, target=place.target if last == "dict" else last)

    def _option(self, node: ast.Call, last: str, place: _Place) -> None:
        """A command line option with its default: argparse, optparse, click, absl."""
        given = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
        names = [name for argument in node.args if (name := _string(argument))]
        default = given.get("default", node.args[1] if last in _DEFINES and len(node.args) > 1 else None)
        if "action" in given and default is None and _string(given["action"]) in {"store_true", "store_false"}:
            default = ast.copy_location(ast.Constant(_string(given["action"]) == "store_false"), given["action"])
        if default is None:
            return
        if names and ("default" in given or "action" not in given):
            longest = max(names, key=lambda name: len(name) - len(name.lstrip("-")))
            self.setting(longest.lstrip("-"), default, "default", "", node.lineno)
        names = [*([_string(given["dest"])] if "dest" in given else []), *names]
        for name in sorted(names, key=len, reverse=True):
            if self.sink.ontology.naming(name.lstrip("-"), place.name):
                self.put(name.lstrip("-"), default, place, "default", line=node.lineno, scope=place.name)
                return

    def _lookup(self, node: ast.Call, last: str, place: _Place) -> None:
        """`settings.get("lr", 1e-4)` and `getattr(args, "lr", 1e-4)`: what holds where nothing is given."""
        arguments = node.args[1:] if last == "getattr" else node.args
        if len(arguments) == 2 and (name := _string(arguments[0])):
            self.put(name, arguments[1], place, "default", line=node.lineno)

    def _known(self, node: ast.Call, callee: str, known: CallPattern, place: _Place) -> None:
        before, _, last = callee.rpartition(".")
        # `weight.normal_(0, 0.02)` has its tensor before the dot, `init.normal_(weight, 0, 0.02)` in the brackets
        method = last.endswith("_") and bool(before) and "init" not in before.split(".") and not before.endswith("init")
        positional = known.positional[1:] if method else known.positional
        for name, value in zip(positional, node.args, strict=False):
            if not isinstance(value, ast.Starred):
                self.put(name, value, place, "call", context=_context(callee), line=value.lineno, scope=_joined(place, last))
        states = {} if "precision" in known.states and _other_precision(node) else known.states
        for name, choice in states.items():
            self.sink.state(node.lineno, name, choice, callee, written=last, scope=place.around, kind="call")

    def _schedule(self, node: ast.Call, last: str, place: _Place) -> None:
        """`utils.cosine_scheduler(args.lr, ...)`: the program's own schedule of its learning rate, by the name of the function."""
        match = _SCHEDULES.search(last[:80])
        if not match or last in self.sink.ontology.calls:
            return
        given = (_dotted(argument).rpartition(".")[2] for argument in (*node.args, *(keyword.value for keyword in node.keywords)))
        naming = (self.sink.ontology.naming(name) for name in given if name)
        if any(name_match and name_match.name == "learning_rate" for name_match in naming):
            value = self.sink.ontology.normalize("lr_schedule", {"poly": "polynomial"}.get(match[1].lower(), match[1].lower()))
            self.sink.state(node.lineno, "lr_schedule", value.value if value else "", self.said(node), written=last, scope=place.name, kind="call")

    def _keywords(self, node: ast.Call, callee: str, place: _Place) -> None:
        last = callee.rpartition(".")[2]
        kind: FactKind = "config" if last in {"dict", "update", "edict", "ConfigDict", "DictConfig", "Namespace", "AttrDict"} else "call"
        scope = ".".join(part for part in (place.name, place.target) if part) if kind == "config" else _joined(place, last)
        for keyword in node.keywords:
            if keyword.arg and not isinstance(keyword.value, ast.Dict):
                context = place.target if kind == "config" and place.target else _context(callee)
                self.put(keyword.arg, keyword.value, place, kind, context=context, line=keyword.value.lineno, scope=scope)
                self._constant(keyword.arg, keyword.value, place, "default", place.target or last, keyword.value.lineno)


def _branch(test: ast.expr) -> str:
    """What a branch is for: the text that its condition compares a variable with ("34b" of `if variant == "34b"`), "" for others."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
        return ""
    value = _string(test.comparators[0])
    return value if value != "__main__" and _dotted(test.left) else ""


def _other_precision(node: ast.Call) -> bool:
    """Whether `autocast(enabled=False)` is off, or `autocast(dtype=...)` says which precision it is."""
    return any(
        keyword.arg == "dtype" or (keyword.arg == "enabled" and isinstance(keyword.value, ast.Constant) and not keyword.value.value)
        for keyword in node.keywords
    )


def _running(tree: ast.Module) -> set[str]:
    """Names that a loop keeps the least or the most of (`low = min(low, x)`): what they begin with sets nothing."""
    argument_names: set[str] = set()
    stack: list[tuple[ast.AST, bool]] = [(tree, False)]
    while stack:
        node, inside = stack.pop()
        inside = inside or isinstance(node, ast.For | ast.While)
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id="min" | "max"), args=given)) if inside:
                argument_names |= {name for argument in given if isinstance(argument, ast.Name) and argument.id == name}
        stack.extend((child, inside) for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt | ast.excepthandler))
    return argument_names


def _joined(place: _Place, last: str) -> str:
    return f"{place.name}:{last}" if place.name else last


def _context(callee: str) -> str:
    """The last two parts of what is called: `completions.create`, `optim.AdamW`."""
    return ".".join(callee.split(".")[-2:])


def _dotted(node: ast.expr) -> str:
    """`a.b.c` of names and attributes, with calls and subscripts passed over; "" for anything else."""
    names: list[str] = []
    for _ in range(12):
        if isinstance(node, ast.Attribute):
            names.append(node.attr)
            node = node.value
        elif isinstance(node, ast.Name):
            return ".".join(reversed([*names, node.id]))
        elif isinstance(node, ast.Call):
            node = node.func
        elif isinstance(node, ast.Subscript):
            key = _string(node.slice)
            names += [key] if key else []
            node = node.value
        else:
            break
    return ".".join(reversed(names))


def _members(node: ast.Dict, place: _Place) -> Iterator[tuple[ast.AST, _Place]]:
    """The values of a dictionary, each under its key."""
    for key, value in zip(node.keys, node.values, strict=True):
        target = ".".join(part for part in (place.target, _string(key)) if part)
        yield value, replace(place, target=target)


def _string(node: ast.expr | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 100 else ""


def _is_plain(node: ast.expr) -> bool:
    """A literal as it may stand alone in a function: everything but arithmetic on variables."""
    if isinstance(node, ast.List | ast.Tuple):
        return all(isinstance(expr, ast.Constant) for expr in node.elts)
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    numeric = isinstance(inner, ast.BinOp) and all(isinstance(expr, ast.Constant | ast.BinOp) for expr in (inner.left, inner.right))
    return isinstance(inner, ast.Constant) or numeric


def _is_counter(node: ast.expr) -> bool:
    """`epoch = 0` at the head of a loop sets nothing."""
    return isinstance(node, ast.Constant) and node.value in (0, 0.0, "")


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """`a, b = 1, 2` as two bindings."""
    if isinstance(target, ast.Tuple | ast.List):
        if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
            yield from zip(target.elts, value.elts, strict=True)
        return
    yield target, value


def _field(node: ast.Call) -> ast.expr | None:
    """The default that `field`, `Field`, `typer.Option` and the like declare."""
    if _dotted(node.func).rpartition(".")[2] not in _FIELDS:
        return None
    given: Mapping[str | None, ast.expr] = {keyword.arg: keyword.value for keyword in node.keywords}
    default = given.get("default") or given.get("default_factory") or given.get("factory")
    return default or (node.args[0] if node.args and not isinstance(node.args[0], ast.Starred) else None)


def _constants(tree: ast.Module) -> dict[str, ast.expr]:
    """Names that the module binds once, to a literal."""
    bound: Counter[str] = Counter()
    values: dict[str, ast.expr] = {}
    for statement in tree.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target] if isinstance(statement, ast.AnnAssign) else []
        value = getattr(statement, "value", None)
        for target in targets:
            if isinstance(target, ast.Name) and value is not None:
                bound[target.id] += 1
                values[target.id] = value
    return {name: value for name, value in values.items() if bound[name] == 1 and _is_plain(value)}
