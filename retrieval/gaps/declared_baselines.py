"""The code that a paper says it follows, and what that code is run with. Pure.

"We followed the NanoGPT codebase as closely as possible", with an address or a citation, makes that repository's settings
the ones to expect in the section that says so.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from lineage.file_roles import ASIDE
from lineage.hyperparameters.terms import fold
from lineage.ids import repo_name
from lineage.records import CodeLink, FileRole, Tier, WorkId
from lineage.results import FactOccurrence
from retrieval.decisions.experiments import Section, settings_of, telling
from retrieval.decisions.target_text import TargetSentence, TargetText
from retrieval.decisions.wording import wording

_OWN = frozenset({Tier.OFFICIAL, Tier.AUTHOR})
_FOLLOWS = re.compile(
    r"\b(?:follow(?:s|ed|ing)?|adopt(?:s|ed|ing)?|replicat(?:es?|ed|ing)|identical to|consistent with|the same (?:[\w-]+ ){0,4}as)\b", re.IGNORECASE
)
_USES = re.compile(
    r"\b(?:us(?:e|es|ed|ing)|based (?:up)?on|buil(?:t|ds?) (?:up)?on|train(?:ed)? with)\b[^.;]{0,60}"
    r"\b(?:code|code[ -]?base|off?icial|original|implementation|repository|scripts?)\b",
    re.IGNORECASE,
)
_BROAD = re.compile(
    r"\b(?:set-?up|settings?|hyper-?parameters?|configurations?|recipe|training (?:details|procedure|protocol|pipeline|scheme)|"
    r"implementation|code[ -]?base|experimental protocol)\b",
    re.IGNORECASE,
)
_ELSE = re.compile(
    r"\b(?:unlike|instead of|rather than|in contrast|evaluat\w*|metrics?|librar(?:y|ies)|frameworks?|toolkits?|packages?|data ?sets?|"
    r"splits?|pre-?process\w*|sampling|competition|for our [\w-]+ experiments)\b",
    re.IGNORECASE,
)
"""What is followed in these respects only, or not at all; a framework has the settings of nobody's experiment."""
_IN_SETTING = re.compile(r"\bin (?:the|a|this)(?: same| similar)? setting\b", re.IGNORECASE)
"""The setting of a problem, which has no settings: "a multi-step approach in the same setting as [12]"."""
_OFFICIAL = re.compile(
    r"\b(?:us(?:e|es|ed|ing)|based (?:up)?on|buil(?:t|ds?) (?:up)?on|train(?:ed)? with)\b[^.;]{0,40}"
    r"\b(?:off?icial|original|released|publicly available|their|authors['’]s?)\s(?:[\w-]{1,20}\s){0,2}"
    r"(?:code|code[ -]?base|implementations?|repository|scripts?)\b",
    re.IGNORECASE,
)
"""What is run as its authors left it: its settings are those of what the paper names after it, of nothing else in the section."""
_SPELLED = 5
"""Letters from which on the name of a repository is found in any case; a shorter one is a word too (`mar`, `sit`)."""
_MEASURED = frozenset({"epochs", "steps", "image_size"})
"""What tables give beside the name of a method for how it was measured."""
_SCALED = re.compile(r"b(?:ase)?_?l(?:r|earning_rate)", re.IGNORECASE)
"""Names of a learning rate that a program multiplies by the size of its batch."""
_ADDRESS = re.compile(r"https?://\S+")
_TREE = "/(?:tree|blob)/[^/\\s]+/([\\w./-]+)"
_ASIDE = frozenset({*ASIDE, FileRole.DEVELOPMENT, FileRole.EVALUATION}) - {FileRole.BASELINE}
_SIBLINGS = 3
_NO_SETTINGS = "gpus gpu_type training_time num_runs num_workers seed folds dataset log_interval eval_interval"
_UNTOLD = frozenset(_NO_SETTINGS.split())
"""What nobody follows who follows settings: machines, repetitions and what is printed."""


