"""How far the target states a detail: a value, a mere mention, a pointer to somebody else's settings, or nothing. Pure.

What a sentence shows is judged by its words alone: the phrase that names the detail, a number or a name beside it, and
words that defer ("following [12]", "the default"). A verdict can so be traced to the sentence that made it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from lineage.hyperparameters.checklist import ChecklistItem
from lineage.hyperparameters.values import number
from lineage.records import WorkId
from lineage.results import FactOccurrence, Specification
from lineage.text.phrases import Phrases, Word, phrase, words
from retrieval.decisions.target_text import OWN, TargetSentence
from retrieval.decisions.wording import wording

MOST = 5
"""Sentences that are shown for a detail."""
_AHEAD, _BEHIND = 7, 3
_GAP = 60
_OFTEN = 4
_DOING = 1.0
"""Weight of a set-up section: there a mere mention says what was done."""
_LOOSE = 0.7
"""Strength of a number that stands near a mention, but not in its noun phrase."""
_BETWEEN = 1
"""Words between a number and the name that it stands before, within one noun phrase."""
_EQUATED = re.compile(r"[^$=]*\$\s*|[^=]*=\s*")
"""What stands between a name and its number inside a formula: nothing but the beginning of the formula, or one equals sign."""
_OPERATED = re.compile(r"\s*(?:[-+*/(_]|\\(?!times|cdot|%|,|;|\s))")
"""What makes the number before it part of an expression."""
_EXAMPLES = re.compile(r"\b(?:such as|e\.g\.,?|for example,?)\s[^.;()]{1,60}?\sor\s[^\s.;]{1,30}", re.IGNORECASE)
_EVALUATION = "evaluation"
_TAILS = frozenset(("level", "wise", "specific", "aware", "agnostic", "dependent", "independent", "free", "based", "like"))
"""Last parts of hyphenated words that make something else of what they stand behind."""
_SAME = frozenset(("self", "cross", "multi", "mini", "per", "initial", "maximum", "max", "minimum", "min", "total", "peak", "base", "default"))
"""First parts of hyphenated words that leave what they stand before what it is."""
Spans = Sequence[tuple[int, int]]


@dataclass(frozen=True)
class Pointer:
    """A sentence by which the target takes over what others did: `works` that it cites, and the words that defer."""

    sentence: TargetSentence
    works: tuple[WorkId, ...]
    cue: str


@dataclass(frozen=True)
class Stating:
    """A sentence that speaks of a detail: the words that state a value ("" if it states none), and how strong it is (0..1)."""

    sentence: TargetSentence
    value: str
    strength: float


@dataclass(frozen=True)
class DetailVerdict:
    """The verdict on one detail: its state, the sentences that made it, strongest first, and the pointers to others."""

    item: ChecklistItem
    state: Specification
    shown: tuple[Stating, ...] = ()
    pointers: tuple[Pointer, ...] = ()


def judged(needs: Sequence[ChecklistItem], sentences: Sequence[TargetSentence]) -> tuple[DetailVerdict, ...]:
    """The verdicts on all details, by the target's sentences alone."""
    table = _table(needs)
    shown: dict[str, list[Stating]] = defaultdict(list)
    pointers: dict[str, list[Pointer]] = defaultdict(list)
    for sentence in sentences:
        cue = _cue(sentence)
        mentioned = _mentioned(table, sentence)
        starts = frozenset(first for _, spans in mentioned.values() for first, _ in spans)
        for name, (item, spans) in mentioned.items():
            mention = _shown(item, spans, starts.difference(first for first, _ in spans), sentence, bool(cue))
            shown[name] += [] if _is_example(sentence.text, mention.value) else [mention]
            if cue and sentence.cites and (item.detail.topic == _EVALUATION or not _evaluates(sentence)):
                pointers[name].append(Pointer(sentence, sentence.cites, cue))
    general = tuple(everything(sentences, table))
    return tuple(_verdict(item, shown[item.detail.name], _taken(item, pointers, general)) for item in needs)


def _cue(sentence: TargetSentence) -> str:
    """The words by which a sentence defers to others, one that may speak of more than one detail first; captions defer nothing."""
    if sentence.weight < OWN or sentence.caption:
        return ""
    cues = list(wording().defer.found(sentence.words))
    return next((cue for cue in cues if cue not in wording().narrow), cues[0] if cues else "")


def _is_example(text: str, value: str) -> bool:
    """Whether a sentence gives a value as one of several examples: "functions such as GELU or ReLU"."""
    return bool(value) and any(value.lower() in match[0].lower() for match in _EXAMPLES.finditer(text))


def _evaluates(sentence: TargetSentence) -> bool:
    """Whether a sentence speaks of evaluation and of nothing that is trained."""
    return sentence.has(wording().evaluating) and not sentence.has(wording().doing)


def _taken(item: ChecklistItem, pointers: Mapping[str, Sequence[Pointer]], general: Sequence[Pointer]) -> list[Pointer]:
    """Whom the target points to for a detail: by name, for what it is a part of, then for everything."""
    selected = list(pointers.get(item.detail.name, ()))
    for whole, parts in wording().parts.items():
        if item.detail.name in parts:
            selected += [pointer for pointer in pointers.get(whole, ()) if pointer.cue not in wording().narrow and pointer not in selected]
    return selected + [pointer for pointer in general if item.detail.topic in wording().covered and pointer not in selected]


