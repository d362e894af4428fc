"""Normalize titles to what identifies a work.

Bibliographies write one title in many ways: case, TeX, a dropped subtitle, a cut end, a venue glued to the
tail. These functions take such accidents away and keep what tells two works apart, numbers above all
(GPT-2 and GPT-3, Part I and Part II).
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from functools import lru_cache

from lineage.ids import normal_title

MAX_TITLE = 1000

_COMMAND = re.compile(r"\\[A-Za-z]{1,40}\*?\s?|\\[^A-Za-z\s]")
_TAG = re.compile(r"</?[A-Za-z]{1,10}>")
_TAIL = re.compile(
    r"(?:[.,;:]?\s+|\s*\()(?:in\s+)?(?:arxiv(?:\s+(?:preprint|e-prints))?(?:\s*(?:arxiv)?\s*:?\s*(?=[a-z./-]*\d)[\w./-]{4,20})?|corr|preprint)\W{0,3}(?:(?:19|20)\d\d)?\W{0,3}\Z",
    re.IGNORECASE,
)
_YEAR_TAIL = re.compile(r"[,.]\s*\(?(?:19|20)\d\d[a-z]?\)?\W{0,2}\Z")
_CUT = re.compile(r"(?:…|\.\.\.)\s*\Z")
_SUBTITLE = re.compile(r":\s|\s[-–—]{1,3}\s|\?\s|!\s|\.\s|—")
_NUMERAL = re.compile(r"\d+")
_ROMAN = {"i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x"}
_WORDS = {"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "first", "second", "third", "fourth", "fifth"}
_SEQUELS = {
    "part", "volume", "vol", "revisited", "erratum", "corrigendum", "addendum", "reply", "response", "comment", "comments", "supplement",
    "supplementary", "appendix", "retraction", "correction", "rebuttal", "rejoinder", "discussion", "plus", "extended", "improved",
}  # fmt: skip
_SIGNS = (("++", "plusplus "), ("C#", "csharp "), ("F#", "fsharp "), ("A*", "astar "))


@lru_cache(maxsize=1 << 17)
def plain(title: str) -> str:
    """The title without TeX, markup, a preprint's or year's tail, and a cut's ellipsis; one space between words."""
    text = html.unescape(title[:MAX_TITLE]).encode("utf-8", "replace").decode("utf-8")
    text = _COMMAND.sub(lambda m: "&" if m[0] == "\\&" else "", _TAG.sub("", text))
    text = text.replace("~", " ").replace("$", "").replace("{", "").replace("}", "").replace("``", '"').replace("''", '"')
    text = " ".join(text.split()).strip(" .,;\"'“”")
    text = _TAIL.sub("", text)
    return _CUT.sub("", _YEAR_TAIL.sub("", text)).strip(" .,;")


@dataclass(frozen=True)
class TitleKey:
    """The comparable parts of one title.

    `compact` has letters and digits only, `words` the normalized words, `main` the compact form up to the
    subtitle (empty without one), `numbers` the sorted numerals, `cut` whether the end is visibly missing.
    """

    compact: str
    words: tuple[str, ...]
    main: str
    numbers: tuple[str, ...]
    cut: bool

    def distinctive(self) -> bool:
        """Whether equal titles can hardly be chance: "Introduction" and "Deep learning" are not enough."""
        return len(self.words) >= 3 and len(self.compact) >= 14


def _normal(text: str) -> str:
    for sign, word in _SIGNS:
        text = text.replace(sign, word)
    return normal_title(text.replace("&", " and "))


def numbers(words: tuple[str, ...]) -> tuple[str, ...]:
    """Everything among the words that counts or versions: digits, number words, Roman numerals past the start."""
    numerals = [n for word in words for n in _NUMERAL.findall(word)]
    numerals += [word for place, word in enumerate(words) if word in _WORDS or (place and word in _ROMAN)]
    return tuple(sorted(numerals))


@lru_cache(maxsize=1 << 17)
def title_key(title: str) -> TitleKey:
    """The key of a title as written; an empty title has an empty `compact`."""
    text = plain(title)
    words = tuple(_normal(text).split()) if text else ()
    start = _SUBTITLE.search(text)
    main = _normal(text[: start.start()]).replace(" ", "") if start and start.start() > 2 else ""
    return TitleKey("".join(words), words, main, numbers(words), bool(_CUT.search(title.strip())))


def harmless(extra: tuple[str, ...]) -> bool:
    """Whether words that only one title has may be a subtitle rather than the sign of another work."""
    return not numbers(("", *extra)) and not _SEQUELS & set(extra)


def marked(word: str) -> bool:
    """Whether a word as written looks like a name (SciBERT, YOLOv3, GPT): capitals or digits inside."""
    return len(word) > 2 and bool(re.search(r"[a-z0-9][A-Z]|[A-Z]{3}|[A-Za-z]\d", word))
