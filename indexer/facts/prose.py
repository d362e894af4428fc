"""Facts of prose: "a learning rate of 1e-4", "AdamW with β2 = .95", "batch size 4,096 on 8 GPUs", "12 layers".

Phrases of the ontology are looked up word by word; the number belongs to a phrase if it follows it through words that only
join ("is set to"), or stands right before it. A choice ("AdamW") counts where its sentence speaks of such a choice. All
patterns are bounded and the walk is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from indexer.facts import losses
from indexer.facts.quantity import NUMBER, WORDS, Quantity, listed, quantity
from indexer.facts.sink import Sink
from lineage.fitting import schedule
from lineage.model import FactKind
from lineage.ontology import Ontology
from lineage.terms import Term

_TOKEN = re.compile(r"[^\W_]+")
_END = re.compile(r"(?<=[.!?;])\s+(?=[A-Z(\[\"“])|\n\s*\n|\n\s*(?=[-*•]\s)")
_JOIN = (
    r"(?:is|was|are|were|be|been|of|to|as|at|with|set|fixed|equal|equals|chosen|kept|a|an|the|value|values|size|rate|both|about|around|approximately|"
    r"roughly|constant|peak|maximum|default|defaults|starting|initially|initial|total|use|uses|used|using|we|always|just|only|that|which|either|"
    r"strength|parameter|coefficient|factor|ratio|probability|hyperparameter|weight|dimension|up|linearly|per|gpu|device|select|selected)"
)
_AFTER = re.compile(
    rf"(?:\s*(?:\$[^$\n]{{1,24}}\$|\([^()\d\n]{{1,24}}\)|\[[^\[\]\n]{{1,60}}\]|[αβγδεηλμρστϵκωθ]_?\w?))?\s*(?:{_JOIN}\s+|[=:≈~∼]\s*|\s|,\s*(?=set\b)|\((?=[\d.])|"
    rf"[}}]|\$?\\?[A-Za-zα-ω]{{1,10}}(?:_\{{?\w{{1,6}}\}}?)?\s*=\s*)"
    rf"{{0,7}}(?=[$.\d(\[{{−-])(?P<open>[({{\[]\s*)?",
    re.IGNORECASE,
)
_SEARCHED = re.compile(
    r"\s*(?:\([^()\d\n]{1,24}\)\s*)?,?\s*(?:(?:is|are|was|were|we|experiment|experimented|try|tried|search|searched|sweep|swept|tune|tuned|explore|explored|consider|"
    r"considered|grid|values|with|over|from|among|in|of|between|the|set|space|range|selected|chosen|picked|varied|vary|using|by|for|∈|\\in|:)\s+){1,8}\$?(?P<open>\\?[({\[]?)",
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
_SPLIT = re.compile(
    rf"\s+(?:on|for|in)\s+(?P<one>[\w\s+/-]{{2,50}}?),?\s+and\s+\$?(?P<number>{NUMBER})\$?\s+(?:on|for|in)\s+"
    r"(?P<other>[\w\s+/-]{2,40}?)(?=[.,;]|\Z| for | when )"
)
_ORDINAL = re.compile(
    r"\b(?:every|each|after|first|last|per|until|top|final|another|than|table|figure|fig|section|eq|equation|appendix|step|next|previous)\.?\s*\Z",
    re.IGNORECASE,
)
_JOINING = frozenset(
    re.findall(r"\w+", "of and the in for per to with on over by or from at as is are was were than a an that which each all these those more other")
)
_WARMING = re.compile(r"\bwarm(?:s|ed|ing)?[- ]?up\b[^,;.]*\Z|\bwarm(?:s|ed|ing)?[^,;.]{1,30}\bup\b[^,;.]*\Z", re.IGNORECASE)
_RISING = re.compile(
    r"\blearning rate\b[^.;]{0,30}\b(?:rise|rises|increase|increases|increased|increasing|ramp\w*)\b[^.;]{0,20}\bfirst\s*\$?\Z", re.IGNORECASE
)
_DECAYING = re.compile(
    r"\b(?:decay|decays|decayed|decaying|anneal|annealed|annealing|reduce|reduced|drop|dropped|decrease|decreased|decreases)\b", re.IGNORECASE
)
_DURATION = re.compile(
    rf"(?P<number>{NUMBER}|{'|'.join(WORDS)})\$?(?P<half>\s+and\s+a\s+half)?\s*-?\s*(?P<unit>hours?|days?|minutes?|weeks?)\b(?!\s+(?:per|later|ago|old))",
    re.IGNORECASE,
)
_TOP = re.compile(
    r"\btop[- ]?(?:\$?k\s*=\s*)?\$?(\d{1,4})\$?\s+(?:most\s+\w+\s+)?(?:retrieved\s+)?(?:documents|passages|abstracts|results|chunks|articles)\b",
    re.IGNORECASE,
)
_COMMON = frozenset(
    re.findall(
        r"\w+",
        "constant orthogonal zeros ones precision accuracy unigram uniform softmax sigmoid recall lion normal moses none linear step tanh cutout",
    )
)
_BETAS = re.compile(
    rf"(?:β|\\?beta)_?\{{?1\}}?\$?\s*,\s*\$?(?:β|\\?beta)_?\{{?2\}}?\$?\)?\s*=\s*\$?[(\[{{]?\s*(?P<one>{NUMBER})\s*,\s*(?P<two>{NUMBER})",
    re.IGNORECASE,
)
_TRIED = re.compile(r"search|swe[ep]|tune|grid|from|among|set|range|explore|experiment|tri|values|chosen|picked|var[iy]", re.IGNORECASE)
"""What says that numbers in square brackets are values, where they might be citations."""
_UNDONE = re.compile(
    r"\bfuture (?:work|research|stud(?:y|ies))\b|\bmore common(?:ly)?\b|\bperforms? (?:similarly|equally|comparably)\b", re.IGNORECASE
)
"""What says that a sentence speaks of what was not done, or of what others do."""
_FOREGONE = re.compile(r"\b(?:rather than|instead of|in place of|as opposed to|in contrast to|unlike)\s+(?:(?!we\b)[\w-]+\s+){0,3}\Z", re.IGNORECASE)
"""What stands before that which was not taken."""
_PRODUCT = re.compile(
    rf"(?:\s*\([^()]{{1,40}}\))?(?:\s*(?:[*×x·]|\\times|\\cdot)\s*\$?{NUMBER}\$?(?:\s*\([^()]{{1,40}}\))?){{1,5}}\s*=\s*\$?(?P<number>{NUMBER})(?![\w^]|\.\d)"
)
_LENGTHS = frozenset(
    re.findall(
        r"\w+",
        "training pretraining tuning finetuning optimization optimizer gradient parameter model full total more additional further extra sgd adam of",
    )
)
"""Words between a number and "steps" that leave them steps of training; fifty discretization steps are none."""
_TRAINS = re.compile(r"train|fine-?tun|\bcomput|\bepochs?\b", re.IGNORECASE)
_PREFIXES = frozenset(
    {"pre", "post", "re", "fine", "mini", "micro", "per", "max", "min", "semi", "non", "half", "vanilla", "standard", "nvidia", *WORDS}
)
"""Parts before a hyphen that leave the word after it what it is."""
_SPELLED_OUT = {"hardware", "evaluation", "training length", "schedule"}
"""Topics whose numbers are written as words ("four cards", "five seeds"); elsewhere "two layers" points at some two of many."""
_MOST = 4_000


@dataclass(frozen=True)
class _Phrase:
    """Words that name a detail, count it, or are one of its choices (`spelled` where case matters)."""

    words: tuple[str, ...]
    term: Term
    role: str
    choice: str = ""
    spelled: str = ""


@dataclass
class _Sentence:
    text: str
    line: int
    around: str
    tokens: list[re.Match[str]]
    taken: list[tuple[int, int]] = field(default_factory=list)
    said: dict[str, str] = field(default_factory=dict)

    @property
    def words(self) -> list[str]:
        return [token[0].lower() for token in self.tokens]

    def row(self, at: int) -> int:
        """The line of an offset of the sentence."""
        return self.line + self.text.count("\n", 0, at)

    def free(self, start: int, end: int) -> bool:
        """Whether no number inside has been given to another phrase."""
        return not any(a < end and start < b for a, b in self.taken)


@lru_cache(maxsize=4)
def _lexicon(ontology: Ontology) -> dict[str, tuple[_Phrase, ...]]:
    """Phrases by their first word, longest first."""
    found: dict[str, list[_Phrase]] = {}
    for term in ontology.terms.values():
        rows = [(phrase, "name", "") for phrase in term.prose] + [(noun, "counted", "") for noun in term.counted]
        rows += [
            (spelling, "choice", choice) for choice, spellings in term.values.items() for spelling in spellings if term.cues and _distinct(spelling)
        ]
        for phrase, role, choice in rows:
            words = tuple(token[0].lower() for token in _TOKEN.finditer(phrase))
            spelled = phrase if role == "choice" and len(words) == 1 else ""
            if words:
                found.setdefault(words[0], []).append(_Phrase(words, term, role, choice, spelled))
    order = {"choice": 0, "name": 1, "counted": 2}
    return {word: tuple(sorted(some, key=lambda one: (-len(one.words), order[one.role]))) for word, some in found.items()}


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


def read(text: str, sink: Sink, *, first: int = 1, kind: FactKind = "prose", around: str = "") -> None:
    """Put the facts of running text into `sink`; its first line has the number `first`, and `around` are the titles above it."""
    lexicon = _lexicon(sink.ontology)
    for sentence in _sentences(text, first, around.lower()):
        losses.read(sentence.text, sentence.line, sink, kind)
        _sentence(sentence, lexicon, sink, kind)


def _sentences(text: str, first: int, around: str) -> Iterator[_Sentence]:
    at, line = 0, first
    for border in (*(match.end() for match in _END.finditer(text)), len(text)):
        part = text[at:border]
        for start in range(0, len(part), _MOST):
            piece = part[start : start + _MOST]
            tokens = list(_TOKEN.finditer(piece))
            if len(tokens) > 1:
                yield _Sentence(piece, line + part.count("\n", 0, start), around, tokens)
        line += part.count("\n")
        at = border


def _sentence(sentence: _Sentence, lexicon: dict[str, tuple[_Phrase, ...]], sink: Sink, kind: FactKind) -> None:
    if _UNDONE.search(sentence.text):
        return
    words = sentence.words
    _betas(sentence, sink, kind)
    for role, put in (("counted", _counted), ("name", _named)):
        for phrase, start, end in _hits(words, sentence, lexicon, role):
            if not _part_of_another(sentence, phrase, start):
                put(sentence, phrase, start, end, sink, kind)
    for phrase, start, end in _hits(words, sentence, lexicon, "choice"):
        if not _part_of_another(sentence, phrase, start) and not _says_otherwise(sentence, phrase, end):
            _chosen(sentence, phrase, start, words, sink, kind)
    _specials(sentence, sink, kind)


def _part_of_another(sentence: _Sentence, phrase: _Phrase, start: int) -> bool:
    """Whether a phrase is the end of another word ("log-linear schedule", "alignment-depth"), or what was not taken ("rather than Adam")."""
    joined = re.search(r"([A-Za-z]+)-\Z", sentence.text[max(0, start - 30) : start])
    other = joined and (phrase.role == "choice" or len(phrase.words) == 1) and joined[1].lower() not in _PREFIXES
    return bool(other) or _FOREGONE.search(sentence.text[max(0, start - 80) : start]) is not None


def _says_otherwise(sentence: _Sentence, phrase: _Phrase, end: int) -> bool:
    """Whether the word after a choice makes it another thing: features that begin as Gaussian noise say nothing of weights."""
    after = _TOKEN.search(sentence.text, end)
    return after is not None and after[0].lower() in phrase.term.unlike


def _betas(sentence: _Sentence, sink: Sink, kind: FactKind) -> None:
    """`β1, β2 = 0.9, 0.95`: two names, then two values."""
    for found in _BETAS.finditer(sentence.text):
        sentence.taken.append(found.span())
        for name, written in (("adam_beta1", found["one"]), ("adam_beta2", found["two"])):
            value = sink.ontology.normalise(name, written)
            if value and value.literal:
                sink.state(sentence.row(found.start()), name, value.value, found[0], written="betas", kind=kind)


def _hits(words: Sequence[str], sentence: _Sentence, lexicon: dict[str, tuple[_Phrase, ...]], role: str) -> Iterator[tuple[_Phrase, int, int]]:
    """Phrases of a role with their offsets, the longest at each place."""
    at = 0
    while at < len(words):
        length = 0
        for phrase in lexicon.get(words[at], ()):
            size = len(phrase.words)
            if phrase.role != role or size < length or tuple(words[at : at + size]) != phrase.words:
                continue
            start, end = sentence.tokens[at].start(), sentence.tokens[at + size - 1].end()
            together = size == 1 or end - start <= 2 * sum(map(len, phrase.words)) + 8
            if together and (not phrase.spelled or sentence.text[start:end] == phrase.spelled):
                length = size
                yield phrase, start, end
        at += length or 1


def _named(sentence: _Sentence, phrase: _Phrase, start: int, end: int, sink: Sink, kind: FactKind) -> None:
    """The number after a phrase, or right before it."""
    term = phrase.term
    if term.type in {"choice", "schedule", "boolean", "text"} or term.durations or not _cued(term.prose_cues, sentence):
        return
    after = _AFTER.match(sentence.text, end)
    if after and after.end() - end < 90:
        at = after.start("open") if after["open"] and term.type == "list" else after.end()
        if _put_after(sentence, phrase, start, at, sentence.text[end:at], sink, kind):
            return
    searched = _SEARCHED.match(sentence.text, end)
    many = listed(sentence.text, searched.start("open")) if searched else None
    cited = searched and searched["open"] == "[" and not _TRIED.search(searched[0])
    free = many and searched and not cited and sentence.free(searched.end(), many.end)
    if many and searched and free and _put(sentence, term.name, phrase, start, searched.end(), many, sink, kind):
        return
    before = _BEFORE[0].search(sentence.text[max(0, start - 50) : start])
    if before and (before["number"].lower() not in WORDS or term.topic in _SPELLED_OUT):
        _put_before(sentence, phrase, start, before, sink, kind)


def _put_after(sentence: _Sentence, phrase: _Phrase, start: int, at: int, joined: str, sink: Sink, kind: FactKind) -> bool:
    term = phrase.term
    many = listed(sentence.text, at)
    one = quantity(sentence.text, at, term)
    if one and (product := _PRODUCT.match(sentence.text, one.end)):
        one = Quantity(product["number"], product.end("number"), (product["number"],))
    plural = phrase.words[-1].endswith("s") or re.search(r"\b(?:either|among|both|between)\b|[{\[]\s*\Z", joined) is not None
    several = many and (len(many.items) > 2 or many.choice or plural)
    name = term.name
    if name == "learning_rate" and re.search(r"\bto\b", joined) and _DECAYING.search(sentence.text[max(0, start - 40) : start]):
        name = "min_learning_rate"
    for found in ([many] if several else []) + ([one] if one else []):
        if found and sentence.free(at, found.end) and _put(sentence, name, phrase, start, at, found, sink, kind):
            if found is one:
                _split(sentence, name, phrase, start, found, sink, kind)
            return True
    return False


def _put(sentence: _Sentence, name: str, phrase: _Phrase, start: int, at: int, found: Quantity, sink: Sink, kind: FactKind, scope: str = "") -> bool:
    value = sink.ontology.normalise(name, found.text)
    if not value or not value.literal:
        return False
    said = sentence.text[max(0, min(start, at)) : found.end + 40].split("\n\n")[0]
    unit = _unit(sentence.text, found.end) if name == "batch_size" else value.unit
    sink.state(sentence.row(at), name, value.value, " ".join(said.split()), written=" ".join(phrase.words), kind=kind, unit=unit, scope=scope)
    sentence.taken.append((at, found.end))
    sentence.said[name] = value.value
    return True


_UNITS = re.compile(r"\s*(tokens|images|sequences|samples|examples|sentences|pairs|graphs|points|prompts|frames)\b")


def _unit(text: str, end: int) -> str:
    found = _UNITS.match(text, end)
    return found[1] if found else ""


def _split(sentence: _Sentence, name: str, phrase: _Phrase, start: int, found: Quantity, sink: Sink, kind: FactKind) -> None:
    """`1e-5 on the base and 1e-3 on the head`: the second of two values."""
    split = _SPLIT.match(sentence.text, found.end)
    if split:
        other = Quantity(split["number"], split.end("number"), (split["number"],))
        scope = re.sub(r"\A(?:the|our|a)\s+", "", " ".join(split["other"].split()))
        _put(sentence, name, phrase, split.start("number"), split.start("number"), other, sink, kind, scope[:40])


def _put_before(sentence: _Sentence, phrase: _Phrase, start: int, before: re.Match[str], sink: Sink, kind: FactKind) -> bool:
    offset = max(0, start - 50)
    ahead = sentence.text[max(0, offset + before.start("number") - 24) : offset + before.start("number")]
    at, end = offset + before.start("number"), offset + before.end("number")
    name = phrase.term.name
    if name in {"steps", "epochs"} and (_WARMING.search(sentence.text[max(0, at - 60) : at]) or _RISING.search(sentence.text[max(0, at - 90) : at])):
        name = f"warmup_{name}"
    if (_ORDINAL.search(ahead) and not name.startswith("warmup")) or not sentence.free(at, end):
        return False
    said = WORDS.get(before["number"].lower())
    text = str(said) if said is not None else before["number"].strip("$")
    if re.search(r"\s(?:and|or)\s", text):
        text = "[" + ", ".join(re.split(r"\s*,\s*(?:(?:and|or)\s+)?|\s+(?:and|or)\s+", text)) + "]"
    return _put(sentence, name, phrase, at, at, Quantity(text, end, (text,)), sink, kind)


def _counted(sentence: _Sentence, phrase: _Phrase, start: int, end: int, sink: Sink, kind: FactKind) -> None:
    ahead = sentence.text[max(0, start - 50) : start]
    before = next((found for pattern in _BEFORE if (found := pattern.search(ahead))), None)
    if not before or _JOINING & set(before["between"].lower().split()):
        return
    if before["number"].lower() in WORDS and phrase.term.topic not in _SPELLED_OUT:
        return
    between = before["between"].lower().split()
    if between and phrase.term.topic not in _SPELLED_OUT | {"architecture"}:
        return
    if between and phrase.term.name == "steps" and not _LENGTHS & set(re.split(r"[\s-]+", " ".join(between))):
        return
    _put_before(sentence, phrase, start, before, sink, kind)


def _cued(cues: Sequence[str], sentence: _Sentence) -> bool:
    low = f"{sentence.text.lower()} {sentence.around}" if cues else ""
    return not cues or any(cue in low for cue in cues)


def _chosen(sentence: _Sentence, phrase: _Phrase, start: int, words: Sequence[str], sink: Sink, kind: FactKind) -> None:
    term = phrase.term
    others = [word for word in (*words, *sentence.around.split()) if word not in phrase.words]
    if not any(word.startswith(cue) for cue in term.cues for word in others):
        return
    value = phrase.choice
    if term.type == "schedule":
        known = {key: float(one) for key in ("warmup_steps", "warmup_epochs", "warmup_ratio") if (one := sentence.said.get(key))}
        value = schedule(value, **{key: int(one) if one == int(one) else one for key, one in known.items()})
    said = " ".join(sentence.text[max(0, start - 40) : start + 100].split())
    sink.state(sentence.row(start), term.name, value, said, written=" ".join(phrase.words), kind=kind)


def _specials(sentence: _Sentence, sink: Sink, kind: FactKind) -> None:
    """Durations of training, and what is retrieved: quantities whose name is not one phrase."""
    if _TRAINS.search(sentence.text):
        for found in _DURATION.finditer(sentence.text):
            number = WORDS.get(found["number"].lower(), found["number"])
            number = f"{number}.5" if found["half"] else number
            value = sink.ontology.normalise("training_time", f"{number} {found['unit']}")
            if value and value.literal and not _ORDINAL.search(sentence.text[max(0, found.start() - 20) : found.start()]):
                sink.state(sentence.row(found.start()), "training_time", value.value, found[0], written="training time", kind=kind)
    for found in _TOP.finditer(sentence.text):
        sink.state(sentence.row(found.start()), "retrieval_k", found[1], found[0], written="top k", kind=kind)
