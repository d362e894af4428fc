"""What must stay out: the target's own code and whatever a blacklist names, under any name it goes by.

An aid for reproducing a paper proves nothing if it hands over the paper's own repository. So exclusion goes by
identifier, by former names, by fork parent, and, because a copy can be pushed anywhere under any name, by content.
Pure: it answers with the reason in words, or with the empty string; the caller writes the ledger row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from lineage.ids import repo_id, repo_parts
from lineage.model import CodeLink, Tier, Work, WorkId

SHARE = 0.3
FEWEST = 3
_OWN = {Tier.OFFICIAL, Tier.AUTHOR, Tier.REIMPLEMENTATION}


@dataclass(frozen=True)
class Exclusion:
    """What is excluded: `fragments` of URLs, and with `no_target_code` all code of the works named by `target`.

    `own` are repositories known to be the target's, `content` hashes of their files (of those that can tell:
    the caller leaves out empty files, licences and the like).
    """

    fragments: tuple[str, ...] = ()
    no_target_code: bool = False
    target: frozenset[WorkId] = frozenset()
    own: frozenset[str] = frozenset()
    content: frozenset[str] = frozenset()

    @classmethod
    def of(cls, blacklist: Iterable[str] = (), *, no_target_code: bool = False, target: Work | None = None) -> Exclusion:
        """From the lines of a blacklist (PaperBench's form: one URL fragment a line, `none`, blanks and `#` lines say nothing)."""
        names = frozenset({target.id, *target.aliases}) if target else frozenset()
        return cls(tuple(f for line in blacklist if (f := _fragment(line))), no_target_code, names)

    def knowing(self, links: Sequence[CodeLink] = (), content: Iterable[str] = ()) -> Exclusion:
        """The same, told more: which repositories the target's links name, and what their files hash to."""
        own = {link.repo.lower() for link in links if self._is_targets(link)}
        return replace(self, own=self.own | own, content=self.content | frozenset(content))

    def reason(self, link: CodeLink, paper: Work | None = None) -> str:
        """Why the repository of a link is excluded; `paper` is the work it is linked to."""
        if self._is_targets(link, paper):
            return f"the target's own code ({link.tier.value}, said by {', '.join(link.said_by) or 'nobody'})"
        return self._by_name({link.repo.lower()})

    def reason_for_work(self, work: Work) -> str:
        """Why a repository is excluded, by its identifier, its former names or what it was forked from."""
        return self._by_name({work.id.lower(), *(a.lower() for a in work.aliases)}) or self._by_parent(work)

    def reason_for_url(self, url: str) -> str:
        """Why an address is excluded."""
        repo = repo_id(url)
        return self._by_fragment(_bare(url)) or (self._by_name({repo.lower()}) if repo else "")

    def reason_for_content(self, hashes: AbstractSet[str]) -> str:
        """Why a repository is excluded by its files: a share of `SHARE` of them, three at least, is the target's own."""
        shared = len(hashes & self.content)
        smaller = min(len(hashes), len(self.content))
        if shared >= FEWEST and shared >= SHARE * smaller:
            return f"{shared} of its {len(hashes)} files are files of the target's own code"
        return ""

    def _is_targets(self, link: CodeLink, paper: Work | None = None) -> bool:
        names = {link.paper, *((paper.id, *paper.aliases) if paper else ())}
        return self.no_target_code and link.tier in _OWN and bool(names & self.target)

    def _by_name(self, names: AbstractSet[str]) -> str:
        for name in sorted(names):
            if name in self.own:
                return f"{_shown(name)} is the target's own code"
            if reason := self._by_fragment(_bare(_shown(name))):
                return reason
        return ""

    def _by_parent(self, work: Work) -> str:
        for parent in sorted(_parents(work)):
            if reason := self._by_name({parent}):
                return f"a fork of {_shown(parent)}: {reason}"
        return ""

    def _by_fragment(self, address: str) -> str:
        found = next((f for f in self.fragments if _covers(f, address)), "")
        return f"on the blacklist: {found}" if found else ""


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
    found: set[str] = set()
    for key in ("fork_of", "parent", "source", "remote"):
        said = work.meta.get(key)
        if isinstance(said, str) and said:
            host = repo_parts(work.id)[0] if work.id.startswith("repo:") and work.id.count("/") == 2 else "github.com"
            parent = repo_id(said.removeprefix("repo:") if said.count("/") > 1 else f"{host}/{said}")
            found |= {parent.lower()} if parent else set()
    return found
