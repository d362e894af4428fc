"""What every command and environment means, put together for the machine."""

from __future__ import annotations

from indexer.tex.commands import COMMANDS, PROTECTED, SIGNS, unknown
from indexer.tex.environments import END_USER, ENVIRONMENTS, algorithm_step, begin, end, is_step
from indexer.tex.machine import Machine, Tables
from indexer.tex.scanner import Token


def _step_or_unknown(m: Machine, token: Token) -> None:
    (algorithm_step if is_step(token, m) else unknown)(m, token)


TABLES = Tables(
    commands={**COMMANDS, r"\begin": begin, r"\end": end, END_USER: end},
    environments=ENVIRONMENTS,
    signs=SIGNS,
    unknown=_step_or_unknown,
    protected=PROTECTED,
)
