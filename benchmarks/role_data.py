"""Citation contexts with roles, from data folders that are not ours to copy.

Our own labels (`role_labels.jsonl`: an address, a hash of the context, the roles) were given by reading e-print
sources and pst_extended (Apache-2.0). MultiCite and ACL-ARC are folded to our roles and only ever test.

How the schemes fold, from their definitions:

    ours                             MultiCite                            ACL-ARC (function)
    base                             extends                              Extends-*
    method, setup, data, metric      uses (one class; not told apart)     Uses-Data -> data; other Uses-* -> method, setup, metric
    baseline                         similarities, differences            Compares-*, Contrasts-*
    background                       background, motivation, future_work  Background, Motivation, Future-*, Prior-Paper, Reference
    (left out)                                                            Unknown
"""

from __future__ import annotations

import collections
import gzip
import hashlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

LABELS = Path(__file__).with_name("role_labels.jsonl")
PAPERS = ("1911.02782", "2004.14974", "2306.17806v1", "2403.18886v3", "2405.03064v3", "2410.07839v2")
BEFORE, AFTER = 230, 170

MULTICITE = {
    "extends": "base",
    "uses": "uses",
    "similarities": "baseline",
    "differences": "baseline",
    "background": "background",
    "motivation": "background",
    "future_work": "background",
}
FOLDED = {"base": "base", "method": "uses", "setup": "uses", "data": "uses", "metric": "uses", "baseline": "baseline", "background": "background"}
ACL = {"Extends": "base", "Compares": "baseline", "Contrasts": "baseline", "Future": "background"}
ACL_WHOLE = {"Background": "background", "Motivation": "background", "Prior-Paper": "background", "Reference": "background", "Uses-Data": "data"}
ACL_FOLDED = {**FOLDED, "data": "data"}


@dataclass(frozen=True)
class Labelled:
    """A context (the citation marked `⟦T⟧` or `<cite>`), its roles, and the paper it is from."""

    text: str
    roles: frozenset[str]
    paper: str
    source: str


def read_jsonl(path: Path) -> list[dict]:
    raw = path.read_bytes()
    text = gzip.decompress(raw) if path.suffix == ".gz" else raw
    return [json.loads(line) for line in text.decode("utf-8").splitlines() if line]


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


# Test sets


def multicite(data: Path) -> list[Labelled]:
    rows = read_jsonl(data / "roles/multicite.jsonl.gz")
    texts = [" ".join(r["text"]) if isinstance(r["text"], list) else r["text"] for r in rows]
    return [Labelled(t, frozenset(MULTICITE[x] for x in r["labels"]), r["paper"], "multicite") for t, r in zip(texts, rows, strict=True)]


def acl_arc(data: Path) -> list[Labelled]:
    rows = [r for r in read_jsonl(data / "roles/acl_arc_function.jsonl.gz") if _acl(r["label"])]
    return [Labelled(r["context"], frozenset({_acl(r["label"])}), r["paper"], "acl_arc") for r in rows]


def _acl(label: str) -> str:
    if label in ACL_WHOLE:
        return ACL_WHOLE[label]
    return "uses" if label.startswith("Uses") else ACL.get(label.partition("-")[0], "")


# Contexts that may be learnt from


def eprint_contexts(data: Path) -> Iterator[tuple[str, str, str]]:
    """(address, paper, context) of the gold contexts of the e-prints."""
    for paper in PAPERS:
        for row in read_jsonl(data / f"references/gold/{paper}.contexts.jsonl"):
            for n, context in enumerate(row["contexts"]):
                text = _window(_plain_tex(context, row["key"]))
                if text:
                    yield f"{paper}:{row['key']}:{n}", paper, text


def _window(text: str) -> str:
    at = text.find("⟦T⟧")
    return text[max(0, at - BEFORE) : at + AFTER] if at >= 0 else ""


