"""Make third-party text safe to show or send to a model: remove invisible characters, fence it between lines it cannot contain."""

from __future__ import annotations

import hashlib
import re

_PICTURE = "#*0-9\u00a9\u00ae\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
_HIDDEN = re.compile(
    "[\u00ad\u061c\u180e\u200b-\u200c\u200e-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0e\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
    f"|(?<![{_PICTURE}])\ufe0f|(?<![{_PICTURE}\ufe0f])\u200d"
)
"""What makes one picture of a symbol (\u26a0\ufe0f) or joins two stands right after one, and is seen."""
_BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029]")
_BREAK = re.compile("[\t\n\r\u2028\u2029]")
_JOINER = re.compile("[\u200c\u200d\ufe00-\ufe0f]")


def visible(text: str) -> tuple[str, list[str]]:
    """The text without invisible and control characters, and flags that count them."""
    if text.isascii() and not _CONTROL.search(text):
        return text, []
    bidi = len(_BIDI.findall(text))
    hidden = len(_HIDDEN.findall(text)) - bidi + len(_CONTROL.findall(text))
    flags = [f"{name}:{count}" for name, count in (("invisible-characters", hidden), ("bidi-controls", bidi)) if count]
    return _CONTROL.sub("", _HIDDEN.sub("", text.replace("\u2028", "\n").replace("\u2029", "\n"))), flags


def inline(text: str) -> str:
    """The text on one line, as it is but for what cannot be seen: a name or a path that cannot forge a line."""
    return _BREAK.sub(" ", visible(text)[0])


_LOADED = re.compile(r"\S*(?:://|\]\(|\bwww\.)\S*", re.IGNORECASE)
_TAG = re.compile("<(?=[/!?a-zA-Z])")
_QUOTES = str.maketrans("“”„«»`", '"""""\'')


def own_words(text: str) -> str:
    """What a model says in its own words, on one line: no address or markup that a client would load or follow, no mark that forges a quote."""
    return _TAG.sub("< ", " ".join(_LOADED.sub(" ", inline(text)).translate(_QUOTES).split()))


_MARKED = re.compile(r"[\\`*_\[\]<>|#~&]")


def literal(text: str) -> str:
    """A text as Markdown that shows it as it is: no bars, line breaks or foreign markup."""
    return _MARKED.sub(r"\\\g<0>", " ".join(text.split()))


def is_word(text: str) -> bool:
    """Whether a text is one word of characters that a reader sees, as identifiers are."""
    return text.isprintable() and " " not in text and inline(text) == text


def is_name(text: str) -> bool:
    """Whether a path holds nothing but what a reader sees; Persian and pictures need what joins and varies their signs."""
    bare = _JOINER.sub("", text)
    return inline(bare) == bare


def harmless(text: str) -> str:
    """The text with a space for each character that steers a terminal: controls (but for tab and line feed) and bidirectional ones."""
    return _BIDI.sub(" ", _CONTROL.sub(" ", text.replace("\r", " ")))


def printable(text: str) -> str:
    """The text with a space for each character that cannot be shown."""
    return text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)


def shortened(text: str, most: int) -> str:
    """At most so many characters, an ellipsis for the rest."""
    return text if len(text) <= most else text[: most - 1] + "…"


_OBJECT = re.compile(r"\{.*\}", re.DOTALL)


def fence_of(text: str) -> str:
    """A line that stands nowhere in the text: no text holds a hash of itself."""
    return "-----" + hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:24]


def object_in(answer: str) -> str:
    """The JSON object inside a model's answer; the whole answer if there is none."""
    block = _OBJECT.search(answer)
    return block[0] if block else answer
