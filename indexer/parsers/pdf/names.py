"""Lists of people in printed bibliographies: distinguish them from titles and split them."""

from __future__ import annotations

import re

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
