"""The member table of an e-print: what its files are called, how they are encoded, which of them is the paper.

A name in the source is looked up here and nowhere else; a path that leaves the table is simply not found.
"""

from __future__ import annotations

import codecs
import json
import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass

from indexer.parsers.latex.reader import TexSource
from indexer.parsers.latex.symbols import words
from lineage.records import Status

MAX_SOURCE = 16 * 1024 * 1024
"""Bytes of one member that are read."""

_NOT_TEX = frozenset(
    words("sty cls bst bbl bib bbx cbx clo def fd cfg aux log out toc blg pdf png jpg jpeg gif eps ps svg json md xml html zip gz tar py sh csv tsv")
)
_HEAD = re.compile(r"^[^%\n]*?\\document(?:class|style)\b", re.MULTILINE)
_BEGIN = re.compile(r"^[^%\n]*?\\begin\s*\{document\}", re.MULTILINE)
_BODY = re.compile(r"\\(?:section|chapter|title|begin|input|bye|abstract|cite)\b")
_PART = re.compile(r"^[^%\n]*?\\documentclass\s*(?:\[[^\]\n]{0,200}\])?\s*\{(?:subfiles|standalone)\}", re.MULTILINE)
_INCLUDES = re.compile(r"^[^%\n]*?\\(?:input|include|subfile|subfileinclude)\s*\{?\s*([^\s{}%\\]{1,200})", re.MULTILINE)
_SUPPLEMENT = re.compile(r"supp|appendix", re.IGNORECASE)
_INPUTENC = re.compile(rb"\\usepackage\s*\[([A-Za-z0-9-]{3,12})\]\s*\{inputenc\}|\\inputencoding\{([A-Za-z0-9-]{3,12})\}")
_CODECS = {
    "latin1": "latin-1",
    "latin2": "iso8859-2",
    "latin5": "iso8859-9",
    "latin9": "iso8859-15",
    "ansinew": "cp1252",
    "cp1252": "cp1252",
    "cp1250": "cp1250",
    "cp1251": "cp1251",
    "applemac": "mac_roman",
    "koi8-r": "koi8-r",
}
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
# Control characters, zero-width and direction marks and Unicode tags say nothing to a reader and can hide text from one.
_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\U000e0000-\U000e007f]")

Lost = tuple[str, Status, str]


@dataclass(frozen=True)
class Mains:
    """The files to be read as the paper, in order, and what was left aside."""

    names: tuple[str, ...]
    lost: tuple[Lost, ...] = ()


def decode(data: bytes) -> tuple[str, bool]:
    """The text of a member and whether it was cut at `MAX_SOURCE`.

    Byte order mark, UTF-8, the `inputenc` option, Windows-1252, Latin-1, in this order; line ends become one.
    """
    cut = len(data) > MAX_SOURCE
    text = _decode(data[:MAX_SOURCE], cut=cut).replace("\r\n", "\n").replace("\r", "\n")
    return _UNSEEN.sub("", text), cut


def _decode(data: bytes, *, cut: bool) -> str:
    for mark, codec in _MARKS:
        if data.startswith(mark):
            return data.decode(codec, "replace")
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(data, final=not cut)
    except UnicodeDecodeError:
        pass
    hint = _INPUTENC.search(data[:100_000])
    named = _CODECS.get((hint[1] or hint[2]).decode().lower(), "") if hint else ""
    for codec in filter(None, (named, "cp1252")):
        try:
            return data.decode(codec)
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1")


