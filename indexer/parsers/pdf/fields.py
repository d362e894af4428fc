"""Where an entry's author list ends and its title begins and ends, given the style of its list.

Every entry has a few places where its title may begin (after a year, a full stop, a colon, a comma, at a quote or
where the type changes) and a few where it may end. Each pair is scored by what it makes of the entry: names that read
like names, a title that reads like one, a rest that reads like a venue, type that does not change inside a part.
The scores of all entries together tell which kinds of beginning and end this list uses; those are then preferred
(two rounds of self-training), so that one entry is read like its neighbors. Lists of people are told from titles by their form.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from indexer.parsers.pdf.page import Range

_ABBREVIATED = re.compile(
    r"(?:\b(?:vs|etc|cf|Dr|St|Jr|Sr|Mr|Mrs|Ms|No|Nos|Vol|vol|Proc|Conf|Int|Intl|Trans|Rev|Lett|Phys|Appl|Adv|Ann|Am|Comput|Commun|"
    r"Sci|Math|Res|Mach|Learn|Nat|Mod|Ed|eds|pp|approx|Fig|Eq|Inc|Ltd|Univ|Dept|Inf|Syst|Softw|Eng|Biol|Med|Chem|Soc|Acad|Symp|"
    r"Assoc|Process|Intell|Artif|Astrophys|Class|Quantum|Prog|Theor|Gen|Rel|Cosmol|Tech|Rep|Stat|"
    r"Natl|Bull)|\b[^\W\d_a-z]|\.[ -]?[^\W\d_]|U\.S)\Z"
)
_FULL_STOP = re.compile(r"[.?!](?=[”\"’]?\s+\S|\s*\Z)")
_CAPITAL = re.compile(r"[”\"’]?\s*(?:[^\W\d_a-z]|\d|\Z)")


def full_stops(text: str, limit: int) -> list[int]:
    """Positions of the marks that end a part of a bibliography entry: not after an initial or a journal's abbreviation."""
    stop_positions: list[int] = []
    for stop in _FULL_STOP.finditer(text):
        before = text[max(0, stop.start() - 12) : stop.start()]
        if stop[0] == "." and _ABBREVIATED.search(before) and not before.endswith("et al"):
            continue
        if stop[0] != "." and not _CAPITAL.match(text, stop.end()):
            continue
        stop_positions.append(stop.start())
        if len(stop_positions) >= limit:
            break
    return stop_positions


_PARTICLE = r"(?:(?:van|von|der|den|de|del|della|di|da|dos|du|la|le|el|al|bin|ibn|ter|ten|zu|zur|y)\s+)"
_SURNAME = rf"{_PARTICLE}{{0,3}}(?:[dDO]['’])?[^\W\d_a-z][\w'’ʼ-]{{0,40}}(?: {_PARTICLE}?[^\W\d_a-z][\w'’ʼ-]{{1,40}}){{0,2}}"
_INITIALS = r"[^\W\d_a-z]\.?(?:[ -]{0,2}[^\W\d_]\.){0,4}(?:\s?(?:Jr|Sr|II|III|IV)\.?)?"
SURNAME_FIRST = re.compile(rf"{_SURNAME},\s?(?:{_INITIALS})(?![\w])")
_AFTER = r"(?:\s(?:van|von|der|den|de|del|la|di|da|dos|ter|ten)){0,3}"
VANCOUVER = re.compile(rf"{_SURNAME}\s[A-ZÀ-ÖØ-ÞĀ-Ž]{{1,3}}{_AFTER}(?=[,.;:]|\s\(|\s(?:and|&|et al)\b)")
INITIAL_FIRST = re.compile(rf"[^\W\d_a-z]\.[ -]{{0,2}}(?:[^\W\d_]\.[ -]{{0,2}}){{0,4}}\s?{_SURNAME}(?:,? (?:Jr|Sr)\.)?")
_ONLY_INITIALS = re.compile(rf"{_INITIALS}|[A-ZÀ-ÖØ-ÞĀ-Ž]{{1,3}}")
_BETWEEN = re.compile(r"\s*(?:[,;]\s*(?:and|&|und|et)?|and|&|und)\s+|\s*[,;]\s*", re.IGNORECASE)
_SUFFIX = re.compile(r",\s+(?=(?:[JS]r|I{2,3}|IV)\b)")
ET_AL = re.compile(r"[,;]?\s*\b(?:and\s+)?(?:et\.?\s?al\.?|and others|others)[.,;:]{0,2}", re.IGNORECASE)
EDITORS = re.compile(r"[\s,]*\(?\b(?:eds?|editors?|hrsg)\b\.?\)?[.,:]*\s*", re.IGNORECASE)
_SMALL = frozenset(
    "van von der den de del della di da dos du la le el al bin ibn ter ten et y zu zur e las los do af av auf op mac vom im jr sr "
    "and others of for the with on behalf & und".split()
)


