"""The experiment, stage or component that a value belongs to, judged by its place in a paper or in code. Pure.

Stages are told apart by the words of the clause, the section, the file and the scope. A part of a paper's section or of a
table's row is a name ("CIFAR-10", "ViT-B") or a description ("transformer base"); a repository that never uses a name has
no such experiment.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache

from lineage.results import FactOccurrence
from lineage.text.tokens import parts
from retrieval.decisions.experiments import telling
from retrieval.decisions.provenance import sentence_of
from retrieval.decisions.wording import wording

_STAGES = {
    "pretraining": r"pre ?train",
    "fine-tuning": r"fine ?tun|\b(?:ft|sft)\b",
    "probing": r"\b(?:lin(?:ear)? ?(?:prob|eval|class)|prob(?:e|ing)\b)",
    "distillation": r"distil",
    "evaluation": r"\b(?:eval(?!\w*s\b)|evaluat|test(?:ing)?\b|valid|val\b|infer|predict|sampl(?:e|er|ing)\b|generat(?:e|ion|ing)\b|decod(?!er))",
}
_PATTERNS = {stage: re.compile(pattern) for stage, pattern in _STAGES.items()}
EVALUATION = "evaluation"
_PART = re.compile(r"[,;:/()]| and ")
_NAME = re.compile(r"[A-Z0-9]")
_PROPER = re.compile(r"\d|[A-Z][A-Za-z]*[A-Z]")
_PIECES = re.compile(r"[A-Za-z]{1,40}|\d{1,9}")
_BASELINE = re.compile(r"\bbaselines?\b", re.IGNORECASE)
_CLAUSE = re.compile(r";|, (?:and|while|but|except|whereas)\b|\bexcept\b|\. ")
_CONDITION = re.compile(r"\b(?:for|on|in case of)\s(?:the\s|our\s)?(?P<name>[A-Z][\w.+-]{1,30}(?:[ ][A-Z0-9][\w.+-]{0,20}){0,3})")
_CASE = re.compile(r"\bwhen\s(?:train|test|evaluat|us|fine|pre)\w{0,10}\b")
_MACHINE = re.compile(r"Adam|SGD|Adafactor|Lion\b|NVIDIA|Nvidia|[AVHP]\d{2,3}\b|RTX|GPU|TPU|Tesla|Table|Figure|Section|Appendix|Eq|Algorithm")
_BEGINS = 12
_TRAINED = re.compile(r"\btrain(?:ing|ed)?\b", re.IGNORECASE)
_REACH = 80
_MOST_PIECES = 8


def stages(text: str) -> frozenset[str]:
    """The stages that a text names, identifiers included."""
    low = " ".join(parts(text.replace("-", " "))) if "_" in text or "/" in text else text.lower().replace("-", " ")
    return frozenset(stage for stage, pattern in _PATTERNS.items() if pattern.search(low))


def paper_stages(value: FactOccurrence) -> frozenset[str]:
    """The stages that a paper states a value for: by its scope and clause, else by the title of its section."""
    clause = stages(f"{value.fact.scope} {value.fact.said[:_REACH]}") if value.fact.kind == "prose" else stages(value.fact.scope)
    title = value.evidence.chunk.section[-1] if value.evidence.chunk.section else ""
    if EVALUATION in clause and _TRAINED.search(value.fact.said[:_REACH]):
        clause = clause - {EVALUATION}  # "the training and sampling batch sizes" are of both
    return clause or (stages(title) - {EVALUATION})


def code_stages(value: FactOccurrence) -> frozenset[str]:
    """The stages that code sets a value for, by its file, scope and name."""
    return stages(" ".join(parts(f"{value.evidence.chunk.path.rpartition('.')[0]} {value.fact.scope} {value.fact.written}")))


def stages_agree(stated: frozenset[str], set_: frozenset[str], known: frozenset[str], evaluated: bool) -> bool:
    """Whether a stated value and one of code may be of one stage; `known` are those that the repository names, `evaluated` a detail of evaluation."""
    if evaluated:
        stated, set_ = stated - {EVALUATION}, set_ - {EVALUATION}
    if stated and set_:
        return bool(stated & set_)
    if set_:
        return set_ <= {"pretraining", "fine-tuning"}
    return stated <= known | {"pretraining"} and (not stated or stated != {EVALUATION})


def place_words(value: FactOccurrence) -> frozenset[str]:
    """The words of a place in code that tell it from others."""
    chunk = value.evidence.chunk
    return telling(f"{chunk.path} {value.fact.scope} {value.fact.written} {chunk.symbol}")


def overlap(stated: FactOccurrence, set_: FactOccurrence, common: frozenset[str] = frozenset()) -> int:
    """How much the place of a value in code speaks of what the paper states it for; the scope counts twice, `common` words for nothing."""
    words, section = place_words(set_) - common, stated.evidence.chunk.section
    return 2 * len(telling(stated.fact.scope) & words) + len(telling(section[-1] if section else "") & words)


def of_another_section(stated: FactOccurrence, set_: FactOccurrence, sections: Iterable[tuple[str, ...]], common: frozenset[str]) -> bool:
    """Whether the folder of a value in code is named as a section that the stated value does not stand in ("algoperf/", "covid/"); folders of
    all values (`common` words) tell nothing."""
    folders = telling(set_.evidence.chunk.path.rpartition("/")[0]) - common
    mine = telling(f"{' '.join(stated.evidence.chunk.section)} {stated.fact.scope} {stated.fact.said}")
    return any((folders - mine) & telling(section[-1]) for section in sections if section)


class Names:
    """The text of a repository, asked for names."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._text = "\n".join(texts)

    def names(self, name: str) -> bool:
        """Whether a name is used: `CIFAR-10` as `cifar10`, `ViT-B` as `vit_base`; not `CIFAR-100` as `cifar10`."""
        pattern = _pattern(name)
        return pattern is not None and pattern.search(self._text) is not None

    def score(self, scope: str) -> int:
        """How many parts of a scope are used as names."""
        return sum(self.names(part) for part in _PART.split(scope) if part.strip())

    def stages(self) -> frozenset[str]:
        """The stages that the text names."""
        return frozenset(stage for stage, pattern in _PATTERNS.items() if pattern.search(self._text.lower().replace("_", " ").replace("-", " ")))