@dataclass(frozen=True)
class Followed:
    """Code that a sentence of the target says it follows: works (where several are cited, any of them), one folder or all of it.

    `section` and `line` are where the sentence stands, `own` words by which the target calls what is its own. With `run` the code is run
    as it is: what the target states of it stands wherever its name does.
    """

    works: frozenset[WorkId]
    said: TargetSentence
    section_text: str
    folder: str = ""
    own: frozenset[str] = frozenset()
    run: bool = False

    @property
    def section(self) -> Section:
        """The titles that the sentence stands under."""
        return self.said.chunk.section


def followed(target_text: TargetText, links: Iterable[CodeLink]) -> tuple[Followed, ...]:
    """What the target's text says it follows, by address and by citation, in the order of the text."""
    linked = list(links)
    mine = [link.repo for link in linked if link.paper == target_text.work.id and link.tier in _OWN]
    own = telling(" ".join((target_text.work.title, *(repo_name(repo) for repo in mine))))
    texts: dict[Section, list[str]] = defaultdict(list)
    for sentence in target_text.sentences:
        texts[sentence.chunk.section].append(sentence.text)
    codes: dict[WorkId, set[WorkId]] = defaultdict(set)
    for link in linked:
        if link.tier in _OWN and link.repo not in mine:
            codes[link.paper].add(link.repo)
    others = [link for link in linked if link.paper == target_text.work.id and link.tier is Tier.MENTIONED]
    followeds = []
    for sentence in target_text.sentences:
        for works, folder in (*_addressed(sentence, others), *_cited(sentence, codes)):
            followeds.append(Followed(frozenset(works), sentence, " ".join((*sentence.chunk.section, *texts[sentence.chunk.section])), folder, own))
        if works := _run(sentence, codes):
            followeds.append(Followed(frozenset(works), sentence, sentence.text, "", own, run=True))
    return tuple(followeds)


def _addressed(sentence: TargetSentence, links: Iterable[CodeLink]) -> Iterator[tuple[set[WorkId], str]]:
    """The repositories whose address a sentence, or a footnote of it, gives while it says that they are followed."""
    if _ELSE.search(sentence.text) or not (_FOLLOWS.search(sentence.text) or _USES.search(sentence.text)):
        return
    for link in links:
        for quote in filter(None, (said.partition("“")[2].rpartition("”")[0] for said in link.evidence)):
            if _quotes(quote, sentence.text) or link.repo.partition(":")[2].lower() in sentence.text.lower():
                tree = re.search(re.escape(link.repo.partition(":")[2]) + _TREE, quote, re.IGNORECASE)
                yield {link.repo}, tree[1].strip("./") if tree else ""


def _quotes(quote: str, text: str) -> bool:
    """Whether a quote and a sentence hold one another; an address that stands alone has no words to be found by."""
    said, whole = _core(text), _core(quote)
    short = _core(quote.rpartition(" — ")[0]) or whole
    return bool(short and short in said) or bool(said and said in whole)


def _cited(sentence: TargetSentence, codes: Mapping[WorkId, set[WorkId]]) -> Iterator[tuple[set[WorkId], str]]:
    """The repositories of the works that a sentence cites as those whose set-up it follows."""
    text = sentence.text
    if sentence.table or sentence.quoted or _ELSE.search(text) or _IN_SETTING.search(text) or not (_FOLLOWS.search(text) and _BROAD.search(text)):
        return
    if works := {repo for cited in sentence.cites for repo in codes.get(cited, ())}:
        yield works, ""


def _run(sentence: TargetSentence, codes: Mapping[WorkId, set[WorkId]]) -> set[WorkId]:
    """The repositories of the works that a sentence says are run by their own code: those it cites, or calls by the name of the repository."""
    if sentence.table or sentence.quoted or _ELSE.search(sentence.text) or not _OFFICIAL.search(sentence.text):
        return set()
    return {repo for cited, some in codes.items() for repo in some if cited in sentence.cites or _calls(sentence.text, repo)}


