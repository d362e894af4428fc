"""Which texts may be passed on to others: one closed table, asked by whatever leaves the machine. Pure.

A licence is what a service says of a work: an SPDX identifier (GitHub), the address of a Creative Commons licence
(arXiv), a service's own short form (Semantic Scholar's `CCBY`). What is not on the list may not be passed on: no
licence means all rights reserved, and arXiv's usual licence lets arXiv distribute a paper, and nobody else
(https://info.arxiv.org/help/license). This is a rule of caution, no legal advice.

Never passed on, whatever is counted as its parts: whole texts, the passages cut from them, and indexes that hold
their words in order. Passed on always: bibliographic records with abstracts as the services hand them out (arXiv's
are CC0, Semantic Scholar's and OpenAlex's open data), single quoted sentences with their source, names and values
of settings, places (path, lines, section), hashes, and vectors. A vector is a computed feature of a passage, as
word counts are in HathiTrust's Extracted Features; it says what a passage is near to, not what it says.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_KEEP_NOTICE = "keep the copyright notice and the licence"
_ATTRIBUTE = "name the authors and the licence"
_FREE = "no condition"
_CONDITIONS = {
    **dict.fromkeys(("CC0-1.0", "Unlicense", "0BSD", "WTFPL", "MIT-0", "PDDL-1.0"), _FREE),
    **dict.fromkeys(("MIT", "BSD-2-Clause", "BSD-3-Clause", "BSD-3-Clause-Clear", "ISC", "Apache-2.0", "Zlib", "BSL-1.0", "NCSA"), _KEEP_NOTICE),
    **dict.fromkeys(("PostgreSQL", "Python-2.0", "PSF-2.0", "Artistic-2.0", "UPL-1.0", "AFL-3.0", "BSD-4-Clause", "ECL-2.0"), _KEEP_NOTICE),
    **dict.fromkeys(
        ("MPL-2.0", "EPL-1.0", "EPL-2.0", "CDDL-1.0", "EUPL-1.1", "EUPL-1.2", "MS-PL", "OSL-3.0", "CECILL-2.1"),
        f"{_KEEP_NOTICE}; changes under the same",
    ),
    **dict.fromkeys(("CC-BY-3.0", "CC-BY-4.0", "CC-BY", "ODC-By-1.0", "CC-BY-2.0"), _ATTRIBUTE),
    **dict.fromkeys(("CC-BY-SA-3.0", "CC-BY-SA-4.0", "CC-BY-SA", "ODbL-1.0"), f"{_ATTRIBUTE}; changes under the same"),
    **dict.fromkeys(("CC-BY-NC-3.0", "CC-BY-NC-4.0", "CC-BY-NC"), f"{_ATTRIBUTE}; not for commercial purposes"),
    **dict.fromkeys(("CC-BY-NC-SA-3.0", "CC-BY-NC-SA-4.0", "CC-BY-NC-SA"), f"{_ATTRIBUTE}; not for commercial purposes; changes under the same"),
}
_COPYLEFT = re.compile(r"(?:A|L)?GPL-[23]\.[01](?:-only|-or-later)?\Z")
_KNOWN = {name.lower(): name for name in _CONDITIONS}
_CC_URL = re.compile(r"https?://(?:www\.)?creativecommons\.org/(?:licenses|publicdomain)/([a-z-]{2,10})/(\d\.\d)(?:/.{0,40})?\Z")
_SHORT = re.compile(r"cc[ _-]?(by(?:[ _-]?nc)?(?:[ _-]?(?:sa|nd))?|0)(?:[ _-]?(?:v?(\d\.\d)))?\Z")


@dataclass(frozen=True)
class Terms:
    """What a licence says of passing a text on: `name` in SPDX form where known, `condition` to keep if it may be, else why not."""

    name: str
    allowed: bool
    condition: str


def terms(licence: str | None) -> Terms:
    """The terms of a licence as a service wrote it."""
    written = (licence or "").strip()
    if not written:
        return Terms("", False, "no licence is known, which means all rights reserved")
    name = _normal(written)
    if name in _CONDITIONS:
        return Terms(name, True, _CONDITIONS[name])
    if _COPYLEFT.match(name):
        return Terms(name, True, f"{_KEEP_NOTICE}; changes under the same")
    if "-ND" in name:
        return Terms(name, False, "it forbids adaptations, which an extracted and divided text may be")
    return Terms(name[:100], False, "it is not among the licences that are known to allow it")


def _normal(written: str) -> str:
    low = written.lower()
    if found := _CC_URL.match(low):
        kind = found[1]
        return f"CC0-{found[2]}" if kind == "zero" else f"CC-{kind.upper()}-{found[2]}"
    if found := _SHORT.match(low):
        return "CC0-1.0" if found[1] == "0" else _short(found[1], found[2] or "")
    return _KNOWN.get(low, written)


def _short(parts: str, version: str) -> str:
    letters = re.sub(r"[ _-]", "", parts)
    words = [word for word in ("by", "nc", "sa", "nd") if word in re.findall(r"by|nc|sa|nd", letters)]
    return "-".join(["CC", *(word.upper() for word in words), *([version] if version else [])])
