"""Records to JSON: the one shape of a hit and of an answer that the command line, REST and MCP share (CONTRACTS: A hit).

Text that comes from papers and repositories is third parties' text: characters that a reader cannot see
(zero-width, bidirectional controls, Unicode tags) are taken out and counted, and every hit says whose it is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from lineage import ids, licenses
from lineage.citation import citation as citation
from lineage.citation import numbered
from lineage.code_links.repository_state import RepositoryState
from lineage.errors import LineageError
from lineage.reasons import words
from lineage.records import Answer, Focus, Hit, LedgerRow, Reference, Work
from lineage.text.hidden_text import inline
from lineage.text.hidden_text import visible as visible

if TYPE_CHECKING:
    from api.operations import Completeness, Overview, ReferenceList
    from indexer.plan import BuildReport
    from retrieval.search.evidence import EvidenceWindow

SCHEMA_VERSION = "1"
MOST_LINES = 60
MOST_CHARACTERS = 2400
TRUST = "untrusted-third-party"


def envelope(data: Any) -> str:
    """The output of every `--json`: the data with its schema version, as one line of JSON."""
    return dumps({"schema_version": SCHEMA_VERSION, "data": data})


def error_envelope(error: LineageError) -> str:
    """The output of `--json` for an error."""
    data = {"type": type(error).__name__, "message": str(error)[:MOST_CHARACTERS], "hint": error.hint[:MOST_CHARACTERS], "exit_code": error.exit_code}
    return dumps({"schema_version": SCHEMA_VERSION, "error": data})


def dumps(value: Any) -> str:
    """JSON on one line; lone surrogates, which cannot be encoded, become question marks."""
    return json.dumps(value, ensure_ascii=False, default=to_json).encode("utf-8", "replace").decode()


def to_json(value: Any) -> Any:
    """A record as JSON values: fields by name, sets sorted, enumerations by value."""
    if isinstance(value, Work):
        value = replace(value, license=licenses.shown(value.license))
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_json(getattr(value, field.name)) for field in fields(value) if not field.name.startswith("_")}
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(to_json(item) for item in value)
    if isinstance(value, tuple | list):
        return [to_json(item) for item in value]
    if isinstance(value, Enum):
        return value.value
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def report_to_json(report: BuildReport) -> dict[str, Any]:
    """The result of a build (CONTRACTS: `build --json`)."""
    data: dict[str, Any] = to_json(report)
    return data | {"losses": [_loss(row) for row in report.losses]}


def status_to_json(completeness: Completeness) -> dict[str, Any]:
    """The ledger's totals and losses; `retryable` marks those that another run may fix."""
    data: dict[str, Any] = to_json(completeness)
    return data | {"losses": [_loss(row) for row in completeness.losses]}


def _loss(row: LedgerRow) -> dict[str, Any]:
    data: dict[str, Any] = to_json(row)
    return data | {"retryable": row.status.retryable}


def references_to_json(listed: ReferenceList, top: int = 0) -> dict[str, Any]:
    """References, best first (all, or the first `top`), each with the work it names."""
    shown = listed.references[:top] if top else listed.references
    rows = [{**to_json(edge), "work": to_json(listed.works.get(edge.cited))} for edge in shown]
    return {"target": to_json(listed.target), "total": len(listed.references), "references": rows, "coverage": to_json(listed.coverage)}


def overview_to_json(shown: Overview) -> dict[str, Any]:
    """Summary of a lineage. A link's `state` is that of its repository (also in `words`); `texts` are works with indexed text."""
    rows = [{**to_json(edge), "work": to_json(shown.works.get(edge.cited))} for edge in shown.references]
    links = [{**to_json(link), "state": _state(shown.states.get(link.repo))} for link in shown.links]
    code = {"shared_code": to_json(shown.shared), "derivations": to_json(shown.derivations)}
    texts = [{"work": work.id, "kind": work.kind, "title": work.title} for work in shown.texts]
    parts = [{**to_json(ancestor), "title": work.title if (work := shown.works.get(ancestor.work)) else ""} for ancestor in shown.ancestors]
    return {
        "report": report_to_json(shown.report),
        "references": rows,
        "links": links,
        **code,
        "texts": texts,
        "questions": list(shown.questions),
        "ancestors": parts,
    }


def _state(state: RepositoryState | None) -> dict[str, Any] | None:
    if state is None:
        return None
    data: dict[str, Any] = to_json(state)
    return data | {"words": list(state.words)}


def answer_to_json(answer: Answer) -> dict[str, Any]:
    """An answer with its hits, the lineage and the generation they were read from."""
    return {
        "lineage": answer.lineage,
        "generation": answer.generation,
        "query": answer.query.text,
        "supported": answer.supported,
        "hits": [hit_to_json(hit) | ({"explain": explanation(hit)} if answer.query.explain else {}) for hit in answer.hits],
        "notes": list(answer.notes),
    }


def hit_to_json(hit: Hit) -> dict[str, Any]:
    """A hit as in CONTRACTS, for code and for papers."""
    text, flags = visible(hit.chunk.text)
    shown, cut = shortened(text)
    data = {"rank": hit.rank, "score": hit.score, "chunk": hit.chunk.id, "kind": hit.chunk.kind, "text": shown}
    data |= {"citation": citation(hit), "source": _source(hit), "focus": _focus(hit), "lineage": _lineage(hit)}
    data |= {"license": licenses.shown(hit.work.license), "from_target": hit.from_target, "trust": TRUST}
    data["flags"] = [*hit.flags, *flags, *(["text-cut"] if cut else [])]
    data["signals"] = [{"retriever": s.retriever, "rank": s.rank, "score": round(s.score, 4)} for s in hit.signals]
    data["why"] = [visible(reason)[0] for reason in words(hit)]
    data["copies"] = [inline(place) for place in hit.chunk.copies]
    return data