def _table(needs: Iterable[ChecklistItem]) -> Phrases[tuple[ChecklistItem, ...]]:
    by_phrase: dict[tuple[str, ...], list[ChecklistItem]] = defaultdict(list)
    for item in needs:
        for mention in dict.fromkeys(item.mentions):
            by_phrase[mention].append(item)
    return Phrases({mention: tuple(some) for mention, some in by_phrase.items()})


def _mentioned(table: Phrases[tuple[ChecklistItem, ...]], sentence: TargetSentence) -> Mapping[str, tuple[ChecklistItem, Spans]]:
    """The details that a sentence names, with the places; "learning rate" inside of "learning rate decay" is not named."""
    mentions: dict[str, tuple[ChecklistItem, list[tuple[int, int]]]] = {}
    for first, after, needs in named(table, sentence.words):
        for item in needs if not in_compound(sentence.text, sentence.words, first, after) else ():
            mentions.setdefault(item.detail.name, (item, []))[1].append((first, after))
    return mentions


def named_in(needs: Sequence[ChecklistItem], sentences: Iterable[TargetSentence]) -> frozenset[str]:
    """The names of the details that any sentence names."""
    table = _table(needs)
    return frozenset(name for sentence in sentences for name in _mentioned(table, sentence))


def named(table: Phrases[tuple[ChecklistItem, ...]], text: Sequence[Word]) -> list[tuple[int, int, tuple[ChecklistItem, ...]]]:
    """(first word, one after the last, details) of every mention that lies inside of no longer one."""
    places = list(table.places(text))
    return [place for place in places if not any(a <= place[0] and place[1] <= b and b - a > place[1] - place[0] for a, b, _ in places)]


def in_compound(text: str, words: Sequence[Word], first: int, after: int) -> bool:
    """Whether words [first, after) are but part of a hyphenated one: "linear" of "log-linear", "layer" of "layer-wise", not of "two-layer"."""
    if after < len(words) and words[after].text in _TAILS and text[words[after - 1].end : words[after].start] == "-":
        return True
    if first == 0 or text[words[first - 1].end : words[first].start] != "-":
        return False
    before = words[first - 1]
    return not (before.number or before.text in wording().counts or before.text in _SAME)


def _shown(item: ChecklistItem, spans: Spans, others: frozenset[int], sentence: TargetSentence, defers: bool) -> Stating:
    value, firm = _value(item, spans, others, sentence)
    deferred = 0.9 if defers else 1.0
    if value:
        return Stating(sentence, value, sentence.weight * deferred) if firm else Stating(sentence, "", sentence.weight * deferred * _LOOSE)
    often = 1.0 + 0.05 * (min(len(spans), _OFTEN) - 1) - 0.4 * sentence.table
    return Stating(sentence, "", sentence.weight * often * (0.5 if item.words and not defers else 0.3))


def _value(item: ChecklistItem, spans: Spans, others: frozenset[int], sentence: TargetSentence) -> tuple[str, bool]:
    """The words that state the value, "" if none do, and whether they are beyond doubt the detail's own."""
    places = Phrases({choice: choice for choice in item.choices}).places(sentence.words) if item.choices else ()
    if values := next((" ".join(tag) for first, after, tag in places if not in_compound(sentence.text, sentence.words, first, after)), ""):
        return values, True
    if not item.number:
        return "", False
    beside = [(word, first, after) for first, after in spans if (word := number_beside(sentence.words, first, after, sentence.text, others))]
    numbers = [(word.text, _in_phrase(item, sentence, word, first, after)) for word, first, after in beside if not (item.whole and "." in word.text)]
    column = _in_column(spans, sentence)
    return max([*numbers, *([(column, True)] if column else [])], key=lambda number: number[1], default=("", False))


def _in_phrase(item: ChecklistItem, sentence: TargetSentence, number: Word, first: int, after: int) -> bool:
    """Whether a number stands in one noun phrase with words [first, after): no verb of its own and no other noun between them."""
    at = sentence.words.index(number)
    part = _in_formula(sentence, number) and _OPERATED.match(sentence.text, number.end) is not None
    if part or (number.text in wording().counts and not item.whole) or in_compound(sentence.text, sentence.words, at, at + 1):
        return False
    if at >= after:
        between = sentence.words[after:at]
        equated = not _in_formula(sentence, number) or _EQUATED.fullmatch(sentence.text[sentence.words[after - 1].end : number.start])
        return bool(equated) and all(word.text in wording().near or _in_formula(sentence, word) for word in between)
    return first - at - 1 <= _BETWEEN and not _in_formula(sentence, number) and not _in_formula(sentence, sentence.words[first])


def _in_formula(sentence: TargetSentence, word: Word) -> bool:
    return sentence.chunk.role == "equation" or sentence.text.count("$", 0, word.start) % 2 == 1


