"""Weights of the parts of a loss: what a formula of the paper gives them, against the settings of its own code. Pure.

`L = L_KL + L_GAN` weighs both alike; `kl_weight: 1e-6` does not. A part that any formula weighs by a symbol has its value
elsewhere, and a value that a sentence of the paper says beside the part's name is stated: neither contradicts.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from lineage.cues import sentences
from lineage.fitting import close
from lineage.insight import Held
from lineage.tokens import parts
from lineage.values import Expression, number
from retrieval.experiments import settings_of
from retrieval.tied import held as numbers

NAMES = ("loss_weight", "kl_weight")
"""Details that weigh a part of a loss."""
_GENERIC = frozenset(
    ("lambda", "beta", "weight", "weights", "loss", "losses", "coef", "coeff", "coefficient", "scale", "ratio", "factor", "w", "init")
)
_ALIKE = (
    frozenset(("gan", "adv", "adversarial", "disc", "discriminator")),
    frozenset(("kl", "kld", "kldiv")),
    frozenset(("lpips", "perceptual", "percep", "perc")),
    frozenset(("ce", "crossentropy")),
    frozenset(("contrastive", "contrast", "con")),
    frozenset(("commit", "commitment")),
    frozenset(("aux", "auxiliary")),
)
"""Words for one part of a loss."""
_PLAIN = "1"
_SYMBOL = re.compile(r"[^\W\d_eExX]|\b[eExX]|_")


def pairs(paper: Sequence[Held], code: Iterable[Held], said: Iterable[Held]) -> Iterator[tuple[Held, list[Held]]]:
    """(formula, settings): what the own code weighs otherwise than the paper's formulas; `said` is all that the paper holds."""
    texts = {one.evidence.chunk.id: one.evidence.chunk.text for one in said}
    settings: dict[str, list[Held]] = defaultdict(list)
    for one in settings_of(code):
        if one.fact.value != "0":  # a part that is switched off belongs to another variant
            settings[_part_of(one)].append(one)
    weights = _weights(paper)
    found: dict[str, list[tuple[Held, list[Held]]]] = defaultdict(list)
    for part, formulas in weights.items():
        weight, formula = formulas[0]
        plain = weight and len({other for other, _ in formulas}) == 1
        if plain and settings[part] and not any(_same(one, weight) or _stated(one, part, texts.values()) for one in settings[part]):
            found[formula.fact.scope].append((formula, settings[part]))
    for whole, some in found.items():
        if not _scaled(whole, weights) or len({one.fact.value for _, held in some for one in held}) > 1:
            yield from some


def _scaled(whole: str, weights: Mapping[str, Sequence[tuple[str, Held]]]) -> bool:
    """Whether a sum is itself a part that another formula weighs: of its own parts only how they differ tells then."""
    return any(weight != _PLAIN for weight, _ in weights.get(_named(parts(whole)), ()))


def _weights(paper: Iterable[Held]) -> Mapping[str, list[tuple[str, Held]]]:
    """The weights that formulas give each part: a number as written, "" for a symbol."""
    found: dict[str, list[tuple[str, Held]]] = defaultdict(list)
    for one in paper:
        for written in one.fact.value.split(" + "):
            weight, _, part = written.rpartition("·")
            found[_named(parts(part))].append(("" if _SYMBOL.search(weight) else weight or _PLAIN, one))
    return found


def _part_of(setting: Held) -> str:
    """The part of a loss that a setting's own name weighs, "" for none."""
    words = parts(setting.fact.written.rpartition(".")[2])
    return _named([word for word in words if word.lower() not in _GENERIC])


def _named(words: Iterable[str]) -> str:
    word = "".join(words).lower()
    return next((min(group) for group in _ALIKE if word in group), word)


def _same(setting: Held, weight: str) -> bool:
    try:
        stated = number(weight)
    except Expression:  # a power out of all proportion
        return True
    return stated is None or close(str(stated), setting.fact.value)


def _stated(setting: Held, part: str, texts: Iterable[str]) -> bool:
    """Whether a sentence of the paper says the value of a setting beside the name of its part."""
    names = next((group for group in _ALIKE if part in group), frozenset((part,)))
    value = numbers(setting.fact.value)
    said = (one for text in texts for one in sentences(text) if not names.isdisjoint(map(str.lower, re.findall(r"[^\W\d_]{1,40}", one))))
    return any(value & numbers(one) for one in said)
