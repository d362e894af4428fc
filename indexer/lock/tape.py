"""What one build reads: every answer, and every cached value whose input is not kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from indexer.code_links.collector import VERSION as LOOKED
from indexer.store.blobs import Blobs
from indexer.store.computed_cache import DerivedCache
from indexer.transport.cache import Answers, CachedResponse, Request
from indexer.transport.client import Transport
from lineage.progress import Waiting, Watch
from lineage.settings import Settings


@dataclass
class Tape:
    """What one build read. `transport` and `derived` make tools that note it here."""

    answers: dict[str, tuple[Request, CachedResponse]] = field(default_factory=dict)
    derived_: dict[tuple[str, str, str], bytes] = field(default_factory=dict)

    def transport(self, settings: Settings, blobs: Blobs, watch: Watch) -> Transport:
        """A transport whose answers are noted."""
        recording_transport = Transport(settings, blobs, watch=lambda text: watch(Waiting(text)))
        recording_transport.answers = _NotedAnswers(settings.home, blobs, self)
        return recording_transport

    def derived(self, home: Path) -> DerivedCache:
        """A cache whose values are noted where their input is not kept."""
        return _NotedCache(home, self)


class _NotedAnswers(Answers):
    def __init__(self, home: Path, blobs: Blobs, tape: Tape) -> None:
        super().__init__(home, blobs)
        self._tape = tape

    def get(self, request: Request) -> CachedResponse | None:
        answer = super().get(request)
        if answer:
            self._tape.answers[request.key] = (request, answer)
        return answer


class _NotedCache(DerivedCache):
    def __init__(self, home: Path, tape: Tape) -> None:
        super().__init__(home)
        self._tape = tape

    def get(self, input_hash: str, stage: str, version: str) -> bytes | None:
        value = super().get(input_hash, stage, version)
        if value is not None and (stage == "kept out" or version == LOOKED):
            self._tape.derived_[input_hash, stage, version] = value
        return value
