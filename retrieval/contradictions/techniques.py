"""Techniques that the paper claims and its own code shows no trace of, by one table of kinds. Pure.

"We apply top-p sampling" while the sampling code has no nucleus, "cross-attention" in a model that concatenates, a loss called MSE in
a program that takes L1: each kind has its techniques, the words by which prose names one and the signs that code has of it. A
claim counts where the authors say what they did; a technique is missing only where the code that it belongs to is there, is the
authors' own, and leaves its loop to no framework.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any

from lineage.records import MECHANISM, Chunk, Fact, FactKind, Hit
from lineage.results import Conflict, FactOccurrence
from lineage.tables import packaged
from retrieval.decisions.experiments import telling
from retrieval.decisions.target_text import DONE, TargetSentence, TargetText, hit


@dataclass(frozen=True)
class Technique:
    """One way to do a thing: how prose says that it is used, and the signs of it in code.

    `denied` is how prose says that it is not used, `active` the signs of code that does use it, not only can; `beside` others of its kind
    it may be used too.
    """

    name: str
    prose: re.Pattern[str]
    code: re.Pattern[str]
    denied: re.Pattern[str] | None = None
    active: re.Pattern[str] | None = None
    beside: bool = False

    @property
    def cited(self) -> bool:
        """Whether it is named by what is cited."""
        return r"\[[^" in self.prose.pattern


@dataclass(frozen=True)
class TechniqueKind:
    """Techniques of which a program takes one; `stage` is a sign of the code that they stand in.

    `option` is by which setting a configuration takes one of them, `elsewhere` what stands in for all of them, `decided` names the
    mechanisms by which code takes one.
    """

    name: str
    stage: re.Pattern[str]
    techniques: tuple[Technique, ...]
    trains: bool
    option: re.Pattern[str] | None = None
    elsewhere: re.Pattern[str] | None = None
    decided: frozenset[str] = frozenset()


_FRAMEWORK = re.compile(r"LightningModule|deepspeed\.initialize|fairseq|mmcv|mmengine|composer|\bFabric\(", re.IGNORECASE)
"""Frameworks that keep the loop of training to themselves."""
_TRAINER = re.compile(r"\b\w*Trainer(?=\(|\)\s{0,4}:)")
"""Trainers that are called, defined, or derived from."""
_DOES = re.compile(
    r"\b(?:we|is|are|was|were|our)\b[^.;]{0,120}?\b(?:use[ds]?|using|appl(?:y|ied)|employ(?:ed|s)?|adopt(?:ed)?|train(?:ed)?|inject(?:ed)?|"
    r"initiali[sz]ed?|choose|set|sampled?|perform(?:ed)?|combine[sd]?|minimi[sz]e[sd]?|defined|tested|report)\b|\bwith (?:a|an)\b",
    re.IGNORECASE,
)
_OTHERS = re.compile(
    r"\b(?:unlike|instead of|rather than|in contrast|compar(?:e|ed|ison)|baselines?|prior|previous\w*|existing|can be|could|may|might|would|"
    r"without|no|not|n['’]t|remov\w+|ablat\w+|related|alternative\w*|such as|e\.g\.|first introduced|proposed by)\b",
    re.IGNORECASE,
)
_HEDGED = re.compile(
    r"\b(?:unlike|instead of|rather than|prior|previous\w*|existing|can|could|may|might|would|if|ablat\w+|baselines?|remov\w+|even)\b", re.IGNORECASE
)
"""Words of sentences that deny a technique of others, or under a condition."""
_PART = r"(?:(?![A-Za-z])|(?<![A-Za-z])|(?-i:(?<=[a-z])(?=[A-Z])))"
"""Where a part of an identifier begins: `cos` is no sign in "macOS"."""
_COMMENT = re.compile(r"(?m)#(?![\d{]).*$")
_ASIDE = re.compile(r"(?:\A|/)(?:examples?|tests?|demos?|toy|tutorials?|third_party|vendor)/", re.IGNORECASE)
"""Folders whose programs are none of the paper's experiments."""
_KEYS = re.compile(r"\[[^\[\]]{1,200}\]")
LEAST = 3
"""Files of programs, from which on a technique that none has is missing rather than left out of what was published."""
_FORMULA = re.compile(r"\$\$")
_SAID = 160
_LIKELY, _POSSIBLE = 0.7, 0.5
"""Severity of a technique that the code has another instead of, and of one that it has no sign of."""


@dataclass(frozen=True)
class MissingTechnique:
    """A technique that a sentence claims, and a place of the code where it should be; or one that it does without (`denied`), and where it is."""

    kind: TechniqueKind
    technique: Technique
    said: TargetSentence
    chunk: Chunk
    line: int
    instead: str
    denied: bool = False


