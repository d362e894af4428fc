"""Identifiers of works: one grammar, parsed once, never a path.

`parse(text)` takes what a person or a paper writes (CONTRACTS: Targets and identifiers) and gives a `Target`;
`work_id(...)` functions give the normalized `WorkId` from parts that a source has already separated.
Everything is exact matching with bounded patterns: an identifier that does not fit is refused, not repaired. `..._in` look inside the text of a
reference entry.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from lineage.errors import BadIdentifier
from lineage.records import WorkId
from lineage.text.hidden_text import is_word

MAX_LENGTH = 2048
_NEW = re.compile(r"(\d{2}(?:0[1-9]|1[0-2])\.\d{4,5})(v[1-9]\d{0,2})?\Z")
_OLD = re.compile(r"([a-z][a-z-]{1,15})(\.[A-Z]{2})?/(\d{2}(?:0[1-9]|1[0-2])\d{3})(v[1-9]\d{0,2})?\Z", re.IGNORECASE)
_DOI = re.compile(r"10\.\d{4,9}/[^\s<>\"]{1,300}\Z")
_ARXIV_DOI = re.compile(r"10\.48550/arxiv\.(.+)\Z", re.IGNORECASE)
_S2 = re.compile(r"[0-9a-f]{40}\Z")
_OWNER = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,38})\Z")
_NAME = re.compile(r"[A-Za-z0-9._-]{1,100}\Z")
_FORGES = {"github.com", "gitlab.com", "bitbucket.org", "codeberg.org"}
_ANTHOLOGY = re.compile(r"[A-Z]\d{2}-\d{4}\Z|\d{4}\.[a-z0-9_]+-[a-z0-9]+\.\d{1,4}\Z")


@dataclass(frozen=True)
class Target:
    """What a build is asked for: an identifier (`id`, with `version` for arXiv), a `title`, or a local `path`.

    Exactly one of the three is set. `lookup` is the form that Semantic Scholar understands.
    """

    id: WorkId | None = None
    version: str = ""
    title: str = ""
    path: str = ""
    lookup: str = ""


def arxiv_id(text: str) -> tuple[WorkId, str] | None:
    """`arxiv:<id>` and the version ("v2" or "") of a bare arXiv identifier, or None."""
    text = text.strip()
    if match := _NEW.match(text):
        return WorkId(f"arxiv:{match[1]}"), match[2] or ""
    if match := _OLD.match(text):
        return WorkId(f"arxiv:{match[1].lower()}/{match[3]}"), match[4] or ""
    return None


def doi_id(text: str) -> WorkId | None:
    """`doi:<doi>` lower-cased (DOIs are case-insensitive, ISO 26324), `arxiv:` for arXiv's own DOIs, or None."""
    text = text.strip().rstrip(".,;)")
    if not _DOI.match(text) or not is_word(text):
        return None
    if match := _ARXIV_DOI.match(text):
        id_and_version = arxiv_id(match[1])
        return id_and_version[0] if id_and_version else None
    return WorkId(f"doi:{text.lower()}")


def s2_id(text: str) -> WorkId | None:
    """`s2:<40 hex digits>` or None."""
    text = text.strip().lower()
    return WorkId(f"s2:{text}") if _S2.match(text) else None


def repo_id(url: str) -> WorkId | None:
    """`repo:HOST/OWNER/NAME` (as written) of a repository URL on a known forge, or None.

    Accepts https, git and ssh spellings and deeper paths; refuses user information, ports and other hosts,
    so that a URL can be rebuilt from the identifier alone.
    """
    text = url.strip().removeprefix("git+")
    if match := re.match(r"git@([a-z.]{3,20}):(.{3,200})\Z", text):
        text = f"https://{match[1]}/{match[2]}"
    if "://" not in text:
        text = "https://" + text
    try:
        parts = urlsplit(text)
        plain = parts.port is None and parts.username is None
    except ValueError:
        return None
    host = (parts.hostname or "").removeprefix("www.")
    names = [name for name in parts.path.split("/") if name]
    if not plain or parts.scheme not in {"http", "https", "git", "ssh"} or host not in _FORGES or len(names) < 2:
        return None
    owner, name = names[0], names[1].removesuffix(".git")
    if not _OWNER.match(owner) or not _NAME.match(name) or name in {".", ".."} or owner.lower() in _NOT_OWNERS:
        return None
    return WorkId(f"repo:{host}/{owner}/{name}")


_NOT_OWNERS = {"features", "topics", "orgs", "about", "sponsors", "marketplace", "settings", "login", "search", "apps"}