def run(text: str, pattern: re.Pattern[str]) -> tuple[int, int]:
    """How far names of one form go from the start of the text, and how many there are."""
    end = position = count = 0
    while match := pattern.match(text, position):
        count += 1
        end = match.end()
        if more := ET_AL.match(text, end):
            return more.end(), count
        between = _BETWEEN.match(text, end)
        if not between:
            break
        position = between.end()
        if other := ET_AL.match(text, position):
            return other.end(), count
    return end, count


def is_names(text: str) -> bool:
    """Whether a stretch reads like persons or an organisation: capitals, initials and small connecting words in one sentence."""
    bare = EDITORS.sub(" ", text).strip(" .,:;")
    words = re.findall(r"[^\s,;]+", bare)
    if not words or len(text) > 20_000:
        return False
    if any(not bare[:stop].endswith("al") for stop in full_stops(bare, limit=2) if stop < len(bare) - 2):
        return False
    separators = bare.count(",") + bare.count(" and ") + bare.count(";") + bare.count("&")
    return _are_capital(words, "," in bare) and (len(words) < 9 or separators >= len(words) / 12)


def _are_capital(words: list[str], listed: bool) -> bool:
    """Whether every word could be part of a name; in a longer list a few may be in small letters (Xiang qian Qi)."""
    capital = small = 0
    for word in words:
        bare = word.strip(".()[]*†‡’'")
        if not bare or bare.lower() in _SMALL or re.match(r"[dl]['’][A-Z]", bare):
            continue
        if bare[0].islower() and not re.match(r"[a-z]{1,4}[A-Z]", bare):
            small += 1
            if len(words) < 6 or small > 1 + (len(words) >= 10) + len(words) // 25 or not listed:
                return False
        if any(c.isdigit() for c in bare) and len(words) > 3:
            return False
        capital += 1
    return capital > 0


def authors_of(names: str) -> list[str]:
    """The persons of a names list, given names first."""
    names = _SUFFIX.sub(" ", EDITORS.sub(" ", ET_AL.sub("", names)).strip(" ,.;:("))
    if not names:
        return []
    if ";" in names:
        return [_flip(piece) for piece in re.split(r"\s*;\s*(?:and\s+|&\s*)?", names) if piece.strip()]
    pieces = [piece for piece in re.split(r"\s*,\s*(?:and\s+|&\s*)?|\s+(?:and|&|und)\s+", names) if piece.strip()]
    initials = [bool(_ONLY_INITIALS.fullmatch(_dotted(piece))) for piece in pieces]
    if any(initials[1:2]) or sum(initials) * 3 >= len(pieces):
        return _pair_up(pieces, initials)
    if "," in names and _all_flipped(names):
        return [_flip(piece) for piece in re.split(r"\s+(?:and|&)\s+", names)]
    return [re.sub(r"^(\S+(?: \S+)?) ([A-ZÀ-ÖØ-ÞĀ-Ž]{1,3})$", r"\2 \1", piece.strip(" .")) for piece in pieces]


def _all_flipped(names: str) -> bool:
    """Whether every person is "Surname, Given": one comma in each part between `and`s."""
    parts = re.split(r"\s+(?:and|&)\s+", names)
    surnames = [part.split(",")[0] for part in parts]
    plain = all(part.count(",") == 1 for part in parts) and all(len(name.split()) <= 2 and "." not in name for name in surnames)
    return plain and (len(parts) > 1 or len(names.split()) <= 3)


