"""Access control and limits in front of every route: REST, page and MCP.

Threats (RELIABILITY, T9 and T10): a web page in the user's browser that rebinds its name to 127.0.0.1 or posts
across origins; another machine; floods, huge bodies and slow senders. So Host and Origin are checked on every route,
a token is asked for wherever one is set, and body, rate and concurrency have bounds with their own statuses.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.rest import PREFIX
from api.rest.problems import Problem
from indexer.transport.upstreams import is_loopback
from lineage.errors import SettingsError
from lineage.settings import MIB, Settings

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
PUBLIC = ("/", "/web/")
"""Served without a token: the page's static files, which hold no data and prompt for the token."""
HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
}
_CLIENTS = 4096
_SHARE = 75
"""Percent of the requests at work that may be of one client."""
_TURNS = 12
"""Requests of one client that run at a time, so that others find a thread; its further ones wait."""
UPLOADS = {f"{PREFIX}/audit": 16 * MIB}
"""Bytes of a body by path, where they may be more than elsewhere."""
_AT_ONCE = 2
"""Uploads at work at a time: each is held in memory, and takes seconds to be read."""


@dataclass(frozen=True)
class AccessPolicy:
    """Access policy: `hosts` are allowed in Host and Origin; `any_address` also allows non-loopback addresses.

    `rate` is requests a second of one client once its `burst` is spent; `body` bytes (`uploads` by path), `patience` seconds to send them;
    `concurrency` requests at work at a time.
    """

    token: str = ""
    hosts: frozenset[str] = LOOPBACK
    any_address: bool = False
    body: int = MIB
    uploads: Mapping[str, int] = field(default_factory=lambda: UPLOADS)
    patience: float = 20.0
    rate: float = 20.0
    burst: int = 200
    concurrency: int = 64


def policy_of(settings: Settings, host: str) -> AccessPolicy:
    """The policy for listening on `host`. Raises `SettingsError` if a required token is missing."""
    token = settings.token.get_secret_value()
    if not is_loopback(host) and not token:
        raise SettingsError(f"{host} can be reached by other machines, and no token is set", hint="set LINEAGE_TOKEN, or listen on 127.0.0.1")
    named = {name.strip().lower() for name in settings.hosts.split(",") if name.strip()}
    return AccessPolicy(
        token=token,
        hosts=LOOPBACK | named | {host.lower()},
        any_address=not is_loopback(host),
        rate=settings.rate / 60,
        burst=max(10, settings.rate // 6),
    )


def refusal(policy: AccessPolicy, path: str, headers: Headers) -> Problem | None:
    """Why a request is refused, judged by its path and headers; None if it is allowed."""
    asked = _authority(headers.get("host", ""))
    if asked is None or not _allowed(policy, asked[0]):
        return Problem(421, "wrong-host", "this server does not answer to the Host that was asked for", "name it in LINEAGE_HOSTS if it is yours")
    origin = headers.get("origin")
    if origin is not None and not _same_site(policy, origin, asked):
        return Problem(403, "wrong-origin", "requests from pages of other origins are refused")
    if policy.token and not _public(path) and not _authorized(policy.token, headers.get("authorization", "")):
        return Problem(401, "unauthorized", "a token is needed", "send Authorization: Bearer TOKEN", headers={"www-authenticate": "Bearer"})
    return None


def _authority(text: str) -> tuple[str, int | None] | None:
    """(name, port) of a Host header; None if invalid."""
    try:
        parts = urlsplit(f"//{text}")
        if not parts.hostname or parts.path or parts.query or parts.fragment or "@" in text:
            return None
        return parts.hostname.lower(), parts.port
    except ValueError:
        return None


def _allowed(policy: AccessPolicy, name: str) -> bool:
    if name in policy.hosts:
        return True
    try:
        ipaddress.ip_address(name)  # a name can be rebound to another address, an address cannot
    except ValueError:
        return False
    return policy.any_address


def _same_site(policy: AccessPolicy, origin: str, asked: tuple[str, int | None]) -> bool:
    """Whether an Origin is ours: an allowed name with the requested port."""
    scheme, _, rest = origin.partition("://")
    host = _authority(rest) if scheme in {"http", "https"} else None
    if host is None or not _allowed(policy, host[0]):
        return False
    default = {"http": 80, "https": 443}[scheme]
    return (host[1] or default) == (asked[1] or default)


def _public(path: str) -> bool:
    return path == PUBLIC[0] or path.startswith(PUBLIC[1])


def _authorized(token: str, header: str) -> bool:
    scheme, _, given = header.partition(" ")
    return scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), token.encode())


