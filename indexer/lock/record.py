"""Record a lock by replaying the build over the store and noting each answer it reads; build again from one.

Nothing is sent. If the build comes out at the fingerprint of the lineage, the notes are all that it depends on.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from indexer.build_context import BuildContext
from indexer.bundle.write import program
from indexer.code_links.collector import VERSION as LOOKED
from indexer.collect import Collected
from indexer.lock.form import Derived, Lock, Pin, Pinned, Told, files, tools
from indexer.pipeline import gathered
from indexer.plan import BuildReport, BuildRequest, fetchable
from indexer.repositories import TARBALLS
from indexer.sources.github import pinned
from indexer.store.blobs import Blobs
from indexer.store.computed_cache import DerivedCache
from indexer.transport.cache import KEPT_HEADERS, Answers, CachedResponse, Request
from indexer.transport.client import Transport
from indexer.transport.dial import Kind
from lineage.errors import SourceError, UsageError
from lineage.generation import Generation
from lineage.progress import Waiting, Watch
from lineage.records import Blob, Status, Work, WorkId
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


_ARXIV = re.compile(r"(https://(?:export\.)?arxiv\.org/(?:e-print|pdf|html)/)(.+?)(v\d+)?\Z")
_TARBALL = re.compile(r"(https://codeload\.github\.com/[^/]+/[^/]+/tar\.gz/)(.+)\Z")


def lock_of(bench: BuildContext, tape: Tape, generation: Generation) -> Lock:
    """The lock of a generation; `bench` is offline and made of the tape's tools.

    Raises `UsageError` for a lineage with files of the user's own, and for one that this program, with these settings,
    would not build the same way.
    """
    request = BuildRequest.from_meta(generation.catalog.meta()["request"])
    _check_portable(request, generation)
    collected, fingerprint = gathered(bench, request)
    missing = tuple(sorted(f"{row.work} {row.subject}" for row in collected.rows if row.status is Status.OFFLINE))
    if fingerprint != generation.manifest.fingerprint and not missing:
        words = (
            f"{generation.manifest.lineage} is not what a build would give now: the program, the settings or the answers in the store have changed"
        )
        raise UsageError(words, hint="build it again and lock that; what was fetched is not asked for twice")
    return Lock(
        lineage=generation.manifest.lineage,
        target=generation.manifest.target,
        made_by=program(),
        content_hash=generation.manifest.content_hash,
        request=request,
        settings=Told(**{settings_field.name: getattr(bench.settings, settings_field.name) for settings_field in fields(Told)}),
        tools=tools(bench),
        references=tuple(sorted({reference.cited for reference in collected.references})),
        papers=tuple(_papers(collected)),
        repositories=tuple(Pinned(r.work.id, str(r.work.meta.get("commit", ""))) for r in collected.repositories),
        open=missing,
        derived=tuple(Derived(*key, value.decode()) for key, value in sorted(tape.derived_.items())),
        answers=tuple(sorted(_pins(tape, collected.works), key=lambda pin: (pin.url, pin.asked_with))),
    )


def _check_portable(request: BuildRequest, generation: Generation) -> None:
    own = files(request)
    if own:
        why = f"it is built from files of yours ({Path(own[0]).name})"
    elif generation.manifest.fingerprint.startswith("bundle:"):
        why = "it was imported, and its bundle pins it"
    else:
        return
    raise UsageError(f"{generation.manifest.lineage} cannot be locked: {why}", hint="pass it on as a bundle: lineage export LINEAGE FILE")


def _papers(collected: Collected) -> Iterator[Pinned]:
    for name, text in sorted(collected.texts.items()):
        if text.document:
            yield Pinned(name, str(collected.works[name].meta.get("version") or "version not known"))


def _pins(tape: Tape, works: Mapping[WorkId, Work]) -> Iterator[Pin]:
    versions = {
        name.removeprefix("arxiv:"): str(work.meta["version"]) for work in works.values() if (name := fetchable(work)) and work.meta.get("version")
    }
    for request, answer in tape.answers.values():
        url = answer.asked.url if answer.asked else request.url
        is_file = answer.status == 200 and not answer.cap and bool(_ARXIV.match(url) or _TARBALL.match(url))
        yield Pin(
            method=request.method,
            url=request.url,
            status=answer.status,
            sha256=answer.blob.sha256,
            size=answer.blob.size,
            media_type=answer.blob.media_type,
            asked_with=request.body.decode(),
            headers={name: value for name, value in answer.headers.items() if name in KEPT_HEADERS},
            came_from="" if answer.url == request.url else answer.url,
            cap=answer.cap,
            body=None if is_file else _written(answer.body),
            fetch=_exact(url, answer, versions) if is_file else "",
        )


def _written(body: bytes) -> str:
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return "base64:" + base64.b64encode(body).decode()
    return text if not text.startswith("base64:") else "base64:" + base64.b64encode(body).decode()


def _exact(url: str, answer: CachedResponse, versions: Mapping[str, str]) -> str:
    """The address of this version or commit, where the one that was asked means the latest."""
    if match := _ARXIV.match(url):
        version = versions.get(match[2], "")
        return url if match[3] or not version else f"{match[1]}{match[2]}v{version.removeprefix('v')}"
    if (match := _TARBALL.match(url)) and not re.fullmatch(r"[0-9a-f]{40}", match[2]):
        commit = pinned(answer.start)[0]
        return f"{match[1]}{commit}" if commit else url
    return url


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
        return super()._persist(Request("GET", pin.fetch), accept, cap)


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
        return super().get(Request("GET", pin.fetch))

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
