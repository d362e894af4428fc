"""Building with a lock: answers come from it, files from exactly where it says, and nothing else is asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from indexer.build_context import BuildContext
from indexer.lock.form import Lock, Pin, tools
from indexer.plan import BuildReport
from indexer.repositories import TARBALLS
from indexer.store.blobs import Blobs
from indexer.store.computed_cache import DerivedCache
from indexer.transport.bodies import Kind
from indexer.transport.cache import Answers, CachedResponse, Request
from indexer.transport.client import Transport
from lineage.errors import SourceError
from lineage.progress import Waiting, Watch
from lineage.records import Blob, Status
from lineage.settings import Settings


@dataclass(frozen=True)
class LockReplay:
    """The tools of a build that keeps to a lock."""

    lock: Lock

    def transport(self, settings: Settings, blobs: Blobs, watch: Watch) -> Transport:
        """A transport that asks for nothing but the lock's files."""
        return _PinnedTransport(settings, blobs, self.lock, watch)

    def derived(self, home: Path) -> DerivedCache:
        """The cache, with what the lock says on top of it."""
        return _PinnedCache(home, self.lock)


class _PinnedTransport(Transport):
    def __init__(self, settings: Settings, blobs: Blobs, lock: Lock, watch: Watch) -> None:
        super().__init__(settings, blobs, watch=lambda text: watch(Waiting(text)))
        self._pins = lock.pins
        self.answers = _PinnedAnswers(settings, blobs, lock)

    def known(self, url: str) -> CachedResponse | None:
        pin = self._pins.get(Request("GET", url).key)
        if pin and pin.body is None and not super().known(url):
            try:
                return self.get(url, accept="file", max_bytes=self.settings.max_tarball)
            except SourceError:
                return None
        return super().known(url)

    def _persist(self, request: Request, accept: Kind, cap: int) -> CachedResponse:
        pin = self._pins.get(request.key)
        if pin is None or pin.body is not None:
            raise SourceError(Status.POLICY_SKIPPED, "the lock file does not name it", url=request.url)
        return _known_as(super()._persist(Request("GET", pin.fetch), accept, cap), pin)


def _known_as(answer: CachedResponse, pin: Pin) -> CachedResponse:
    """The answer, its bytes also under the name that the lock has for them."""
    other = answer.status == 200 and answer.blob.sha256 != pin.sha256
    return replace(answer, blob=replace(answer.blob, named=pin.sha256)) if other else answer


class _PinnedAnswers(Answers):
    """The lock's answers; files are kept in the store under their exact address."""

    def __init__(self, settings: Settings, blobs: Blobs, lock: Lock) -> None:
        super().__init__(settings.home, blobs)
        self._pins, self._mirrored = lock.pins, bool(settings.mirror)

    def get(self, request: Request) -> CachedResponse | None:
        pin = self._pins.get(request.key)
        if pin is None:
            return None
        content = pin.content
        if content is not None:
            blob = self.blobs.put(content, pin.media_type, pin.came_from or pin.url)
            return self._answer(request, pin, blob)
        if self.blobs.has(pin.sha256):
            return self._answer(request, pin, Blob(pin.sha256, pin.media_type, pin.size, pin.came_from or pin.url))
        cached_response = super().get(Request("GET", pin.fetch))
        return _known_as(cached_response, pin) if cached_response else None

    def _answer(self, request: Request, pin: Pin, blob: Blob) -> CachedResponse:
        url = pin.came_from or pin.url
        return CachedResponse(pin.status, dict(pin.headers), replace(blob, url=url), url, True, self._mirrored, pin.cap, request, self.blobs)

    def keep(self, request: Request, answer: CachedResponse) -> None:
        pin = self._pins.get(request.key)
        if not pin:
            return
        # GitHub packs the same commit differently at times. Which commit it is, is checked by who reads it; that its files are the
        # same, by the content hash at the end.
        if answer.status == 200 and not answer.cap and answer.blob.sha256 != pin.sha256 and not pin.fetch.startswith(TARBALLS):
            raise SourceError(Status.HASH_MISMATCH, f"{pin.fetch} is not what the lock file pins (SHA-256 differs)", url=pin.fetch)
        super().keep(Request("GET", pin.fetch), answer)


class _PinnedCache(DerivedCache):
    def __init__(self, home: Path, lock: Lock) -> None:
        super().__init__(home)
        self._said = {(derived.input, derived.stage, derived.version): derived.value.encode() for derived in lock.derived}

    def get(self, input_hash: str, stage: str, version: str) -> bytes | None:
        recorded_response = self._said.get((input_hash, stage, version))
        return recorded_response if recorded_response is not None else super().get(input_hash, stage, version)


def verify_content_hash(bench: BuildContext, lock: Lock, report: BuildReport) -> BuildReport:
    """The report of a build with a lock, with a note that says whether it is what the lock promises."""
    if report.content_hash == lock.content_hash:
        return replace(report, notes=(*report.notes, f"the content is what the lock file pins ({lock.content_hash[:16]}…)"))
    return replace(report, notes=(*report.notes, "the content is not what the lock file pins: " + "; ".join(_reasons(bench, lock, report))))


def _reasons(bench: BuildContext, lock: Lock, report: BuildReport) -> Iterator[str]:
    here = tools(bench)
    yield from (f"{name} here are {here.get(name)}, in the lock {value}" for name, value in lock.tools.items() if here.get(name) != value)
    yield from (f"{row.subject}: {row.detail}" for row in report.losses if row.status is Status.HASH_MISMATCH)
    if lock.open:
        yield f"{len(lock.open)} items had no answer when it was made ({', '.join(lock.open)[:200]})"
    yield "the ledgers of the two say where they differ: lineage status"