def _pair_up(pieces: list[str], initials: list[bool]) -> list[str]:
    paired_names: list[str] = []
    for n, piece in enumerate(pieces):
        if initials[n] and paired_names and n and not initials[n - 1]:
            paired_names[-1] = f"{_dotted(piece)} {paired_names[-1]}"
        else:
            paired_names.append(piece.strip(" ."))
    return paired_names


def _dotted(initials: str) -> str:
    """Initials with the full stop that the end of the list took from the last one."""
    bare = initials.strip()
    return bare + "." if re.fullmatch(r"(?:[^\W\d_]\.[ -]?)*[^\W\d_]", bare) and (len(bare) == 1 or "." in bare) else bare


def _flip(piece: str) -> str:
    last, comma, first = piece.strip(" .").partition(",")
    return f"{_dotted(first)} {last.strip()}".strip() if comma else last


MAX_READ = 20_000
_ROUNDS = 2
_QUOTED = re.compile(r"[“\"‘`]{1,2}(?=\S)(.{8,400}?)[”\"’']{1,2}(?=[\s,.;)]|\Z)")
_AFTER_NAMES = re.compile(
    r"[\s,.;]{0,20}[\s(\[]((?:18|19|20)\d\d(?:[–-]\d{4})?[a-z]?|in press|forthcoming|n\.\s?d\.)"
    r"(?:,\s?(?:Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sept?|Oct|Nov|Dec)[a-z]*\.?(?:\s\d{1,2})?)?[)\]]?[.,:;]*(?:\s+|\Z)"
)
_VENUE = re.compile(
    r"(?:in:?\s|proc\b|proceedings|advances in|journal|j\.|trans\b|transactions|ieee|acm\b|arxiv|corr\b|conference|workshop|symposium|lecture notes|"
    r"international|nature\b|science\b|springer|phys\b|physical review|preprint|technical report|tech\. rep|annals of|"
    r"ph\.?\s?d\b|master|https?:|doi|url\b|available|accessed|vol\b|volume|pp\b|pages|university|blog\b|\[online|(?:[a-z]+|\d+\w\w) ed(?:ition|\.))|"
    r"[^\W\d_][\w.&-]*(?: [\w.&-]+){0,8},? \d{1,4} ?(?:[(,:]|\Z)",
    re.IGNORECASE,
)
_QUESTION = re.compile(r"[?!]\s+(?=[a-z])")
_BRACKET = re.compile(r"\s\((?=(?:\w+ ed\.|\d{4}|[A-Z][^()]{2,60}\d{4}\)))")
_COMMA = re.compile(r",[”\"]?\s+|\s+(?=In:? [A-Z])")
_DATE = re.compile(r"\(?(?:18|19|20)\d\d\b")
_IN = re.compile(r"[\s,.;(]*\b[Ii]n:?[\s,]*\Z|[\s,.;:(]+\Z")
_NOT_TITLE = re.compile(
    r"\bpages? \d|\bpp\.? ?\d|\bvol\. ?\d|\d\(\d|\barXiv preprint|[.,?!] [Ii]n:? [A-Z]|\(\d{4}\)|\d{1,4}:\d{1,4}[–-]|"
    r"https?:|,[”\"’']? \d{4}[a-z]?(?:\.|\Z)|\. (?:19|20)\d\d\b"
)
_FIRST_NAME = re.compile(rf"(?:{INITIAL_FIRST.pattern})(?:,| and\b| &|\.|:)|(?:{SURNAME_FIRST.pattern})(?:[,;.]| and\b| &)")
_NAME_INSIDE = re.compile(rf"(?:, |\band |& )(?:{INITIAL_FIRST.pattern})")
_SMALL_IN = re.compile(r"(?:in|vol|no|pp|and|eds?|second|third|first|preprint|arxiv|doi|url|volume|pages?|number|ph|et)\b", re.IGNORECASE)
_VOLUME = re.compile(
    r"(?:New |Class |Nucl |Int )?(?:[A-Z][A-Za-z]{0,9}\.\s{0,2}){1,6}(?:[A-Z]{1,2}\s?)?\(?\d{1,4}\b|"
    r"(?:Nature|Science|JCAP|ApJ|PRL|Physics Reports)\b[\s,:]*\(?\d|arXiv:"
)