def repo_parts(work: WorkId) -> tuple[str, str, str]:
    """(host, owner, name) of a `repo:` identifier."""
    host, owner, name = work.removeprefix("repo:").split("/")
    return host, owner, name


def repo_name(work: WorkId) -> str:
    """The name of a repository without host and owner; a folder's is its identifier."""
    return work.rpartition("/")[2]


def same_repo(work_id: WorkId, other: WorkId) -> bool:
    """Whether two `repo:` identifiers name one repository (forges ignore case)."""
    return work_id.lower() == other.lower()


def normal_title(title: str) -> str:
    """Letters and digits of a title without case and accents, separated by single spaces."""
    folded = unicodedata.normalize("NFKD", title).casefold()
    bare = "".join(c for c in folded if not unicodedata.combining(c))
    return " ".join(re.findall(r"[^\W_]+", bare))


def reference_id(title: str, author: str = "", year: int | None = None, raw: str = "") -> WorkId:
    """`ref:<hash>` for a work that no service has an identifier for: by normalized title, else by the raw entry."""
    words = normal_title(title)
    basis = words if len(words) >= 8 else f"{words}|{author.lower()}|{year or ''}|{' '.join(raw.split())}"
    return WorkId("ref:" + hashlib.sha256(basis.encode()).hexdigest()[:16])


def local_id(content: bytes) -> WorkId:
    """`local:<hash>` of a file's or folder's content."""
    return WorkId("local:" + hashlib.sha256(content).hexdigest()[:16])


def abs_url(work: WorkId) -> str:
    """The page to link to for a work, or the empty string (arXiv's terms ask for links to /abs/)."""
    scheme, _, identifier = work.partition(":")
    pages = {
        "arxiv": "https://arxiv.org/abs/",
        "doi": "https://doi.org/",
        "s2": "https://www.semanticscholar.org/paper/",
        "repo": "https://",
    }
    return pages[scheme] + identifier if scheme in pages else ""


def slug(work: WorkId) -> str:
    """The name of a lineage made from its target: `arxiv:2504.17192` gives `arxiv-2504.17192`."""
    plain = re.sub(r"\.{2,}", ".", re.sub(r"[^A-Za-z0-9._]+", "-", work))
    return plain.strip("-._")[:80] or "lineage"


_SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}\Z")


def check_name(name: str) -> str:
    """The name itself if it can name a lineage; raises `BadIdentifier` otherwise."""
    if not _SLUG.match(name) or ".." in name:
        raise BadIdentifier(f"{name!r} cannot name a lineage", hint="use letters, digits, '.', '_' and '-'")
    return name


def parse(text: str) -> Target:
    """The `Target` that a person means by `text`; raises `BadIdentifier`.

    Paths are recognized by the caller, who knows the file system: text that is no identifier and no URL is
    taken as a title if it has at least two words or stands in quotes.
    """
    text = text.strip()
    if not text or len(text) > MAX_LENGTH or any(ord(c) < 32 for c in text):
        raise BadIdentifier("a target is an identifier, a URL, a title or a path of at most 2,048 characters")
    target = _from_url(text) if "://" in text else _from_prefix(text)
    if target:
        return target
    title = text.strip("\"'“”")
    if title and (title != text or len(title.split()) > 1):
        return Target(title=title, lookup=title)
    raise BadIdentifier(
        f"{text!r} is not an identifier, URL or title that can be looked up",
        hint='examples: arxiv:2504.17192, https://arxiv.org/abs/2504.17192, doi:10.1038/nature14539, "Attention Is All You Need", ./paper.pdf',
    )


def _arxiv_target(text: str) -> Target | None:
    id_and_version = arxiv_id(text)
    return (
        Target(id=id_and_version[0], version=id_and_version[1], lookup="ARXIV:" + id_and_version[0].removeprefix("arxiv:"))
        if id_and_version
        else None
    )


def _doi_target(text: str) -> Target | None:
    work = doi_id(text)
    if work and work.startswith("arxiv:"):
        return _arxiv_target(work.removeprefix("arxiv:"))
    return Target(id=work, lookup="DOI:" + work.removeprefix("doi:")) if work else None


def _s2_target(text: str) -> Target | None:
    work = s2_id(text)
    return Target(id=work, lookup=work.removeprefix("s2:")) if work else None


