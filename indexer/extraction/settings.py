"""Settings as configurations, programs, constructors and commands write them, whatever they are called. Pure.

Facts are read under the names that an ontology knows. A paper's own code also has settings that nobody else has (`rho_init`,
`weight_lr_power`), and those a reader of the paper cannot guess. Here a setting is any name that is given a literal where
settings are given: a line of a configuration, an option of a program, a parameter of a constructor, a flag of a command.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from lineage.catalog.reader import Catalog
from lineage.file_roles import holds_settings
from lineage.hyperparameters.values import Expression, shown
from lineage.hyperparameters.values import read as literal
from lineage.records import Chunk, FactKind, Setting, WorkId

_QUOTED = r"\"[^\"\n]{0,120}\"|'[^'\n]{0,120}'"
_NUMERAL = r"[+-]?(?:\d[\d_]{0,15}(?:\.\d{0,15})?|\.\d{1,15})(?:[eE][+-]?\d{1,3})?(?:[ ]?\*{1,2}[ ]?\d{1,6})?"
_VALUE = rf"(?P<value>{_QUOTED}|\[[^\[\]\n]{{0,120}}\]|\([^()\n]{{0,120}}\)|{_NUMERAL}|[Tt]rue\b|[Ff]alse\b)"
_NAME = r"(?P<name>[A-Za-z][\w-]{0,60})"
_END = r"[ \t]{0,20}(?:#.*)?\Z"
_TYPED = r"(?::[ ]?[A-Za-z][\w.\[\], |]{0,40})?"
_LINE = re.compile(rf"[ \t]{{0,40}}[\"']?{_NAME}[\"']?[ \t]{{0,20}}{_TYPED}(?P<equals>[=:])[ \t]{{0,20}}{_VALUE}[ \t]{{0,20}},?{_END}")
_BARE = re.compile(rf"[ \t]{{0,40}}{_NAME}:[ \t]{{1,20}}(?P<value>[A-Za-z][\w./-]{{0,40}}){_END}")
_TABLE = re.compile(rf"\[{{1,2}}(?P<name>[\w. -]{{1,80}})\]{{1,2}}{_END}")
_GROUP = re.compile(rf"[ \t]{{0,40}}[\"']?{_NAME}[\"']?:[ \t]{{0,20}}\{{?{_END}")
_CALL = re.compile(r"\b(?:add_argument|add_option|option|DEFINE_(?:float|integer|string|enum|bool|boolean))\(")
_NAMES = re.compile(r"[\"'](-{0,2})([A-Za-z][\w.-]{0,60})[\"']\s*,")
_DEFAULT = re.compile(rf"\bdefault\s*=\s*{_VALUE}")
_SECOND = re.compile(rf"\s*[\"'][A-Za-z][\w.-]{{0,60}}[\"']\s*,\s*{_VALUE}")
_CONSTRUCTOR = re.compile(r"\bdef __init__\(")
_KIND = r"(?::[ ]?[A-Za-z][\w.]{0,40}(?:\[[\w.,|\[\] ]{0,60}\])?)?"
_PARAMETER = re.compile(rf"(?<![\w.])(?P<name>[A-Za-z]\w{{0,60}})[ ]?{_KIND}[ ]?=[ ]?{_VALUE}\s*[,)\n]")
_GIVEN = rf"(?P<value>{_QUOTED}|{_NUMERAL}(?![\w.,-])|\d[\d.]{{0,9}}(?:,\d[\d.]{{0,9}}){{1,9}}(?![\w.,-])|[A-Za-z][\w./-]{{0,60}}(?![\w./:-]))"
_FLAG = re.compile(rf"(?<![\w-])--(?P<name>[A-Za-z][\w-]{{1,40}})(?:(?:=|[ \t]{{1,20}}){_GIVEN}|(?=[ \t]{{0,20}}(?:\\?\Z|[ \t]--)))")
_RUNS = re.compile(r"\b(?:python3?|torchrun|accelerate launch|deepspeed|srun|bash)\s")
_PROGRAM = re.compile(r"(?<![\w./-])[\w./-]{1,80}\.py\b")
_FENCE = "```"
_BEGINS, _OPTION, _SIGNATURE = 200, 700, 2_000
"""Characters within which an option's names, its default and a constructor's parameters are looked for."""
_BLOCK = 5
"""Names given literals, from which on a stretch of a module is one of settings."""
_BLANK_FORM = re.compile(r"[xX]{2,9}|\.{3}|\?{2,9}|<[^<>\n]{0,60}>|(?:your|my)[-_ ][^\n]{0,60}|/?path/to/[^\n]{0,200}|TODO|FIXME", re.IGNORECASE)
"""What somebody is to fill in."""
_OF_OPTIONS = frozenset(("action", "choices", "const", "default", "dest", "help", "metavar", "nargs", "required", "type"))
"""What a parser of options is told of one of them, where a call goes over many lines."""


@dataclass(frozen=True)
class _Given:
    """A name with the text that it is given, and the line; `scope` is the group, class or program that it belongs to."""

    name: str
    value: str
    line: int
    kind: FactKind
    scope: str = ""


def settings(chunk: Chunk) -> Iterator[Setting]:
    """The settings that a passage of a repository gives, in its order."""
    for reader in _readers(chunk):
        for given in reader(chunk):
            if value := _plain(given.value):
                yield Setting(given.name.strip("-"), value, given.kind, chunk.work, chunk.path, chunk.id, given.line, given.scope)


def stored_settings(catalog: Catalog, work: WorkId) -> list[Setting]:
    """The settings of a repository of a catalogue that was written before there were any."""
    rows = [row for document in catalog.documents(work) for row in catalog.neighbours(work, document.path)]
    return [setting for chunk in catalog.chunks(rows) for setting in settings(chunk)]


def _readers(chunk: Chunk) -> tuple[Callable[[Chunk], Iterator[_Given]], ...]:
    if chunk.kind == "config":
        return (_configured,)
    if chunk.kind == "docs" or chunk.role == "command":
        return (_commanded,)
    return (_options, _assigned, _parameters) if chunk.kind == "code" else ()


def _plain(text: str) -> str:
    """A value in the one form of facts, "" for what is no literal, or is there to be filled in."""
    try:
        value = shown(literal(text))
    except Expression:
        return ""
    return "" if _BLANK_FORM.fullmatch(value) else value


def _configured(chunk: Chunk) -> Iterator[_Given]:
    """Lines of a configuration, each with the heads that it stands under."""
    heads: list[tuple[int, str]] = []
    for at, line in enumerate(chunk.text.split("\n")):
        depth = len(line) - len(line.lstrip())
        if table := _TABLE.match(line):
            heads = [(-1, table["name"])]
        elif group := _GROUP.match(line):
            heads = [*(head for head in heads if head[0] < depth), (depth, group["name"])]
        elif match := _LINE.match(line) or _BARE.match(line):
            heads = [head for head in heads if head[0] < depth]
            yield _Given(match["name"], match["value"], chunk.start_line + at, "config", ".".join(name for _, name in heads))


def _options(chunk: Chunk) -> Iterator[_Given]:
    """Options of a program's command line with a default."""
    line = _lines(chunk)
    for start, after in pairwise([*(match.end() for match in _CALL.finditer(chunk.text)), len(chunk.text)]):
        text = chunk.text[start : min(after, start + _OPTION)]
        names = [(len(match[1]), match[2]) for match in _NAMES.finditer(text, 0, _BEGINS)]
        given = _DEFAULT.search(text) or _SECOND.match(text)
        if names and given:
            yield _Given(max(names, key=lambda pair: pair[0])[1], given["value"], line(start), "default")


