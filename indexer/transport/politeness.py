"""Politeness: one request at a time per host, not too often, none to a host that has had enough, and a budget for each build.

`Limiter` spaces requests over all processes that share a home, by a lock and a time stamp per bucket. `Standing`
is what one run knows of its hosts: how long they made it wait, and which are not to be asked any more.
Nothing is waited for without end: locks have a deadline, waits of a run add up to its patience.
"""

from __future__ import annotations

import contextlib
import math
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from pathlib import Path

from filelock import FileLock, Timeout

from lineage.errors import SourceError, failures
from lineage.records import Status
from lineage.sealed import keep, unsealed
from lineage.settings import Settings

SPENT = "the budget of this run is spent"
"""How the words of every such refusal begin."""
MEGABYTE = 1_000_000


class Budget:
    """Count the requests and bytes of one run, thread-safely; 0 means no limit."""

    def __init__(self, settings: Settings) -> None:
        self._requests, self._megabytes = settings.max_requests, settings.max_megabytes
        self._sent = self._received = 0
        self._lock = threading.Lock()

    def check(self, url: str) -> None:
        """Raise `SourceError` (POLICY_SKIPPED) where nothing more may be sent."""
        if self._requests and self._sent >= self._requests:
            raise _spent("max_requests", self._requests, url)
        if self._megabytes and self._received >= self._megabytes * MEGABYTE:
            raise _spent("max_megabytes", self._megabytes, url)

    def send(self, url: str) -> None:
        """Count a request, or raise as `check` does."""
        with self._lock:
            self.check(url)
            self._sent += 1

    def receive(self, size: int) -> None:
        """Count bytes that came."""
        with self._lock:
            self._received += size

    def cap(self, size: int) -> int:
        """The largest body that is taken, where `size` bytes are without a budget: none is larger than a whole budget."""
        return min(size, self._megabytes * MEGABYTE) if self._megabytes else size

    def named(self, cap: int) -> str:
        """The setting in brackets, where it is what made a body too large."""
        return f" (max_megabytes = {self._megabytes})" if cap == self._megabytes * MEGABYTE else ""


def _spent(name: str, limit: int, url: str) -> SourceError:
    hint = f"the same command goes on from here; a larger LINEAGE_{name.upper()} goes further"
    return SourceError(Status.POLICY_SKIPPED, f"{SPENT} ({name} = {limit})", url=url, hint=hint)


ATTEMPTS = {
    Status.RATE_LIMITED: 10,
    Status.UPSTREAM_5XX: 5,
    Status.TIMEOUT_FETCH: 3,
    Status.TRUNCATED: 4,
    Status.HASH_MISMATCH: 3,
    Status.UNREACHABLE: 2,
    Status.WRONG_TYPE: 3,
}
"""How often one request is sent at most, by how it ended; whatever is not named is final at once."""
LONGEST_BACKOFF = 60.0
LONGEST_COOLING = 86_400.0
BREAK_AFTER = 3
BREAK_FOR = 60.0


@dataclass(frozen=True)
class Pace:
    """What a bucket allows: `interval` seconds between requests, `alone` one request at a time; `name` is shown."""

    bucket: str
    name: str
    interval: float
    alone: bool = False


def retry_after(headers: Mapping[str, str], wall: float) -> float | None:
    """Seconds that an answer asks to wait: Retry-After (seconds or a date, RFC 9110), RateLimit (`r=0;t=37`), or None.

    What is no number, no date or negative is not obeyed; a date in the past is 0.
    """
    text = headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:12])
    if text:
        with contextlib.suppress(ValueError, OverflowError):
            when = parsedate_to_datetime(text)
            when = when if when.tzinfo else when.replace(tzinfo=UTC)
            return max(0.0, when.timestamp() - wall)
        return None
    return window(headers)


def window(headers: Mapping[str, str]) -> float | None:
    """Seconds until a spent window opens again, by the RateLimit header (`"api";r=0;t=37`), or None."""
    pairs = dict(part.strip().split("=", 1) for part in headers.get("ratelimit", "").split(";") if "=" in part)
    left, reset = pairs.get("r", ""), pairs.get("t", "")
    return float(reset[:9]) if left == "0" and reset.isascii() and reset.isdigit() else None


def quota_reset(headers: Mapping[str, str]) -> float | None:
    """The time (seconds since 1970) until which GitHub's quota is spent, or None where some is left."""
    if headers.get("x-ratelimit-remaining") != "0":
        return None
    reset = headers.get("x-ratelimit-reset", "")
    return float(reset[:12]) if reset.isascii() and reset.isdigit() else float("inf")


def backoff(attempt: int, base: float, dice: Callable[[], float] = random.random) -> float:
    """Seconds before attempt number `attempt` + 1: doubling, at most a minute, between half and all of it by chance."""
    return float(min(LONGEST_BACKOFF, base * 2 ** min(attempt - 1, 10)) * (0.5 + 0.5 * dice()))


