"""A lineage of as many chunks as wanted, out of real ones: for what only shows at size.

Each further chunk has alternate lines of two real ones, so that words are as frequent as they are in code and prose and no text stands
twice, the mean of their vectors, and the facts and settings of the first of them; it stands in a copy of the first's file, which has no
text of its own. What the works settle is kept with it, as a build does.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from pathlib import Path

import numpy as np

from api.bootstrap import Parts
from indexer.store.generations import Store
from lineage import settings
from lineage.catalog.writer import CatalogWriter
from lineage.generation import Generation, open_generation
from lineage.ports import Vectors
from lineage.records import Chunk, Document

_STEP = 37
"""How far from each other the chunks are that are mixed, times the number of the copy."""


def grown(home: Path, lineage: str, size: int, out: Path) -> str:
    """Write the lineage of so many chunks into the home `out` unless it is there; gives its name."""
    name = f"{lineage}-{size}"
    if name in Store(out).lineages():
        return name
    start = time.process_time()
    with open_generation(home, lineage) as source, Store(out).writing(name) as writing, writing.draft() as draft:
        vectors, manifest = list[Vectors](), source.manifest
        with draft.catalog() as catalog:
            catalog.add_works(source.catalog.works())
            catalog.add_references(source.catalog.references())
            catalog.add_links(source.catalog.links())
            for key, value in source.catalog.meta().items():
                if not key.startswith("ledger_in."):
                    catalog.set_meta(key, value)
            for copy in range(-(-size // manifest.counts["chunks"])):
                chunks, rows = _copy(source, copy)
                left = size - copy * manifest.counts["chunks"]
                if not copy:
                    _documents(catalog, source, {(chunk.work, chunk.path) for chunk in chunks[:left]})
                catalog.add_chunks(chunks[:left])
                vectors.append(rows[:left])
                _facts(catalog, source, copy, {chunk.id for chunk in chunks[:left]})
            catalog.finish()
        draft.vectors(np.concatenate(vectors), manifest.embedder)
        reports = partial(Parts(settings.load(home=out)).made, whole=False)  # what works settle, as every build keeps it
        draft.commit(target=manifest.target, fingerprint=name, reports=reports)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"{name}: written in {time.process_time() - start:.1f} s of processor time; peak memory so far {memory:.1f} GB", flush=True)
    return name


def _documents(catalog: CatalogWriter, source: Generation, places: AbstractSet[tuple[str, str]]) -> None:
    """The real files, so that questions may name works that were read."""
    for one in source.catalog.documents():
        if (one.work, one.path) in places:
            text = source.catalog.document_text(one.work, one.path) or ""
            catalog.add_document(Document(one.work, one.path, text, (), one.parser, one.kind, one.language, one.blob, one.title, pages=one.pages))


def _facts(catalog: CatalogWriter, source: Generation, copy: int, ids: AbstractSet[str]) -> None:
    every = (*source.catalog.facts(), *source.catalog.mechanisms())
    facts = (replace(fact, chunk=f"{fact.chunk}-{copy}") if copy else fact for fact in every)
    catalog.add_facts(fact for fact in facts if fact.chunk in ids)
    for work in source.catalog.works():
        own = source.catalog.settings(work.id)
        copies = (replace(one, chunk=f"{one.chunk}-{copy}", path=f"copy{copy}/{one.path}") if copy else one for one in own)
        catalog.add_settings(one for one in copies if one.chunk in ids)
        files = source.catalog.files(work.id).values()
        catalog.add_files(replace(file, path=f"copy{copy}/{file.path}") if copy else file for file in files)


def _copy(generation: Generation, copy: int) -> tuple[list[Chunk], Vectors]:
    """The chunks of a lineage as the copy of that number has them, with their vectors."""
    chunks, vectors = generation.catalog.chunks(range(generation.manifest.counts["chunks"])), np.asarray(generation.vectors)
    if not copy:
        return chunks, vectors
    others = (np.arange(len(chunks)) + copy * _STEP) % len(chunks)
    mixed = vectors + vectors[others]
    made = [
        replace(chunk, id=f"{chunk.id}-{copy}", path=f"copy{copy}/{chunk.path}", text=_mixed(chunk.text, chunks[other].text))
        for chunk, other in zip(chunks, others, strict=True)
    ]
    return made, mixed / np.linalg.norm(mixed, axis=1, keepdims=True)


def _mixed(text: str, other: str) -> str:
    """A text with every second line of another, as far as that goes."""
    lines = text.split("\n")
    lines[::2] = [line or kept for line, kept in zip_longest(other.split("\n")[: len(lines[::2])], lines[::2])]
    return "\n".join(lines)
