"""When two descriptions are of one work.

A false merge is worse than a miss: it hands the evidence about one paper to another. So every rule needs
agreement on title *and* first author *and* year (within `YEARS`, for a preprint and its publication), each
as far as it is known, and numbers must never differ. A rule that applies gives its reason in words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import lru_cache, reduce

from lineage.ids import normal_title
from lineage.records import Document, Mention, Scalar, Work, WorkId, WorkKind
from lineage.text.titles import TitleKey, harmless, marked, plain, title_key

YEARS = 2
_SMALL = {"a", "an", "the", "of", "for", "in", "on", "and", "to", "by", "at", "from"}
_WORD = re.compile(r"[^\W\d_]+")
_TEAM = re.compile(r"\b(?:team|collaboration|consortium|group|inc|lab|labs|research|project|organi[sz]ation|institute|ai)\b", re.IGNORECASE)
_BARE = str.maketrans({"ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "đ": "d", "Đ": "D", "ı": "i", "ß": "ss", "æ": "ae", "Æ": "Ae", "œ": "oe", "Œ": "Oe"})
_SUFFIXES = {"jr", "sr", "ii", "iii", "iv", "md", "phd"}


@dataclass(frozen=True)
class Facts:
    """What of a description is compared: identifiers, title, authors' names and year.

    `people` has for each author the surname and every word of the name; `team` says that the first author is an
    organisation (DeepSeek-AI), for which a service often lists persons.
    """

    ids: frozenset[WorkId]
    title: str
    key: TitleKey
    people: tuple[tuple[str, frozenset[str]], ...]
    year: int | None
    team: bool = False
    arxiv: frozenset[WorkId] = frozenset()
    doi: frozenset[WorkId] = frozenset()

    @property
    def surname(self) -> str:
        """The first author's surname, folded to lower case, or the empty string."""
        return self.people[0][0] if self.people else ""


def facts(work: Work) -> Facts:
    """The comparable side of a record."""
    ids = frozenset(i for i in (work.id, *work.aliases) if not i.startswith(("ref:", "local:")))
    people = tuple(_person(name) for name in work.authors[:40] if _is_name(name))
    arxiv, doi = (frozenset(i for i in ids if i.startswith(scheme)) for scheme in ("arxiv:", "doi:"))
    return Facts(ids, plain(work.title), title_key(work.title), people, work.year, _is_team(work.authors), arxiv, doi)


def _is_team(authors: tuple[str, ...]) -> bool:
    first = authors[0].strip(" {}") if authors else ""
    alone = not re.search(r"[\s,.]", first) and marked(re.sub(r"\A(?:Mac|Mc|De|Di|La|Le|Van)", "", first))
    return alone or bool(_TEAM.search(first))


def _is_name(name: str) -> bool:
    return bool(name.strip(" .{}")) and name.lower().strip(" .{}") not in {"others", "et al", "and others"}


@lru_cache(maxsize=1 << 16)
def _person(name: str) -> tuple[str, frozenset[str]]:
    folded = unicodedata.normalize("NFKD", name[:200].translate(_BARE)).encode("ascii", "ignore").decode() or name[:200]
    folded = re.sub(r"\\[A-Za-z]{1,20}\s?|[\\{}'`’\"^~.]", lambda m: " " if m[0] in "~." else "", folded)
    family, comma, _ = folded.partition(",")
    words = [w for w in _WORD.findall(folded.lower()) if w not in _SUFFIXES]
    names = [w for w in _WORD.findall((family if comma else folded).lower()) if w not in _SUFFIXES]
    return (names[-1] if names else "", frozenset(words))


def _same_person(person: tuple[str, frozenset[str]], other: tuple[str, frozenset[str]]) -> bool:
    return person[0] in other[1] or other[0] in person[1] or "".join(sorted(person[1])) == "".join(sorted(other[1]))


def authors_agree(work: Facts, other: Facts) -> bool | None:
    """Whether the first authors are the same, or None where one side names nobody, or an organisation only one side knows."""
    if not work.people or not other.people:
        return None
    if (work.team or other.team) and not _same_person(work.people[0], other.people[0]):
        return None
    return _same_person(work.people[0], other.people[0])


def _second_agrees(work: Facts, other: Facts) -> bool:
    if len(work.people) < 2 or len(other.people) < 2:
        return True
    return any(_same_person(work.people[1], p) for p in other.people) or any(_same_person(other.people[1], p) for p in work.people)


def _same_team(work: Facts, other: Facts) -> bool:
    """Whether both name the same people, two at least."""
    return len(work.people) >= 2 and len(work.people) == len(other.people) and all(map(_same_person, work.people, other.people))


