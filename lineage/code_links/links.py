"""Match repositories to papers, from every source, with the evidence.

A repository is only ever taken from an explicit address on a known forge (`ids.repo_id`): never from a word with a
slash, a project page, an organisation or a gist. Tiers: OFFICIAL when the paper says the code is its own, or paper
and repository name each other; AUTHOR when one of them only implies it; MENTIONED when the paper uses somebody
else's; REIMPLEMENTATION when the repository says that it is one.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from lineage.code_links.cues import Verdict, Whose, bare, own_names, repo_names, verdict
from lineage.ids import repo_id, repo_parts
from lineage.records import BibEntry, CodeLink, Document, LedgerRow, Mention, Status, Tier, Work, WorkId

_ADDRESS = re.compile(
    r"(?<!\w\.)(?:https?://)?(?:www\.)?(?:github\.com|gitlab\.com|bitbucket\.org|codeberg\.org)/[^\s<>\"'“”{}|^`]{3,300}|"
    r"git@[a-z.]{3,20}:[^\s<>\"'“”{}|^`]{3,200}",
    re.IGNORECASE,
)
"""Addresses of repositories; what stands on another host of a forge, such as its help or gists, is none."""
_REF = re.compile(r"@[^/@]*\Z")
"""A branch or tag as `pip` takes it behind an address."""
_AROUND = ".,;:!?'\"”’*†‡]}>"
_PLACEHOLDERS = frozenset({"anonymous", "username", "yourusername", "yourname", "user", "owner", "xxx", "xxxx", "anonymoussubmission", "blinded"})
_NEAREST = re.compile(r"\s*\[nearest citation: [^\]]{1,200}\]\s*\Z")
_KEYS = re.compile(r"\[([^\[\]\s,;]{2,120}(?:; [^\[\]\s,;]{2,120}){0,20})\]")
_SPLIT = re.compile(r"(?<=[.!?])\s+(?=[A-Z“\"])")
PAPER_SIDE = frozenset({"latex", "pdf", "abstract", "comment", "text"})
REWRITE = "readme of a rewrite"
"""How a README is named that calls itself a re-implementation, but neither unofficial nor another's: authors rewrite their own code too."""
REPOSITORY_SIDE = frozenset({"readme", REWRITE})
_HUB = "huggingface"
CITING = "text of "
"""How a witness is named that is the text of a paper which cites the work."""
QUOTE = 300
AROUND = 4_000


@dataclass(frozen=True)
class ReferenceLink:
    """A repository of a work that the paper cites as `key`, on the paper's word."""

    key: str
    repo: WorkId
    tier: Tier
    evidence: str


@dataclass(frozen=True)
class TextLinks:
    """What a paper's text says: repositories of its `own` or that it mentions, and those of its references."""

    own: tuple[CodeLink, ...]
    references: tuple[ReferenceLink, ...] = ()


def trimmed(url: str) -> str:
    """An address without the punctuation of the sentence around it; a bracket stays if it is opened in the address."""
    end, unopened = len(url), url.count(")") - url.count("(")
    while end and (url[end - 1] in _AROUND or (url[end - 1] == ")" and unopened > 0)):
        unopened -= url[end - 1] == ")"
        end -= 1
    return url[:end]


def repo_of(url: str) -> WorkId | None:
    """The repository of an address as it stands in running text (punctuation, TeX escapes, broken lines), or None."""
    text = url.strip().replace("\\_", "_").replace("\\%", "%").replace("\\#", "#").replace("%5F", "_").replace("\u00ad", "")
    text = re.sub(r"-\s+", "-", text)
    if not text:
        return None
    text = trimmed(re.split(r"[\s\\\[\]<>|`]", text, maxsplit=1)[0])
    work = repo_id(_REF.sub("", text.split("#")[0].split("?")[0]))
    if work is None or bare(repo_parts(work)[1]) in _PLACEHOLDERS or bare(repo_parts(work)[2]) in _PLACEHOLDERS:
        return None
    return work


def addresses(text: str) -> Iterator[tuple[WorkId, int]]:
    """Every repository that a text gives the address of, with the offset."""
    for match in _ADDRESS.finditer(text):
        if work := repo_of(match[0]):
            yield work, match.start()