class Limiter:
    """Turns at a bucket, shared by every process of a home."""

    def __init__(
        self,
        folder: Path,
        patience: float,
        *,
        wall: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
        watch: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.folder = folder
        self.patience = patience
        self._wall, self._sleep, self._watch = wall, sleep, watch

    @contextlib.contextmanager
    def turn(self, pace: Pace, deadline: float) -> Iterator[None]:
        """Wait for the bucket's next turn; a bucket that is `alone` is kept until the end of the block.

        The lock is never held while waiting for the time to come. `deadline` bounds the block, so another
        process waits for the lock no longer than patience and deadline together; after that it gets a
        `SourceError` (TIMEOUT_FETCH).
        """
        while True:
            with self._lock(pace, self.patience + deadline):
                wait = self._due(pace)
                if wait <= 0:
                    self._note(pace, last=self._wall())
                    if pace.alone:
                        try:
                            yield
                        finally:  # from end to beginning, so that the host sees the interval whatever the network does
                            self._note(pace, last=self._wall())
                        return
            if wait <= 0:
                yield
                return
            self.pause(wait, pace)

    def cool(self, pace: Pace, seconds: float) -> None:
        """Block requests to the bucket for `seconds`."""
        with self._lock(pace, self.patience):
            until = max(self._state(pace).get("not_before", 0.0), self._wall() + seconds)
            self._note(pace, not_before=until)

    def pause(self, seconds: float, pace: Pace) -> None:
        """Wait, and say so if it is long enough to be noticed."""
        if seconds >= 1:
            self._watch(f"waiting {seconds:.0f} s for {pace.name}")
        self._sleep(seconds)

    def _due(self, pace: Pace) -> float:
        """Seconds until the next turn. Times that no run can have written (the clock was set back) are put right.

        Raises `SourceError` (RATE_LIMITED) where another run was told to wait for longer than this one would.
        """
        state, wall = self._state(pace), self._wall()
        last, cooling = state.get("last", 0.0), state.get("not_before", 0.0) - wall
        if last > wall:
            last = wall
            self._note(pace, last=wall)
        if self.patience < cooling <= LONGEST_COOLING:
            raise SourceError(Status.RATE_LIMITED, f"{pace.name} asked another run to wait for {cooling:.0f} s")
        return max(last + pace.interval - wall, cooling if cooling <= LONGEST_COOLING else 0.0)

    def _state(self, pace: Pace) -> dict[str, float]:
        try:
            content = (self.folder / f"{pace.bucket}.json").read_bytes()
        except OSError:
            return {}
        try:
            state = unsealed(content)
            times = {name: float(state[name]) for name in ("last", "not_before") if name in state}
            return {name: moment for name, moment in times.items() if math.isfinite(moment)}
        except (ValueError, TypeError):
            just_now = {"last": self._wall()}  # damaged: as if it had been asked just now
            self._write(pace, just_now)
            return just_now

    def _note(self, pace: Pace, **times: float) -> None:
        self._write(pace, self._state(pace) | times)

    def _write(self, pace: Pace, times: Mapping[str, float]) -> None:
        with failures(self.folder):
            keep(self.folder / f"{pace.bucket}.json", times)

    @contextlib.contextmanager
    def _lock(self, pace: Pace, patience: float) -> Iterator[None]:
        with failures(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self.folder / f"{pace.bucket}.lock", thread_local=False)
        try:
            lock.acquire(timeout=patience, poll_interval=0.02)
        except Timeout:
            raise SourceError(Status.TIMEOUT_FETCH, f"other requests kept {pace.name} busy for {patience:.0f} s") from None
        except OSError as error:
            with failures(self.folder):
                raise error from None
        try:
            yield
        finally:
            lock.release()


@dataclass
class _Host:
    waited: float = 0.0
    cool_until: float = 0.0
    lost: int = 0
    shut_until: float = 0.0
    status: Status = Status.UNREACHABLE
    why: str = ""


class Standing:
    """The state of hosts in one run, by bucket: patience used, consecutive failures, closed hosts."""

    def __init__(self, patience: float, wall: Callable[[], float] = time.time) -> None:
        self._patience, self._wall = patience, wall
        self._hosts: dict[str, _Host] = {}
        self._lock = threading.Lock()

    def check(self, pace: Pace, url: str) -> None:
        """Raise the `SourceError` for which the bucket was shut, if it still is: nothing is sent to it."""
        with self._lock:
            host = self._hosts.get(pace.bucket)
            if host and self._wall() < host.shut_until:
                raise SourceError(host.status, f"{pace.name} gets no more requests: {host.why}", url=url)

    def shut(self, pace: Pace, status: Status, why: str, until: float = float("inf")) -> None:
        """Ask the bucket nothing more until then (seconds since 1970), or for the rest of the run."""
        with self._lock:
            host = self._hosts.setdefault(pace.bucket, _Host())
            host.shut_until, host.status, host.why = until, status, why

    def may_wait(self, pace: Pace, seconds: float) -> bool:
        """Whether so long a wait is within the patience left for the bucket; if so it is counted, once for all who wait."""
        with self._lock:
            host = self._hosts.setdefault(pace.bucket, _Host())
            now = self._wall()
            longer = max(0.0, now + seconds - max(now, host.cool_until))
            if host.waited + longer > self._patience:
                return False
            host.waited += longer
            host.cool_until = max(host.cool_until, now + seconds)
            return True

    def won(self, pace: Pace) -> None:
        """Record an answered request."""
        with self._lock:
            self._hosts.setdefault(pace.bucket, _Host()).lost = 0

    def gave_up(self, pace: Pace, error: SourceError) -> None:
        """A request was given up after its attempts; several in a row shut the bucket for a minute (circuit breaker)."""
        with self._lock:
            host = self._hosts.setdefault(pace.bucket, _Host())
            host.lost += 1
            tripped = host.lost >= BREAK_AFTER
        if tripped:
            self.shut(pace, error.status, f"{host.lost} requests in a row failed, the last with: {error}", self._wall() + BREAK_FOR)