_UNTITLED = re.compile(r"in [A-Z]|presented at\b|arXiv(?: preprint)?\b")
_JOURNAL = re.compile(
    r"[A-Z][^\d,;:?!“”\"]{2,140},? \d{1,4}(?: ?\(\d{1,3}\))?[,:] ?[A-Za-z]?\d{1,6}(?: ?[–-] ?[A-Za-z]?\d{1,6})?"
    r"(?:,? ?\(?(?:18|19|20)\d\d\)?)?[\s.]*\Z"
)
_SURE = frozenset(("year", "surnames", "surnames,", "surnames:", "bare initials", "initials,", "initials:"))
"""Kinds of beginnings that names stand before without doubt."""

_LENGTHS = (-4.0, -2.0, -0.4, 0.8)  # titles of no, one, two, more words


@dataclass(frozen=True)
class Start:
    """A place where a title may begin: after `names` characters of names, with the year that stands between."""

    at: int
    names: int
    kind: str
    year: str = ""


@dataclass(frozen=True)
class Cut:
    """One reading of an entry: names are text[:start.names], the title text[start.at:end], the rest text[after:]."""

    start: Start
    end: int
    after: int
    kind: str
    score: float


def cuts(entries: Sequence[tuple[str, Sequence[Range]]]) -> list[Cut | None]:
    """The best reading of each entry of one list, given as text and its ranges of italic type."""
    readings = [_readings(text[:MAX_READ], slopes) for text, slopes in entries]
    chosen = [max(cut, key=lambda c: c.score, default=None) for cut in readings]
    for _ in range(_ROUNDS if len(entries) > 2 else 0):
        weight = _Preferences([cut for cut in chosen if cut])
        chosen = [max(cut, key=weight, default=None) for cut in readings]
    return chosen


class _Preferences:
    """The score of a reading, plus how usual its beginning and end are in the list."""

    def __init__(self, seen: Sequence[Cut]) -> None:
        self.starts = Counter(cut.start.kind for cut in seen)
        self.ends = Counter((cut.start.kind, cut.kind) for cut in seen)
        self.total = len(seen)

    def __call__(self, cut: Cut) -> float:
        start = (self.starts[cut.start.kind] + 0.5) / (self.total + 4)
        end = (self.ends[cut.start.kind, cut.kind] + 0.5) / (self.starts[cut.start.kind] + 4)
        return cut.score + 1.2 * math.log(start) + 0.6 * math.log(end)


def _readings(text: str, slopes: Sequence[Range]) -> list[Cut]:
    runs = _runs(text, slopes)
    for start in _starts(text, runs):
        if start.names and start.kind in _SURE and _is_venue(text[start.at :]):
            return [Cut(start, start.at, start.at, "untitled", 0.0)]
    return [_scored(text, runs, start, *end) for start in _starts(text, runs) for end in _ends(text, runs, start.at)]


def _runs(text: str, slopes: Sequence[Range]) -> list[Range]:
    """Stretches of italic type of at least six letters; those that only a sign or a space parts are one."""
    runs: list[Range] = []
    for start, end in sorted(slopes):
        if runs and start - runs[-1][1] < 6 and not any(c.isalnum() for c in text[runs[-1][1] : start]):
            runs[-1] = runs[-1][0], max(end, runs[-1][1])
        else:
            runs.append((start, min(end, len(text))))
    return [(start, end) for start, end in runs if sum(c.isalpha() for c in text[start:end]) >= 6]


def _starts(text: str, runs: Sequence[Range]) -> Iterator[Start]:
    yield Start(0, 0, "first")
    for year in islice(_AFTER_NAMES.finditer(text), 3):
        if year.start() < 4 or is_names(text[: year.start()]):
            yield Start(year.end(), year.start() if year.start() >= 4 else 0, "year", year[1])
    if (quoted := _QUOTED.search(text)) and (start := _dated(text, quoted.start(), "quote")):
        yield start
    for begin, _ in runs[:2]:
        if start := _dated(text, begin, "italic"):
            yield start
    if (stop := next(iter(full_stops(text, limit=1)), 0)) and is_names(text[:stop]):
        yield Start(_skip(text, stop), stop, "stop")
    colon = text.find(": ")
    if colon > 0 and is_names(text[:colon]):
        yield Start(_skip(text, colon), colon, "colon")
    yield from _after_runs(text)