def from_text(
    paper: Work,
    links: Sequence[tuple[str, str]],
    *,
    mentions: Sequence[Mention] = (),
    bibliography: Sequence[BibEntry] = (),
    said_by: str = "text",
) -> TextLinks:
    """Judge each (url, words around it) of a paper's text; `Document.links`, `.mentions` and `.bibliography` fit as they are."""
    keys = {entry.key for entry in bibliography} | {mention.key for mention in mentions}
    own: list[CodeLink] = []
    cited: list[ReferenceLink] = []
    for url, around in links:
        if repo := repo_of(url):
            saying = _Saying(around, repo, keys, mentions)
            judged = saying.judge(own_names(paper.title))
            own.append(_link(paper, repo, _tier(judged, repo, paper), said_by, saying.quote))
            if judged.whose is not Whose.OWN:
                cited += saying.of_references(bibliography, judged)
    entries = [link for entry in bibliography for link in _of_entry(entry)]
    return TextLinks(merge(own), tuple(dict.fromkeys([*cited, *entries])))


def from_abstract(paper: Work) -> tuple[CodeLink, ...]:
    """What the abstract and arXiv's comment field say; an address there without a word more is still the authors' doing."""
    links: list[CodeLink] = []
    for said_by, text in (("abstract", paper.abstract), ("comment", str(paper.meta.get("comment") or ""))):
        for repo, _ in addresses(text):
            saying = _Saying(text, repo, set(), ())
            judged = saying.judge(own_names(paper.title))
            tier = _tier(judged, repo, paper)
            if tier is Tier.AUTHOR:
                tier = Tier.OFFICIAL  # its own name, in its own abstract
            elif judged.whose is Whose.UNSAID or _is_last(text, repo):
                tier = min(tier, Tier.AUTHOR, key=lambda each: each.rank)
            links.append(_link(paper, repo, tier, said_by, saying.quote))
    return merge(links)


def _link(paper: Work, repo: WorkId, tier: Tier, said_by: str, quote: str) -> CodeLink:
    return CodeLink(paper.id, repo, tier, (said_by,), (f"{said_by}: “{quote}”",))


def _tier(judged: Verdict, repo: WorkId, paper: Work) -> Tier:
    if judged.whose is Whose.OWN:
        return Tier.OFFICIAL
    if judged.whose is not Whose.REMADE and bare(repo_parts(repo)[2]) in own_names(paper.title):
        return Tier.AUTHOR
    return Tier.MENTIONED


def _is_last(text: str, repo: WorkId) -> bool:
    """Whether the address is where the text ends."""
    return any(work_id == repo and len(text) - at < len(repo) + 40 for work_id, at in addresses(text))


class _Saying:
    """The words around one address: the sentence that holds it, and the one that its footnote hangs on."""

    def __init__(self, around: str, repo: WorkId, keys: set[str], mentions: Sequence[Mention]) -> None:
        self.repo = repo
        host, dash, note = _NEAREST.sub("", " ".join(around[:AROUND].split())).rpartition(" — ")
        self.host = host if dash else ""
        self.sentence = self._sentence(note)
        self.keys = self._cited(keys, mentions)
        self.quote = f"{self.host} — {self.sentence}"[-QUOTE:] if self.host else self.sentence[:QUOTE]

    def _sentence(self, text: str) -> str:
        """The sentence of `text` with the address in it, or all of it where the address is not printed."""
        name = self.repo.split("/", 1)[1].lower()
        parts = _SPLIT.split(text)
        return next((part for part in parts if name in part.replace("\\_", "_").lower()), text)

    def _cited(self, keys: set[str], mentions: Sequence[Mention]) -> tuple[str, ...]:
        """Keys cited in the sentence itself."""
        printed = [key for group in _KEYS.findall(self.sentence) for key in group.split("; ") if key in keys]
        read = [mention.key for mention in mentions if mention.sentence and mention.sentence == self.sentence]
        return tuple(dict.fromkeys(printed + read))

    def judge(self, names: frozenset[str]) -> Verdict:
        """Whose the code is: by the sentence, or, where that is an address and no more, by the one it hangs on."""
        silent = len(re.findall(r"[^\W\d_]{2,}", _ADDRESS.sub(" ", self.sentence))) < 2
        sentence_verdict = Verdict(Whose.UNSAID) if silent and self.host else verdict(self.sentence, names, cited=bool(self.keys), host=self.host)
        if sentence_verdict.whose is Whose.UNSAID and self.host:
            return verdict(_SPLIT.split(self.host)[-1], names, cited=bool(_KEYS.search(self.host)))
        return sentence_verdict

    def of_references(self, bibliography: Sequence[BibEntry], judged: Verdict) -> Iterator[ReferenceLink]:
        """The repository as that of a cited work: where the sentence cites just that one, or the names agree."""
        titles = {entry.key: bare(entry.title) for entry in bibliography}
        name = bare(repo_parts(self.repo)[2])
        spoken = [key for key in self.keys or _host_keys(self.host, titles) if len(name) >= 4 and name in titles.get(key, "")]
        beside = self.keys if len(self.keys) == 1 and len(list(addresses(self.sentence))) == 1 else ()
        for key in dict.fromkeys([*spoken, *beside]):
            theirs = judged.whose is Whose.OTHERS and re.search(r"official|original|their|released", judged.cue, re.IGNORECASE)
            tier = Tier.REIMPLEMENTATION if judged.whose is Whose.REMADE else Tier.AUTHOR if theirs else Tier.MENTIONED
            yield ReferenceLink(key, self.repo, tier, f"“{self.quote}”")


