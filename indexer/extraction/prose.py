"""Facts of prose: "a learning rate of 1e-4", "AdamW with β2 = .95", "batch size 4,096 on 8 GPUs", "12 layers".

Phrases of the ontology are looked up word by word, the longest at each place; the number belongs to a phrase if it follows it
through words that only join ("is set to"), or stands right before it. A choice ("AdamW") counts where its sentence speaks of
such a choice. A sentence remembers which of its numbers belong to a phrase already. All patterns are bounded and the walk is
linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

from indexer.extraction.collector import Sink
from indexer.extraction.quantity import NUMBER, WORDS, Quantity, in_order, listed, quantity
from lineage.hyperparameters.ontology import Ontology, schedule
from lineage.hyperparameters.terms import Term, fold
from lineage.records import FactKind

_JOIN = (
    r"(?:is|was|are|were|be|been|of|to|as|at|with|set|fixed|equal|equals|chosen|kept|a|an|the|values?|sizes?|rates?|both|about|around|approximately|"
    r"roughly|constant|peak|maximum|default|defaults|starting|initially|initial|total|use|uses|used|using|we|always|just|only|that|which|either|"
    r"strengths?|parameters?|coefficients?|factors?|ratios?|probability|probabilities|hyperparameters?|weights?|dimensions?|up|linearly|per|gpu|device|select|selected)"
)
_WHOSE = (
    r"(?:\s+(?:for|of|in|on)\s+(?:the\s+|our\s+|both\s+)?(?P<whose>(?!which|what|that|when|whom|where)[A-Za-z][\w/+-]{0,24}(?:\s+[\w/+-]{1,24}){0,2}?)"
    r"(?=\s+(?:is|are|was|were)\s))?"
)
_AFTER = re.compile(
    r"(?:\}?\$)?" + _WHOSE + rf"(?:\s*(?:\$[^$\n]{{1,24}}\$|\([^()\d\n]{{1,24}}\)|\[[^\[\]\n]{{1,60}}\]|[αβγδεηλμρστϵκωθ]_?\w?)){{0,2}}"
    rf"\s*(?:{_JOIN}\s+|[=:≈~∼]\s*|\s|,\s*(?=set\b)|\((?=[\d.]|(?:factor|rate|ratio|value|power)\s)|"
    rf"[}}]|\$?\\?[A-Za-zα-ω]{{1,10}}(?:_\{{?\w{{1,6}}\}}?)?\s*=\s*)"
    rf"{{0,7}}(?=[$.\d(\[{{−-])(?P<open>[({{\[]\s*)?",
    re.IGNORECASE,
)
_BEFORE = [
    re.compile(
        rf"(?:\A|[\s(,/~≈]|\bx)(?P<number>(?:{NUMBER}\s*,\s*){{0,6}}{NUMBER},?\s+(?:and|or)\s+{NUMBER}|\$?{NUMBER}\$?|(?:{'|'.join(WORDS)}))"
        rf"(?:\s*[-–×]\s*|\s+)(?P<between>(?:[A-Za-z][\w.-]{{0,20}}[ \n]){{{words}}})\Z",
        re.IGNORECASE,
    )
    for words in range(3)
]
"""A number right before a place, or with one or two words between."""
_BESIDE = r"(?:\s*(?:\([^()\n]{1,60}\)|\[[^\[\]\n]{1,60}\])){0,3}"
"""Remarks and citations between a value and what it is for."""
_EACH = re.compile(
    rf"{_BESIDE}\s+(?:on|for|in)\s+(?P<scope>[\w\s+/×-]{{2,50}}?)(?:,?\s+and|,)\s+\$?(?P<number>{NUMBER})\$?(?={_BESIDE}\s+(?:on|for|in)\s)",
    re.IGNORECASE,
)
_LAST = re.compile(_BESIDE + r"\s+(?:on|for|in)\s+(?P<scope>[\w\s+/×-]{2,40}?)(?=[.,;)]|\Z| for | when )")
"""What one of several values is for; the last of them."""
_TOGETHER = re.compile(r"(?:\}?\$)?\s*(?:\$[^$\n]{1,24}\$\s*|\([^()\d\n]{1,24}\)\s*)?(?:,\s*(?:and\s+)?|and\s+|&\s*)(?:the\s+|an?\s+)?\$?\{?\\?")
_WARMING = re.compile(r"\bwarm(?:s|ed|ing)?[- ]?up\b[^,;.]*\Z|\bwarm(?:s|ed|ing)?[^,;.]{1,30}\bup\b[^,;.]*\Z", re.IGNORECASE)
"""What stands before a number of steps of warm-up."""
_ORDINAL = re.compile(
    r"\b(?:every|each|after|first|last|per|until|top|final|another|than|table|figure|fig|section|eq|equation|appendix|step|next|previous)\.?\s*\Z",
    re.IGNORECASE,
)
_JOINING = frozenset(
    re.findall(r"\w+", "of and the in for per to with on over by or from at as is are was were than a an that which each all these those more other")
)
_DURATION = re.compile(
    rf"(?P<number>{NUMBER}|{'|'.join(WORDS)})\$?(?P<half>\s+and\s+a\s+half)?\s*-?\s*(?P<unit>hours?|days?|minutes?|weeks?)\b(?!\s+(?:per|later|ago|old))",
    re.IGNORECASE,
)
"""Words between a number and "steps" that leave them steps of training; fifty discretization steps are none."""
_TRAINS = re.compile(r"train|fine-?tun|\bcomput|\bepochs?\b", re.IGNORECASE)
_SPELLED_OUT = {"hardware", "evaluation", "training length", "schedule"}
"""Topics whose numbers are written as words ("four cards", "five seeds"); elsewhere "two layers" points at some two of many."""
_MOST_VALUES = 6


def read(text: str, sink: Sink, *, first: int = 1, kind: FactKind = "prose", around: str = "") -> None:
    """Put the facts of running text into `sink`; its first line has the number `first`, `around` are the titles above it."""
    phrases = lexicon(sink.ontology)
    for sentence in sentences(text, first, around.lower()):
        _sentence(sentence, phrases, sink, kind)


def _sentence(sentence: TokenizedSentence, phrases: Lexicon, sink: Sink, kind: FactKind) -> None:
    words = sentence.words
    _paired(sentence, [*hits(words, sentence, phrases, "name")], sink, kind)
    for role, put in (("counted", _counted), ("name", _named)):
        for phrase, start, end in hits(words, sentence, phrases, role):
            if not not_meant(sentence, phrase, start, kind):
                put(sentence, phrase, start, end, sink, kind)
    for phrase, start, _ in hits(words, sentence, phrases, "choice"):
        if not not_meant(sentence, phrase, start, kind):
            _chosen(sentence, phrase, start, words, sink, kind)
    _specials(sentence, sink, kind)


def _paired(sentence: TokenizedSentence, names: Sequence[tuple[Phrase, int, int]], sink: Sink, kind: FactKind) -> None:
    """`The weight decay and momenta for AdamW are 0.05 and (0.9, 0.95)`: names, then as many values in their order."""
    for run in _runs(sentence.text, names):
        after = _AFTER.match(sentence.text, run[-1][2]) if len(run) > 1 else None
        if not after or after.end() - run[-1][2] > 90:
            continue
        listing = after["open"] and run[0][0].term.type == "list"
        values = in_order(sentence.text, after.start("open") if listing else after.end(), [phrase.term for phrase, _, _ in run])
        for (phrase, start, _), value in zip(run, values, strict=False):
            _put(sentence, phrase.term.name, phrase, start, value.end - len(value.text), value, sink, kind, _scope(after["whose"], sink))


def _runs(text: str, names: Sequence[tuple[Phrase, int, int]]) -> Iterator[list[tuple[Phrase, int, int]]]:
    """Names that only "and" or a comma stands between."""
    run: list[tuple[Phrase, int, int]] = []
    for phrase_place in names:
        if run and phrase_place[1] < run[-1][2]:
            continue
        joins = _TOGETHER.fullmatch(text, run[-1][2], phrase_place[1]) if run else None
        if run and not joins:
            yield run
            run = []
        run.append(phrase_place)
    yield run


def _scope(written: str | None, sink: Sink) -> str:
    """What a value is for, without an article; "" for the optimizer that has it anyway."""
    words = re.sub(r"\A(?:the|our|a)\s+", "", " ".join((written or "").split()))
    return "" if fold(words) in sink.ontology.terms["optimizer"].choices else words[:40]


def _named(sentence: TokenizedSentence, phrase: Phrase, start: int, end: int, sink: Sink, kind: FactKind) -> None:
    """The number after a phrase, or right before it."""
    term = phrase.term
    if term.type in {"choice", "schedule", "boolean", "text"} or term.durations or not _cued(term.prose_cues, sentence):
        return
    after = _AFTER.match(sentence.text, end)
    if after and after.end() - end < 90:
        at = after.start("open") if after["open"] and term.type == "list" else after.end()
        if _put_after(sentence, phrase, start, at, after, sink, kind):
            return
    before = _BEFORE[0].search(sentence.text[max(0, start - 50) : start])
    if before and (before["number"].lower() not in WORDS or term.topic in _SPELLED_OUT):
        _put_before(sentence, phrase, start, before, sink, kind)


def _put_after(sentence: TokenizedSentence, phrase: Phrase, start: int, at: int, after: re.Match[str], sink: Sink, kind: FactKind) -> bool:
    """The number, or numbers, that stand at a place after a phrase, each for its own scope."""
    name = phrase.term.name
    many = listed(sentence.text, at)
    first_quantity = quantity(sentence.text, at, phrase.term)
    several = many and (len(many.items) > 2 or many.choice or phrase.words[-1].endswith("s"))
    if many and several and sentence.free(at, many.end) and _put(sentence, name, phrase, start, at, many, sink, kind):
        return True
    if not first_quantity or not sentence.free(at, first_quantity.end):
        return False
    each = _each(sentence.text, first_quantity) or [(after["whose"], first_quantity)]
    for scope, scoped_quantity in each:
        begin, here = (start, at) if scoped_quantity is first_quantity else (scoped_quantity.end - len(scoped_quantity.text),) * 2
        put = _put(sentence, name, phrase, begin, here, scoped_quantity, sink, kind, _scope(scope, sink))
    return put


def _each(text: str, number: Quantity) -> list[tuple[str, Quantity]]:
    """`1e-5 on the base and 1e-3 on the head`: values one after another, each with what it is for; none for one alone."""
    scoped_quantities: list[tuple[str, Quantity]] = []
    while len(scoped_quantities) < _MOST_VALUES and (each := _EACH.match(text, number.end)):
        scoped_quantities.append((each["scope"], number))
        number = Quantity(each["number"], each.end("number"), (each["number"],))
    last = _LAST.match(text, number.end) if scoped_quantities else None
    return [*scoped_quantities, (last["scope"], number)] if last else []


def _put(
    sentence: TokenizedSentence, name: str, phrase: Phrase, start: int, at: int, number: Quantity, sink: Sink, kind: FactKind, scope: str = ""
) -> bool:
    value = sink.ontology.normalize(name, number.text)
    if not value or not value.literal:
        return False
    quoted_words = sentence.text[max(0, min(start, at)) : number.end + 40].split("\n\n")[0]
    unit = _unit(sentence.text, number.end) if name == "batch_size" else value.unit
    sink.state(sentence.row(at), name, value.value, " ".join(quoted_words.split()), written=" ".join(phrase.words), kind=kind, unit=unit, scope=scope)
    sentence.taken.append((at, number.end))
    sentence.said[name] = value.value
    return True


_UNITS = re.compile(r"\s*(tokens|images|sequences|samples|examples|sentences|pairs|graphs|points|prompts|frames)\b")


def _unit(text: str, end: int) -> str:
    match = _UNITS.match(text, end)
    return match[1] if match else ""


def _put_before(sentence: TokenizedSentence, phrase: Phrase, start: int, before: re.Match[str], sink: Sink, kind: FactKind) -> bool:
    offset = max(0, start - 50)
    ahead = sentence.text[max(0, offset + before.start("number") - 24) : offset + before.start("number")]
    at, last = offset + before.start("number"), offset + before.end("number")
    name = phrase.term.name
    if name in {"steps", "epochs"} and _WARMING.search(sentence.text[max(0, at - 60) : at]):
        name = f"warmup_{name}"
    if (_ORDINAL.search(ahead) and not name.startswith("warmup")) or not sentence.free(at, last):
        return False
    number_word = WORDS.get(before["number"].lower())
    text = str(number_word) if number_word is not None else before["number"].strip("$")
    if re.search(r"\s(?:and|or)\s", text):
        text = "[" + ", ".join(re.split(r"\s*,\s*(?:(?:and|or)\s+)?|\s+(?:and|or)\s+", text)) + "]"
    return _put(sentence, name, phrase, at, at, Quantity(text, last, (text,)), sink, kind)


def _counted(sentence: TokenizedSentence, phrase: Phrase, start: int, _: int, sink: Sink, kind: FactKind) -> None:
    ahead = sentence.text[max(0, start - 50) : start]
    before = next((match for pattern in _BEFORE if (match := pattern.search(ahead))), None)
    if not before or _JOINING & set(before["between"].lower().split()):
        return
    if before["number"].lower() in WORDS and phrase.term.topic not in _SPELLED_OUT:
        return
    between = before["between"].lower().split()
    if between and phrase.term.topic not in _SPELLED_OUT | {"architecture"}:
        return
    _put_before(sentence, phrase, start, before, sink, kind)


def _cued(cues: Sequence[str], sentence: TokenizedSentence) -> bool:
    low = f"{sentence.text.lower()} {sentence.around}" if cues else ""
    return not cues or any(cue in low for cue in cues)


def _chosen(sentence: TokenizedSentence, phrase: Phrase, start: int, words: Sequence[str], sink: Sink, kind: FactKind) -> None:
    term = phrase.term
    others = [word for word in (*words, *sentence.around.split()) if word not in phrase.words]
    if not any(word.startswith(cue) for cue in term.cues for word in others):
        return
    value = phrase.choice
    if term.type == "schedule":
        warmup_values = {
            key: float(stated_value) for key in ("warmup_steps", "warmup_epochs", "warmup_ratio") if (stated_value := sentence.said.get(key))
        }
        value = schedule(
            value, **{key: int(stated_value) if stated_value == int(stated_value) else stated_value for key, stated_value in warmup_values.items()}
        )
    quoted_words = " ".join(sentence.text[max(0, start - 40) : start + 100].split())
    sink.state(sentence.row(start), term.name, value, quoted_words, written=" ".join(phrase.words), kind=kind)


def _specials(sentence: TokenizedSentence, sink: Sink, kind: FactKind) -> None:
    """Durations of training, whose name is not one phrase."""
    if _TRAINS.search(sentence.text):
        for match in _DURATION.finditer(sentence.text):
            number = WORDS.get(match["number"].lower(), match["number"])
            number = f"{number}.5" if match["half"] else number
            value = sink.ontology.normalize("training_time", f"{number} {match['unit']}")
            if value and value.literal and not _ORDINAL.search(sentence.text[max(0, match.start() - 20) : match.start()]):
                sink.state(sentence.row(match.start()), "training_time", value.value, match[0], written="training time", kind=kind)


TOKEN = re.compile(r"[^\W_]+")
_END = re.compile(r"(?<=[.!?;])\s+(?=[A-Z(\[\"“])|\n\s*\n|\n\s*(?=[-*•]\s)")
_COMMON = frozenset(
    re.findall(
        r"\w+",
        "constant orthogonal zeros ones precision accuracy unigram uniform softmax sigmoid recall lion normal moses none linear step tanh cutout",
    )
)
_MOST = 4_000
_BREAK = "\n\n"
_WIDE = re.compile(r"[^\S\n]{40,}")
"""White space that stands in no sentence; patterns that look across it would take the square of its length."""


@dataclass(frozen=True)
class Phrase:
    """Words that name a detail, count it, or are one of its choices (`spelled` where case matters)."""

    words: tuple[str, ...]
    term: Term
    role: str
    choice: str = ""
    spelled: str = ""


Lexicon = Mapping[str, tuple[Phrase, ...]]


@dataclass
class TokenizedSentence:
    """A sentence, where it begins, the titles above it, and with those beside it (`near`).

    `taken` are the numbers that a phrase has, `said` their values by detail.
    """

    text: str
    line: int
    around: str
    near: str
    tokens: list[re.Match[str]]
    taken: list[tuple[int, int]] = field(default_factory=list)
    said: dict[str, str] = field(default_factory=dict)

    @property
    def words(self) -> list[str]:
        """The words in lower case."""
        return [token[0].lower() for token in self.tokens]

    def row(self, at: int) -> int:
        """The line of an offset of the sentence."""
        return self.line + self.text.count("\n", 0, at)

    def free(self, start: int, end: int) -> bool:
        """Whether no number inside has been given to another phrase."""
        return not any(a < end and start < b for a, b in self.taken)


@lru_cache(maxsize=4)
def lexicon(ontology: Ontology) -> Lexicon:
    """Phrases by their first word, longest first."""
    phrases_by_key: dict[str, list[Phrase]] = {}
    for term in ontology.terms.values():
        rows = [(phrase, "name", "") for phrase in term.prose] + [(noun, "counted", "") for noun in term.counted]
        spelled_choices = [(spelling, choice) for choice, spellings in term.values.items() for spelling in spellings if term.cues]
        rows += [(spelling, "choice", choice) for spelling, choice in spelled_choices if _distinct(spelling)]
        for phrase, role, choice in rows:
            words = tuple(token[0].lower() for token in TOKEN.finditer(phrase))
            spelled = phrase if role == "choice" and len(words) == 1 else ""
            if words:
                phrases_by_key.setdefault(words[0], []).append(Phrase(words, term, role, choice, spelled))
    order = {"choice": 0, "name": 1, "counted": 2}
    return {
        word: tuple(sorted(phrases_of_key, key=lambda entry: (-len(entry.words), order[entry.role])))
        for word, phrases_of_key in phrases_by_key.items()
    }


def _distinct(spelling: str) -> bool:
    """Whether a spelling means its choice in running text too."""
    if " " in spelling or ("-" in spelling and spelling.lower() != spelling.upper()):
        return True
    return (
        spelling.lower() not in _COMMON
        and "_" not in spelling
        and (spelling.lower() != spelling or any(c.isdigit() for c in spelling))
        and not spelling.isdigit()
    )


def sentences(text: str, first: int, around: str) -> Iterator[TokenizedSentence]:
    """The sentences of a text whose first line has the number `first`; a long one in pieces."""
    line = first
    ends = [0, *(match.end() for match in _END.finditer(text)), len(text)]
    parts = [text[start:end] for start, end in pairwise(ends)]
    for before, part, after in zip(["", *parts], parts, [*parts[1:], ""], strict=False):
        near = f"{'' if before.endswith(_BREAK) else before[-_MOST:]}{part[:_MOST]}{'' if part.endswith(_BREAK) else after[:_MOST]}"
        for start in range(0, len(part), _MOST):
            piece = _WIDE.sub(" ", part[start : start + _MOST].rstrip())
            tokens = list(TOKEN.finditer(piece))
            if len(tokens) > 1:
                yield TokenizedSentence(piece, line + part.count("\n", 0, start), around, near, tokens)
        line += part.count("\n")


def hits(words: Sequence[str], sentence: TokenizedSentence, phrases: Lexicon, role: str) -> Iterator[tuple[Phrase, int, int]]:
    """Phrases of a role with their offsets, the longest at each place."""
    at = 0
    while at < len(words):
        length = 0
        for phrase in phrases.get(words[at], ()):
            size = len(phrase.words)
            if phrase.role != role or size < length or tuple(words[at : at + size]) != phrase.words:
                continue
            start, end = sentence.tokens[at].start(), sentence.tokens[at + size - 1].end()
            together = size == 1 or end - start <= 2 * sum(map(len, phrase.words)) + 8
            if together and (not phrase.spelled or sentence.text[start:end] == phrase.spelled):
                length = size
                yield phrase, start, end
        at += length or 1


_EXAMPLE = re.compile(
    r"\b(?:such as|e\.g\.,?|for example,?|for instance,?)\s+(?:[\w-]{1,30}(?:\s[\w-]{1,30}){0,2}"
    r"(?:\s\[[^\[\]]{1,60}\])?(?:,?\s(?:and|or)\s|,\s)){0,3}\Z",
    re.IGNORECASE,
)
"""What stands before an example of something; of sets (augmentations, metrics) examples say what is used."""
_SETS = {"augmentation", "evaluation", "data"}
_COST = re.compile(
    r"\b(?:[GMTP]?FLOPs?|MACs|throughput|latency|fps|speed|(?:inference|generation|sampling|evaluation) time|time (?:required|taken|needed)|"
    r"(?:seconds?|ms) per (?:image|sample|iteration|step)|(?:frames?|images?|samples?|tokens?|img)\s?(?:/|per\s)\s?s(?:ec(?:onds?)?)?)\b",
    re.IGNORECASE,
)
_TRAINED = re.compile(r"\b(?:(?:pre-?|fine-?)?(?:trained|tuned)|we (?:pre-?|fine-?)?train|epochs?)\b", re.IGNORECASE)
_CONDITIONS = {"batch_size", "gpus", "gpu_type", "precision", "image_size"}
"""Details of which sentences on cost tell how it was measured, unless one says that something was trained."""
_PREFIXES = frozenset(
    {"pre", "post", "re", "fine", "mini", "micro", "per", "max", "min", "semi", "non", "half", "vanilla", "standard", "nvidia", *WORDS}
)
"""Parts before a hyphen that leave the word after it what it is."""


def not_meant(sentence: TokenizedSentence, phrase: Phrase, start: int, kind: FactKind) -> bool:
    """Whether a phrase is the end of another word ("alignment-depth"), an example, or a condition of measuring cost."""
    ahead = sentence.text[max(0, start - 80) : start]
    joined = re.search(r"([A-Za-z]+)-\Z", ahead[-30:])
    if joined and (phrase.role == "choice" or len(phrase.words) == 1) and joined[1].lower() not in _PREFIXES:
        return True
    example = phrase.role == "choice" and phrase.term.topic not in _SETS and _EXAMPLE.search(ahead)
    cost = kind == "prose" and phrase.term.name in _CONDITIONS and _COST.search(sentence.near) and not _TRAINED.search(sentence.near)
    return bool(example or cost)
