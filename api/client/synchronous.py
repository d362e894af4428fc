"""The synchronous client."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any

import httpx2

from api.client.calls import TRIES, URL, Call, Client, Event, EventReader, Kind, M, Stage, ended, get, place, post, refusal
from api.rest import PREFIX, insight, responses
from lineage.errors import UpstreamError


class Lineage(Client):
    """The synchronous client. Safe to use from several threads; to be closed, or used as a context."""

    def __init__(self, url: str = URL, *, token: str = "", timeout: float = 120.0, patience: float = 60.0) -> None:
        super().__init__(url, token=token, timeout=timeout, patience=patience)
        self._http = httpx2.Client(**self.settings)

    def __enter__(self) -> Lineage:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _ask(self, call: Call[M]) -> M:
        spent = 0.0
        while True:
            with self.reaching():
                response = self._http.request(**call.request())
            wait = self.wait_before(response, spent)
            if not wait:
                return call.answer(response)
            time.sleep(wait)
            spent += wait

    def search(self, text: str, *, lineage: str = "", k: int = 10, kind: Kind = "", no_target_code: bool = False, work: str = "") -> responses.Answer:
        """The `k` best hits for a question."""
        return self._ask(post("/search", responses.Answer, text=text, lineage=lineage, k=k, kind=kind, no_target_code=no_target_code, work=work))

    def evidence(self, chunk: str, *, lineage: str = "", before: int = 60, after: int = 60) -> responses.Evidence:
        """A chunk with the lines around it, and its neighbours."""
        return self._ask(get(place("evidence", chunk), responses.Evidence, lineage=lineage, before=before, after=after))

    def context(self, task: str, *, lineage: str = "", tokens: int = 6000, stage: Stage = "", no_target_code: bool = False) -> insight.Pack:
        """What a task needs to be written, in at most `tokens` tokens."""
        return self._ask(post("/context", insight.Pack, task=task, lineage=lineage, tokens=tokens, stage=stage, no_target_code=no_target_code))

    def answer(self, text: str, *, lineage: str = "", no_target_code: bool = False) -> insight.Written:
        """An answer of which every sentence is tied to evidence."""
        return self._ask(post("/answer", insight.Written, text=text, lineage=lineage, no_target_code=no_target_code))

    def gaps(self, *, lineage: str = "", state: str = "", topic: str = "", no_target_code: bool = False) -> insight.Gaps:
        """What the target leaves unsaid, and what its lineage says instead."""
        return self._ask(get("/gaps", insight.Gaps, lineage=lineage, state=state, topic=topic, no_target_code=no_target_code))

    def facts(self, name: str, *, lineage: str = "", no_target_code: bool = False) -> insight.Consensus:
        """Every value of a detail, and who holds it."""
        return self._ask(get("/facts", insight.Consensus, name=name, lineage=lineage, no_target_code=no_target_code))

    def details(self, *, lineage: str = "", no_target_code: bool = False) -> insight.Tallies:
        """The details that a lineage has facts on."""
        return self._ask(get("/details", insight.Tallies, lineage=lineage, no_target_code=no_target_code))

    def lineages(self) -> Sequence[responses.Listed]:
        """Every lineage of the store."""
        return self._ask(get("/lineages", responses.Lineages)).lineages

    def show(self, lineage: str) -> responses.Overview:
        """A lineage at a glance."""
        return self._ask(get(place("lineages", lineage), responses.Overview))

    def status(self, lineage: str) -> responses.Completeness:
        """How complete a lineage is, and every loss."""
        return self._ask(get(place("lineages", lineage, "status"), responses.Completeness))

    def graph(self, lineage: str) -> responses.Graph:
        """A lineage as nodes and edges."""
        return self._ask(get(place("lineages", lineage, "graph"), responses.Graph))

    def build(self, target: str, **options: Any) -> responses.Job:
        """Ask for a build (`name`, `papers`, `repos`, `add`, `depth`, `no_target_code`, `blacklist`, `code_as_of`)."""
        return self._ask(post("/lineages", responses.Job, target=target, **options))

    def jobs(self) -> Sequence[responses.Job]:
        """Every build that is kept, newest first."""
        return self._ask(get("/jobs", responses.JobList)).jobs

    def job(self, id_: str) -> responses.Job:
        """A build as it now is."""
        return self._ask(get(place("jobs", id_), responses.Job))

    def cancel(self, id_: str) -> responses.Job:
        """End a build."""
        return self._ask(Call("DELETE", PREFIX + place("jobs", id_), responses.Job))

    def resume(self, id_: str) -> responses.Job:
        """Put a build that failed or was cancelled back into the queue."""
        return self._ask(Call("POST", PREFIX + place("jobs", id_, "resume"), responses.Job))

    def events(self, id_: str, after: int = 0) -> Iterator[Event]:
        """What happens to a build until it ends; goes on where it was when the connection breaks."""
        reader, tries = EventReader(after), 0
        while tries < TRIES:
            tries += 1
            try:
                with self._http.stream("GET", PREFIX + place("jobs", id_, "events"), headers=reader.headers()) as response:
                    if response.is_error:
                        response.read()
                        raise refusal(response)
                    for line in response.iter_lines():
                        for event in reader.heard(line):
                            yield event
                            tries = 0
                            if event.kind == "end":
                                return
            except httpx2.HTTPError:
                time.sleep(min(tries, 3))
        raise UpstreamError(f"the events of {id_} end without an end", hint="is `lineage serve` still running?")

    def wait(self, job: responses.Job, watch: Callable[[Event], None] | None = None) -> responses.Job:
        """The build when it has ended; `watch` hears what happens meanwhile. Raises `UpstreamError` if it failed, saying why."""
        for event in self.events(job.id):
            if watch:
                watch(event)
        return ended(self.job(job.id))
