"""Write a generation as a bundle: what may be redistributed, and where to get the rest. Deterministic bytes."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from indexer.bundle import form
from indexer.bundle.form import BundledDocument, BundleManifest, Passage, Passed
from indexer.plan import fetchable
from indexer.store.atomic_files import written
from lineage.catalog import records
from lineage.catalog.reader import StoredDocument
from lineage.decisions import Decision
from lineage.errors import failures
from lineage.generation import VECTORS, FileRecord, Generation
from lineage.licenses import called, terms
from lineage.records import Work, WorkId

Texts = Literal["licensed", "all"]
_ABSTRACT = "abstract@1"
_BATCH = 2_000


@dataclass(frozen=True)
class Exported:
    """A bundle that was written: its file, size in bytes and SHA-256, what it carries of each work, and the id of the key that signed it."""

    path: str
    size: int
    sha256: str
    lineage: str
    generation: str
    content_hash: str
    texts: str
    works: tuple[Passed, ...]
    signer: str | None = None

    @property
    def whole(self) -> bool:
        """Whether no text was left out."""
        return all(work.carried for work in self.works)


def program() -> str:
    """Name and version of this program."""
    return f"paper-lineage {version('paper-lineage')}"


def export(generation: Generation, path: Path, texts: Texts = "licensed", decisions: Sequence[Decision] = ()) -> Exported:
    """Write the bundle of a generation, with what was decided, to `path`, whole or not at all; raises `DiskFull`, `SettingsError`, `StoreDamaged`."""
    making = _Making(generation, texts, decisions)
    with failures(path), written(path) as out:
        size, sha256 = _packed(out, making)
    manifest = generation.manifest
    return Exported(str(path), size, sha256, manifest.lineage, manifest.id, manifest.content_hash, texts, making.passed)


def _packed(out: io.BufferedRandom, making: _Making) -> tuple[int, str]:
    """Write members and manifest; gives size and SHA-256 of the file."""
    members: dict[str, FileRecord] = {}
    with (
        gzip.GzipFile(fileobj=out, mode="wb", filename="", mtime=0) as zipped,
        tarfile.open(fileobj=zipped, mode="w", format=tarfile.USTAR_FORMAT) as tar,
    ):
        for name, data in making.members():
            members[name] = form.sealed(data)
            _add(tar, name, data)
        _add(tar, form.MANIFEST, making.manifest(members).to_json())
    size = out.tell()
    out.seek(0)
    return size, hashlib.file_digest(out, "sha256").hexdigest()


def _add(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(data), 0o644
    tar.addfile(info, io.BytesIO(data))


class _Making:
    """One export: the generation, and what of it may go out."""

    def __init__(self, generation: Generation, texts: Texts, decisions: Sequence[Decision] = ()) -> None:
        self.decisions = decisions
        self.generation, self.catalog, self.texts = generation, generation.catalog, texts
        self.works = {work.id: work for work in self.catalog.works()}
        self.documents = self.catalog.documents()
        self.chunks: Counter[WorkId] = Counter()
        for document in self.documents:
            self.chunks[document.work] += len(self.catalog.neighbours(document.work, document.path))
        self.passed = tuple(self._passed())
        self._held = {passed.work for passed in self.passed if not passed.carried}

    def _passed(self) -> Iterator[Passed]:
        count = Counter(document.work for document in self.documents)
        for work in sorted(count, key=lambda name: (-self.chunks[name], name)):
            work_record = self.works.get(work, Work(work))
            license_terms = terms(work_record.license)
            only_abstract = not work.startswith("local:") and all(d.parser == _ABSTRACT for d in self.documents if d.work == work)
            carried = self.texts == "all" or license_terms.allowed or only_abstract
            why = "its abstract, as the services hand it out" if only_abstract and not license_terms.allowed else license_terms.condition
            yield Passed(
                work,
                work_record.title,
                license_terms.name if license_terms.allowed else called(work_record.license),
                carried,
                why,
                count[work],
                self.chunks[work],
                source_of(work_record),
            )

    def held(self, document: StoredDocument) -> bool:
        """Whether a document's text is left out."""
        return document.work in self._held and document.parser != _ABSTRACT

    def members(self) -> Iterator[tuple[str, bytes]]:
        """Every member but the manifest, in order."""
        catalog = self.catalog
        yield form.LICENSES, listing(self.generation.manifest.lineage, self.passed).encode()
        yield form.META, json.dumps(_portable(catalog.meta()), sort_keys=True, ensure_ascii=False).encode()
        yield "works.jsonl", self._lines("works.jsonl", (self._work(work) for work in self.works.values()))
        yield "references.jsonl", self._lines("references.jsonl", catalog.references())
        yield "links.jsonl", self._lines("links.jsonl", catalog.links())
        yield "facts.jsonl", self._lines("facts.jsonl", (*catalog.facts(), *catalog.mechanisms()))
        yield "ledger.jsonl", self._lines("ledger.jsonl", catalog.ledger())
        yield "documents.jsonl", self._lines("documents.jsonl", map(self._text, self.documents))
        yield "chunks.jsonl", self._lines("chunks.jsonl", self._passages())
        if self.decisions:
            yield form.DECISIONS, form.lines((replace(decision, quote="") for decision in self.decisions), Decision)
        if VECTORS in self.generation.manifest.files:
            yield form.VECTORS, self.generation.file(VECTORS) or b""

    def _lines(self, member: str, records: Iterable[Any]) -> bytes:
        return form.lines(records, form.ROWS[member])

    def _work(self, work: Work) -> Work:
        """A record; the abstract of a local file is removed together with its text."""
        return replace(work, abstract="") if work.id.startswith("local:") and work.id in self._held else work

    def _text(self, document: StoredDocument) -> BundledDocument:
        values = {name: getattr(document, name) for name in document.__dataclass_fields__}
        return BundledDocument(**values, text=None if self.held(document) else self.catalog.document_text(document.work, document.path))

    def _passages(self) -> Iterator[Passage]:
        included_documents = {(d.work, d.path) for d in self.documents if self.held(d)}
        place, text = ("", ""), ""
        total = self.generation.manifest.counts["chunks"]
        for start in range(0, total, _BATCH):
            for chunk in self.catalog.chunks(range(start, min(start + _BATCH, total))):
                if (chunk.work, chunk.path) in included_documents:
                    yield Passage(replace(chunk, text="", header=""), digest=records.digest(records.chunk_values(chunk)))
                    continue
                if (chunk.work, chunk.path) != place:
                    place, text = (chunk.work, chunk.path), self.catalog.document_text(chunk.work, chunk.path) or ""
                sliced = chunk.text == text[chunk.start : chunk.end]
                yield Passage(replace(chunk, text="") if sliced else chunk, sliced)

    def manifest(self, members: Mapping[str, FileRecord]) -> BundleManifest:
        """The bundle's own."""
        of = self.generation.manifest
        return BundleManifest(
            lineage=of.lineage,
            target=WorkId(of.target),
            created=of.created,
            made_by=program(),
            content_hash=of.content_hash,
            embedder=of.embedder,
            dim=of.dim,
            counts={name: count for name, count in of.counts.items() if name != "lexical"},
            texts=self.texts,
            works=self.passed,
            members=members,
        )