def _after_runs(text: str) -> Iterator[Start]:
    """After as many names as stand at the head in one form: surnames with initials either way round, or pieces between commas."""
    for kind, pattern in (("surnames", SURNAME_FIRST), ("bare initials", VANCOUVER), ("initials", INITIAL_FIRST)):
        end, count = run(text, pattern)
        if (
            not count
            or (pattern is not SURNAME_FIRST and text[end : end + 1] not in {",", ":", "."})
            or (pattern is VANCOUVER and count < 2 and text[end : end + 1] == ",")
        ):
            continue
        edited = EDITORS.match(text, end)
        yield Start(_skip(text, edited.end() if edited else end), end, f"{kind}{text[end : end + 1] if text[end : end + 1] in {',', ':'} else ''}")
    for n, end in enumerate(_comma_pieces(text)):
        if n:
            yield Start(_skip(text, end), end, "comma")


def _comma_pieces(text: str) -> list[int]:
    """Ends of the pieces between commas at the head of an entry, as long as they read like names; the last two."""
    ends: list[int] = [0]
    last = 0
    for comma in re.finditer(r",\s+(?:and\s+)?", text):
        piece = text[last : comma.start()]
        if len(piece.split()) > 8 or not is_names(piece):
            break
        last = comma.end()
        ends.append(comma.start())
    return [0, *ends[1:][-2:]]


def _dated(text: str, at: int, kind: str) -> Start | None:
    """A beginning at a quote or a change of type, with names and perhaps a year before it."""
    head = text[:at].rstrip(" ,.:;")
    at = others.end() if (others := ET_AL.match(text, at)) else at
    at = _skip(text, at)
    if not head or at < 4:
        return Start(at, 0, kind)
    year = _AFTER_NAMES.search(text[:at] + " ")
    if year and is_names(text[: year.start()]) and at - year.end() < 3:
        return Start(at, year.start(), f"year {kind}", year[1])
    return Start(at, len(head), kind) if is_names(head) else None


def _skip(text: str, at: int) -> int:
    """The place of the next letter, digit, quote or bracket."""
    while at < len(text) and text[at] in " .,:;":
        at += 1
    return at


def _ends(text: str, runs: Sequence[Range], start: int) -> Iterator[tuple[int, int, str]]:
    """(end of title, start of the rest, kind)."""
    quoted = _QUOTED.match(text, start)
    if quoted and len(quoted[1].split()) >= 2:
        yield quoted.end(1), quoted.end(), "quote"
    for n, stop in enumerate(full_stops(text[start:], limit=3)):
        mark = text[start + stop] in "?!"
        yield start + stop + mark, start + stop + 1, f"{'question' if mark else 'stop'}{n if n > 1 else ''}"
    for question_mark in islice(_QUESTION.finditer(text, start, start + 800), 2):
        if _VENUE.match(text, question_mark.end()):
            yield question_mark.start() + 1, question_mark.end(), "question"
    if opened := _BRACKET.search(text, start, start + 800):
        yield opened.start(), opened.start() + 1, "bracket"
    for comma in islice(_COMMA.finditer(text, start + 1, start + 600), 12):
        if comma.end() < len(text) and (_VENUE.match(text, comma.end()) or _DATE.match(text, comma.end()) or text[comma.end()].isupper()):
            yield comma.start(), comma.end(), "comma"
    for begin, end in runs:
        if begin <= start + 2 < end:
            yield end, end, "italic"
        elif begin > start + 5:
            lead = _IN.search(text, start, begin)
            yield lead.start() if lead else begin, begin, "before italic"
            break
    yield len(text), len(text), "last"


def _scored(text: str, runs: Sequence[Range], start: Start, end: int, after: int, kind: str) -> Cut:
    title, after_title = text[start.at : end].strip(" ,.;:"), text[after:].lstrip(' ,.;:)”’"')
    score = _names_score(text, start) + _title_score(title) + _rest_score(text, after_title, kind, after) + _type_score(runs, start, end, after_title)
    return Cut(start, end, after, kind, score)