def _host_keys(host: str, titles: Mapping[str, str]) -> list[str]:
    return [key for group in _KEYS.findall(host) for key in group.split("; ") if key in titles]


def _of_entry(entry: BibEntry) -> Iterator[ReferenceLink]:
    """A repository that a bibliography entry itself gives as where the work is to be found."""
    unique_repos = dict.fromkeys(repo for text in (entry.url or "", entry.note, entry.raw) for repo, _ in addresses(text))
    for repo in unique_repos:
        is_it = bare(repo_parts(repo)[2]) in bare(entry.title) or entry.title.lower().startswith("github")
        quote = " ".join(entry.raw.split())[:QUOTE]
        yield ReferenceLink(entry.key, repo, Tier.OFFICIAL if is_it else Tier.AUTHOR, f"the entry gives it: “{quote}”")


def given_in(document: Document) -> frozenset[WorkId]:
    """The repositories that a paper gives the address of, in its text or its bibliography."""
    texts = (text for entry in document.bibliography for text in (entry.url or "", entry.note, entry.raw))
    linked = {repo for url, _ in document.links if (repo := repo_of(url))}
    return frozenset(linked.union(repo for text in texts for repo, _ in addresses(text)))


def namesakes(given: Mapping[str, Collection[WorkId]], papers: Iterable[Work], links: Iterable[CodeLink]) -> Iterator[CodeLink]:
    """Repositories called as a cited work is that has no code of its own, among all whose addresses are `given` by anybody.

    Of several, such as forks and former owners, it is the one that most of them give.
    """
    coded = {link.paper for link in links if link.tier.own}
    named: dict[str, set[WorkId]] = defaultdict(set)
    for paper in papers:
        for name in repo_names(paper.title) if paper.id not in coded else ():
            named[name].add(paper.id)
    found: dict[WorkId, Counter[WorkId]] = defaultdict(Counter)
    for repos in given.values():
        for repo in repos:
            if len(paper_ids := named.get(bare(repo_parts(repo)[2]), ())) == 1:
                found[next(iter(paper_ids))][repo] += 1
    for paper_id, counts in found.items():
        repo = min(counts, key=lambda one: (-counts[one], one.lower(), one))
        who = min(name for name, repos in given.items() if repo in repos)
        words = f"{who} gives the address of a repository that is called as the work is"
        yield CodeLink(paper_id, repo, Tier.AUTHOR, (f"{CITING}{who}",), (words,))


def merge(links: Iterable[CodeLink]) -> tuple[CodeLink, ...]:
    """One link per paper and repository with all its witnesses, best tier first within each paper.

    What the repository says of itself ("unofficial") outweighs everything but the paper's own word, and where it is a mere
    "re-implementation" the hub's; a paper that names a repository which in turn asks to be cited with that paper make it official
    together. A repository that introduces itself as the code of a paper is only mentioned in what third parties write of others, and
    one that it or a hub gives another paper in a sentence of a paper whose own code more witnesses know.
    """
    ordered = sorted(links, key=lambda link: (link.paper, link.repo.lower()))
    merged = [_one(list(group)) for _, group in groupby(ordered, key=lambda link: (link.paper, link.repo.lower()))]
    claimed = {link.repo.lower() for link in merged if link.tier.own and REPOSITORY_SIDE & set(link.said_by)}
    merged = [replace(link, tier=Tier.MENTIONED) if link.repo.lower() in claimed and _is_hearsay(link) else link for link in merged]
    merged = [replace(link, tier=Tier.MENTIONED) if _is_anothers(link, merged) else link for link in merged]
    return tuple(sorted(merged, key=lambda link: (link.paper, link.tier.rank, -len(link.said_by), link.repo.lower())))


def surest(links: Iterable[CodeLink]) -> dict[WorkId, CodeLink]:
    """The surest link of each repository."""
    best: dict[WorkId, CodeLink] = {}
    for link in links:
        if link.repo not in best or link.tier.rank < best[link.repo].tier.rank:
            best[link.repo] = link
    return best


