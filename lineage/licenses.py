"""Which texts may be passed on to others: one closed table, asked by whatever leaves the machine. Pure.

A licence is what a service says of a work: an SPDX identifier (GitHub), the address of a Creative Commons licence
(arXiv), a service's own short form (Semantic Scholar's `CCBY`); of code for which no service names one, what the text of
its licence file is by its telling sentences (https://spdx.org/licenses), else `custom`. Whoever shows a licence shows
`shown`: an SPDX identifier, `custom` or `unknown`. What is not on the list may not be passed on: no licence means all
rights reserved, and arXiv's usual licence lets arXiv distribute a paper, and nobody else (https://info.arxiv.org/help/license).
This is a rule of caution, no legal advice.

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


_HEAD = 400
_MOST = 20_000
_TITLES = (
    (re.compile(r"apache license,? version 2\.0, january 2004"), "Apache-2.0"),
    (re.compile(r"gnu affero general public license version 3\b"), "AGPL-3.0"),
    (re.compile(r"gnu lesser general public license version (3|2\.1)\b"), "LGPL-{}"),
    (re.compile(r"gnu general public license version ([23])\b"), "GPL-{}"),
    (re.compile(r"mozilla public license,? version 2\.0"), "MPL-2.0"),
    (re.compile(r"cc0 1\.0 universal"), "CC0-1.0"),
    (re.compile(r"this is free and unencumbered software released into the public domain"), "Unlicense"),
)
_CC_TITLE = re.compile(r"\battribution(-noncommercial)?(-sharealike|-noderivatives)? ([234]\.0) (?:international|unported)")
_LIMITED = re.compile(r"non-?commercial|(?:academic|research) (?:use|purposes?) only|only for (?:academic|research)")
_MIT = "permission is hereby granted, free of charge, to any person obtaining a copy"
_MIT_NOTICE = "permission notice shall be included in all"
_BSD = "redistribution and use in source and binary forms, with or without modification, are permitted provided that"
_ISC = "permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted"


CUSTOM, UNKNOWN = "custom", "unknown"
_FURTHER = """
AFL-2.1 AGPL-1.0 AGPL-3.0 Apache-1.1 APSL-2.0 Artistic-1.0 Beerware BlueOak-1.0.0 BSD-1-Clause BSD-Source-Code CC-BY-1.0 CC-BY-2.5 CC-BY-NC-1.0
CC-BY-NC-2.0 CC-BY-NC-2.5 CC-BY-NC-ND-3.0 CC-BY-NC-ND-4.0 CC-BY-NC-SA-2.0 CC-BY-NC-SA-2.5 CC-BY-ND-3.0 CC-BY-ND-4.0 CC-BY-SA-2.0 CC-BY-SA-2.5
CC-PDDC CDLA-Permissive-1.0 CDLA-Permissive-2.0 CDLA-Sharing-1.0 CECILL-B CECILL-C CERN-OHL-P-2.0 CERN-OHL-S-2.0 CERN-OHL-W-2.0 CPAL-1.0 CPL-1.0
ECL-1.0 EFL-2.0 GFDL-1.2 GFDL-1.3 GPL-1.0 GPL-2.0 GPL-3.0 HPND Intel LGPL-2.0 LGPL-2.1 LGPL-3.0 LiLiQ-P-1.1 LPPL-1.3c MIT-CMU MIT-Modern-Variant
MPL-1.1 MS-LPL MS-RL MulanPSL-1.0 MulanPSL-2.0 NPOSL-3.0 OFL-1.1 OLDAP-2.8 OpenSSL OSL-2.1 PHP-3.01 PolyForm-Noncommercial-1.0.0 Python-2.0.1
RPL-1.5 Ruby SSPL-1.0 Unicode-DFS-2016 Vim W3C X11 ZPL-2.1
"""
"""Identifiers beside those with a known condition (https://spdx.org/licenses)."""
_UNVERSIONED = {"CC-BY", "CC-BY-SA", "CC-BY-NC", "CC-BY-NC-SA"}
_SPDX = {name.lower(): name for name in (*_CONDITIONS, *_FURTHER.split()) if name not in _UNVERSIONED}


def shown(licence: str | None) -> str:
    """The displayed license: an SPDX identifier, `custom` for other texts, `unknown` if none is named."""
    written = " ".join((licence or "")[:_MOST].split())
    if not written or written.upper() in {"NOASSERTION", "UNKNOWN"}:
        return UNKNOWN
    name = _normal(written)
    ending = re.search(r"-(?:only|or-later)\Z", name, re.IGNORECASE)
    spdx_name = _SPDX.get(name[: ending.start()].lower() if ending else name.lower(), "")
    if spdx_name and (not ending or "GPL-" in spdx_name or spdx_name.startswith("GFDL")):
        return spdx_name + (ending[0].lower() if ending else "")
    return CUSTOM


def called(licence: str | None) -> str:
    """The same in a sentence: `MIT`, `custom license`, `license unknown`."""
    name = shown(licence)
    return {CUSTOM: "custom license", UNKNOWN: "license unknown"}.get(name, name)


def of_text(text: str) -> str:
    """The SPDX identifier of a license text; `custom` if it is not a common one, or restricts one."""
    low = " ".join(text[:_MOST].split()).lower()
    return _titled(low[:_HEAD]) or ("" if _LIMITED.search(low) else _permissive(low)) or (CUSTOM if low else "")


def _titled(head: str) -> str:
    """A licence that says its name at its head."""
    for title, name in _TITLES:
        if match := title.search(head):
            version = match[1] if title.groups else ""
            return name.format(version if "." in version else f"{version}.0")
    if match := _CC_TITLE.search(head):
        kinds = {"-noncommercial": "-NC", "-sharealike": "-SA", "-noderivatives": "-ND"}
        return f"CC-BY{kinds.get(match[1], '')}{kinds.get(match[2], '')}-{match[3]}"
    return ""


def _permissive(low: str) -> str:
    """A licence without a name at its head, by what it grants and asks."""
    if _MIT in low:
        return "MIT" if _MIT_NOTICE in low else "MIT-0"
    if _BSD in low:
        return "BSD-4-Clause" if "advertising materials" in low else "BSD-3-Clause" if "neither the name" in low else "BSD-2-Clause"
    if _ISC in low:
        return "ISC" if "provided that the above copyright notice" in low else "0BSD"
    return ""


@dataclass(frozen=True)
class LicenseTerms:
    """What a licence says of passing a text on: `name` in SPDX form where known, `condition` to keep if it may be, else why not."""

    name: str
    allowed: bool
    condition: str


def terms(licence: str | None) -> LicenseTerms:
    """The terms of a licence as a service wrote it."""
    written = (licence or "").strip()
    if not written:
        return LicenseTerms("", False, "no licence is known, which means all rights reserved")
    name = _normal(written)
    if name in _CONDITIONS:
        return LicenseTerms(name, True, _CONDITIONS[name])
    if _COPYLEFT.match(name):
        return LicenseTerms(name, True, f"{_KEEP_NOTICE}; changes under the same")
    if "-ND" in name:
        return LicenseTerms(name, False, "it forbids adaptations, which an extracted and divided text may be")
    return LicenseTerms(name[:100], False, "it is not among the licences that are known to allow it")


def _normal(written: str) -> str:
    low = written.lower()
    if match := _CC_URL.match(low):
        kind = match[1]
        return f"CC0-{match[2]}" if kind == "zero" else f"CC-{kind.upper()}-{match[2]}"
    if match := _SHORT.match(low):
        return "CC0-1.0" if match[1] == "0" else _short(match[1], match[2] or "")
    return _KNOWN.get(low, written)


def _short(parts: str, version: str) -> str:
    letters = re.sub(r"[ _-]", "", parts)
    words = [word for word in ("by", "nc", "sa", "nd") if word in re.findall(r"by|nc|sa|nd", letters)]
    return "-".join(["CC", *(word.upper() for word in words), *([version] if version else [])])