def years_agree(work: Facts, other: Facts, within: int = YEARS) -> bool:
    """Whether the years are near, or one is unknown."""
    return work.year is None or other.year is None or abs(work.year - other.year) <= within


def by_id(work: Facts, other: Facts) -> tuple[str, bool]:
    """(reason, sure) for two descriptions that share an identifier.

    Not sure means a wrong identifier in a bibliography: title and first author both contradict it.
    """
    shared = sorted(work.ids & other.ids)
    if not shared:
        return "", False
    name = {"arxiv": "arXiv identifier", "doi": "DOI", "s2": "Semantic Scholar id", "repo": "repository"}.get(
        shared[0].partition(":")[0], "identifier"
    )
    strangers = authors_agree(work, other) is False and bool(work.key.words and other.key.words) and _overlap(work.key, other.key) < 0.3
    return f"same {name} {shared[0].partition(':')[2]}", not strangers


def _overlap(title: TitleKey, other: TitleKey) -> float:
    a, b = set(title.words) - _SMALL, set(other.words) - _SMALL
    return len(a & b) / (min(len(a), len(b)) or 1)


def by_title(work: Facts, other: Facts) -> str:
    """The reason why two descriptions without a common identifier are one work, or the empty string."""
    if not work.key.compact or not other.key.compact or work.key.numbers != other.key.numbers:
        return ""
    if _contradict(work, other) or authors_agree(work, other) is False:
        return ""
    if work.key.compact == other.key.compact:
        return _equal_titles(work, other)
    if authors_agree(work, other) is None or not years_agree(work, other):
        return ""
    short, long = sorted((work, other), key=lambda f: len(f.key.compact))
    return _subtitle(short, long) or _cut_short(short, long) or _misspelt(short, long)


def _contradict(work: Facts, other: Facts) -> bool:
    """Two different identifiers of a kind of which a work has but one."""
    return bool(work.arxiv and other.arxiv and not work.arxiv & other.arxiv)


def _equal_titles(work: Facts, other: Facts) -> str:
    if not years_agree(work, other):
        return ""
    two_dois = bool(work.doi and other.doi and not work.doi & other.doi)
    if authors_agree(work, other):
        near = work.year is not None and other.year is not None and not two_dois
        is_distinctive = work.key.distinctive() or near
        return "same title and first author" + _apart(work, other) if is_distinctive and _second_agrees(work, other) else ""
    near = work.year is not None and other.year is not None and years_agree(work, other, 1)
    plenty = len(work.key.words) >= (4 if near else 6) and len(work.key.compact) >= 16
    return "same title, authors not given by both" + _apart(work, other) if plenty and not two_dois else ""


def _apart(work: Facts, other: Facts) -> str:
    if work.year is None or other.year is None:
        return ""
    return f", {work.year} and {other.year}" if work.year != other.year else f", {work.year}"


def _subtitle(short: Facts, long: Facts) -> str:
    """`SciBERT` and `SciBERT: A pretrained language model for scientific text`."""
    if short.key.compact != long.key.main:
        return ""
    extra = long.key.words[len(short.key.words) :]
    together = _same_team(short, long) and short.year is not None and short.year == long.year
    named = short.key.distinctive() or together or any(marked(word) for word in short.title.split())
    if named and harmless(extra) and _second_agrees(short, long):
        return "same title without the subtitle, same first author" + _apart(short, long)
    return ""


def _cut_short(short: Facts, long: Facts) -> str:
    """One title is the beginning of the other, and it shows, or the same people wrote both at one time."""
    if len(short.key.compact) < 20 or not long.key.compact.startswith(short.key.compact):
        return ""
    extra = long.key.words[len(short.key.words) :]
    mid_word = long.key.words[: len(short.key.words)] != short.key.words and len(short.key.words[-1]) >= 3
    team = _same_team(short, long) and years_agree(short, long, 1) and len(short.key.compact) * 2 >= len(long.key.compact)
    if harmless(extra) and (short.key.cut or mid_word or team) and _second_agrees(short, long):
        return "one title is the beginning of the other, same authors" + _apart(short, long)
    return ""


def _misspelt(work: Facts, other: Facts) -> str:
    """At most two words differ, each by a letter or by being an article or preposition."""
    a, b = work.key.words, other.key.words
    if min(len(a), len(b)) < 4 or abs(len(a) - len(b)) > 3 or not _second_agrees(work, other):
        return ""
    changes = [op for op in SequenceMatcher(None, a, b, autojunk=False).get_opcodes() if op[0] != "equal"]
    if len(changes) <= 2 and all(_slip(a[i:j], b[k:m]) for _, i, j, k, m in changes):
        return f"titles differ by a slip of the pen ({_shown(a, b, changes)}), same first author" + _apart(work, other)
    return ""