def _plain_tex(text: str, key: str) -> str:
    def cite(found: re.Match[str]) -> str:
        keys = [k.strip() for k in found[2].split(",")]
        marks = "; ".join("⟦T⟧" if k == key else "⟦o⟧" for k in keys)
        return f"( {marks} )" if found[1] != "citet" else f" {marks} "

    text = re.sub(r"\\([Cc]ite[a-zA-Z]*\*?)(?:\[[^\]]*\])*\{([^{}]*)\}", cite, text)
    text = re.sub(r"\\(?:textbf|emph|textit|text|textsc|texttt|bf|it|section|subsection|paragraph|footnote|caption|url)\b\*?", " ", text)
    text = re.sub(r"\\(?:label|ref|autoref|cref|Cref)\{[^}]*\}", "#", text)
    text = re.sub(r"\\\\|\\([a-zA-Z]+)", r" \1 ", re.sub(r"[{}~]", " ", text))
    return " ".join(text.split())


_NUMBERS = re.compile(r"\[(\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*)\]")
_NAMES = re.compile(r"([A-Z][\w'’\-]+)(?:\s+(?:et\s+al\.?|(?:and|&)\s+[A-Z][\w'’\-]+))?,?\s*(\(?)((?:19|20)\d\d)[a-z]?(\)?)")


def pst_contexts(data: Path) -> Iterator[tuple[str, str, str]]:
    """(address, citing paper, context) of pst_extended where the marker common to a pair's contexts can be told."""
    for row in read_jsonl(data / "roles/pst_extended.jsonl.gz"):
        for n, text in enumerate(mark_common(row["contexts"])):
            if "⟦T⟧" in text:
                yield f"{row['id']}:{n}", row["citing_s2"], text


def mark_common(contexts: list[str]) -> list[str]:
    """The contexts with the one citation that most of them share marked `⟦T⟧`, others `⟦o⟧`; unmarked where it is a tie."""
    for find, put in ((_numbers, _put_number), (_names, _put_name)):
        votes = collections.Counter(mark for context in contexts for mark in find(context))
        first = votes.most_common(2)
        if first and (len(first) == 1 or first[0][1] > first[1][1]):
            return [" ".join(put(context, first[0][0]).split()) for context in contexts]
    return list(contexts)


def _numbers(text: str) -> set[str]:
    found: set[str] = set()
    for group in _NUMBERS.finditer(text):
        for low, high, one in re.findall(r"(\d+)\s*[–-]\s*(\d+)|(\d+)", group[1]):
            found |= {one} if one else {str(k) for k in range(int(low), min(int(high), int(low) + 30) + 1)}
    return found


def _put_number(text: str, number: str) -> str:
    def put(found: re.Match[str]) -> str:
        held = _numbers(found[0])
        return "( ⟦T⟧" + "; ⟦o⟧" * (len(held) - 1) + " )" if number in held else "⟦o⟧"

    return _NUMBERS.sub(put, text)


def _names(text: str) -> set[str]:
    return {f"{found[1]} {found[3]}" for found in _NAMES.finditer(text)}


def _put_name(text: str, name: str) -> str:
    def put(found: re.Match[str]) -> str:
        mark = "⟦T⟧" if f"{found[1]} {found[3]}" == name else "⟦o⟧"
        return mark if found[2] else mark + found[4]

    return _NAMES.sub(put, text)


SOURCES: dict[str, Callable[[Path], Iterator[tuple[str, str, str]]]] = {"eprint": eprint_contexts, "pst": pst_contexts}


def ours(data: Path) -> list[Labelled]:
    """Our labels with their contexts; a context whose hash has changed stops the run, for it was not what was read."""
    wanted = {(row["source"], row["id"]): row for row in read_jsonl(LABELS)}
    found: list[Labelled] = []
    for source, contexts in SOURCES.items():
        for address, paper, text in contexts(data):
            row = wanted.get((source, address))
            if row and row["sha"] != digest(text):
                raise SystemExit(f"{source}:{address}: the context is not the one that was labelled")
            if row:
                found.append(Labelled(text, frozenset(row["roles"]), paper, source))
    return found
