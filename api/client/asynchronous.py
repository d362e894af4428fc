"""The client for `async` programs; its methods are those of the synchronous one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from types import TracebackType
from typing import Any

import httpx2

from api.client.calls import TRIES, URL, Call, Client, Event, EventReader, Kind, M, Stage, ended, get, place, post, refusal
from api.rest import PREFIX, insight, responses
from lineage.errors import UpstreamError


class AsyncLineage(Client):
    """The same for `async` programs; to be closed, or used as a context."""

    def __init__(self, url: str = URL, *, token: str = "", timeout: float = 120.0, patience: float = 60.0) -> None:
        super().__init__(url, token=token, timeout=timeout, patience=patience)
        self._http = httpx2.AsyncClient(**self.settings)

    async def __aenter__(self) -> AsyncLineage:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def _ask(self, call: Call[M]) -> M:
        spent = 0.0
        while True:
            with self.reaching():
                response = await self._http.request(**call.request())
            wait = self.wait_before(response, spent)
            if not wait:
                return call.answer(response)
            await asyncio.sleep(wait)
            spent += wait

    async def search(
        self, text: str, *, lineage: str = "", k: int = 10, kind: Kind = "", no_target_code: bool = False, work: str = ""
    ) -> responses.Answer:
        """The `k` best hits for a question."""
        return await self._ask(
            post("/search", responses.Answer, text=text, lineage=lineage, k=k, kind=kind, no_target_code=no_target_code, work=work)
        )

    async def evidence(self, chunk: str, *, lineage: str = "", before: int = 60, after: int = 60) -> responses.Evidence:
        """A chunk with the lines around it, and its neighbours."""
        return await self._ask(get(place("evidence", chunk), responses.Evidence, lineage=lineage, before=before, after=after))

    async def context(self, task: str, *, lineage: str = "", tokens: int = 6000, stage: Stage = "", no_target_code: bool = False) -> insight.Pack:
        """What a task needs to be written, in at most `tokens` tokens."""
        return await self._ask(post("/context", insight.Pack, task=task, lineage=lineage, tokens=tokens, stage=stage, no_target_code=no_target_code))

    async def answer(self, text: str, *, lineage: str = "", no_target_code: bool = False) -> insight.Written:
        """An answer of which every sentence is tied to evidence."""
        return await self._ask(post("/answer", insight.Written, text=text, lineage=lineage, no_target_code=no_target_code))

    async def gaps(self, *, lineage: str = "", state: str = "", topic: str = "", no_target_code: bool = False) -> insight.Gaps:
        """What the target leaves unsaid, and what its lineage says instead."""
        return await self._ask(get("/gaps", insight.Gaps, lineage=lineage, state=state, topic=topic, no_target_code=no_target_code))

    async def facts(self, name: str, *, lineage: str = "", no_target_code: bool = False) -> insight.Consensus:
        """Every value of a detail, and who holds it."""
        return await self._ask(get("/facts", insight.Consensus, name=name, lineage=lineage, no_target_code=no_target_code))

    async def details(self, *, lineage: str = "", no_target_code: bool = False) -> insight.Tallies:
        """The details that a lineage has facts on."""
        return await self._ask(get("/details", insight.Tallies, lineage=lineage, no_target_code=no_target_code))

    async def lineages(self) -> Sequence[responses.Listed]:
        """Every lineage of the store."""
        return (await self._ask(get("/lineages", responses.Lineages))).lineages

    async def show(self, lineage: str) -> responses.Overview:
        """A lineage at a glance."""
        return await self._ask(get(place("lineages", lineage), responses.Overview))

    async def status(self, lineage: str) -> responses.Completeness:
        """How complete a lineage is, and every loss."""
        return await self._ask(get(place("lineages", lineage, "status"), responses.Completeness))

    async def graph(self, lineage: str) -> responses.Graph:
        """A lineage as nodes and edges."""
        return await self._ask(get(place("lineages", lineage, "graph"), responses.Graph))

    async def build(self, target: str, **options: Any) -> responses.Job:
        """Ask for a build; options as in `Lineage.build`."""
        return await self._ask(post("/lineages", responses.Job, target=target, **options))

    async def jobs(self) -> Sequence[responses.Job]:
        """Every build that is kept, newest first."""
        return (await self._ask(get("/jobs", responses.JobList))).jobs

    async def job(self, id_: str) -> responses.Job:
        """A build as it now is."""
        return await self._ask(get(place("jobs", id_), responses.Job))

    async def cancel(self, id_: str) -> responses.Job:
        """End a build."""
        return await self._ask(Call("DELETE", PREFIX + place("jobs", id_), responses.Job))

    async def resume(self, id_: str) -> responses.Job:
        """Put a build that failed or was cancelled back into the queue."""
        return await self._ask(Call("POST", PREFIX + place("jobs", id_, "resume"), responses.Job))

    async def events(self, id_: str, after: int = 0) -> AsyncIterator[Event]:
        """What happens to a build until it ends; goes on where it was when the connection breaks."""
        reader, tries = EventReader(after), 0
        while tries < TRIES:
            tries += 1
            try:
                async with self._http.stream("GET", PREFIX + place("jobs", id_, "events"), headers=reader.headers()) as response:
                    if response.is_error:
                        await response.aread()
                        raise refusal(response)
                    async for line in response.aiter_lines():
                        for event in reader.heard(line):
                            yield event
                            tries = 0
                            if event.kind == "end":
                                return
            except httpx2.HTTPError:
                await asyncio.sleep(min(tries, 3))
        raise UpstreamError(f"the events of {id_} end without an end", hint="is `lineage serve` still running?")

    async def wait(self, job: responses.Job, watch: Callable[[Event], None] | None = None) -> responses.Job:
        """The build when it has ended; as `Lineage.wait`."""
        async for event in self.events(job.id):
            if watch:
                watch(event)
        return ended(await self.job(job.id))