def _calls(text: str, repo: WorkId) -> bool:
    """Whether a text has the name of a repository as a word."""
    name = repo_name(repo)
    flags = re.IGNORECASE if len(name) >= _SPELLED else re.NOFLAG
    return re.search(rf"(?<![A-Za-z]){re.escape(name)}(?![A-Za-z])", text, flags) is not None


def _core(text: str) -> str:
    """Letters and digits of a sentence without addresses and citations."""
    return "".join(c for c in re.sub(r"\[[^\]]*\]", "", _ADDRESS.sub("", text)).lower() if c.isalnum())


def stated(name: str, occurrences: Sequence[FactOccurrence], target: WorkId, one: Followed) -> list[FactOccurrence]:
    """What the target states of a detail where it says that it follows others: its section, or its paragraph if the title says nothing."""
    if name in _UNTOLD:
        return []
    mine = [held_ for held_ in occurrences if held_.fact.work == target and held_.fact.literal and not telling(held_.fact.scope) & one.own]
    if one.run:
        return [held_ for held_ in mine if name not in _MEASURED and any(_calls(held_.fact.scope, repo) for repo in one.works)]
    narrow = not (one.section and telling(one.section[-1]))
    mine = [held_ for held_ in mine if held_.evidence.chunk.section == one.section]
    return [held_ for held_ in mine if held_.fact.kind == "table" or not narrow or held_.fact.line == one.said.line]


Files = Mapping[WorkId, frozenset[PurePosixPath]]


def files_of(held: Iterable[Sequence[FactOccurrence]]) -> Files:
    """The files of each work that hold any value."""
    paths_by_key: dict[WorkId, set[PurePosixPath]] = defaultdict(set)
    for some in held:
        for occurrence in some:
            paths_by_key[occurrence.fact.work].add(PurePosixPath(occurrence.evidence.chunk.path))
    return {work: frozenset(paths) for work, paths in paths_by_key.items()}


def theirs(occurrences: Sequence[FactOccurrence], one: Followed, files: Files) -> list[FactOccurrence]:
    """What the followed code is run with: settings that beat defaults, without tests, other stages and other data sets' files."""
    inside = [other for other in occurrences if other.fact.work in one.works and other.fact.literal and _is_under(other, one.folder)]
    code = [other for other in settings_of(inside) if other.fact.kind not in {"prose", "table"} and _is_general(other, files, one)]
    if one.run and any(_SCALED.fullmatch(other.fact.written) for other in code):
        return []
    beaten = {fold(other.fact.written) for other in code if _sets(other)}
    return [other for other in code if other.fact.kind != "default" or fold(other.fact.written) not in beaten]


def _sets(occurrence: FactOccurrence) -> bool:
    """Whether a script or a group of settings sets an option; a command of a README shows one way of many, a group of an optimizer's one part."""
    if occurrence.fact.kind == "config":
        return occurrence.evidence.chunk.kind == "config" or not telling(occurrence.fact.scope)
    return occurrence.fact.kind == "command" and occurrence.evidence.chunk.kind != "docs"


def _is_under(occurrence: FactOccurrence, folder: str) -> bool:
    return not folder or PurePosixPath(occurrence.evidence.chunk.path).is_relative_to(folder)


def _is_general(occurrence: FactOccurrence, files: Files, one: Followed) -> bool:
    """Whether a file is no test, of no stage that the section does not name, and not one of many for data that it does not name."""
    path = PurePosixPath(occurrence.evidence.chunk.path)
    parts = {*path.parts[:-1], *re.split(r"[_\W]+", path.stem.lower())}
    if not _ASIDE.isdisjoint(occurrence.evidence.roles) or any(word in parts and word not in one.section_text.lower() for word in _stages()):
        return False
    beside = [other for other in files.get(occurrence.fact.work, ()) if other.parent == path.parent]
    named = telling(path.stem.lower().replace("pretrain", "train"))
    return len(beside) < _SIBLINGS or path.parent == PurePosixPath(".") or not named or bool(named & telling(one.section_text))


def _stages() -> frozenset[str]:
    return frozenset(word for stage in wording().stages for word in stage.files)
