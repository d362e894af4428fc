"""The HTTP client: every outbound request goes through here, and no other module speaks HTTP outwards.

A request is looked up in the cache first; if it is not there, it is sent through the allow-list, at the host's pace,
with a deadline and a size limit, retried where that may help, and its body is kept content-addressed. With a
mirror configured the same request goes there instead, without credentials; offline nothing is sent at all.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from urllib.parse import unquote, urlencode, urlsplit

import httpcore2
import httpx2

from indexer.store.blobs import Blobs
from indexer.transport.cache import DAY, FINAL, Answers, CachedResponse, HttpRefusal, Request, age, misshapen, moment, refusal
from indexer.transport.dial import ACCEPT, ENCODING, Dialer, Kind, Resolve, TooLarge, checked, resolve, until
from indexer.transport.politeness import ATTEMPTS, Budget, Limiter, Pace, Standing, backoff, quota_reset, retry_after, window
from indexer.transport.upstreams import credentials, is_loopback, is_public_host, mirrored, redirected, refused, upstream_of, user_agent
from lineage.errors import SettingsError, SourceError
from lineage.records import Status
from lineage.settings import Settings

Shape = Callable[[Any], bool]
"""Whether JSON is what was asked for."""
REDIRECTS = {301, 302, 303, 307, 308}
MAX_HOPS = 5
ERROR_BODY = 64 * 1024
FILE_DEADLINES = 5
"""A file may take so many times the deadline of a metadata request."""
_NOT_FOR_MIRRORS = {"authorization", "x-api-key", "api-key", "cookie", "proxy-authorization", "host"}


class Transport:
    """The HTTP client of one run. Thread-safe; close it after use.

    `max_requests` and `max_megabytes` of the settings hold for one transport, from its making to its closing.
    `watch` is told in words what is being waited for; `requests` counts what was sent, by host, attempts and
    redirects included; `remembered` the days of refusals that were not asked again. `wall` (seconds since 1970), `sleep`
    and `lookup` can be replaced.
    """

    def __init__(
        self,
        settings: Settings,
        blobs: Blobs,
        *,
        wall: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
        watch: Callable[[str], None] = lambda _: None,
        lookup: Resolve = resolve,
    ) -> None:
        self.settings, self.blobs = settings, blobs
        self.answers = Answers(settings.home, blobs)
        self.requests: Counter[str] = Counter()
        self.remembered: list[str] = []
        self.answered = self.mirrored = False
        self._stale: tuple[str, ...] = ()
        self._asked: set[str] = set()
        self._wall = wall
        self._mirror = settings.mirror
        self._free = is_loopback(urlsplit(settings.mirror).hostname or "")
        self._limiter = Limiter(settings.home / "politeness", settings.patience, wall=wall, sleep=sleep, watch=watch)
        self._budget = Budget(settings)
        self._standing = Standing(settings.patience, wall)
        self._keys = credentials(settings)
        self._agent = user_agent(settings.contact)
        self._wire = _Wire(Dialer(_origin(settings.mirror), lookup))
        self._lock = threading.Lock()

    def get(
        self, url: str, *, params: Mapping[str, str | int] | None = None, accept: Kind = "json", max_bytes: int = 0, shape: Shape | None = None
    ) -> CachedResponse:
        """The answer to a GET (status 200 always), from the archive if it is there.

        Raises `SourceError` for anything else, `StoreDamaged`, `DiskFull` or `SettingsError`. `max_bytes` 0 means
        the limit of metadata. JSON that is not of the `shape` is refused (WRONG_TYPE) and not remembered.
        """
        query = ("&" if "?" in url else "?") + urlencode(params) if params else ""
        return self._ask(Request("GET", url + query), accept, max_bytes or self.settings.max_json, shape)

    def post(self, url: str, *, json_body: Any, max_bytes: int = 0, shape: Shape | None = None) -> CachedResponse:
        """The same for a POST of JSON that only asks."""
        body = json.dumps(json_body, separators=(",", ":")).encode()
        return self._ask(Request("POST", url, body), "json", max_bytes or self.settings.max_json, shape)

    def refresh(self, what: Sequence[str]) -> None:
        """Ask anew, once in this run, whatever is remembered of these hosts and works; `all` means everything."""
        self._stale = tuple(name.lower().rstrip("/").partition("://")[2] or _bare(name.lower()) for name in what)
        self._asked.clear()

    def known(self, url: str) -> CachedResponse | None:
        """What a GET was answered before, if it was answered well; nothing is sent."""
        request = Request("GET", url)
        if self._stale and request.key not in self._asked and self._is_stale(request):
            return None
        answer = self.answers.get(request)
        if not answer or answer.status != 200 or answer.cap:
            return None
        self._note_origin(answer)
        return answer

    def forget(self, answer: CachedResponse) -> None:
        """Ask anew next time: the answer proved to be damaged within."""
        if answer.asked:
            self.answers.forget(answer.asked)

    def close(self) -> None:
        """Close the connections."""
        self._wire.close()

    def __enter__(self) -> Transport:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(self, request: Request, accept: Kind, cap: int, shape: Shape | None = None) -> CachedResponse:
        upstream_of(request.url)
        cap = self._budget.cap(cap)
        answer = self._kept(request, cap)
        if answer and answer.status == 200 and not answer.cap and shape and not shape(answer.json):
            answer = None  # remembered before its shape was looked at
        if not answer:
            if self.settings.offline:
                raise SourceError(Status.OFFLINE, "not in the store, and nothing is sent offline", url=request.url)
            answer = replace(self._persist(request, accept, cap), asked=request)
            if answer.status == 200 and not answer.cap and shape and not shape(answer.json):
                raise misshapen(answer.body[:ERROR_BODY], answer.url)
            self.answers.keep(request, answer)
            self._asked.add(request.key)
        self._note_origin(answer)
        if answer.cap:
            raise SourceError(Status.TOO_LARGE, f"larger than {answer.cap:,} bytes{self._budget.named(answer.cap)}", url=request.url)
        if answer.status != 200:
            raise self._refused(answer)
        return answer

    def _note_origin(self, answer: CachedResponse) -> None:
        """Record that answers, or a mirror's answers, were read in this run. Safe to call from any thread."""
        self.answered = True
        if answer.mirrored:
            self.mirrored = True

    def _refused(self, answer: CachedResponse) -> SourceError:
        """The error of a refusal; a remembered one names its date and is counted."""
        error = refusal(answer.status, answer.headers, answer.body[:ERROR_BODY], answer.url)
        if answer.cached:
            since = answer.blob.fetched_at[:10]
            with self._lock:
                self.remembered.append(since)
            error.hint = error.hint or f"remembered since {since}; `lineage build --refresh {urlsplit(answer.url).netloc}` asks again"
        return error

    def _kept(self, request: Request, cap: int) -> CachedResponse | None:
        """The kept answer, unless it is to be asked anew or is a refusal that no longer holds: old, by a mirror, of a smaller cap."""
        answer = self.answers.get(request)
        if not answer or self.settings.offline:
            return answer
        if self._stale and request.key not in self._asked and self._is_stale(request):
            return None
        if answer.status == 200 and not answer.cap and not answer.is_doubtful:
            return answer
        holds = answer.mirrored == bool(self._mirror) and age(answer.blob.fetched_at, self._wall()) <= self.settings.negative_days * DAY
        return answer if holds and not 0 < answer.cap < cap else None

    def _is_stale(self, request: Request) -> bool:
        asked = f"{unquote(request.url)} {request.body.decode('utf-8', 'replace')}".lower()
        return any(name == "all" or re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", asked) for name in self._stale)

    def _persist(self, request: Request, accept: Kind, cap: int) -> CachedResponse:
        """Retry until there is a final answer or retrying is useless."""
        attempt = 0
        while True:
            attempt += 1
            try:
                return self._follow(request, accept, cap)
            except SourceError as error:
                self._recover(error, attempt)

    def _recover(self, error: SourceError, attempt: int) -> None:
        """Wait as long as the host asks, or raise the error if it is final."""
        limit = ATTEMPTS.get(error.status, 0)
        if error.status is Status.POLICY_SKIPPED or isinstance(error, _Shut) or not error.url:
            raise error
        pace, headers = self._pace(error.url), error.headers if isinstance(error, HttpRefusal) else {}
        reset = quota_reset(headers)
        if error.status is Status.FORBIDDEN and pace.bucket == "arxiv":
            self._standing.shut(pace, error.status, "it answered 403, and takes further requests for an attack")
        elif reset is not None:
            self._standing.shut(pace, Status.RATE_LIMITED, "its quota is used up", reset)
        elif attempt >= limit:
            if limit:
                self._standing.gave_up(pace, error)
        else:
            retry_seconds = retry_after(headers, self._wall())
            wait = backoff(attempt, 0.02 if self._free else 1.0) if retry_seconds is None else retry_seconds
            if self._standing.may_wait(pace, wait):
                self._limiter.cool(pace, wait)
                return
            self._standing.shut(pace, error.status, f"it would have to be waited for longer than {self.settings.patience:.0f} s")
        raise error

    def _follow(self, request: Request, accept: Kind, cap: int) -> CachedResponse:
        """One attempt, redirects followed by hand: each hop passes the allow-list and gets its own credentials."""
        url = request.url
        for _ in range(MAX_HOPS + 1):
            answer = self._hop(replace(request, url=url), accept, cap)
            self._heed(answer, self._pace(url))
            if answer.status not in REDIRECTS:
                return answer
            if request.method != "GET" and answer.status not in {307, 308}:
                break
            url = self._redirected(url, answer.headers.get("location", ""))
        raise SourceError(Status.WRONG_TYPE, "redirected too often", url=request.url)

    def _redirected(self, url: str, location: str) -> str:
        """Where a redirect leads; one that leads elsewhere (to a login page, say) is a failure of what was asked for."""
        try:
            target = redirected(url, location, self._mirror)
            upstream_of(target)
        except (SourceError, ValueError):
            words = f"{urlsplit(url).netloc} redirected away, to {location[:200]!r}, which is not asked"
            raise _Shut(Status.WRONG_TYPE, words, url=url) from None
        return target

    def _heed(self, answer: CachedResponse, pace: Pace) -> None:
        """Obey the rate-limit headers of a successful answer."""
        self._standing.won(pace)
        reset, wait = quota_reset(answer.headers), window(answer.headers)
        if reset is not None:
            self._standing.shut(pace, Status.RATE_LIMITED, "its quota is used up", reset)
        elif wait is not None and self._standing.may_wait(pace, wait):
            self._limiter.cool(pace, wait)

    def _hop(self, request: Request, accept: Kind, cap: int) -> CachedResponse:
        """Send once, in the host's turn."""
        pace = self._pace(request.url)
        seconds = self.settings.deadline * (FILE_DEADLINES if accept == "file" else 1)
        self._check(pace, request.url)
        with self._limiter.turn(pace, seconds), until(seconds), _failures(request.url):
            self._check(pace, request.url)
            self._budget.send(request.url)
            with self._lock:
                self.requests[urlsplit(request.url).netloc] += 1
            with self._wire.send(self._outgoing(request, accept, pace)) as response:
                try:
                    return self._receive(response, request.url, accept, cap)
                finally:
                    self._budget.receive(response.num_bytes_downloaded)

    def _check(self, pace: Pace, url: str) -> None:
        self._budget.check(url)
        try:
            self._standing.check(pace, url)
        except SourceError as error:
            raise _Shut(error.status, str(error), url=url, hint=error.hint) from None

    def _outgoing(self, request: Request, accept: Kind, pace: Pace) -> httpx2.Request:
        headers = {"User-Agent": self._agent, "Accept": ACCEPT[accept], "Accept-Encoding": ENCODING[accept]}
        if request.body:
            headers["Content-Type"] = "application/json"
        if pace.alone:
            headers["Connection"] = "close"
        headers |= {} if self._mirror else self._keys.get(urlsplit(request.url).netloc, {})
        deadline = self.settings.deadline
        timeout = {"connect": min(8.0, deadline), "read": min(30.0, deadline), "write": min(30.0, deadline), "pool": deadline}
        return httpx2.Request(
            request.method, mirrored(request.url, self._mirror), headers=headers, content=request.body or None, extensions={"timeout": timeout}
        )

    def _receive(self, response: httpx2.Response, url: str, accept: Kind, cap: int) -> CachedResponse:
        headers = {name.lower(): value for name, value in response.headers.items()}
        code, media_type = response.status_code, headers.get("content-type", "").partition(";")[0].strip()
        refuse = code != 200 and not (code in REDIRECTS and headers.get("location"))
        if code != 200:
            start = _start(response, ERROR_BODY)
            if refuse and code not in FINAL:
                raise refusal(code, headers, start, url)
            return self._answer(code, headers, start, media_type, url)
        body = response.iter_raw() if accept == "file" else response.iter_bytes()
        try:
            if headers.get("content-length", "").isdigit() and int(headers["content-length"][:18]) > cap:
                raise TooLarge
            return self._answer(code, headers, checked(body, accept, cap, url), media_type, url)
        except TooLarge:
            return replace(self._answer(code, headers, b"", media_type, url), cap=cap)

    def _answer(self, code: int, headers: Mapping[str, str], body: bytes | Iterator[bytes], media_type: str, url: str) -> CachedResponse:
        blob = replace(self.blobs.put(body, media_type, url), fetched_at=moment(self._wall()))
        return CachedResponse(code, headers, blob, url, mirrored=bool(self._mirror), blobs=self.blobs)

    def _pace(self, url: str) -> Pace:
        host, upstream = upstream_of(url)
        if self._free:
            return Pace(upstream.bucket, host, 0.0)
        quick = upstream.keyed is not None and host in self._keys and not self._mirror
        return Pace(upstream.bucket, host, upstream.keyed if quick and upstream.keyed else upstream.interval, upstream.alone)


class _Shut(SourceError):
    """Retrying is useless: the host is closed for this run, or redirects elsewhere."""


class _Wire(httpx2.HTTPTransport):
    """httpx2's transport over connections that `Dialer` opens; no cookies, no proxies, no redirects of its own."""

    def __init__(self, dialer: Dialer) -> None:
        context = httpx2.create_ssl_context()
        super().__init__(verify=context)
        self._pool = httpcore2.ConnectionPool(
            ssl_context=context, max_connections=16, max_keepalive_connections=8, keepalive_expiry=15.0, network_backend=dialer
        )

    @contextmanager
    def send(self, request: httpx2.Request) -> Iterator[httpx2.Response]:
        """The response, its body still to be read."""
        response = self.handle_request(request)
        response.request = request
        try:
            yield response
        finally:
            response.close()


@contextmanager
def _failures(url: str) -> Iterator[None]:
    """httpx2's exceptions as `SourceError`; they are not chained, because they hold the request and so its keys."""
    host = urlsplit(url).netloc
    try:
        yield
    except httpx2.ConnectTimeout:
        raise SourceError(Status.UNREACHABLE, f"{host} cannot be reached: no connection in time", url=url, hint="is there a network?") from None
    except httpx2.TimeoutException:
        raise SourceError(Status.TIMEOUT_FETCH, f"{host} did not answer in time", url=url) from None
    except (httpx2.ConnectError, httpx2.UnsupportedProtocol, httpx2.ProxyError) as error:
        raise SourceError(Status.UNREACHABLE, f"{host} cannot be reached: {error}", url=url, hint="is there a network?") from None
    except (httpx2.TransportError, httpx2.DecodingError) as error:
        raise SourceError(Status.TRUNCATED, f"the answer of {host} broke off ({type(error).__name__})", url=url) from None
    except httpx2.InvalidURL:
        raise refused(url, "it is no address") from None


def _start(response: httpx2.Response, cap: int) -> bytes:
    """The beginning of an error body."""
    start = b""
    for chunk in response.iter_bytes():
        start += chunk
        if len(start) >= cap:
            break
    return start[:cap]


def _bare(name: str) -> str:
    """A work's identifier as addresses hold it: without its scheme."""
    return re.sub(r"^(?:arxiv|doi|s2|acl|repo):(?:github\.com/)?|\.git$", "", name)


def _origin(mirror: str) -> tuple[str, int] | None:
    if not mirror:
        return None
    parts = urlsplit(mirror)
    try:
        port = parts.port
    except ValueError:
        raise SettingsError(f"setting mirror: {mirror!r} has no valid port") from None
    return parts.hostname or "", port or (443 if parts.scheme == "https" else 80)


class _Mirroring(httpx2.HTTPTransport):
    """Redirect requests for public hosts to the mirror, without keys; local endpoints are unchanged."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self._mirror, self._offline = settings.mirror, settings.offline

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        if not is_public_host(request.url.host):
            return super().handle_request(request)
        if self._offline:
            raise httpx2.ConnectError("nothing is sent offline", request=request)
        if not self._mirror:
            return super().handle_request(request)
        url = f"{self._mirror}/{request.url.netloc.decode()}{request.url.raw_path.decode()}"
        headers = [(name, value) for name, value in request.headers.multi_items() if name.lower() not in _NOT_FOR_MIRRORS]
        headers.append(("Host", urlsplit(self._mirror).netloc))
        return super().handle_request(httpx2.Request(request.method, url, headers=headers, stream=request.stream, extensions=request.extensions))


class _Bounded(httpx2.SyncByteStream):
    """A body of at most `MOST_ANSWER` bytes that ends in time: packages read whatever comes, however slowly."""

    def __init__(self, stream: Iterable[bytes], seconds: float, close: Callable[[], None]) -> None:
        self._stream, self._until, self.close = stream, time.monotonic() + seconds, close  # type: ignore[method-assign]

    def __iter__(self) -> Iterator[bytes]:
        left = MOST_ANSWER
        for chunk in self._stream:
            left -= len(chunk)
            if left < 0 or time.monotonic() > self._until:
                raise httpx2.ReadError("the answer is too long, or takes too long")
            yield chunk


MOST_ANSWER = 16 * 1024 * 1024


def client_for_packages(settings: Settings) -> httpx2.Client:
    """A client for packages that send by themselves (`openai`): answers are bounded, requests to public hosts obey `mirror` and `offline`."""

    def bound(response: httpx2.Response) -> None:
        if isinstance(response.stream, httpx2.SyncByteStream):
            response.stream = _Bounded(response.stream, settings.deadline, response.stream.close)

    transport = _Mirroring(settings) if settings.mirror or settings.offline else None
    return httpx2.Client(transport=transport, timeout=settings.deadline, follow_redirects=not settings.mirror, event_hooks={"response": [bound]})
