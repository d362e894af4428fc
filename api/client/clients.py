"""The synchronous client and the one for `async` programs: the calls of `api.client.calls`, sent to a server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from types import TracebackType
from typing import cast
from urllib.parse import quote

import httpx2

from api.client.calls import Asynchronous, Call, R, Synchronous
from api.client.connection import TRIES, URL, Client, Event, EventReader, ended, refusal
from api.rest import PREFIX
from api.wire.stored import JobView
from lineage.errors import UpstreamError


def _events(id_: str) -> str:
    return f"{PREFIX}/jobs/{quote(id_, safe='')}/events"


class Lineage(Client, Synchronous):
    """The synchronous client. Safe to use from several threads; to be closed, or used as a context."""

    def __init__(self, url: str = URL, *, token: str = "", timeout: float = 120.0, patience: float = 60.0) -> None:
        super().__init__(url, token=token, timeout=timeout, patience=patience)
        self._http = httpx2.Client(**self.settings)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def send(self, call: Call[R]) -> R:
        """The result of a call; raises what the server refused with."""
        spent = 0.0
        while True:
            with self.reaching():
                response = self._http.request(**call.request())
            wait = self.wait_before(response, spent)
            if not wait:
                return cast("R", self.result(call.operation, response))
            time.sleep(wait)
            spent += wait

    def events(self, id_: str, after: int = 0) -> Iterator[Event]:
        """What happens to a build until it ends; goes on where it was when the connection breaks."""
        reader, tries = EventReader(after), 0
        while tries < TRIES:
            tries += 1
            try:
                with self._http.stream("GET", _events(id_), headers=reader.headers()) as response:
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
        raise UpstreamError(f"the events of {id_} ended early", hint="is `lineage serve` still running?")


class AsyncLineage(Client, Asynchronous):
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

    async def send(self, call: Call[R]) -> R:
        """The result of a call; raises what the server refused with."""
        spent = 0.0
        while True:
            with self.reaching():
                response = await self._http.request(**call.request())
            wait = self.wait_before(response, spent)
            if not wait:
                return cast("R", self.result(call.operation, response))
            await asyncio.sleep(wait)
            spent += wait

    async def events(self, id_: str, after: int = 0) -> AsyncIterator[Event]:
        """What happens to a build until it ends; goes on where it was when the connection breaks."""
        reader, tries = EventReader(after), 0
        while tries < TRIES:
            tries += 1
            try:
                async with self._http.stream("GET", _events(id_), headers=reader.headers()) as response:
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
        raise UpstreamError(f"the events of {id_} ended early", hint="is `lineage serve` still running?")

    async def wait(self, job: JobView, watch: Callable[[Event], None] | None = None) -> JobView:
        """The build when it has ended; as `Lineage.wait`."""
        async for event in self.events(job.id):
            if watch:
                watch(event)
        return ended(await self.job(job.id))