def _is_hearsay(link: CodeLink) -> bool:
    """Whether only the texts of papers that cite the work say that the repository is its own."""
    return link.tier.own and all(name.startswith(CITING) for name in link.said_by)


def _is_anothers(link: CodeLink, links: Iterable[CodeLink]) -> bool:
    """Whether a sentence alone calls a repository its paper's, which has another by more witnesses, and a hub or the repository another paper's."""
    if not link.tier.own or len(link.said_by) != 1 or link.said_by[0] not in PAPER_SIDE:
        return False
    own = [other for other in links if other.tier.own]
    theirs = [other for other in own if other.repo.lower() == link.repo.lower() and {_HUB, *REPOSITORY_SIDE} & set(other.said_by)]
    return bool(theirs) and any(other.paper == link.paper and len(other.said_by) > 1 for other in own)


def _one(group: Sequence[CodeLink]) -> CodeLink:
    said_by = tuple(dict.fromkeys(name for link in group for name in link.said_by))
    evidence = tuple(dict.fromkeys(words for link in group for words in link.evidence))
    tier = min((link.tier for link in group), key=lambda each: each.rank)
    own = [link for link in group if PAPER_SIDE & set(link.said_by)]
    its = [link for link in group if REPOSITORY_SIDE & set(link.said_by)]
    own_word = any(link.tier is Tier.OFFICIAL for link in own)
    remade = [link for link in its if link.tier is Tier.REIMPLEMENTATION]
    if remade and not own_word:
        rewritten = _HUB in said_by and all(REWRITE in link.said_by for link in remade)
        tier = Tier.AUTHOR if rewritten else Tier.REIMPLEMENTATION
    elif own and any(link.tier.own for link in its if not PAPER_SIDE & set(link.said_by)):  # of links joined before nobody knows who said what
        tier = Tier.OFFICIAL
        evidence = (*evidence, "the paper and the repository name each other")
    return replace(group[0], tier=tier, said_by=said_by, evidence=tuple(dict.fromkeys(evidence)))


_ENDED = {
    Status.NOT_FOUND: "gone",
    Status.GONE: "gone",
    Status.LEGAL_451: "blocked for legal reasons",
    Status.FORBIDDEN: "blocked",
    Status.EMPTY: "empty",
}
_STAGES = {"code", "select"}


@dataclass(frozen=True)
class RepositoryState:
    """`status` is how fetching ended (None: nobody tried), `detail` why; the rest is what its forge says of it.

    `fork_of` is `owner/name` or empty where the forge names no parent, `renamed_from` are former names, and
    `undescribed` says that the forge refused its record, so that nothing is known of these.
    """

    status: Status | None = None
    detail: str = ""
    archived: bool = False
    fork: bool = False
    fork_of: str = ""
    renamed_from: tuple[str, ...] = ()
    undescribed: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        """The state in a few words each; none for a repository that is here and has nothing special about it."""
        state_words = ["archived"] if self.archived else []
        state_words += [f"fork of {self.fork_of}" if self.fork_of else "fork"] if self.fork else []
        state_words += [f"renamed from {', '.join(self.renamed_from)}"] if self.renamed_from else []
        state_words += ["record refused"] if self.undescribed else []
        return (*state_words, *(() if self.status is Status.OK else (self._missing(),)))

    def _missing(self) -> str:
        ended = _ENDED.get(self.status) if self.status else None
        return ended or "not fetched" + (f": {self.detail}" if self.detail else "")


def states(links: Iterable[CodeLink], works: Mapping[WorkId, Work], rows: Iterable[LedgerRow]) -> dict[WorkId, RepositoryState]:
    """The state of every repository that the links name, by its name there."""
    ended = {row.subject.lower(): row for row in rows if row.kind == "source" and row.stage in _STAGES}
    return {link.repo: _state(works.get(link.repo), ended.get(link.repo.lower())) for link in links}


def _state(work: Work | None, row: LedgerRow | None) -> RepositoryState:
    if not work or not work.meta.get("commit"):
        return RepositoryState(row.status, row.detail) if row else RepositoryState()
    fork_of = str(work.meta.get("fork_of") or "")
    return RepositoryState(
        status=Status.OK,
        detail=str(work.meta.get("commit_note") or ""),
        archived=bool(work.meta.get("archived")),
        fork=bool(work.meta.get("fork") or fork_of),
        fork_of=fork_of,
        renamed_from=tuple(name.partition("/")[2] for name in work.aliases if name.startswith("repo:")),
        undescribed="unasked" in work.meta,
    )