def explanation(hit: Hit) -> dict[str, Any]:
    """The parts of a hit's score, in deviations, and their sum, of which the score is the logistic curve."""
    moving = [reason for reason in hit.why if reason.value]
    parts = [
        {"name": reason.kind.value, "value": round(reason.value, 4), "of": [visible(name)[0] for name in reason.of if name]} for reason in moving
    ]
    return {"sum": round(sum(reason.value for reason in hit.why), 4), "parts": parts}


def evidence_to_json(evidence_window: EvidenceWindow) -> dict[str, Any]:
    """A chunk with what stands around it: a hit whose text is the whole window, and what of the document lies beyond it."""
    text, flags = visible(evidence_window.hit.chunk.text)
    hit = hit_to_json(evidence_window.hit) | {"text": text, "flags": [*evidence_window.hit.flags, *flags]}
    window = {
        "start_line": evidence_window.hit.chunk.start_line,
        "end_line": evidence_window.hit.chunk.end_line,
        "before": evidence_window.before,
        "after": evidence_window.after,
    }
    return {
        "lineage": evidence_window.lineage,
        "generation": evidence_window.generation,
        "hit": hit,
        **window,
        "previous": evidence_window.previous,
        "next": evidence_window.next,
    }


def shortened(text: str) -> tuple[str, bool]:
    """At most 60 lines and 2,400 characters, cut at the end of a line (inside one only if it is longer than all that)."""
    lines = text.split("\n")
    kept = "\n".join(lines[:MOST_LINES])
    if len(kept) > MOST_CHARACTERS:
        border = kept.rfind("\n", 0, MOST_CHARACTERS + 1)
        kept = kept[: border if border > 0 else MOST_CHARACTERS]
    return kept, len(kept) < len(text)


def _source(hit: Hit) -> dict[str, Any]:
    return _code_source(hit) if hit.work.kind == "code" else _paper_source(hit)


def _code_source(hit: Hit) -> dict[str, Any]:
    chunk, work = hit.chunk, hit.work
    return {
        "work": work.id,
        "title": visible(work.title)[0],
        "path": inline(chunk.path),
        "start_line": chunk.start_line,
        "end_line": chunk.end_line,
        "symbol": inline(chunk.symbol),
        "commit": work.meta.get("commit"),
        "url": _permalink(hit),
    }


def _paper_source(hit: Hit) -> dict[str, Any]:
    chunk, work = hit.chunk, hit.work
    data: dict[str, Any] = {"work": work.id, "title": visible(work.title)[0], "section": [visible(title)[0] for title in numbered(chunk)]}
    if chunk.page is not None:
        data |= {"page": chunk.page, "box": list(chunk.box) if chunk.box else None}
    return data | {
        "label": inline(chunk.label),
        "url": ids.abs_url(work.id),
        "path": inline(chunk.path),
        "start_line": chunk.start_line,
        "end_line": chunk.end_line,
    }


_FORGES = {
    "github.com": ("https://{host}/{owner}/{name}/blob/{commit}/{path}", "#L{a}-L{b}"),
    "gitlab.com": ("https://{host}/{owner}/{name}/-/blob/{commit}/{path}", "#L{a}-{b}"),
    "bitbucket.org": ("https://{host}/{owner}/{name}/src/{commit}/{path}", "#lines-{a}:{b}"),
    "codeberg.org": ("https://{host}/{owner}/{name}/src/commit/{commit}/{path}", "#L{a}-L{b}"),
}


def _permalink(hit: Hit) -> str:
    """The forge's page of these lines at the pinned commit; rebuilt from the identifier, never taken from a source."""
    work, chunk = hit.work, hit.chunk
    commit = str(work.meta.get("commit") or "")
    if not work.id.startswith("repo:"):
        return ""
    host, owner, name = ids.repo_parts(work.id)
    if not commit or host not in _FORGES:
        return ids.abs_url(work.id)
    page, lines = _FORGES[host]
    start, end = (hit.focus.start_line, hit.focus.end_line) if hit.focus else (chunk.start_line, chunk.end_line)
    return page.format(host=host, owner=owner, name=name, commit=quote(commit), path=quote(chunk.path)) + lines.format(a=start, b=end)


def _focus(hit: Hit) -> dict[str, int]:
    """The lines that answer; the whole chunk where none stands out."""
    lines = hit.focus or Focus(hit.chunk.start_line, hit.chunk.end_line)
    return {"start_line": lines.start_line, "end_line": lines.end_line}


def _lineage(hit: Hit) -> dict[str, Any]:
    """How the work is related to the target: distance, role, of which paper, and the words that say so."""
    edge = hit.reference
    of = hit.paper.id if hit.paper else hit.work.id
    if edge is None:
        return {"distance": 0 if hit.from_target else None, "role": "target" if hit.from_target else None, "of": of, "why": ""}
    return {"distance": edge.distance, "role": edge.roles[0].role.value if edge.roles else "background", "of": of, "why": visible(_why(edge))[0]}


def _why(edge: Reference) -> str:
    """The sentence that speaks for the heaviest role, else the first that cites it, else the first reason."""
    spoken = [(role.sentence, role.section) for role in edge.roles[:1] if role.sentence]
    spoken += [(mention.sentence, mention.section) for mention in edge.mentions[:1] if mention.sentence]
    if not spoken:
        return edge.why[0] if edge.why else ""
    sentence, section = spoken[0]
    place = f", section {section[-1]}" if section else ""
    return f"{edge.citing}{place}: “{' '.join(sentence.split())[:400]}”"
