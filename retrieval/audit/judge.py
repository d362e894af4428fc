"""An optional opinion of a language model on whether code implements a component, held to what the code says.

A model may find what words do not: a component under another name. It has to quote the line that shows it; a quote that
does not stand in the code it was given counts for nothing. What it denies cannot be checked, so that is only told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lineage.errors import SourceError
from lineage.ports import ChatModel
from lineage.records import Hit
from lineage.results import AuditFinding
from retrieval.context.units import PASSAGE_LETTERS, neutral
from retrieval.decisions.spans import is_verbatim
from retrieval.model_prompt import Claim, ask

MOST = 2_000
_TASK = """You audit whether code implements one component of a paper. Say whether it does, and quote word for word the one line of the code
that shows it best."""


class _Judgement(Claim):
    implemented: bool
    quote: str


def judged(finding: AuditFinding, hits: Sequence[Hit], writer: ChatModel) -> AuditFinding:
    """The finding with the model's opinion: a match if it quotes the code truly, and told where it denies or cannot be had."""
    if not hits:
        return finding
    try:
        said = ask(writer, _TASK, _text(finding.expected, hits), _Judgement, MOST)
    except SourceError as error:
        return _told(finding, f"{writer.model} was not heard: {error}")
    if not said.implemented:
        return _told(finding, f"{writer.model} sees no implementation")
    hit = next((hit for hit in hits if is_verbatim(said.quote, hit.chunk.text)), None)
    if hit is None:
        return _told(finding, f"{writer.model} says that it is implemented, with a quote that the code does not hold: not counted")
    told = _told(finding, f"{writer.model}: {said.quote.strip()[:120]}")
    return told if finding.verdict == "match" else replace(told, verdict="match", found=hit.chunk.symbol or hit.chunk.path)


def _told(finding: AuditFinding, words: str) -> AuditFinding:
    return replace(finding, why=f"{finding.why}; {words}")


def _text(component: str, hits: Sequence[Hit]) -> str:
    text = "\n\n".join(f"[{n}] {neutral(hit.chunk.path)}\n{neutral(hit.chunk.text)[:PASSAGE_LETTERS]}" for n, hit in enumerate(hits, 1))
    return f"Component: {neutral(component)}\n\n{text}"
