"""Detect a file's type from its bytes alone.

Servers mislabel e-prints (RELIABILITY: upstream contracts) and file names lie, so every decision about a format
starts here and never at a header or a suffix.
"""

from __future__ import annotations

import re
import tarfile

_MAGIC = (
    (b"\x1f\x8b", "gzip"),
    (b"\x1f\x9d", "compress"),
    (b"\x1f\xa0", "compress"),
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"BZh", "bzip2"),
    (b"7z\xbc\xaf\x27\x1c", "7z"),
    (b"Rar!\x1a\x07", "rar"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"%!", "postscript"),
    (b"\x04%!", "postscript"),
    (b"\xc5\xd0\xd3\xc6", "postscript"),
)
_HTML = re.compile(rb"\s*(?:<\?xml[^>]{0,200}>\s*)?(?:<!--[^>]{0,500}-->\s*)?<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
_TEX = re.compile(
    rb"\\(?:documentclass|documentstyle|begin\s*\{|input\b|section\b|def\\|usepackage|bye\b|magnification|title\b|font\\)|%&|%auto-ignore"
)
_BOMS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_CONTROL = bytes(set(range(32)) - {7, 8, 9, 10, 12, 13, 27})
HEAD = 65536
"""Bytes from the start that decide."""


def sniff(data: bytes) -> str:
    """The kind of `data`, judged by its first 64 KiB.

    One of `empty`, `gzip`, `tar`, `zip`, `xz`, `bzip2`, `compress`, `7z`, `rar`, `zstd`, `pdf`, `postscript`, `html`,
    `tex`, `text`, `binary`.
    """
    head = data[:HEAD]
    if not head:
        return "empty"
    for magic, kind in _MAGIC:
        if head.startswith(magic):
            return kind
    if is_tar(head):
        return "tar"
    if b"%PDF-" in head[:1024]:
        return "pdf"
    return _text_kind(head)


def _text_kind(head: bytes) -> str:
    if is_binary(head):
        return "binary"
    if _HTML.match(head.removeprefix(_BOMS[0])):
        return "html"
    return "tex" if _TEX.search(head) else "text"


def is_tar(block: bytes) -> bool:
    """Whether the first 512 bytes are a tar header (any dialect: the checksum decides)."""
    try:
        tarfile.TarInfo.frombuf(block[:512], "utf-8", "surrogateescape")
    except tarfile.HeaderError:
        return False
    return True


def is_binary(head: bytes) -> bool:
    """Whether these bytes are no text in UTF-8, UTF-16 or an 8-bit encoding."""
    if head.startswith(_BOMS) or utf16(head):
        return False
    return b"\0" in head or len(head) - len(head.translate(None, _CONTROL)) > len(head) // 50


def utf16(head: bytes) -> str:
    """`utf-16-le` or `utf-16-be` where every other byte is zero, as in Latin text without a mark; else empty."""
    sample = head[:4096]
    half = len(sample) // 2
    if half < 2:
        return ""
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if odd > 0.8 * half and even < 0.05 * half:
        return "utf-16-le"
    return "utf-16-be" if even > 0.8 * half and odd < 0.05 * half else ""
