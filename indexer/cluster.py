"""Parsing and embedding on the workers of a Dask cluster, behind the ports that a build uses anyway.

A task is bytes in, bytes out: a job of the sandbox, whose answer is checked here like any other, or texts whose vectors come
back with the id of the model that made them. A worker needs the package and nothing of the store. One that dies costs its
tasks only: the scheduler gives them to another.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from indexer.sandbox.guards import BrokenFrame
from indexer.sandbox.pool import Limits, Sandbox, Zygote
from lineage.errors import EmbedderMismatch, SettingsError, UpstreamError

if TYPE_CHECKING:
    from indexer.read_document import Wanted
    from indexer.sandbox.pool import Parsed
    from indexer.work_budget import WorkBudget
    from lineage.ports import Embedder, Vectors
    from lineage.records import WorkId
    from lineage.settings import Settings

_RETRIES = 3
_WAIT = 30.0
"""Seconds for a scheduler to answer and for its first worker."""
_PIECE = 64
"""Texts of one task: a few seconds of work."""
_HERE = threading.local()


class Cluster:
    """A client of a cluster. Every task raises `UpstreamError` when the cluster is lost; what was done is kept."""

    def __init__(self, client: Any, failures: tuple[type[BaseException], ...], threads: int = 0) -> None:
        self.threads = threads
        """Threads of an embedder on a worker; 0 means what the worker's settings say."""
        self._client = client
        self._failures = failures

    @property
    def workers(self) -> int:
        """How many threads of workers there are now, at least one."""
        return max(1, int(sum(self._client.nthreads().values())))

    def run(self, task: Callable[..., Any], *arguments: Any) -> Any:
        """What a task gives on some worker."""
        return self.each(task, [arguments])[0]

    def each(self, task: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """What a task gives for each of the arguments, in order."""
        try:
            futures = [self._client.submit(task, *some, pure=False, retries=_RETRIES) for some in arguments]
            return list(self._client.gather(futures))
        except self._failures as error:
            raise UpstreamError(f"the cluster was lost: {error}", hint="the same command goes on from here") from error

    def sandbox(self, limits: Limits) -> Sandbox:
        """A sandbox whose children run on the workers."""
        return _ClusterSandbox(self, limits)

    def embedder(self, own: Embedder, settings: Settings) -> Embedder:
        """The embedder `own` with its passages computed on the workers."""
        return _ClusterEmbedder(self, own, settings.embedder)


@contextmanager
def connected(settings: Settings) -> Iterator[Cluster]:
    """The cluster that is set: an address of a scheduler, or `local` and `local:N` for processes of this machine.

    Raises `SettingsError` without the package and `UpstreamError` where no scheduler or worker answers.
    """
    try:
        import distributed
    except ImportError as error:
        raise SettingsError("LINEAGE_DASK needs the package distributed", hint="pip install 'paper-lineage[dask]'") from error
    local, _, count = settings.dask.partition(":")
    failures = (distributed.KilledWorker, distributed.client.FutureCancelledError, OSError, TimeoutError)
    cores = os.cpu_count() or 1
    processes = int(count or cores) if local == "local" else 0
    quiet = {"dashboard_address": "127.0.0.1:0", "silence_logs": logging.ERROR}
    options: dict[str, Any] = {"n_workers": processes, "threads_per_worker": 1, **quiet} if processes else {}
    try:
        client = distributed.Client(None if options else settings.dask, timeout=_WAIT, set_as_default=False, **options)
    except OSError as error:
        raise UpstreamError(f"no scheduler answers at {settings.dask}", hint="start one: dask scheduler, and workers: dask worker ADDRESS") from error
    with client:
        try:
            client.wait_for_workers(1, timeout=_WAIT)
        except TimeoutError as error:
            raise UpstreamError(f"the cluster at {settings.dask} has no worker", hint="start one: dask worker ADDRESS") from error
        yield Cluster(client, failures, max(1, cores // processes) if options else 0)


def parse(buffers: list[bytes], seconds: float) -> tuple[dict[str, Any], bytes] | None:
    """On a worker: one job of the sandbox, None where its child was killed."""
    zygote: Zygote | None = getattr(_HERE, "zygote", None)
    if zygote is None or not zygote.reusable():
        zygote = Zygote()
    _HERE.zygote = zygote
    try:
        ended, data = zygote.job(buffers, seconds)
    except BrokenFrame:
        return None
    return ended, bytes(data)


def embed(name: str, threads: int, texts: list[str]) -> tuple[str, bytes]:
    """On a worker: the id of the model of that name, and its vectors of some texts as float32."""
    embedder = _loaded(name, threads)
    return embedder.id, np.asarray(embedder.passages(texts), "<f4").tobytes()


@lru_cache(maxsize=1)
def _loaded(name: str, threads: int) -> Embedder:
    from lineage import registry
    from lineage.settings import load

    kind, _, model = name.partition(":")
    made: Embedder = registry.load("embedders", kind)(model, load(embedder=name, dask="", threads=threads or None), None)
    return made


class _Remote:
    """A sandbox's child that runs on some worker."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def job(self, buffers: list[bytes], seconds: float) -> tuple[dict[str, Any], memoryview]:
        answer = self._cluster.run(parse, buffers, seconds)
        if answer is None:
            raise BrokenFrame("the child is gone")
        return answer[0], memoryview(answer[1])

    def reusable(self) -> bool:
        return True

    def close(self) -> None:
        """Nothing of it is here."""


class _ClusterSandbox(Sandbox):
    """Members of archives are parsed in as many parts as there are workers."""

    def __init__(self, cluster: Cluster, limits: Limits) -> None:
        super().__init__(workers=4 * cluster.workers, limits=limits, child=lambda: _Remote(cluster))
        self._cluster = cluster

    def members(
        self,
        items: Sequence[tuple[str, bytes]],
        work: WorkId,
        blob: str,
        parser: str = "member",
        budget: WorkBudget | None = None,
        wanted: Wanted | None = None,
    ) -> list[Parsed]:
        """As `Sandbox.members`; each part may make as many chunks as are wanted of all, and whoever asked counts them."""
        size = max(1, -(-len(items) // self._cluster.workers))
        parts = [items[start : start + size] for start in range(0, len(items), size)]
        with ThreadPoolExecutor(max(1, len(parts))) as threads:
            asked = threads.map(lambda part: Sandbox.members(self, part, work, blob, parser, budget, wanted), parts)
            return [result for part in asked for result in part]


class _ClusterEmbedder:
    """Passages on the workers, in pieces of about equal length; questions here."""

    def __init__(self, cluster: Cluster, own: Embedder, name: str) -> None:
        self.id, self.dim = own.id, own.dim
        self._cluster, self._own, self._name = cluster, own, name

    def passages(self, texts: Sequence[str]) -> Vectors:
        """As the embedder's own; raises `EmbedderMismatch` where a worker has another model."""
        count = max(self._cluster.workers, -(-len(texts) // _PIECE))
        order = sorted(range(len(texts)), key=lambda n: len(texts[n]))
        pieces = [piece for piece in (order[n::count] for n in range(count)) if piece]
        vectors = np.empty((len(texts), self.dim), np.float32)
        made = self._cluster.each(embed, [(self._name, self._cluster.threads, [texts[n] for n in piece]) for piece in pieces])
        for piece, (id_, data) in zip(pieces, made, strict=True):
            if id_ != self.id:
                raise EmbedderMismatch(f"a worker embeds with {id_}, this build with {self.id}", hint="install the same version on the workers")
            vectors[piece] = np.frombuffer(data, "<f4").reshape(len(piece), self.dim)
        return vectors

    def queries(self, texts: Sequence[str]) -> Vectors:
        """As the embedder's own."""
        return self._own.queries(texts)
