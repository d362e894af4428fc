"""What every command and environment means, put together for the machine."""

from __future__ import annotations

from indexer.parsers.latex.algorithms import algorithm_step, is_step
from indexer.parsers.latex.commands import COMMANDS, PROTECTED
from indexer.parsers.latex.environments import END_USER, ENVIRONMENTS, begin, end
from indexer.parsers.latex.machine import Machine, Tables
from indexer.parsers.latex.plain_commands import unknown
from indexer.parsers.latex.scanner import Token
from indexer.parsers.latex.signs import SIGNS


def _step_or_unknown(m: Machine, tok: Token) -> None:
    (algorithm_step if is_step(tok, m) else unknown)(m, tok)


TABLES = Tables(
    commands={**COMMANDS, r"\begin": begin, r"\end": end, END_USER: end},
    environments=ENVIRONMENTS,
    signs=SIGNS,
    unknown=_step_or_unknown,
    protected=PROTECTED,
)