def _names_score(text: str, start: Start) -> float:
    if not start.names:
        return -2.5 if start.kind == "first" else -1.0
    flipped, count = run(text, SURNAME_FIRST)
    beyond = count > 0 and flipped + 3 < start.names and not EDITORS.match(text, flipped)
    return 1.0 + 0.5 * bool(start.year) - 2.0 * (len(text) - start.at < 6) - 2.0 * bool(beyond)


def _title_score(title: str) -> float:
    title = title[1:] if title[:1] in {"“", '"'} and "”" not in title else title
    score = -1.5 * (title.count("“") != title.count("”"))
    words = title.split()
    score += _LENGTHS[min(len(words), 3)] if len(words) <= 25 else 0.0 if len(words) < 40 else -3.0
    score -= 3.0 * bool(_FIRST_NAME.match(title)) + 2.5 * bool(_NAME_INSIDE.search(title)) + 3.0 * bool(_NOT_TITLE.search(title))
    score -= 2.0 * bool(re.match(r"(?:[Ii]n:?|and|et al\.?)\s|[(\[]?(?:18|19|20)\d\d\b", title))
    score -= 2.5 * _is_people(title)
    for stop in full_stops(title, limit=3):
        if stop + 2 < len(title):
            score -= 2.5 if _VENUE.match(title, stop + 2) else 1.0 if title[stop] == "." else 0.2
    score -= 2.0 * (title.count("(") != title.count(")"))
    return score - 1.0 * bool(words and words[0][0].islower() and not re.search(r"[A-Z\d]", words[0]))


def _is_people(title: str) -> bool:
    """Whether a title is the tail of a list of full names: pieces of two to four capital words, with a comma between."""
    pieces = re.split(r",\s+(?:and\s+)?|\s+and\s+", title)
    return ", " in title and all(2 <= len(piece.split()) <= 4 and not re.search(r"(?<!\S)[a-z]{3,}|:", piece) for piece in pieces)


def _rest_score(text: str, rest: str, kind: str, after: int) -> float:
    if not rest:
        return -0.3 if kind == "last" else 0.0
    if _DATE.match(rest):
        return 0.3
    if kind == "comma" and any(stop < len(rest) - 8 for stop in full_stops(rest[:400], limit=1)):
        return -0.7
    if _VENUE.match(rest):
        return 1.5
    stopped = text[after - 1 : after] in {".", "?", "!"} or kind in {"quote", "italic"}
    small = rest[0].islower() and not _SMALL_IN.match(rest)
    press = not small and not re.search(r"(?<![\w’'.])[a-z]{4,}", rest[:60])  # "Wiley, New York": capitals only
    return -2.0 * small + (0.8 + 0.02 * min(20, len(rest.split()))) * press - (0.0 if stopped else 0.5) - 0.8 * (kind == "question")


def _type_score(runs: Sequence[Range], start: Start, end: int, rest: str) -> float:
    """Whether type changes where the parts do."""
    if not runs or end <= start.at:
        return 0.0
    share = _overlap(runs, start.at, end) / (end - start.at)
    mixed = 0.2 < share < 0.85 or (share > 0.5 and sum(a < end and b > start.at for a, b in runs) > 1)
    names = _overlap(runs, 0, start.names) / max(1, start.names)
    return -2.5 * mixed + 1.5 * (share >= 0.85 and names < 0.2) + 0.7 * (share <= 0.2 and bool(rest))


def _overlap(runs: Sequence[Range], start: int, end: int) -> int:
    return sum(max(0, min(end, b) - max(start, a)) for a, b in runs)


def has_no_title(rest: str) -> bool:
    """Whether a venue stands where a title would: a journal's abbreviation and a volume (physics), or nothing else at all (astronomy)."""
    return _VOLUME.match(rest) is not None or _is_venue(rest)


def _is_venue(rest: str) -> bool:
    """Whether what stands behind the names is a journal with its volume and pages, or opens as a conference or preprint does."""
    journal = _JOURNAL.match(rest) and not any(stop < len(rest.rstrip()) - 1 for stop in full_stops(rest[:300], limit=1))
    return bool(journal or _UNTITLED.match(rest))