@cache
def kinds() -> tuple[TechniqueKind, ...]:
    """The packaged table."""
    table = packaged("techniques", "retrieval")
    stages = {name: re.compile(sign, re.IGNORECASE) for name, sign in table["stages"].items()}
    return tuple(_kind(row, stages) for row in table["kinds"])


def _kind(row: Mapping[str, Any], stages: Mapping[str, re.Pattern[str]]) -> TechniqueKind:
    def sign(name: str) -> re.Pattern[str] | None:
        return re.compile(row[name], re.IGNORECASE | re.MULTILINE) if name in row else None

    techniques = map(_technique, row["techniques"])
    decided = frozenset(MECHANISM + name for name in row.get("decided", ()))
    return TechniqueKind(row["name"], stages[row["stage"]], tuple(techniques), row["stage"] == "training", sign("option"), sign("elsewhere"), decided)


def _technique(row: Mapping[str, Any]) -> Technique:
    prose, code = re.compile(row["prose"], re.IGNORECASE), re.compile(f"{_PART}(?:{row['code']})", re.IGNORECASE | re.MULTILINE)
    denied, active = (re.compile(row[part], re.IGNORECASE) if part in row else None for part in ("denied", "active"))
    return Technique(row["name"], prose, code, denied, active, row.get("beside", False))


def missing(sentences: Iterable[TargetSentence], code: Sequence[Chunk], statements: Iterable[Fact] = ()) -> Iterator[MissingTechnique]:
    """The claimed techniques that own code has no sign of, or decides against in its `statements` (mechanisms), once each."""
    programs = [chunk for chunk in code if chunk.kind in {"code", "config"}]
    text = _COMMENT.sub("", "\n".join(chunk.text for chunk in code))
    own = [chunk for chunk in programs if not _ASIDE.search(chunk.path)]
    by_id = {chunk.id: chunk for chunk in own}
    decisions = [(by_id[fact.chunk], fact) for fact in statements if fact.chunk in by_id]
    hidden = _is_hidden(text)
    claims = [sentence for sentence in sentences if _is_claim(sentence)]
    if len({chunk.path for chunk in programs}) < LEAST:
        return
    denials = [sentence for sentence in sentences if sentence.weight >= DONE and not (sentence.table or sentence.quoted or sentence.caption)]
    for kind in kinds():
        yield from _taken(kind, claims, code)
        yield from _denied(kind, denials, own)
        decided = [(chunk, fact) for chunk, fact in decisions if fact.name in kind.decided]
        yield from _decided(kind, [one for one in kind.techniques if one.code.search(text)], claims, own, decided)
        if not any(kind.stage.search(chunk.text) for chunk in own) or (hidden and kind.trains):
            continue
        for technique in kind.techniques:
            said = _claimed(technique, claims)
            if said is None or technique.code.search(text):
                continue
            if place := _place(kind, technique, _nearest(said, programs)):
                yield MissingTechnique(kind, technique, said, *place)


def _claimed(technique: Technique, claims: Iterable[TargetSentence]) -> TargetSentence | None:
    """The first claim of a technique; a key of a citation is none."""
    return next(
        (
            sentence
            for sentence in claims
            if technique.prose.search(sentence.text) and (technique.cited or technique.prose.search(_KEYS.sub(" ", sentence.text)))
        ),
        None,
    )


def _is_hidden(text: str) -> bool:
    """Whether a framework, or a trainer that is not written here, keeps the loop of training to itself."""
    trainers = set(_TRAINER.findall(text))
    return _FRAMEWORK.search(text) is not None or not all(re.search(rf"\bclass {name}\b", text) for name in trainers)


def _decided(
    kind: TechniqueKind,
    techniques: Iterable[Technique],
    claims: Sequence[TargetSentence],
    own: Sequence[Chunk],
    decisions: Sequence[tuple[Chunk, Fact]],
) -> Iterator[MissingTechnique]:
    """Claimed techniques without a sign in any file that decides on their kind, where a statement takes another that nobody claims."""
    paths = {chunk.path for chunk, _ in decisions}
    text = _COMMENT.sub("", "\n".join(chunk.text for chunk in own if chunk.path in paths))
    said = {technique.name: _claimed(technique, claims) for technique in kind.techniques}
    others = [technique for technique in kind.techniques if not said[technique.name] and not technique.beside]
    for technique in techniques:
        claim = said[technique.name]
        if not claim or technique.beside or technique.code.search(text):
            continue
        taken = ((chunk, fact, other) for chunk, fact in decisions for other in others if other.code.search(fact.value))
        yield from (MissingTechnique(kind, technique, claim, chunk, fact.line, other.name) for chunk, fact, other in islice(taken, 1))


