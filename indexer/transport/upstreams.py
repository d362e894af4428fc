"""Which hosts may be asked, for which paths, how often and with which credentials (pure).

An address out of a paper is never fetched: sources rebuild addresses from parsed identifiers, and this module is
the gate they pass, every redirect again. The gate compares exactly and repairs nothing: a spelling it does not
know (user information, a port, another case, a backslash, dot segments, a number for a host) is refused.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from urllib.parse import unquote, urljoin, urlsplit

from pydantic import SecretStr

from lineage.errors import SettingsError, SourceError
from lineage.records import Status
from lineage.settings import Settings

_NAME = r"[A-Za-z0-9][A-Za-z0-9_-]{0,38}/[A-Za-z0-9._-]{1,100}"
_REF = r"[A-Za-z0-9][A-Za-z0-9._/-]{0,200}"
_ARXIV = r"(?:[a-z][a-z-]{1,15}(?:\.[A-Z]{2})?/\d{7}|\d{4}\.\d{4,5})(?:v\d{1,3})?"
_REST = r"[^\s?#\\]{1,600}"
MAX_URL = 16_000


@dataclass(frozen=True)
class Upstream:
    """A host: `bucket` names the limit it shares with others, `interval` the least seconds between two requests
    (`keyed` with a key), `alone` that only one request may be under way at a time, `paths` what may be asked."""

    bucket: str
    interval: float
    paths: re.Pattern[str]
    alone: bool = False
    keyed: float | None = None


def _paths(*patterns: str) -> re.Pattern[str]:
    return re.compile(rf"/(?:{'|'.join(patterns)})\Z")


_ARXIV_PATHS = _paths(r"api/query", rf"(?:e-print|src|pdf|html)/{_ARXIV}(?:\.pdf)?")

UPSTREAMS = {
    "api.semanticscholar.org": Upstream("semantic-scholar", 3.0, _paths(rf"graph/v1/paper/{_REST}"), keyed=1.05),
    "export.arxiv.org": Upstream("arxiv", 3.0, _ARXIV_PATHS, alone=True),
    "arxiv.org": Upstream("arxiv", 3.0, _ARXIV_PATHS, alone=True),
    "api.github.com": Upstream("github", 0.2, _paths(rf"(?:repos/{_NAME}|repositories/\d{{1,12}})(?:/commits(?:/{_REF})?)?")),
    "codeload.github.com": Upstream("codeload", 0.5, _paths(rf"{_NAME}/(?:legacy\.)?tar\.gz/{_REF}")),
    "huggingface.co": Upstream("hugging-face", 0.6, _paths(rf"api/papers/{_ARXIV}")),
    "api.openalex.org": Upstream("openalex", 0.2, _paths(rf"works(?:/{_REST})?")),
    "api.crossref.org": Upstream("crossref", 0.5, _paths(rf"(?:v1/)?works/{_REST}")),
}


def admit(hosts: Mapping[str, Upstream]) -> None:
    """Allow the hosts of a source that the user installed and enabled; raises `SettingsError` for one that is in the table already."""
    for host, upstream in hosts.items():
        if UPSTREAMS.get(host, upstream) != upstream:
            raise SettingsError(f"a source wants other limits for {host} than the table has", hint="a source may add hosts, never change them")
    UPSTREAMS.update(hosts)


def upstream_of(url: str) -> tuple[str, Upstream]:
    """(host, its limits) of an address that may be asked; raises `SourceError` (POLICY_SKIPPED) for any other."""
    if len(url) > MAX_URL or re.search(r"[\x00-\x20\x7f-\U0010ffff\\]", url):
        raise refused(url[:200], "it is too long or has characters that no address has")
    try:
        parts = urlsplit(url)
    except ValueError:
        raise refused(url, "it is no address") from None
    upstream = UPSTREAMS.get(parts.netloc)
    if parts.scheme != "https" or not upstream or not url.startswith(f"https://{parts.netloc}/"):
        raise refused(url, "only these hosts are asked, over https: " + ", ".join(UPSTREAMS))
    if "#" in url or not upstream.paths.match(parts.path) or not _plain(parts.path):
        raise refused(url, f"nothing of that path is asked of {parts.netloc}")
    return parts.netloc, upstream


def _plain(path: str) -> bool:
    """Whether a path has no dot segments, however they are written, and no control characters."""
    decoded = unquote(unquote(path))
    return not any(part in {".", ".."} for part in re.split(r"[/\\]", decoded)) and not re.search(r"[\x00-\x1f\x7f]", decoded)


def refused(url: str, why: str) -> SourceError:
    """The error for an address that is not asked."""
    return SourceError(Status.POLICY_SKIPPED, f"{url!r} is not fetched: {why}", url=url)


def mirrored(url: str, mirror: str) -> str:
    """Where a public address is asked on a mirror: `https://HOST/PATH?QUERY` at `MIRROR/HOST/PATH?QUERY`."""
    return f"{mirror}/{url.removeprefix('https://')}" if mirror else url


def redirected(url: str, location: str, mirror: str) -> str:
    """The public address that a Location header means, seen from `url`; the caller passes it through `upstream_of`."""
    if mirror and location.startswith(mirror + "/"):
        return "https://" + location.removeprefix(mirror + "/")
    if mirror and location.startswith("/") and not location.startswith("//"):
        path = location.lstrip("/")
        first = path.partition("/")[0]
        return f"https://{path}" if first in UPSTREAMS else urljoin(url, location)
    return urljoin(url, location)


def is_loopback(host: str) -> bool:
    """Whether a host is this machine: a mirror needs no rate limit there, a server is reached by nobody else."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_COMPATIBLE = ipaddress.ip_network("::/96")


def is_public(address: str) -> bool:
    """Whether an IP address is one of the public internet, also when it hides inside an IPv6 one (RFC 4291, 6052, 3056)."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv4Address):
        return ip.is_global and not ip.is_multicast
    inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
    if ip in _NAT64 or ip in _COMPATIBLE:
        inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
    if inner is not None:
        return is_public(str(inner))
    return ip.is_global and not ip.is_multicast


def is_public_host(host: str) -> bool:
    """Whether a host name of an endpoint means the public internet: an LLM server on the own network is not mirrored."""
    host = host.strip("[]").rstrip(".").lower()
    if re.fullmatch(r"[0-9a-fx.:%]+", host) and (":" in host or host.replace(".", "").isdigit() or host.startswith("0x")):
        return is_public(host)
    private = (".local", ".internal", ".lan", ".home", ".localhost", ".localdomain", ".test", ".home.arpa")
    return "." in host and not host.endswith(private)


def credentials(settings: Settings) -> dict[str, dict[str, str]]:
    """The credentials of each host, sent to no other."""
    s2, github = _key(settings.s2_api_key, "s2_api_key"), _key(settings.github_token, "github_token")
    keys = {}
    if s2:
        keys["api.semanticscholar.org"] = {"x-api-key": s2}
    if github:
        keys["api.github.com"] = {"Authorization": f"Bearer {github}"}
    return keys


def _key(secret: SecretStr, name: str) -> str:
    value = secret.get_secret_value().strip()
    if not re.fullmatch(r"[\x21-\x7e]*", value):
        raise SettingsError(f"setting {name} has characters that a key cannot have")
    return value


def user_agent(contact: str) -> str:
    """The User-Agent: name, release and, if set, the contact address that services request."""
    safe = re.sub(r"[^A-Za-z0-9@._+-]", "", contact)[:100]
    return f"paper-lineage/{version('paper-lineage')}" + (f" (mailto:{safe})" if safe else "")
