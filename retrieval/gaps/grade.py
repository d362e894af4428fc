"""How well the evidence supports an offered value: a grade with its reason, by plain conditions. Pure.

Strong is what the target's own code sets, or what the target says it takes over; fair is what an ancestor has (a base, a
work whose settings or components are taken over) or several works agree on; everything else is weak.
"""

from __future__ import annotations

from dataclasses import dataclass

from lineage.results import Grade

GRADES: tuple[Grade, ...] = ("strong", "fair", "weak")
_SET = 0.6
"""Weight of a kind of fact from which on a program is run with it: a command, a configuration, a call."""
ANCESTOR = 0.7
"""Weight of the roles whose settings a target takes over: base, setup, method."""
_AGREEING = 2
UNKNOWN = "unknown"


@dataclass(frozen=True)
class Support:
    """What speaks for a value.

    `own`: the target's own code has it; `pointed` (0..1): the target says that it takes this over from a holder; `role`
    (0..1) and `role_name`: how much the best holder's role speaks for taking over its settings; `run` (0..1): it is set by a
    command or configuration rather than a default; `works` of `everyone` have it; `values`: how many values the best
    holder has for the detail; `aside`: only tests, examples or vendored code have it; `scoped`: it holds for a part only.
    """

    own: bool = False
    pointed: float = 0.0
    role: float = 0.0
    role_name: str = ""
    run: float = 0.0
    works: int = 1
    everyone: int = 1
    values: int = 1
    aside: bool = False
    scoped: bool = False


def graded(support: Support) -> tuple[Grade, str]:
    """The grade of a value and its reason."""
    if support.aside:
        return "weak", "only tests, examples or other people's code in the repository have it"
    if support.own:
        return _own(support)
    agree = f"{support.works} of {support.everyone} works have it" if support.everyone > 1 else "one work has it"
    if support.pointed >= 1.0:
        return ("strong" if support.values == 1 else "fair"), f"the target says that it takes this over; {_several(support, agree)}"
    if support.role >= ANCESTOR and 2 * support.works >= support.everyone:
        return "fair", f"an ancestor of the target ({support.role_name}) has it; {_several(support, agree)}"
    if support.works >= _AGREEING and 2 * support.works > support.everyone:
        return "fair", f"{agree}; none of them is an ancestor" if support.role < ANCESTOR else agree
    why = "others have something else" if support.works < support.everyone else f"its role is {support.role_name or UNKNOWN}"
    return "weak", f"{agree}; {why}"


def _own(support: Support) -> tuple[Grade, str]:
    if support.values > 1:
        return "fair", f"the target's own code has it, and {support.values - 1} other value{'s' if support.values > 2 else ''}"
    if support.scoped:
        return "strong", "the target's own code has it for this part"
    return "strong", "the target's own code sets it" if support.run >= _SET else "the target's own code has it as a default"


def _several(support: Support, agree: str) -> str:
    return agree if support.values == 1 else f"it has {support.values} values for it"


def order(support: Support) -> tuple[float, ...]:
    """Sorts values by how well they are supported, best first."""
    place = GRADES.index(graded(support)[0])
    return place, -support.pointed, -support.role, -support.works / support.everyone, -support.works, support.values, -support.run
