"""What every command and environment means, put together for the machine."""

from __future__ import annotations

from indexer.tex.algorithms import algorithm_step, is_step
from indexer.tex.commands import COMMANDS, PROTECTED
from indexer.tex.environments import END_USER, ENVIRONMENTS, begin, end
from indexer.tex.machine import Machine, Tables
from indexer.tex.plain_commands import unknown
from indexer.tex.scanner import Token
from indexer.tex.signs import SIGNS


def _step_or_unknown(m: Machine, tok: Token) -> None:
    (algorithm_step if is_step(tok, m) else unknown)(m, tok)


TABLES = Tables(
    commands={**COMMANDS, r"\begin": begin, r"\end": end, END_USER: end},
    environments=ENVIRONMENTS,
    signs=SIGNS,
    unknown=_step_or_unknown,
    protected=PROTECTED,
)
