"""Engines that a server keeps open, so that queries need not reopen a lineage or reload a model.

An engine belongs to one generation. It is lent out with a count; when a newer generation is there, or more engines
are open than may be, the one that nobody uses any more is closed.
"""

from __future__ import annotations

import gc
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

from api.bootstrap import Parts
from lineage import generation as layout

if TYPE_CHECKING:
    from lineage.results import Gaps
    from lineage.settings import Settings
    from retrieval.search.engine import Engine


_MOST = 4


class _Kept:
    """An engine, its number of users, and whether to close it when unused."""

    def __init__(self, engine: Engine, users: int) -> None:
        self.engine = engine
        self.users = users
        self.retired = False


class KeptParts(Parts):
    """Parts that keep engines open: those in use and at most four others."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._kept: OrderedDict[tuple[str, str], _Kept] = OrderedDict()
        self._reports: OrderedDict[tuple[str, str, frozenset[str], bool], Gaps] = OrderedDict()
        self._opening: dict[str, threading.Lock] = {}
        self._lock, self._reporting = threading.Lock(), threading.Lock()

    def engine(self, lineage: str) -> AbstractContextManager[Engine]:
        """The engine of a lineage's current generation, as a context manager."""
        return self._lent(lineage, layout.current(self.settings.lineages, lineage))

    @contextmanager
    def _lent(self, lineage: str, generation: str) -> Iterator[Engine]:
        key = lineage, generation
        with self._opening.setdefault(lineage, threading.Lock()):
            with self._lock:
                if kept := self._kept.get(key):
                    kept.users += 1
                    self._kept.move_to_end(key)
            if not kept:
                kept = self._opened(lineage)  # takes seconds; users of other lineages do not wait
                with self._lock:
                    self._kept[key] = kept
                    self._retire(lineage, generation)
        try:
            yield kept.engine
        finally:
            with self._lock:
                kept.users -= 1
                if kept.retired and not kept.users:
                    kept.engine.close()

    def _opened(self, lineage: str) -> _Kept:
        kept = _Kept(self.opened(lineage), users=1)
        gc.unfreeze()  # what an engine left that was closed since is looked at once more
        gc.collect()
        gc.freeze()  # an open engine stays: looking through its records for garbage again and again would cost each question
        return kept

    def _retire(self, lineage: str, generation: str) -> None:
        """Release the lineage's older generations and the least recently used engines."""
        old = [key for key in self._kept if key[0] == lineage and key[1] != generation]
        old += list(self._kept)[: max(0, len(self._kept) - len(old) - _MOST)]
        for key in dict.fromkeys(old):
            self._let_go(self._kept.pop(key))

    def _let_go(self, kept: _Kept) -> None:
        kept.retired = True
        if not kept.users:
            kept.engine.close()

    def kept_gaps(self, lineage: str, no_target_code: bool) -> Gaps | None:
        """None: engines are open, and reports are held beside them."""
        return None

    def gaps(self, engine: Engine) -> Gaps:
        """The report of gaps, made once for a generation: it never changes, and takes seconds where a search takes milliseconds."""
        manifest = engine.generation.manifest
        read = self._claims(engine.generation, bool(engine.excluded)) is not None  # a command may have let a model read since
        key = (manifest.lineage, manifest.id, engine.excluded, read)
        with self._reporting:
            made = self._reports.get(key) or super().gaps(engine)
            self._reports[key] = made
            self._reports.move_to_end(key)
            while len(self._reports) > 2 * _MOST:
                self._reports.popitem(last=False)
            return made

    def open_engines(self) -> int:
        """Number of open engines."""
        return len(self._kept)

    def close(self) -> None:
        """Close every unused engine now, and the others when they become unused."""
        with self._lock:
            while self._kept:
                self._let_go(self._kept.popitem()[1])
