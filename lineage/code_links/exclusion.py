"""Exclusions: the target's own code and whatever a blacklist names, under any of its names.

An aid for reproducing a paper proves nothing if it hands over the paper's own repository. So exclusion goes by
identifier, by former names, by fork parent, and, because a copy can be pushed anywhere under any name, by content.
What is not the target's stays: a repository that is official of a cited work, or older than the target's code, is never
a copy of it, because a target that vendors its baselines shares files with them.
Pure: it answers with a reason, which is empty where nothing is excluded; the caller writes the ledger row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from enum import StrEnum

from lineage.ids import normal_title, repo_id, repo_parts
from lineage.records import CodeLink, Tier, Work, WorkId
from lineage.sealed import Kept

SHARE = 0.3
FEWEST = 3
TELLING = 300
"""Bytes from which on a file's content tells whose it is: empty packages, stubs and markers do not."""
_TITLE = 3
"""Words from which on a title names one work."""
_OWN = {Tier.OFFICIAL, Tier.AUTHOR, Tier.REIMPLEMENTATION}


class Ground(StrEnum):
    """By what something is recognized as excluded: its name or parent, a link to the target, its files, its README."""

    NAME = "name"
    LINK = "link"
    CONTENT = "content"
    README = "readme"


class ExclusionReason(str):
    """Why something is excluded, in words (empty: it is not); programs use `ground`."""

    ground: Ground

    def __new__(cls, words: str, ground: Ground = Ground.NAME) -> ExclusionReason:
        """The words with their ground."""
        reason = super().__new__(cls, words)
        reason.ground = ground
        return reason


NOT_EXCLUDED = ExclusionReason("")


@dataclass(frozen=True)
class Exclusion:
    """What is excluded: `fragments` of URLs, and with `no_target_code` all code of the works named by `target`.

    `own` are repositories known to be the target's, `others` those that are official of another work or, where nobody calls them
    the target's, its authors' by two witnesses, `content` hashes of files that only the target's code has (of those that can
    tell: see `is_telling`), `since` the day before which nobody could copy it.
    """

    fragments: tuple[str, ...] = ()
    no_target_code: bool = False
    target: frozenset[WorkId] = frozenset()
    own: frozenset[str] = frozenset()
    content: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()
    since: str = ""

    @classmethod
    def of(cls, blacklist: Iterable[str] = (), *, no_target_code: bool = False, target: Work | None = None, works: Iterable[Work] = ()) -> Exclusion:
        """From the lines of a blacklist (PaperBench's form: one URL fragment a line, `none`, blanks and `#` lines say nothing).

        Of the `works` of a lineage those count as the target that have an identifier or the title of it.
        """
        names = _names_of(target, works) if target else frozenset[WorkId]()
        return cls(tuple(f for line in blacklist if (f := _fragment(line))), no_target_code, names)

    def knowing(self, links: Sequence[CodeLink] = (), content: Iterable[str] = (), since: str = "") -> Exclusion:
        """The same with what links say of whose repository is whose, what the target's files hash to, and since when they exist."""
        claims = [link for link in links if self._is_targets(link)]
        claimed = {link.repo.lower() for link in claims}
        rivals = [link for link in links if link.paper not in self.target and (link.tier is Tier.OFFICIAL or _is_authors(link, claimed))]
        others = self.others | {link.repo.lower() for link in rivals if not _surer(claims, link)}
        own = {link.repo.lower() for link in claims} - others
        return replace(self, own=self.own | own, others=others, content=self.content | frozenset(content), since=max(self.since, since))

    def without(self, hashes: AbstractSet[str]) -> Exclusion:
        """The same without files that others have too, and had first."""
        return replace(self, content=self.content - hashes)

    def reason(self, link: CodeLink, paper: Work | None = None) -> ExclusionReason:
        """Why the repository of a link is excluded; `paper` is the work it is linked to."""
        if self._is_targets(link, paper) and link.repo.lower() not in self.others:
            return ExclusionReason(f"the target's own code ({link.tier.value}, said by {', '.join(link.said_by) or 'nobody'})", Ground.LINK)
        return self._by_name({link.repo.lower()})

    def reason_for_work(self, work: Work) -> ExclusionReason:
        """Why a repository is excluded, by its identifier, its former names or what it was forked from."""
        return self._by_name({work.id.lower(), *(a.lower() for a in work.aliases)}) or self._by_parent(work)

    def reason_for_url(self, url: str) -> ExclusionReason:
        """Why an address is excluded."""
        repo = repo_id(url)
        return self._by_fragment(_bare(url)) or (self._by_name({repo.lower()}) if repo else NOT_EXCLUDED)

    def is_anothers(self, work: Work) -> bool:
        """Whether a repository cannot be a copy of the target's code: it is official of another work, or older."""
        began = str(work.meta.get("created") or work.meta.get("commit_date") or "")[:10]
        since = self.since[: len(began)]
        names = {work.id.lower(), *(alias.lower() for alias in work.aliases)}
        return bool(names & self.others) or (len(began) >= len("2024") <= len(since) and began < since)

    def reason_for_content(self, hashes: AbstractSet[str], work: Work | None = None) -> ExclusionReason:
        """Why a repository is excluded by its files: a share of `SHARE` of them, three at least, is the target's own."""
        if work and self.is_anothers(work):
            return NOT_EXCLUDED
        shared = len(hashes & self.content)
        smaller = min(len(hashes), len(self.content))
        if shared >= FEWEST and shared >= SHARE * smaller:
            return ExclusionReason(f"{shared} of its {len(hashes)} files are files of the target's own code", Ground.CONTENT)
        return NOT_EXCLUDED

    def _is_targets(self, link: CodeLink, paper: Work | None = None) -> bool:
        names = {link.paper, *((paper.id, *paper.aliases) if paper else ())}
        return self.no_target_code and link.tier in _OWN and bool(names & self.target)

    def _by_name(self, names: AbstractSet[str]) -> ExclusionReason:
        for name in sorted(names):
            if name in self.own:
                return ExclusionReason(f"{_shown(name)} is the target's own code", Ground.NAME)
            if reason := self._by_fragment(_bare(_shown(name))):
                return reason
        return NOT_EXCLUDED

    def _by_parent(self, work: Work) -> ExclusionReason:
        for parent in sorted(_parents(work)):
            if reason := self._by_name({parent}):
                return ExclusionReason(f"a fork of {_shown(parent)}: {reason}", Ground.NAME)
        return NOT_EXCLUDED

    def _by_fragment(self, address: str) -> ExclusionReason:
        fragment = next((f for f in self.fragments if _covers(f, address)), "")
        return ExclusionReason(f"on the blacklist: {fragment}", Ground.NAME) if fragment else NOT_EXCLUDED


