r"""The loop that turns tokens into streams, and the state that commands act on.

Groups are kept on a list, never on Python's stack: a brace merely opens a group, a command that needs its argument
as text opens a capture, and whatever closes the group ends the capture. What a command does stands in the tables
given to `Machine` (`commands`, `environments`): this module knows none of them by name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from indexer.parsers.latex.files import Lost, SourceFiles
from indexer.parsers.latex.macros import Environment, Macro, Switches, decide, expand, skip_branch, without_itself
from indexer.parsers.latex.numbering import Counters, LabelTarget
from indexer.parsers.latex.reader import PAR, TexSource, Token, TokenReader
from indexer.parsers.latex.stream import Path, TextStream
from lineage.records import Status

MAX_WORK = 3_000_000
"""Steps of one run; whatever makes a stream, a mention or an entry counts for several."""

MAX_CAPTURES = 40
"""Captures within captures; deeper ones are read as running text."""

Color = tuple[float, float, float]
"""Red, green and blue from 0 to 1."""

_BRANCHES = frozenset({r"\else", r"\or", r"\fi"})
_STATES = ("true", "false")

Handler = Callable[["Machine", Token], None]
Opener = Callable[["Machine", str], None]


@dataclass(slots=True)
class Group:
    """An open group: `kind` is `{`, `[`, `capture`, `env` or `item`; `close` runs when it ends, with its own stream current."""

    kind: str
    name: str = ""
    close: Callable[[], None] | None = None
    out: TextStream | None = None
    target: LabelTarget | None = None


BRACE = Group("{")


@dataclass(slots=True)
class Hidden(Group):
    """A group whose words nobody sees from some point on: `inner` is what it was, `causes` say why, `ended` puts the text back."""

    inner: Group = field(default_factory=lambda: BRACE)
    causes: set[str] = field(default_factory=set)
    ended: Callable[[], None] = lambda: None


@dataclass
class Float:
    """A float being read: its kind, printed label (`Table 2`) and caption."""

    kind: str
    label: str = ""
    caption: str = ""
    parts: int = 0


@dataclass
class LatexTable:
    """Where the outermost table stands: its column, where that cell began, and what reaches down (column -> rows left, words)."""

    out: TextStream
    column: int = 0
    start: int = 0
    down: dict[int, tuple[int, str]] = field(default_factory=dict)


class Mode:
    """What reads tokens instead of the text loop for a while (a formula)."""

    def step(self, machine: Machine, tok: Token) -> None:
        """Take one token."""
        raise NotImplementedError

    def finish(self, machine: Machine) -> None:
        """End, wherever it stands."""
        raise NotImplementedError


@dataclass
class Tables:
    """What the commands and environments mean. `protected` names are never redefined by a document."""

    commands: Mapping[Token, Handler]
    environments: Mapping[str, Opener]
    signs: Mapping[Token, Handler]
    unknown: Handler
    protected: frozenset[Token]


@dataclass(frozen=True)
class Section:
    """Where a section begins in the main text."""

    start: int
    level: int
    path: Path
    label: str


@dataclass
class Bibitem:
    r"""A `\bibitem` as it was met: its key, printed label, and its text with the markup that fields are read from."""

    key: str
    label: str
    text: str
    origin: str


@dataclass
class Findings:
    """What a run collects beside the text."""

    title: str = ""
    bibliographies: list[str] = field(default_factory=list)
    bbls: list[str] = field(default_factory=list)
    entries: list[Bibitem] = field(default_factory=list)
    nocite: list[str] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)
    lost: dict[str, Lost] = field(default_factory=dict)


class Machine:
    """One run over a paper's files. `run` may be called for one file after another."""

    def __init__(self, files: SourceFiles, tables: Tables) -> None:
        self.files = files
        self.tables = tables
        self.reader = TokenReader()
        self.macros: dict[Token, Macro] = {}
        self.aliases: dict[Token, Token] = {}
        self.environments: dict[str, Environment] = {}
        self.theorems: dict[str, tuple[str, str]] = {}
        self.colors: dict[str, Color] = {}
        self.ground: Color | None = (1.0, 1.0, 1.0)
        self.scale = 1.0
        self.lengths: dict[Token, float] = {}
        self.boxes: dict[Token, TextStream] = {}
        self.looks: dict[str, list[Token]] = {}
        self.switches = Switches()
        self.counters = Counters()
        self.found = Findings()
        self.main = TextStream(flowing=True)
        self.out = TextStream()
        self.groups: list[Group] = []
        self.open_environments: Counter[str] = Counter()
        self.captures = 0
        self.headings: list[tuple[int, str]] = []
        self.path: Path = ()
        self.target = LabelTarget()
        self.floats: list[Float] = []
        self.tabulars = 0
        self.grid: LatexTable | None = None
        self.lists: list[list[int | str]] = []
        self.mode: Mode | None = None
        self.in_document = False
        self.origin = "thebibliography"
        self.ended = False
        self.opened: Counter[str] = Counter()
        self.read_characters = 0
        self.work = 0

    def note(self, subject: str, status: Status, words: str) -> None:
        """Something was lost or cut short; the first note on a subject counts."""
        self.found.lost.setdefault(subject, (subject, status, words))

    def run(self, source: TexSource) -> None:
        """Read a file to its end."""
        self.reader.open(source)
        self.ended = False
        while not self.ended and self.work < MAX_WORK and (tok := self.reader.next()) is not None:
            self.step(tok)
        if self.work >= MAX_WORK:
            self.note("the source", Status.PARTIAL, "read until the budget of steps was spent; the rest was left out")
        self.reader.inputs.clear()
        self.unwind(0)
        if self.in_document:
            self.main.end_block()

    def step(self, tok: Token) -> None:
        """Take one token."""
        self.work += 1
        if tok in self.aliases:
            tok = self.aliases[tok]
            if tok in _BRANCHES and self._condition(tok):
                return
        elif tok[0] == "\\" and self._before(tok):
            return
        if self.mode is not None:
            self.mode.step(self, tok)
        elif tok[0] == "\\":
            self.command(tok)
        elif handler := self.tables.signs.get(tok if tok == PAR else tok[0]):
            handler(self, tok)
        else:
            self.out.write(tok)

    def command(self, tok: Token) -> None:
        """Do what a command does to the text."""
        self.tables.commands.get(tok, self.tables.unknown)(self, tok)

    def _before(self, tok: Token) -> bool:
        """Macros and conditions come before everything that a mode or a table could say."""
        macro = self.macros.get(tok)
        if macro is not None and not macro.opaque:
            if not expand(self.reader, macro):
                self.note("macros", Status.PARTIAL, "the expansion of the author's commands was cut short at its budget")
            return True
        if tok[1:3] == "if" or tok in _BRANCHES:
            return self._condition(tok)
        return tok.endswith(_STATES) and self.switches.assign(tok)

    def _condition(self, tok: Token) -> bool:
        if self.switches.known(tok):
            verdict = decide(tok, self.reader, self.switches, self.macros)
            if verdict is None:
                self.note(f"{tok} conditions", Status.PARTIAL, f"{tok} cannot be decided without running TeX: the first branch was read")
            if verdict is False:
                self._skip(tok, to_else=True)
            return True
        if tok in (r"\else", r"\or"):
            self._skip(tok, to_else=False)
            return True
        return tok == r"\fi"

    def _skip(self, tok: Token, *, to_else: bool) -> None:
        if skip_branch(self.reader, self.switches, to_else=to_else) is None:
            self.note(f"{tok} without \\fi", Status.PARTIAL, "a condition that never ends: the rest of its file was not read")

    def define(self, name: Token, macro: Macro) -> None:
        """Remember an author's command, unless it would redefine what this reader relies on."""
        if name not in self.tables.protected and macro.body != (name,):
            self.macros[name] = without_itself(name, macro, self.macros.get(name))
            self.aliases.pop(name, None)

    def alias(self, name: Token, other: Token) -> None:
        r"""`\let`: the name means what the other means now, whatever that one is redefined to later."""
        if other in self.macros:
            self.define(name, self.macros[other])
        elif name not in self.tables.protected and name != other:
            self.aliases[name] = self.aliases.get(other, other)
            self.macros.pop(name, None)

    def open(self, group: Group) -> None:
        """Open a group; `}` or `\\end` will close it."""
        self.groups.append(group)
        if group.kind == "env":
            self.open_environments[group.name] += 1
            group.target = self.target

    def close(self) -> None:
        """Close the innermost group and run what was to be done then."""
        group = self.groups.pop()
        if group.kind == "env":
            self.open_environments[group.name] -= 1
            self.target = group.target or self.target
        if group.close:
            group.close()

    def unwind(self, depth: int) -> None:
        """Close every group above `depth`, a formula first."""
        if self.mode is not None:
            self.mode.finish(self)
        while len(self.groups) > depth:
            self.close()

    def to_main(self) -> None:
        """Close whatever would keep text out of the main stream (a footnote whose brace is missing)."""
        if self.mode is not None:
            self.mode.finish(self)
        while self.groups and (self.out.instead_of or self.out) is not self.main:
            self.close()

    def brace(self) -> None:
        """A closing brace: ends the innermost group if that is one of braces."""
        if self.groups and self.groups[-1].kind in ("{", "capture"):
            self.close()

    def end(self, name: str) -> None:
        r"""`\end{name}`: closes groups down to that environment; nothing if it is not open."""
        if not self.open_environments[name]:
            return
        while self.groups:
            closes_group = self.groups[-1].kind == "env" and self.groups[-1].name == name
            self.close()
            if closes_group:
                return

    def divert(self, group: Group, stream: TextStream, then: Callable[[TextStream], None]) -> None:
        """Open a group whose text goes into `stream`, which is handed to `then` when the group closes."""
        if self.captures >= MAX_CAPTURES:
            group.close = lambda: then(TextStream())
            self.open(group)
            return
        self.work += 15
        group.out, self.out = self.out, stream
        self.captures += 1

        def closed() -> None:
            self.captures -= 1
            self.out = group.out or self.out
            then(stream)

        group.close = closed
        self.open(group)

    def hide(self, cause: str, then: Callable[[TextStream], None]) -> None:
        """Keep what the rest of the innermost group says out of the text and hand it to `then`, for a cause that `show` may end."""
        group = self.groups[-1] if self.groups else Group("page")
        if isinstance(group, Hidden):
            group.causes.add(cause)
            return
        kept, scrap = self.out, TextStream(instead_of=self.out.instead_of or self.out)

        def ended() -> None:
            then(scrap)
            self.out = kept

        def closed() -> None:
            ended()
            if group.close:
                group.close()

        self.out = scrap
        self.groups[-1:] = [Hidden(group.kind, group.name, closed, group.out, group.target, group, {cause}, ended)]

    def show(self, cause: str) -> None:
        """End a cause of hiding; without another the group goes on in the text."""
        group = self.groups[-1] if self.groups else None
        if isinstance(group, Hidden):
            group.causes.discard(cause)
            if not group.causes:
                group.ended()
                self.groups[-1:] = [group.inner] if group.kind != "page" else []

    def capture(self, then: Callable[[TextStream], None]) -> None:
        """Read the argument that comes next as text of its own and hand it to `then`."""
        tok = self.reader.skip_spaces()
        if tok is None or self.captures >= MAX_CAPTURES:
            if tok is not None:
                self.reader.back()
            then(TextStream())
            return
        if tok != "{":
            self.reader.back()
            if not self.reader.push([*self.reader.argument(), "}"]):
                then(TextStream())
                return
        self.divert(Group("capture"), TextStream(), then)

    def within(self, *names: str) -> bool:
        """Whether one of these environments is open."""
        return any(self.open_environments[name] for name in names)