class SourceFiles:
    """The members of one e-print, decoded once each. AppleDouble and hidden files are no members."""

    def __init__(self, members: Mapping[str, bytes]) -> None:
        self.members = {posixpath.normpath(name): data for name, data in members.items() if not _hidden(name)}
        self._folded = {name.lower(): name for name in sorted(self.members, reverse=True)}
        self._texts: dict[str, str] = {}
        self.lost: list[Lost] = []

    def text(self, name: str) -> str:
        """The decoded text of a member."""
        if name not in self._texts:
            self._texts[name], cut = decode(self.members[name])
            if cut:
                self.lost.append((name, Status.TRUNCATED, f"only the first {MAX_SOURCE // 2**20} MiB were read"))
        return self._texts[name]

    def find(self, written: str, *, near: str = "", ending: str = ".tex") -> str | None:
        """The member that a name in the source means, as TeX would look it up (also beside the file `near`)."""
        written = written.strip().strip('"').removeprefix("./")
        folders = dict.fromkeys(("", posixpath.dirname(near)))
        for folder in folders:
            path = posixpath.normpath(posixpath.join(folder, written))
            for name in (path + ending, path):
                if name in self.members:
                    return name
                if name.lower() in self._folded:
                    return self._folded[name.lower()]
        return None

    def open(self, name: str) -> TexSource:
        """A member as a source to be scanned."""
        return TexSource(self.text(name), name, at_letter=name.endswith((".sty", ".cls")))

    def ending(self, suffix: str) -> list[str]:
        """Members with this ending, sorted."""
        return sorted(name for name in self.members if name.lower().endswith(suffix))

    def mains(self) -> Mains:
        """Which member is the paper: what arXiv's 00README says, else the likeliest of those with a document class."""
        candidates = [name for name in sorted(self.members) if self._may_be_tex(name)]
        texts = {name: self.text(name) for name in candidates}
        heads = [name for name in candidates if _HEAD.search(texts[name]) and not _PART.search(texts[name])]
        declared = [name for name in self._declared() if name in texts]
        if declared:
            return Mains(tuple(declared), _others(set(heads) - set(declared)))
        heads = heads or [name for name in candidates if _BEGIN.search(texts[name])] or [name for name in candidates if _BODY.search(texts[name])]
        if not heads:
            return Mains(())
        return self._likeliest(heads, texts)

    def _may_be_tex(self, name: str) -> bool:
        if posixpath.basename(name).lower().startswith("00readme"):
            return False
        ending = posixpath.basename(name).rpartition(".")[2].lower()
        return ending not in _NOT_TEX and (ending in {"tex", "ltx", "latex"} or b"\\" in self.members[name][:100_000])

    def _likeliest(self, heads: list[str], texts: dict[str, str]) -> Mains:
        included = {
            included_file
            for name in heads
            for written in _INCLUDES.findall(texts[name])
            if (included_file := self.find(written, near=name)) not in (None, name)
        }
        tops = [name for name in heads if name not in included] or heads
        best = max(tops, key=lambda name: self._score(name, texts[name]))
        supplements = sorted(name for name in tops if name != best and _SUPPLEMENT.search(posixpath.basename(name)) and not _SUPPLEMENT.search(best))
        return Mains((best, *supplements), _others(set(tops) - {best, *supplements}))

    def _score(self, name: str, text: str) -> tuple[int, int, int, int, str]:
        stem = posixpath.splitext(name)[0]
        named = posixpath.basename(stem).lower() in {"main", "ms", "paper", "arxiv", "article", "manuscript", "root", "camera_ready"}
        body = len(text) + sum(len(self.members.get(self.find(written, near=name) or "", b"")) for written in _INCLUDES.findall(text)[:500])
        complete = bool(_BEGIN.search(text)) + (stem + ".bbl" in self.members) - 2 * bool(_SUPPLEMENT.search(posixpath.basename(stem)))
        return complete, int(named), -name.count("/"), body, name

    def _declared(self) -> list[str]:
        for name in self.members:
            base = posixpath.basename(name).lower()
            if base == "00readme.json":
                return _from_json(self.members[name])
            if base.startswith("00readme"):
                lines = (line.split() for line in self.text(name).splitlines()[:500])
                return [words[0] for words in lines if len(words) > 1 and words[1].lower() == "toplevelfile"]
        return []


def _from_json(data: bytes) -> list[str]:
    try:
        sources = json.loads(data[:1_000_000]).get("sources", [])
        return [str(item["filename"]) for item in sources if item.get("usage", "toplevel") == "toplevel"]
    except (ValueError, AttributeError, TypeError, KeyError, RecursionError):
        return []


def _hidden(name: str) -> bool:
    parts = name.split("/")
    return any(part.startswith("._") or part == "__MACOSX" for part in parts) or parts[-1] in ("", ".DS_Store")


def _others(names: set[str]) -> tuple[Lost, ...]:
    return tuple((name, Status.POLICY_SKIPPED, "another main file; not part of the paper that was read") for name in sorted(names))