@dataclass(frozen=True)
class KeptOut(Kept):
    """A repository that was kept out: when it began (empty: nobody says), the links that name it without evidence, and by what it was recognized."""

    repo: str
    began: str = ""
    links: tuple[CodeLink, ...] = ()
    ground: Ground = Ground.NAME


def published(work: Work) -> str:
    """The publication day (`YYYY-MM-DD`) of a paper's first version; empty if unknown."""
    days = (str(work.meta.get(key) or "") for key in ("published", "publicationDate"))
    return next((day for day in days if day), "")


def is_telling(path: str, size: int) -> bool:
    """Whether a file of so many bytes tells whose code it is in: one of a few lines does not, and no licence."""
    return size >= TELLING and not path.lower().startswith("license")


def _names_of(target: Work, works: Iterable[Work]) -> frozenset[WorkId]:
    """Every identifier under which the target stands among some works."""
    names, title = {target.id, *target.aliases}, normal_title(target.title)
    titled = len(title.split()) >= _TITLE
    for work in works:
        if names & {work.id, *work.aliases} or (titled and work.kind == "paper" and normal_title(work.title) == title):
            names |= {work.id, *work.aliases}
    return frozenset(names)


def _is_authors(link: CodeLink, claimed: AbstractSet[str]) -> bool:
    """Whether two witnesses call a repository a work's authors', and nobody calls it the target's."""
    return link.tier is Tier.AUTHOR and len(link.said_by) > 1 and link.repo.lower() not in claimed


def _surer(claims: Iterable[CodeLink], rival: CodeLink) -> bool:
    """Whether more witnesses say that a repository is the target's official one than that it is another work's."""
    return any(link.tier is Tier.OFFICIAL and link.repo.lower() == rival.repo.lower() and len(link.said_by) > len(rival.said_by) for link in claims)


def _fragment(line: str) -> str:
    text = line.strip()
    return "" if not text or text.startswith("#") or text.lower() in {"none", "n/a"} else _bare(text)


def _bare(url: str) -> str:
    """An address without scheme, `www.`, `.git`, trailing slash and case."""
    text = url.strip().lower().removeprefix("git+")
    for start in ("https://", "http://", "ssh://git@", "git://"):
        text = text.removeprefix(start)
    if text.startswith("git@"):
        text = text.removeprefix("git@").replace(":", "/", 1)
    return text.removeprefix("www.").rstrip("/").removesuffix(".git").rstrip("/")


def _covers(fragment: str, address: str) -> bool:
    """Whether the fragment stands in the address and ends where a part of it ends (`a/b` is not `a/b-plus`)."""
    at = address.find(fragment)
    while at >= 0:
        after = address[at + len(fragment) :]
        starts = at == 0 or not address[at - 1].isalnum() or not fragment[0].isalnum()
        if starts and (not after or after[0] in "/#?@" or after.startswith(".git")):
            return True
        at = address.find(fragment, at + 1)
    return False


def _shown(name: str) -> str:
    return name.removeprefix("repo:")


def _parents(work: Work) -> set[str]:
    """Repositories that this one was forked from (`fork_of`, by its forge: a URL, an identifier or `owner/name`), or is a checkout of (`remote`)."""
    parent_repos: set[str] = set()
    for key in ("fork_of", "parent", "source", "remote"):
        parent_url = work.meta.get(key)
        if isinstance(parent_url, str) and parent_url:
            host = repo_parts(work.id)[0] if work.id.startswith("repo:") and work.id.count("/") == 2 else "github.com"
            parent = repo_id(parent_url.removeprefix("repo:") if parent_url.count("/") > 1 else f"{host}/{parent_url}")
            parent_repos |= {parent.lower()} if parent else set()
    return parent_repos
