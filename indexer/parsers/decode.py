"""Bytes of a text file to the one text that offsets and line numbers refer to.

Newlines become `\\n` and nothing else moves, so line n of the text is line n of the file as editors and forges count.
"""

from __future__ import annotations

import codecs
import re

from indexer.archives.sniff import utf16

_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]{1,40})", re.MULTILINE)
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_TEXT_CODECS = {
    *("utf-8", "iso8859-1", "iso8859-15", "cp1252", "cp1251", "koi8-r"),
    *("gbk", "gb2312", "gb18030", "big5", "euc_jp", "shift_jis", "euc_kr", "cp949"),
}


def decode(data: bytes) -> str:
    """The text of a file: byte order mark, UTF-8, UTF-16 without a mark, a PEP 263 cookie, Latin-1, in this order."""
    return newlines(_decode(data).replace("\0", " "))


def newlines(text: str) -> str:
    """`text` with `\\r\\n` as `\\n`; a lone `\\r` ends a line only where the file has no other newline."""
    text = text.replace("\r\n", "\n")
    return text.replace("\r", " " if "\n" in text else "\n")


def _decode(data: bytes) -> str:
    for mark, codec in _MARKS:
        if data.startswith(mark):
            return data.decode(codec, "replace")
    for codec in ("utf-8", utf16(data), _cookie(data)):
        try:
            if codec:
                return data.decode(codec)
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1")


def _cookie(data: bytes) -> str:
    """The encoding a source file declares in its first two lines (PEP 263), if it is a character encoding known here."""
    match = _COOKIE.search(b"\n".join(data[:400].split(b"\n")[:2]))
    try:
        name = codecs.lookup(match[1].decode("ascii", "replace")).name if match else ""
    except LookupError:
        return ""
    return name if name in _TEXT_CODECS else ""