def _assigned(chunk: Chunk) -> Iterator[_Given]:
    """A block of names that a program or a module of settings gives literals, or of entries of one table."""
    if chunk.role not in {"module", "config"} or not holds_settings(chunk.path):
        return
    lines = ((at, _LINE.match(line)) for at, line in enumerate(chunk.text.split("\n")))
    given = [(at, match) for at, match in lines if match and match["name"] not in _OF_OPTIONS]
    block = [_Given(match["name"], match["value"], chunk.start_line + at, "default" if match["equals"] == "=" else "config") for at, match in given]
    yield from block if len(block) >= _BLOCK else ()


def _parameters(chunk: Chunk) -> Iterator[_Given]:
    """Parameters of constructors with a default."""
    line = _lines(chunk)
    for start in (constructor.end() for constructor in _CONSTRUCTOR.finditer(chunk.text)):
        signature = chunk.text[start : start + _SIGNATURE].partition("):")[0].partition(") ->")[0] + ")"
        owner = chunk.symbol.removesuffix(".__init__").split(",")[0]
        for match in _PARAMETER.finditer(signature):
            yield _Given(match["name"], match["value"], line(start + match.start()), "call", owner)


def _commanded(chunk: Chunk) -> Iterator[_Given]:
    """Flags of the commands by which programs are run, each with the program named last."""
    program = ""
    for at, line in enumerate(chunk.text.split("\n") if _RUNS.search(chunk.text) else ()):
        program = next(reversed(_PROGRAM.findall(line)), "" if line.startswith(_FENCE) else program)
        for match in _FLAG.finditer(line) if program else ():
            yield _Given(match["name"], _flag_value(match["value"]), chunk.start_line + at, "command", program)


def _flag_value(value: str | None) -> str:
    """What a flag says: "true" by itself, words where it says several numbers at once, as its program takes them."""
    return "true" if value is None else f'"{value}"' if "," in value and value[0] not in "\"'" else value


def _lines(chunk: Chunk) -> Callable[[int], int]:
    """The line of each place in a passage."""
    ends = [match.start() for match in re.finditer("\n", chunk.text)]
    return lambda at: chunk.start_line + bisect_left(ends, at)