def number_beside(text: Sequence[Word], first: int, after: int, source: str, others: frozenset[int] = frozenset()) -> Word | None:
    """The number that a mention in words [first, after) is given: what follows it closely, else what stands right before.

    `others` are the first words of other mentions: a number behind one of them is theirs.
    """
    for at in range(after, min(len(text), after + _AHEAD)):
        word = text[at]
        if at in others or word.start - text[after - 1].end > _GAP or word.text in wording().stops or ";" in source[text[after - 1].end : word.start]:
            break
        if is_count(text, at):
            return word
    for at in range(first - 1, max(-1, first - 1 - _BEHIND), -1):
        if "," in source[text[at].end : text[first].start] or text[at].text in wording().links:
            break
        if is_count(text, at):
            return text[at]
    return None


def is_count(text: Sequence[Word], at: int) -> bool:
    """Whether a word is a number of its own, not that of a section or table."""
    word = text[at]
    before = text[at - 1].text if at else ""
    return (word.number or word.text in wording().counts) and before not in wording().referred


def _in_column(spans: Spans, sentence: TargetSentence) -> str:
    """For the first line of a table: the number under the mention."""
    lines = sentence.chunk.text.split("\n") if sentence.table and not sentence.header else []
    if len(lines) < 2 or "|" not in sentence.text:
        return ""
    for first, _ in spans:
        column = sentence.text.count("|", 0, sentence.words[first].start)
        for line in lines[1:]:
            cells = line.split("|")
            candidates = words(cells[column]) if column < len(cells) else []
            if candidates and candidates[0].number:
                return candidates[0].text
    return ""


def everything(sentences: Iterable[TargetSentence], table: Phrases[tuple[ChecklistItem, ...]]) -> Iterator[Pointer]:
    """Sentences that take over whatever they do not say: "all other hyper-parameters follow [12]"."""
    for sentence in sentences:
        cue = _cue(sentence) if sentence.cites and not _evaluates(sentence) else ""
        if cue and (sentence.has(wording().broad) or (sentence.has(wording().everything) and not _mentioned(table, sentence))):
            yield Pointer(sentence, sentence.cites, cue)


def _verdict(item: ChecklistItem, shown: Sequence[Stating], pointers: Sequence[Pointer]) -> DetailVerdict:
    own = [mention for mention in shown if mention.sentence.weight >= OWN]
    stating = [mention for mention in own if mention.value or (item.words and _does(mention))]
    state = Specification.SPECIFIED if stating else Specification.PARTIALLY_SPECIFIED if own else Specification.UNSPECIFIED
    return DetailVerdict(item, state, _best(stating or own), tuple(pointers))


def _does(shown: Stating) -> bool:
    """Whether a mere mention says what was done: in a set-up section, in a sentence that defers to nobody."""
    return shown.sentence.weight >= _DOING and not shown.sentence.caption and shown.strength > 0.3 * shown.sentence.weight


def _best(shown: Sequence[Stating]) -> tuple[Stating, ...]:
    """The strongest, those with a value that a stronger one has already after the others."""
    kept: list[Stating] = []
    later: list[Stating] = []
    values: set[str] = set()
    for mention in sorted(shown, key=lambda mention: -mention.strength):
        (later if mention.value and mention.value in values else kept).append(mention)
        values.add(mention.value)
    return tuple([*kept, *later][:MOST])


def unclaimed(verdict: DetailVerdict, occurrences_by_key: Mapping[str, Sequence[FactOccurrence]], target: WorkId) -> DetailVerdict:
    """The verdict without numbers that were read, in the same sentence, as the value of something else: "400K steps" are no sampling steps."""
    if verdict.state is not Specification.SPECIFIED or not verdict.item.number or not any(number(shown.value) is not None for shown in verdict.shown):
        return verdict
    others = (
        occurrence
        for name, some in occurrences_by_key.items()
        if name not in verdict.item.detail.facts
        for occurrence in some
        if occurrence.fact.work == target
    )
    facts = [(occurrence.fact.chunk, occurrence.fact.said.strip(), number(occurrence.fact.value)) for occurrence in others]
    kept = tuple(
        replace(shown, value="") if not _surely(verdict.item, shown.sentence.text) and _claimed(shown, facts) else shown for shown in verdict.shown
    )
    state = verdict.state if any(shown.value for shown in kept) else Specification.PARTIALLY_SPECIFIED
    return replace(verdict, state=state, shown=tuple(sorted(kept, key=lambda shown: not shown.value)))


def _surely(item: ChecklistItem, sentence: str) -> bool:
    """Whether a sentence names a detail by more than one word, or its topic: "for sampling, 250 steps"."""
    text = " ".join(phrase(sentence))
    return item.detail.topic in text or any(" ".join(mention) in text for mention in item.mentions if len(mention) > 1)


def _claimed(shown: Stating, facts: Sequence[tuple[str, str, float | int | None]]) -> bool:
    value = number(shown.value)
    here = ((written, read) for chunk, written, read in facts if chunk == shown.sentence.chunk.id)
    return value is not None and any(
        read is not None and abs(read - value) <= 1e-9 * abs(value) and written in shown.sentence.text for written, read in here
    )