def _holds(stated: FactOccurrence, names: Names) -> bool:
    """Whether the conditions of a value may hold: none, or one whose name is used."""
    if stated.fact.kind != "prose":
        return True
    named, _ = conditions(stated, sentence_of(stated))
    return not named or any(names.names(name) or any(names.names(piece) for piece in _PIECES.findall(name) if len(piece) > 3) for name in named)


@cache
def _pattern(name: str) -> re.Pattern[str] | None:
    pieces = _PIECES.findall(name)[:_MOST_PIECES]
    if not pieces or sum(map(len, pieces)) < 3:
        return None
    last = r"(?!\d)" if pieces[-1].isdigit() else "" if len(pieces[-1]) == 1 else r"(?![a-z])"
    return re.compile(r"(?<![A-Za-z])" + "[ ._x×-]?".join(pieces) + last, re.IGNORECASE)


def is_name(stated: FactOccurrence) -> bool:
    """Whether a scope names something (a model, a data set) rather than describe a part; a title is a name by its digits or capitals."""
    scope, titles = stated.fact.scope, stated.evidence.chunk.section
    pattern = _PROPER if any(scope.strip(". ") == title.strip(". ") for title in titles) else _NAME
    return pattern.search(scope) is not None or _BASELINE.search(scope) is not None


def conditions(stated: FactOccurrence, sentence: str) -> tuple[list[str], bool]:
    """The names that a clause restricts a value to ("for ViT-L", "on UKP Snopes"), and whether it says "when": then it is one of several cases."""
    at = max(0, sentence.find(stated.fact.said[:_BEGINS]))
    start = max((end.end() for end in _CLAUSE.finditer(sentence, 0, at)), default=0)
    end = next((match.start() for match in _CLAUSE.finditer(sentence, at + len(stated.fact.value))), len(sentence))
    names = [match["name"] for match in _CONDITION.finditer(sentence, start, end) if not _MACHINE.search(match["name"])]
    return names, _CASE.search(sentence, at, end) is not None


def of_this_repository(stated: Sequence[FactOccurrence], names: Names, listed: frozenset[tuple[str, ...]]) -> list[FactOccurrence]:
    """The stated values that a repository can have: of experiments and names that it uses; those whose scope it uses most.

    A choice of which the paper has but one, whatever it is said of, holds for all.
    """
    if (
        stated
        and len({occurrence.fact.value for occurrence in stated}) == 1
        and not stated[0].fact.value[:1].isdigit()
        and stated[0].fact.name not in wording().many
    ):
        return list(stated)
    some = [
        occurrence
        for occurrence in stated
        if (occurrence.evidence.chunk.section not in listed or names.names(occurrence.evidence.chunk.section[-1])) and _holds(occurrence, names)
    ]
    scores = [names.score(occurrence.fact.scope) if is_name(occurrence) else 0 for occurrence in some]
    best = max(scores, default=0)
    return [occurrence for occurrence, score in zip(some, scores, strict=True) if not is_name(occurrence) or (score and score == best)]