def _shown(a: tuple[str, ...], b: tuple[str, ...], changes: Sequence[tuple[str, int, int, int, int]]) -> str:
    return "; ".join(f"{' '.join(a[i:j]) or '-'} / {' '.join(b[k:m]) or '-'}" for _, i, j, k, m in changes)


def _slip(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    if set(a) | set(b) <= _SMALL:
        return True
    left, right = "".join(a), "".join(b)
    return left == right or (min(len(left), len(right)) >= 5 and left[0] == right[0] and _one_edit(left, right))


def _one_edit(word: str, other: str) -> bool:
    """Whether one insertion, deletion, substitution or swap of neighbours makes the two words equal."""
    short, long = sorted((word, other), key=len)
    if len(long) - len(short) > 1:
        return False
    at = next((i for i, (x, y) in enumerate(zip(short, long, strict=False)) if x != y), len(short))
    if len(short) < len(long):
        return short[at:] == long[at + 1 :]
    return short[at + 1 :] == long[at + 1 :] or (short[at : at + 2][::-1] == long[at : at + 2] and short[at + 2 :] == long[at + 2 :])


HEAD = 3_000
"""Characters of a first page in which the authors stand."""
ALIKE, STRANGE, ENOUGH = 0.5, 0.2, 20
"""Shares of an abstract's words that two abstracts have in common, and the words from which on that tells."""
LATER = 3
"""Years for which a paper may be printed after the youngest work that it cites."""


def same_work(own: Work, record: Work) -> str:
    """Why a record is the work that a bibliography describes, in words, or the empty string; titles must be equal."""
    own_facts, other = facts(own), facts(record)
    return by_title(own_facts, other) if own_facts.key.compact and own_facts.key.compact == other.key.compact else ""


def same_paper(document: Document, record: Work) -> tuple[bool, str]:
    """Whether a record of the same title describes the paper that was read, and what spoke for it, or against it."""
    document_facts, other = facts(Work(record.id, title=document.title)), facts(record)
    if not document_facts.key.compact or document_facts.key.compact != other.key.compact:
        return False, "its title is another"
    judged = [_people(document, other), _abstract(document, record), _years(document, record)]
    against = [words for value, words in judged if value is False]
    spoken = [words for value, words in judged if value]
    if against:
        return False, "; ".join(against)
    alone = spoken == [judged[2][1]] and not document_facts.key.distinctive()
    if not spoken or alone:
        return False, "neither authors, abstract nor years confirm it"
    return True, "; ".join(["same title", *spoken])


def _people(document: Document, record: Facts) -> tuple[bool | None, str]:
    """By the first author, where the text begins with the authors; only PDFs do so for certain, LaTeX keeps footnotes to them at most."""
    end = next((span.start for span in document.spans if span.role in {"abstract", "heading", "section"}), 0)
    folded = unicodedata.normalize("NFKD", document.text[: min(end, HEAD)]).encode("ascii", "ignore").decode()
    words = set(normal_title(folded).split())
    if len(words) < 2 or not record.people:
        return None, ""
    if record.surname in words:
        return True, f"first author {record.surname.capitalize()} on its first page"
    if sum(person[0] in words for person in record.people) >= 2:
        return True, "its authors on its first page"
    return (False, f"{record.surname.capitalize()} is not among its authors") if document.parser.startswith("pdf") else (None, "")


def _abstract(document: Document, record: Work) -> tuple[bool | None, str]:
    document_words, other = (set(normal_title(text).split()) for text in (document.abstract, record.abstract))
    fewer = min(len(document_words), len(other))
    if fewer < ENOUGH:
        return None, ""
    share = len(document_words & other) / fewer
    if share >= ALIKE:
        return True, f"{share:.0%} of the abstract's words"
    return (False, "its abstract is another") if share < STRANGE else (None, "")


def _years(document: Document, record: Work) -> tuple[bool | None, str]:
    """By the youngest work that it cites: no paper is older than that, and few are much younger."""
    youngest = max((entry.year for entry in document.bibliography if entry.year), default=None)
    if youngest is None or record.year is None:
        return None, ""
    if record.year < youngest - 1:
        return False, f"it cites works of {youngest}, the record is of {record.year}"
    return (True, f"it cites up to {youngest}, the record is of {record.year}") if record.year <= youngest + LATER else (None, "")


# -- records of one work joined into one, and what several witnesses quote of one place


_SCHEMES = ("arxiv", "doi", "acl", "s2", "repo", "url", "local", "ref")
_NUMBER = re.compile(r"arxiv:(\d\d)(\d\d)\.\d")
_PREPRINT = ("arxiv", "corr", "preprint", "biorxiv", "medrxiv", "openreview")


def merge_works(work: Work, other: Work) -> Work:
    """One record out of two of the same work; `merge_works(a, b) == merge_works(b, a)`."""
    ids = sorted({work.id, other.id, *work.aliases, *other.aliases}, key=_id_rank)
    return Work(
        id=ids[0],
        kind=_kind(work.kind, other.kind),
        title=max(work.title, other.title, key=_title_rank),
        authors=max(work.authors, other.authors, key=_authors_rank),
        year=_year(true_year(work.year, ids), true_year(other.year, ids)),
        venue=max(work.venue, other.venue, key=_venue_rank),
        abstract=max(work.abstract, other.abstract, key=lambda a: (len(a), a)),
        aliases=tuple(i for i in ids[1:] if not i.startswith("ref:")),
        license=max((x for x in (work.license, other.license) if x), key=lambda x: (len(x), x), default=None),
        said_by=tuple(sorted({*work.said_by, *other.said_by})),
        meta=_meta(work, other),
    )


def merge_all(works: Iterable[Work]) -> Work:
    """`merge_works` over one or more records."""
    return reduce(merge_works, works)


def _id_rank(work: WorkId) -> tuple[int, str]:
    scheme = work.partition(":")[0]
    return (_SCHEMES.index(scheme) if scheme in _SCHEMES else len(_SCHEMES), work)


def _kind(kind: WorkKind, other: WorkKind) -> WorkKind:
    return kind if kind == other else "paper"


def _title_rank(title: str) -> tuple[bool, bool, int, int, bool, str]:
    """Whole before cut, longer before shorter, then the spelling that keeps names as written (SciBERT, not Scibert)."""
    key = title_key(title)
    names = 0 if title.isupper() else sum(map(marked, title.split()))
    return (not key.cut, "\\" not in title, len(key.compact), names, not (title.isupper() or title.islower()), title)


def _authors_rank(authors: tuple[str, ...]) -> tuple[int, int, tuple[str, ...]]:
    named = [a for a in authors if a.lower().strip(" .") not in {"others", "et al"}]
    return (len(named), sum(map(len, named)), authors)


def true_year(year: int | None, ids: Iterable[WorkId]) -> int | None:
    """The year, unless it is the beginning of an arXiv number taken for one: 1911.02782 is of November 2019, not of 1911."""
    for name in ids:
        match = _NUMBER.match(name)
        if match and year == int(match[1] + match[2]):
            return 2000 + int(match[1])
    return year


def _year(year: int | None, other: int | None) -> int | None:
    """The earlier: when the work appeared, not when it was printed."""
    return min((y for y in (year, other) if y is not None), default=None)


def _venue_rank(venue: str) -> tuple[bool, int, str]:
    return (bool(venue) and not any(word in venue.lower() for word in _PREPRINT), len(venue), venue)


def _meta(work: Work, other: Work) -> dict[str, Scalar]:
    keys = sorted({*work.meta, *other.meta})
    return {key: max(work.meta.get(key), other.meta.get(key), key=_scalar_rank) for key in keys}


def _scalar_rank(value: Scalar) -> tuple[int, float, str]:
    """None below text below numbers; larger numbers and longer texts win."""
    if value is None:
        return (0, 0.0, "")
    if isinstance(value, str):
        return (1, float(len(value)), value)
    return (2, float(value), type(value).__name__)


SHORTEST = 24
MOST = 500
"""Mentions of one work that are taken from a witness; each is held against all of those before."""


def join_mentions(by_witness: Iterable[Sequence[Mention]]) -> tuple[Mention, ...]:
    """All mentions in order, the first witness's first; a later quotation of one only adds its intents.

    Services cut sentences at both ends and print markers their own way: quotations are compared by the
    letters and digits outside brackets, one being part of the other.
    """
    joined_mentions: list[Mention] = []
    cores: list[str] = []
    for mentions in by_witness:
        before = len(joined_mentions)
        for mention in mentions[:MOST]:
            core = _core(mention.sentence)
            at = next((i for i in range(before) if _same_place(cores[i], core)), None)
            if at is None:
                joined_mentions.append(mention)
                cores.append(core)
            else:
                joined_mentions[at] = replace(joined_mentions[at], intents=tuple(dict.fromkeys((*joined_mentions[at].intents, *mention.intents))))
    return tuple(joined_mentions)


def _core(sentence: str) -> str:
    """Letters and digits outside brackets, at most 400: where markers are, witnesses differ."""
    depth, out = 0, []
    for char in sentence[:2000]:
        depth += (char in "([{") - (char in ")]}" and depth > 0)
        out.append(" " if depth or char in ")]}" else char)
    return normal_title("".join(out)).replace(" ", "")[:400]


def _same_place(sentence: str, other: str) -> bool:
    short, long = sorted((sentence, other), key=len)
    return (len(short) >= SHORTEST and short in long) or (bool(short) and short == long)
