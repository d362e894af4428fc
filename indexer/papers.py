"""The text of one paper: e-print first, PDF otherwise, and a row that says how it ended.

An e-print may be the PDF already. Each rung that failed is named in the detail of the paper's row, so that a reader
knows what the text was read from and why.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from indexer.archives import members
from indexer.build_context import BuildContext
from indexer.read_document import ReadDocument
from indexer.store.computed_cache import remembered
from lineage.errors import ParseError, SourceError
from lineage.records import Blob, Document, LedgerRow, Status, Work, WorkId

_TEX = (".tex", ".ltx", ".bbl", ".bib", ".sty", ".cls", ".def", ".clo", ".json", ".txt", ".inc", ".tikz")


@dataclass(frozen=True)
class PaperText:
    """A paper's document (None if there is none), how it ended, and the rows of its members and pages."""

    document: ReadDocument | None
    status: Status
    detail: str
    rows: tuple[LedgerRow, ...] = ()
    blob: str = ""


def fetch_paper(bench: BuildContext, arxiv: WorkId, work: Work, version: str = "") -> PaperText:
    """The text of an arXiv paper; upstream and parser failures end in the result, never as an exception."""
    tried: list[tuple[Status, str]] = []
    for name, fetch in (("e-print", bench.arxiv.eprint), ("PDF", bench.arxiv.pdf)):
        try:
            with bench.clock.timed("fetch"):
                blob = fetch(arxiv, version)
        except SourceError as error:
            tried.append((error.status, f"{name}: {error}"))
            continue
        paper_text = read_paper(bench, work.id, blob)
        if paper_text.document:
            return replace(paper_text, detail="; ".join(filter(None, (*(words for _, words in tried), paper_text.detail))))
        tried.append((paper_text.status, f"{name}: {paper_text.detail}"))
    retryable = next((status for status, _ in tried if status.retryable), None)
    return PaperText(None, retryable or tried[-1][0], "; ".join(words for _, words in tried))


def read_paper(bench: BuildContext, work: WorkId, blob: Blob) -> PaperText:
    """The text of a paper whose bytes are here, parsed in the sandbox once and remembered."""
    from indexer.units import version  # loads every reader of facts

    def make() -> PaperText:
        with bench.clock.timed("parse"):
            return _parse(bench, work, blob.sha256)

    return remembered(bench.derived, PaperText, f"{blob.sha256} {work}", version(bench.settings), make, _is_final)


def _is_final(made: PaperText) -> bool:
    """Whether the same bytes would end the same another time: not what was fetched badly, nor what time or memory cut."""
    return not made.status.retryable and not made.status.cut and not any(row.status.cut for row in made.rows)


def _parse(bench: BuildContext, work: WorkId, sha256: str) -> PaperText:
    data = bench.blobs.get(sha256)
    kind = members.sniff(data)
    if kind == "pdf":
        return _read(bench, kind, {"paper.pdf": data}, work, sha256)
    files: dict[str, bytes] = {}
    pdfs: dict[str, bytes] = {}
    rows: list[LedgerRow] = []
    for member in members.members(data, members.EPRINT):
        status, detail = member.status, member.detail
        if member.data is not None and _is_tex(member.name):
            files[member.name] = member.data
        elif member.data is not None:
            status, detail = Status.POLICY_SKIPPED, "a figure or another file without text"
            pdfs |= {member.name: member.data} if member.name.lower().endswith(".pdf") and len(pdfs) < 2 else {}
        rows.append(LedgerRow("member", work, member.name, "archive", status, detail))
    packed_pdf = len(pdfs) == 1 and not files
    read = _read(bench, "pdf" if packed_pdf else "latex", pdfs if packed_pdf else files, work, sha256)
    return replace(read, rows=(*rows, *read.rows))


def _is_tex(name: str) -> bool:
    base = name.rsplit("/", 1)[-1].lower()
    return base.endswith(_TEX) or "." not in base


def _read(bench: BuildContext, parser: str, files: dict[str, bytes], work: WorkId, sha256: str) -> PaperText:
    try:
        document = bench.sandbox.paper(parser, files, work, sha256, bench.wanted())
    except ParseError as error:
        return PaperText(None, error.status, str(error), (), sha256)
    bench.heard(document)
    status, detail = document.status, document.detail
    if parser == "pdf" and status is Status.OK:
        status, detail = Status.PDF_ONLY, detail or "read from the PDF"
    return PaperText(document, status, detail, tuple(_part_rows(work, document)), sha256)


def _part_rows(work: WorkId, document: Document) -> Iterator[LedgerRow]:
    """One row per page of a PDF, and one for each part that the parser says it lost."""
    lost = {subject: (status, detail) for subject, status, detail in document.lost}
    for number in range(1, document.pages + 1):
        yield LedgerRow("page", work, f"page {number}", "parse", *lost.pop(f"page {number}", (Status.OK, "")))
    for subject, (status, detail) in lost.items():
        yield LedgerRow("source", work, subject, "parse", status, detail)