def _from_prefix(text: str) -> Target | None:
    prefix, colon, identifier = text.partition(":")
    target_parser = {"arxiv": _arxiv_target, "doi": _doi_target, "s2": _s2_target}.get(prefix.lower())
    if colon and target_parser:
        target = target_parser(identifier)
        if not target:
            raise BadIdentifier(
                f"{identifier!r} is not a valid {prefix} identifier", hint="for example arxiv:2504.17192v1 or doi:10.1038/nature14539"
            )
        return target
    if prefix.lower() == "corpusid" and identifier.strip().isdigit():
        return Target(id=WorkId(f"s2:CorpusId:{int(identifier)}"), lookup=f"CorpusId:{int(identifier)}")
    return _arxiv_target(text) or _doi_target(text) or _s2_target(text)


def _from_url(text: str) -> Target | None:
    try:
        parts = urlsplit(text)
    except ValueError:
        raise BadIdentifier(f"{text!r} is no URL") from None
    host = (parts.hostname or "").removeprefix("www.")
    path = unquote(parts.path).strip("/")
    if host in {"arxiv.org", "export.arxiv.org"}:
        _, _, name = path.partition("/")
        target = _arxiv_target(name.removesuffix(".pdf"))
    elif host in {"doi.org", "dx.doi.org"}:
        target = _doi_target(path)
    elif host == "semanticscholar.org":
        target = _s2_target(path.rsplit("/", 1)[-1])
    elif host == "aclanthology.org":
        name = path.removesuffix(".pdf")
        target = Target(id=WorkId(f"acl:{name}"), lookup=f"ACL:{name}") if _ANTHOLOGY.match(name) else None
    elif host == "openreview.net":
        target = Target(id=WorkId("url:" + hashlib.sha256(text.encode()).hexdigest()[:16]), lookup=f"URL:{text}")
    else:
        target = None
    if not target:
        supported_urls = "arXiv, DOI, Semantic Scholar, ACL Anthology and OpenReview URLs are understood"
        raise BadIdentifier(f"no paper can be read from {text!r}", hint=supported_urls)
    return target


_ARXIV = re.compile(
    r"(?:arxiv(?:\.org)?(?:[\s:,/]{0,9}(?:preprint|e-?prints?|abs|pdf|corr|arxiv)){0,4}[\s:/.,]{0,9}|\babs/|CoRR,?\s{0,9}(?:abs/)?)"
    r"(\d{4}\.\d{4,5}|[a-z-]{2,12}(?:\.[A-Z]{2})?/\d{7})(?!\d)",
    re.IGNORECASE,
)
_BRACKETED = re.compile(r"\[(\d{4}\.\d{4,5}|[a-z-]{2,12}(?:\.[A-Z]{2})?/\d{7})\]")
_BARE_ARXIV = re.compile(r"(\d{2}(?:0[1-9]|1[0-2])\.\d{4,5}|[a-z-]{2,12}(?:\.[A-Z]{2})?/\d{7})(?:v\d{1,2})?\Z")
_DOI_IN_TEXT = re.compile(r"\b(10\.\d{4,9}/[^\s\"<>{}\x00-\x1f]{1,200})")
_YEAR = re.compile(r"(?<![\d.:/-])((?:19|20)\d\d)(?=[a-z]?(?![\d]|\.\d|[:/]))")
_AFTER = ".,;:)]}>'”"
_MAX = 20_000


def arxiv_in(text: str) -> str | None:
    """The first arXiv number that the text calls one, or has in brackets (physics), without its version."""
    match = _ARXIV.search(text[:_MAX]) or _BRACKETED.search(text[:_MAX])
    return match[1] if match else None


def arxiv_alone(text: str) -> str | None:
    """The arXiv number that a field holds, with or without a prefix."""
    match = _BARE_ARXIV.match(re.sub(r"^\s*arxiv\s*:\s*", "", text.strip(), flags=re.IGNORECASE))
    return match[1] if match else arxiv_in(text)


def doi_in(text: str) -> str | None:
    """The first DOI in the text, unless it is arXiv's own."""
    for match in _DOI_IN_TEXT.finditer(text[:_MAX]):
        doi = match[1].rstrip(_AFTER)
        if not doi.lower().startswith("10.48550/arxiv"):
            return doi
    return None


def arxiv_doi(text: str) -> str | None:
    """The arXiv number inside one of arXiv's own DOIs."""
    match = re.search(r"10\.48550/arxiv\.(\d{4}\.\d{4,5})", text[:_MAX], re.IGNORECASE)
    return match[1] if match else None


def year_in(text: str, *, last: bool = True) -> int | None:
    """The last (or first) plausible year of publication in the text; parts of identifiers and page ranges are none."""
    years = [int(each) for each in _YEAR.findall(text[:_MAX]) if 1900 <= int(each) <= 2035]
    return (years[-1] if last else years[0]) if years else None
