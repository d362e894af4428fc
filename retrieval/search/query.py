"""A question as a value: what may be asked, and what of it the two retrievers are given.

Questions come from agents and from people who paste: LaTeX passages, tracebacks, operators. Nothing in them is
syntax here; what cannot be a question (nothing, a flood, control characters) is refused in words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from typing import get_args

from lineage.errors import UsageError
from lineage.records import ChunkKind, Query

MAX_BYTES = 4096
MAX_HITS = 100
_KINDS: tuple[ChunkKind, ...] = get_args(ChunkKind)
_WHITE = frozenset("\t\n\r")
_HIDDEN = frozenset({"Cc", "Cs", "Co", "Cn"})
_COMMENT = re.compile(r"(?<!\\)%[^\n]*")
_ENVIRONMENT = re.compile(r"\\(?:begin|end)\s*\{[^{}]{0,40}\}(?:\[[^\[\]]{0,40}\])?")
_REFERENCE = re.compile(
    r"\\(?:[Cc]ite[a-zA-Z]*|[a-zA-Z]*ref|label|vspace|hspace|includegraphics|bibliography[a-z]*)\*?\s*(?:\[[^\[\]]{0,80}\])?\{[^{}]{0,200}\}"
)
_STYLE = re.compile(
    r"\\(?:text(?:bf|it|tt|sc|sf|rm|up|normal)?|emph|math(?:cal|bf|bb|rm|it|sf|tt|frak|scr)|boldsymbol|bm|mbox|operatorname|paragraph|"
    r"(?:sub)*section|left|right|big|Big|bigg|Bigg|quad|qquad|noindent|footnote|url|item|displaystyle|limits|centering|hat|tilde|bar|vec|"
    r"widehat|widetilde|overline|underline|small|xspace)\*?(?![a-zA-Z])"
)


def make_query(text: str, *, k: int = 10, kinds: Collection[str] = (), no_target_code: bool = False, work: str = "", explain: bool = False) -> Query:
    """The `Query` of a question; raises `UsageError` that says what is wrong and what is allowed."""
    wrong = _wrong(text) or ("" if 1 <= k <= MAX_HITS else f"{k} hits were asked for; 1 to {MAX_HITS} can be")
    if wrong:
        raise UsageError(wrong)
    unknown = sorted(set(kinds) - set(_KINDS))
    if unknown:
        raise UsageError(f"there is no kind {unknown[0]!r}", hint="kinds: " + ", ".join(_KINDS))
    return Query(
        text.strip(), k, frozenset(kind for kind in _KINDS if kind in kinds), no_target_code, around=True, work=work.strip(), explain=explain
    )


def beginning(text: str) -> tuple[str, tuple[str, ...]]:
    """As much of a text as a question may hold, cut at a word, and a note if anything was cut."""
    data = text.strip().encode("utf-8", "surrogatepass")
    if len(data) <= MAX_BYTES:
        return text.strip(), ()
    kept = "".join(data[:MAX_BYTES].decode("utf-8", "ignore").rsplit(None, 1)[:1])
    return kept, (f"only the first {len(kept):,} of {len(text):,} characters were asked",)


def _wrong(text: str) -> str:
    if not text.strip():
        return "the question is empty"
    if (size := len(text.encode("utf-8", "surrogatepass"))) > MAX_BYTES:
        return f"the question has {size:,} bytes; at most {MAX_BYTES:,} are taken"
    control = next((c for c in text if c not in _WHITE and unicodedata.category(c) in _HIDDEN), "")
    return f"the question holds the control character U+{ord(control):04X}" if control else ""


def plain(text: str) -> str:
    """The question without LaTeX's scaffolding; its symbols' names (`\\alpha`, `\\arg\\min`) stay as words."""
    if "\\" not in text:
        return text
    bare = text
    for pattern in (_COMMENT, _ENVIRONMENT, _REFERENCE, _STYLE):
        bare = pattern.sub(" ", bare)
    return re.sub(r"\s{2,}", " ", bare.replace("\\", " ")).strip() or text