class Buckets:
    """Token buckets by client, with capacity `burst` and refill `rate` per second; least recently used ones are evicted."""

    def __init__(self, rate: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst, self._clock = rate, burst, clock
        self._held: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, client: str) -> float:
        """Take a token. Returns 0, or the seconds until one is available."""
        now = self._clock()
        tokens, at = self._held.pop(client, (float(self._burst), now))
        tokens = min(self._burst, tokens + (now - at) * self._rate)
        enough = tokens >= 1
        self._held[client] = (tokens - enough, now)
        if len(self._held) > _CLIENTS:
            self._held.popitem(last=False)
        return 0.0 if enough else (1 - tokens) / self._rate


class Guard:
    """ASGI middleware that forwards allowed requests and answers others with a problem document."""

    def __init__(self, app: ASGIApp, policy: AccessPolicy) -> None:
        self._app, self._policy = app, policy
        self._buckets = Buckets(policy.rate, policy.burst)
        self._busy: Counter[str] = Counter()
        self._turns: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        self._uploading = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check the request, read its body within limits, and forward both."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        elif scope["type"] != "http":
            await self._app(scope, receive, send)
        else:
            await self._http(scope, receive, _dressed(send))

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        if problem := self._refused(scope):
            await problem.response(scope["path"])(scope, receive, send)
            return
        upload = scope["path"] in self._policy.uploads
        self._uploading += upload
        try:
            body = await self._body(Headers(scope=scope), receive, self._most(scope))
            if isinstance(body, Problem):
                await body.response(scope["path"])(scope, receive, send)
            else:
                await self._counted(scope, _replayed(body, receive), send)
        finally:
            self._uploading -= upload

    def _most(self, scope: Scope) -> int:
        """Bytes that the body of a request may have."""
        return self._policy.uploads.get(scope["path"], self._policy.body)

    def _refused(self, scope: Scope) -> Problem | None:
        headers = Headers(scope=scope)
        if problem := refusal(self._policy, scope["path"], headers):
            return problem
        wait = self._buckets.take(_client(scope))
        if wait:
            return Problem(429, "too-many-requests", "too many requests from one client", headers={"retry-after": str(int(wait) + 1)})
        most = self._policy.concurrency
        if self._busy.total() >= most or self._busy[_client(scope)] >= max(1, most * _SHARE // 100):
            return Problem(503, "overloaded", f"{self._busy.total()} requests are at work already", headers={"retry-after": "1"})
        if self._uploading >= _AT_ONCE and scope["path"] in self._policy.uploads:
            return Problem(503, "overloaded", f"{self._uploading} uploads are at work already", headers={"retry-after": "5"})
        if _stated(headers.get("content-length", "")) > self._most(scope):
            return _too_large(self._most(scope))
        return None

    async def _body(self, headers: Headers, receive: Receive, most: int) -> bytes | Problem:
        """The whole body, or the reason for not reading it."""
        if "content-length" not in headers and "transfer-encoding" not in headers:
            return b""
        body = bytearray()
        try:
            async with asyncio.timeout(self._policy.patience):
                while True:
                    message = await receive()
                    body += message.get("body", b"")
                    if len(body) > most:
                        return _too_large(most)
                    if message["type"] == "http.disconnect" or not message.get("more_body"):
                        return bytes(body)
        except TimeoutError:
            return Problem(408, "too-slow", f"the body did not arrive within {self._policy.patience:g} s", headers={"connection": "close"})

    async def _counted(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run in one concurrency slot and in turn, both released when the answer starts: a client that reads slowly holds up nobody else."""
        client, unfinished = _client(scope), False
        turns = asyncio.Semaphore(_TURNS)
        if scope["path"].startswith(PREFIX):  # agents have turns of their own, and may wait in them for a build
            turns = self._turns.setdefault(client, turns)
        self._busy[client] += 1
        async with AsyncExitStack() as place:
            place.callback(self._left, client)
            await place.enter_async_context(turns)

            async def watched(message: Message) -> None:
                nonlocal unfinished
                if message["type"] == "http.response.start":
                    await place.aclose()
                unfinished = message.get("more_body", message["type"] == "http.response.start")
                await send(message)

            await self._app(scope, receive, watched)
        if unfinished:  # an event stream that ends with the server
            await send({"type": "http.response.body", "body": b""})

    def _left(self, client: str) -> None:
        self._busy[client] -= 1
        self._busy += Counter()  # without those that have nothing at work


def _client(scope: Scope) -> str:
    return scope["client"][0] if scope.get("client") else ""


def _too_large(most: int) -> Problem:
    return Problem(413, "too-large", f"a request may have {most:,} bytes at most", headers={"connection": "close"})


def _stated(text: str) -> float:
    """The bytes that a Content-Length states; what is no number states none, and one beyond all sense infinitely many."""
    if not (text.isascii() and text.isdigit()):
        return 0
    return int(text) if len(text) < 16 else float("inf")


def _replayed(body: bytes, receive: Receive) -> Receive:
    given = False

    async def replay() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


def _dressed(send: Send) -> Send:
    """Middleware that adds missing security headers to each response."""

    async def dressed(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return dressed