def _taken(kind: TechniqueKind, claims: Sequence[TargetSentence], code: Sequence[Chunk]) -> Iterator[MissingTechnique]:
    """A technique that is claimed alone of its kind, where every configuration that chooses takes another."""
    said = [(technique, one) for technique in kind.techniques if (one := _claimed(technique, claims))]
    if not kind.option or len(said) != 1:
        return
    technique, sentence = said[0]
    taken = [
        (chunk, match) for chunk in code if chunk.kind in {"config", "docs"} or chunk.language == "bash" for match in kind.option.finditer(chunk.text)
    ]
    others = [other for _, match in taken for other in kind.techniques if other.code.search(f'"{match["value"]}"')]
    if taken and len(others) == len(taken) and all(other is not technique for other in others):
        chunk, match = taken[0]
        yield MissingTechnique(kind, technique, sentence, chunk, chunk.start_line + chunk.text.count("\n", 0, match.start()), others[0].name)


def _denied(kind: TechniqueKind, sentences: Sequence[TargetSentence], own: Sequence[Chunk]) -> Iterator[MissingTechnique]:
    """Techniques that the authors say they do without, and that their programs use."""
    for technique in kind.techniques:
        if technique.denied is None or technique.active is None:
            continue
        said = next((one for one in sentences if technique.denied.search(one.text) and not _HEDGED.search(one.text)), None)
        if said and (place := _first(technique.active, _nearest(said, own))):
            yield MissingTechnique(kind, technique, said, *place, technique.name, denied=True)


def _is_claim(sentence: TargetSentence) -> bool:
    """Whether a sentence tells what the authors did."""
    if sentence.table or sentence.quoted or sentence.weight < DONE:
        return False
    if sentence.chunk.role == "equation" or _FORMULA.search(sentence.text):
        return True
    return _DOES.search(sentence.text) is not None and _OTHERS.search(sentence.text) is None


def _place(kind: TechniqueKind, technique: Technique, programs: Sequence[Chunk]) -> tuple[Chunk, int, str] | None:
    """Where another technique of the kind stands, else where the stage is."""
    for other in kind.techniques:
        if other is not technique and (hit := _first(other.code, programs)):
            return (*hit, other.name)
    if kind.elsewhere:
        hit = _first(kind.elsewhere, programs)
        return (*hit, hit[0].text.split("\n")[hit[1] - hit[0].start_line].strip()[:60]) if hit else None
    hit = _first(kind.stage, programs)
    return (*hit, "") if hit else None


def _nearest(said: TargetSentence, programs: Sequence[Chunk]) -> list[Chunk]:
    """The programs, those first whose paths have most words of a sentence and its titles: `gmflow_imagenet.py` for "ImageNet details"."""
    about = telling(" ".join((said.text, *said.chunk.section)))
    return sorted(programs, key=lambda chunk: -len(telling(chunk.path) & about))


def _first(pattern: re.Pattern[str], chunks: Sequence[Chunk]) -> tuple[Chunk, int] | None:
    """The first line with a sign, comments aside."""
    for chunk in chunks:
        if match := pattern.search(_COMMENT.sub("", chunk.text)):
            line = next((n for n, row in enumerate(chunk.text.split("\n")) if match[0].split("\n")[0] in row), 0)
            return chunk, chunk.start_line + line
    return None


# -- as conflicts


@dataclass(frozen=True)
class Reading:
    """What was read of the target: its text, the passages of its own code with the mechanisms they state, and a line of one as evidence."""

    text: TargetText
    code: Sequence[Chunk]
    evidence: Callable[[Chunk, int], Hit]
    mechanisms: Sequence[Fact] = ()

    def conflicts(self) -> Iterator[Conflict]:
        """Every technique that the text claims and the code has no sign of."""
        yield from map(self._missing, missing(self.text.sentences, self.code, self.mechanisms))

    def _missing(self, missing: MissingTechnique) -> Conflict:
        place = self.evidence(missing.chunk, missing.line)
        kind: FactKind = "config" if missing.chunk.kind == "config" else "call"
        line = next(iter(missing.chunk.text.split("\n")[missing.line - missing.chunk.start_line :]), "").strip()
        value = missing.instead or f"no {missing.technique.name}"
        claimed = f"without {missing.technique.name}" if missing.denied else missing.technique.name
        other = FactOccurrence(
            Fact(missing.kind.name, value, "", missing.chunk.work, missing.chunk.id, kind, missing.line, missing.kind.name, line[:_SAID]), place
        )
        why = f"likely: its own code has {missing.instead} there" if missing.instead else "possible: no file of its own code has a sign of it"
        severity = _LIKELY if missing.instead else _POSSIBLE
        sides = (self._said(missing.said, missing.kind.name, claimed), other)
        return Conflict(missing.kind.name, missing.kind.name.capitalize(), "paper-code", sides, severity, why, "technique")

    def _said(self, sentence: TargetSentence, name: str, value: str) -> FactOccurrence:
        fact = Fact(name, value, "", self.text.work.id, sentence.chunk.id, "prose", sentence.line, name, " ".join(sentence.text.split())[:_SAID])
        return FactOccurrence(fact, hit(sentence, self.text.work))
