"""Cited works that the target's own code names: a checkpoint it loads, a repository it points to, a class called as the work is. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from lineage.code_reuse.reuse import is_boilerplate, is_vendored
from lineage.records import CodeLink, Document, Reference, Work, WorkId
from lineage.references.short_names import short_names
from lineage.references.signals import Signal, counted

MAX_LETTERS = 200_000
MAX_FILES = 2_000
_REPOSITORY = re.compile(r"github\.com[/:]([\w.-]{1,60})/([\w.-]{1,80})", re.IGNORECASE)
_LOADED = re.compile(
    r"""(?:from_pretrained|create_model|hub\.load|load_model|checkpoint|pretrained|model_name|model|encoder|backbone)\w*["']?\s*[=:(,]\s*(?:default\s*=\s*)?["']([\w./-]{3,80})["']"""
)
_FOLDER = 3
"""Letters from which on a folder can be called as a work is; words of the text need one more."""
_PAST = 40
"""Files of one repository that may name a work before the name is taken for a word of the trade."""


def signals(
    documents: Iterable[Document], references: Sequence[Reference], works: Mapping[WorkId, Work], links: Sequence[CodeLink], target: Work
) -> dict[WorkId, tuple[Signal, ...]]:
    """For each reference that the target's own code names: in how many files, and the checkpoint that is loaded under its name."""
    own = {link.repo for link in links if link.paper == target.id and link.tier.own}
    files = [
        code_document
        for code_document in documents
        if code_document.work in own and not (is_vendored(code_document.path) or is_boilerplate(code_document.path))
    ][:MAX_FILES]
    if not files:
        return {}
    names = {_plain(name): work for name, work in short_names(target.title, references, works).items() if len(_plain(name)) >= _FOLDER}
    homes = {link.repo.lower(): link.paper for link in links if link.tier.own and link.paper != target.id and link.paper in works}
    named: dict[WorkId, set[str]] = defaultdict(set)
    loaded: dict[WorkId, str] = {}
    for document in files:
        text = document.text[:MAX_LETTERS]
        for owner, name in _REPOSITORY.findall(text):
            if work := homes.get(f"repo:github.com/{owner}/{name.removesuffix('.git').rstrip('.')}".lower()):
                named[work].add(document.path)
        for value in _LOADED.findall(text):
            if work := _of_checkpoint(value, names):
                loaded.setdefault(work, f"{value} in {document.path}")
        called = {folded for part in document.path.split("/")[:-1] if len(folded := _plain(part)) >= _FOLDER}
        for work in {names[word] for word in (called | _words(text)) if word in names}:
            named[work].add(document.path)
    signals_by_key: dict[WorkId, list[Signal]] = defaultdict(list)
    for work, paths in named.items():
        value = 0.0 if len(paths) > max(_PAST, len(files) // 2) else min(1.0, len(paths).bit_length() / 4)
        signals_by_key[work].append(
            Signal("named_in_code", value, f"the target's own code names it in {counted(len(paths), 'file')}: {', '.join(sorted(paths)[:2])}")
        )
    for work, words in loaded.items():
        signals_by_key[work].append(Signal("checkpoint", 1.0, f"the target's own code loads {words}"))
    return {work: tuple(work_signals) for work, work_signals in signals_by_key.items()}


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _words(text: str) -> set[str]:
    """The words of identifiers: `dinov2` of `dinov2_vitl14`."""
    return {word.lower() for word in re.findall(r"[A-Za-z][A-Za-z0-9]{3,40}", text)}


def _of_checkpoint(value: str, names: Mapping[str, WorkId]) -> WorkId | None:
    """The work after which a checkpoint is called: `facebook/dinov2-large`, `roberta-large`."""
    words = [_plain(part) for part in re.split(r"[/_.-]", value) if part]
    heads = [*words, *("".join(pair) for pair in pairwise(words))]
    return next((names[word] for word in heads if word in names), None)