def source_of(work: Work) -> str:
    """The source that can provide a work's text again: `GitHub` at its commit, `arXiv`, or none."""
    if work.kind == "code" and work.id.startswith("repo:github.com/"):
        return "GitHub" if work.meta.get("commit") else ""
    return "arXiv" if work.kind == "paper" and fetchable(work) else ""


def _portable(meta: Mapping[str, Any]) -> dict[str, Any]:
    """What the catalogue says of itself without paths of this machine: of a file only its name stays."""
    request = dict(meta.get("request") or {})
    for name in ("target", "name"):
        request[name] = _named(str(request.get(name, "")))
    request["add"] = [_named(str(addition)) for addition in request.get("add") or ()]
    return {**meta, "request": request}


def _named(target: str) -> str:
    return target.replace("\\", "/").rstrip("/").rpartition("/")[2] if Path(target).is_absolute() else target


def listing(lineage: str, works: Iterable[Passed]) -> str:
    """The licences of a bundle for a reader."""
    works = tuple(works)
    parts = [f"# Licences of what is in the bundle of {lineage}\n"]
    parts.append(_table("Texts that are here", [passed for passed in works if passed.carried], "condition"))
    parts.append(
        _table("Texts that are not included (their sources, names and hashes are)", [passed for passed in works if not passed.carried], "why")
    )
    return "\n".join(part for part in parts if part)


def _table(title: str, works: Iterable[Passed], last: str) -> str:
    rows = [f"| {_cell(w.work)} | {_cell(w.title)} | {_cell(w.license)} | {_cell(w.terms)} | {w.documents} |" for w in works]
    return f"## {title}\n\n| work | title | licence | {last} | documents |\n|---|---|---|---|---|\n" + "\n".join(rows) + "\n" if rows else ""


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "/").replace("<", "‹").split())[:160]
