"""From which works the target takes its model, checkpoint, training, loss, data, evaluation and sampling, and signals of that. Pure.

For each part the works that the text says it is taken from (`lineage.references.inheritance`), helped by code that is shared with them or loads
their checkpoints, weighed with their rank among all references. What nobody says anything of has no ancestor.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from lineage.code_links.cues import bare
from lineage.code_reuse.reuse import Shared, is_boilerplate, is_vendored
from lineage.ids import arxiv_id, doi_id, normal_title
from lineage.records import BibEntry, CodeLink, Document, Mention, Reference, Role, Span, Work, WorkId
from lineage.references.citation_cues import TARGET, WITNESS, YEAR, classes
from lineage.references.inheritance import Takeover, by_part, takeovers
from lineage.references.signals import Ancestor, Part, RankSignal, own_name
from lineage.text.phrases import sentences
from lineage.text.tokens import counted

MAX_NAMES = 300
MAX_SENTENCES = 4_000
MAX_OF_ONE = 60
_SIZE = r"(?:large|base|small|tiny|huge|giant|medium|mini|nano|xx?l|[SBLHgGMT]|[\d.]+[bmkBMK]?)(?:/\d+)?"
_WORD = r"[A-Za-z0-9α-ωΑ-Ω][\w.+–-]{0,40}"
_BEFORE = re.compile(rf"((?:{_WORD}[ ~])?{_WORD}(?:/\d+)?|\(\s*{_WORD}\s*\))['’]?s?\s*\Z")
_SUFFIX = re.compile(rf"[-–]{_SIZE}(?:/\d+)?\Z")
_DISTINCT = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}|[A-Za-z]\d|[A-Z][a-z]+\d")
_COMMON = ("ing", "ion", "ions", "ity", "ness", "ment", "ed", "ly", "al", "ous")
"""Endings of ordinary words that begin a sentence."""
_PROSE = frozenset(("paragraph", "abstract", "caption", "footnote", "list", "table", "algorithm"))


def named_mentions(document: Document, references: Sequence[Reference], works: Mapping[WorkId, Work]) -> dict[WorkId, tuple[Mention, ...]]:
    """The sentences of a paper that speak of a cited work by its short name alone, by work."""
    names = short_names(document.title, references, works)
    if not names:
        return {}
    keys = {r.cited: {m.shown for m in r.mentions} | {r.key} for r in references}
    either = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    pattern = re.compile(rf"(?<![\w-])({either})((?:[-–]{_SIZE})?)(?![\w–-])")
    mentions_by_key: dict[WorkId, list[Mention]] = defaultdict(list)
    for span, sentence in _sentences(document):
        for name in dict.fromkeys(match[1] for match in pattern.finditer(sentence)):
            work = names[name]
            if len(mentions_by_key[work]) < MAX_OF_ONE and not any(key and key in sentence for key in keys[work]):
                mentions_by_key[work].append(Mention("", _marked(sentence, name, pattern), span.path, span.start, span.end, said_by=WITNESS))
    return {work: tuple(work_mentions) for work, work_mentions in mentions_by_key.items() if work_mentions}


def _marked(sentence: str, name: str, pattern: re.Pattern[str]) -> str:
    """The sentence with a marker behind every occurrence of one name."""
    return pattern.sub(lambda match: f"{match[0]} {TARGET}" if match[1] == name else match[0], sentence)


def short_names(title: str, references: Sequence[Reference], works: Mapping[WorkId, Work]) -> dict[str, WorkId]:
    """Short name -> the work that it names."""
    votes: dict[str, Counter[WorkId]] = defaultdict(Counter)
    for reference in references:
        for mention in reference.mentions:
            if name := _before(mention):
                votes[name][reference.cited] += 1
        head = works[reference.cited].title.partition(":") if reference.cited in works else ("", "", "")
        if head[1] and len(head[0].split()) == 1 and _is_name(head[0]):
            votes[head[0]][reference.cited] += 1
    own = title.partition(":")[0].strip() if ":" in title else ""
    chosen = ((name, count.most_common(2)) for name, count in votes.items() if name.lower() != own.lower())
    clear = {name: best[0][0] for name, best in chosen if len(best) == 1 or best[0][1] >= 3 * best[1][1]}
    return dict(sorted(clear.items())[:MAX_NAMES])


def _before(mention: Mention) -> str:
    """The name that stands right before a citation that is alone in its bracket, "" for none."""
    at = re.search(rf"[(\[]\s*{re.escape(mention.shown)}(?:,?\s*{YEAR})?\s*[)\]]", mention.sentence) if mention.shown else None
    words = _BEFORE.search(mention.sentence[max(0, at.start() - 100) : at.start()]) if at else None
    if not words:
        return ""
    name = words[1].strip("() ")
    first, _, last = name.rpartition(" ")
    full = name if first and first[0].isupper() and last[0].isupper() and not _DISTINCT.search(last) else last or name
    name = _SUFFIX.sub("", full)
    return name if _is_name(name) else ""


def _is_name(name: str) -> bool:
    """Whether a word names one thing: marked by its letters, or two capitalized words that prose does not use otherwise."""
    words = name.split()
    if len(words) == 2:
        return all(word[0].isupper() and len(word) > 2 for word in words)
    return len(name) >= 3 and bool(
        _DISTINCT.search(name) or (name[0].isupper() and not classes(name.lower()) and len(name) > 4 and not name.endswith(_COMMON))
    )


def _sentences(document: Document) -> Iterator[tuple[Span, str]]:
    """The sentences of prose, each row of a table for itself."""
    counted = 0
    for span in document.spans:
        if span.role not in _PROSE:
            continue
        text = document.text[span.start : span.end]
        for sentence in text.split("\n") if span.role == "table" else sentences(text):
            counted += 1
            if counted > MAX_SENTENCES:
                return
            yield span, sentence


VERSION = "ancestors@7"
MOST = 3
"""Ancestors named for one part."""
LEAST = 0.1
_SENTENCE = 300
_CODE = {
    "reuse": ((Part.MODEL, 0.5), (Part.TRAINING, 0.5), (Part.DATA, 0.2), (Part.EVALUATION, 0.2)),
    "checkpoint": ((Part.CHECKPOINT, 0.7), (Part.MODEL, 0.3)),
}
_ROLES = {Role.DATA: Part.DATA, Role.METRIC: Part.EVALUATION}
_BY_ROLE = 0.5
_TITLE = 16
"""Letters from which on a title names one work."""
MAX_LETTERS = 200_000
MAX_FILES = 2_000
_REPOSITORY = re.compile(r"github\.com[/:]([\w.-]{1,60})/([\w.-]{1,80})", re.IGNORECASE)
_LOADED = re.compile(
    r"""(?:from_pretrained|create_model|hub\.load|load_model|checkpoint|pretrained|model_name|model|encoder|backbone)\w*["']?\s*[=:(,]\s*(?:default\s*=\s*)?["']([\w./-]{3,80})["']"""
)
_FOLDER = 3
"""Letters from which on a folder can be called as a work is; words of the text need one more."""
_PAST = 40
"""Files of one repository that may name a work before the name is taken for a word of the trade."""


def ancestors(
    references: Sequence[Reference], named: Mapping[WorkId, Sequence[Mention]], more: Mapping[WorkId, Sequence[RankSignal]], target: Work
) -> tuple[Ancestor, ...]:
    """The ancestors of each part of the target, best first, the parts in the order of `Part`; references come with their scores."""
    own = own_name(target)
    candidate_ancestors = [
        ancestor for r in references for ancestor in _of(r, list(takeovers([*r.mentions, *named.get(r.cited, ())], own)), more.get(r.cited, ()))
    ]
    supported_ancestors = (
        ancestor
        for part in Part
        for ancestor in sorted((ancestor for ancestor in candidate_ancestors if ancestor.part is part), key=lambda ancestor: -ancestor.score)[:MOST]
    )
    return tuple(ancestor for ancestor in supported_ancestors if ancestor.score >= LEAST)


def _of(reference: Reference, takeover_statements: Sequence[Takeover], signals: Sequence[RankSignal]) -> Iterator[Ancestor]:
    """What one work gives, by part."""
    by_text, by_code = by_part(takeover_statements), dict(_by_code(signals))
    by_role = {_ROLES[verdict.role]: verdict for verdict in reversed(reference.roles) if verdict.role in _ROLES}
    for part in Part:
        code, words = by_code.get(part, (0.0, ""))
        role = by_role.get(part)
        text = max(by_text.get(part, 0.0), _BY_ROLE * role.score if role else 0.0)
        value = 1 - (1 - text) * (1 - code)
        if value:
            reason = _sentence(part, takeover_statements) or words or (role.sentence if role else "")
            yield Ancestor(part, reference.cited, round(value * (0.4 + 0.6 * reference.score), 4), reason[:_SENTENCE])


def _by_code(signals: Sequence[RankSignal]) -> Iterator[tuple[Part, tuple[float, str]]]:
    for signal in signals:
        for part, weight in _CODE.get(signal.name, ()):
            yield part, (weight * signal.value, signal.words)


def _sentence(part: Part, takeover_statements: Sequence[Takeover]) -> str:
    """The sentence that says most clearly that a part is taken over."""
    clear = [(takeover.weight * dict(takeover.parts).get(part, 0.0), takeover) for takeover in takeover_statements]
    best = max(clear, key=lambda pair: pair[0], default=None)
    return " ".join(best[1].mention.sentence.replace(" ⟦T⟧", "").split()) if best and best[0] > 0.1 else ""


def cocitation_signals(
    references: Sequence[Reference], works: Mapping[WorkId, Work], lists: Mapping[WorkId, Sequence[BibEntry]]
) -> dict[WorkId, tuple[RankSignal, ...]]:
    """For each reference that others cite too the signal of that: by one .2, by three .4, by seven .6.

    Bibliographic coupling (Kessler 1963): what several of its sources rest on is common ground of the field they share. `lists` are
    bibliographies by citing work, those of the target's references; a work never counts for itself.
    """
    named = {name: r.cited for r in references for name in _names(works.get(r.cited))}
    citing: dict[WorkId, set[WorkId]] = defaultdict(set)
    for other, entries in lists.items():
        for cited in {named[name] for entry in entries for name in _entry_names(entry) if name in named}:
            citing[cited] |= {other} - {cited}
    return {cited: (_signal(len(others), len(lists)),) for cited, others in citing.items() if others}


def _signal(count: int, of: int) -> RankSignal:
    return RankSignal("cocited", min(1.0, count.bit_length() / 5), f"cited by {count} of the {counted(of, 'fetched paper')} too")


def _names(work: Work | None) -> Iterator[str]:
    if work:
        yield from (work.id, *work.aliases)
        yield from _title(work.title)


def _entry_names(entry: BibEntry) -> Iterator[str]:
    if entry.arxiv and (id_and_version := arxiv_id(entry.arxiv)):
        yield id_and_version[0]
    if entry.doi and (doi := doi_id(entry.doi)):
        yield doi
    yield from _title(entry.title)


def _title(title: str) -> Iterator[str]:
    words = normal_title(title)
    if len(words) >= _TITLE:
        yield words


def naming_signals(
    documents: Iterable[Document], references: Sequence[Reference], works: Mapping[WorkId, Work], links: Sequence[CodeLink], target: Work
) -> dict[WorkId, tuple[RankSignal, ...]]:
    """For each reference that the target's own code names: in how many files, and the checkpoint that is loaded under its name."""
    own = {link.repo for link in links if link.paper == target.id and link.tier.own}
    files = [
        code_document
        for code_document in documents
        if code_document.work in own and not (is_vendored(code_document.path) or is_boilerplate(code_document.path))
    ][:MAX_FILES]
    if not files:
        return {}
    names = {bare(name): work for name, work in short_names(target.title, references, works).items() if len(bare(name)) >= _FOLDER}
    homes = {link.repo.lower(): link.paper for link in links if link.tier.own and link.paper != target.id and link.paper in works}
    named: dict[WorkId, set[str]] = defaultdict(set)
    loaded: dict[WorkId, str] = {}
    for document in files:
        text = document.text[:MAX_LETTERS]
        for owner, name in _REPOSITORY.findall(text):
            if work := homes.get(f"repo:github.com/{owner}/{name.removesuffix('.git').rstrip('.')}".lower()):
                named[work].add(document.path)
        for value in _LOADED.findall(text):
            if work := _of_checkpoint(value, names):
                loaded.setdefault(work, f"{value} in {document.path}")
        called = {folded for part in document.path.split("/")[:-1] if len(folded := bare(part)) >= _FOLDER}
        for work in {names[word] for word in (called | _words(text)) if word in names}:
            named[work].add(document.path)
    signals_by_key: dict[WorkId, list[RankSignal]] = defaultdict(list)
    for work, paths in named.items():
        value = 0.0 if len(paths) > max(_PAST, len(files) // 2) else min(1.0, len(paths).bit_length() / 4)
        signals_by_key[work].append(
            RankSignal("named_in_code", value, f"the target's own code names it in {counted(len(paths), 'file')}: {', '.join(sorted(paths)[:2])}")
        )
    for work, words in loaded.items():
        signals_by_key[work].append(RankSignal("checkpoint", 1.0, f"the target's own code loads {words}"))
    return {work: tuple(work_signals) for work, work_signals in signals_by_key.items()}


def _words(text: str) -> set[str]:
    """The words of identifiers: `dinov2` of `dinov2_vitl14`."""
    return {word.lower() for word in re.findall(r"[A-Za-z][A-Za-z0-9]{3,40}", text)}


def _of_checkpoint(value: str, names: Mapping[str, WorkId]) -> WorkId | None:
    """The work after which a checkpoint is called: `facebook/dinov2-large`, `roberta-large`."""
    words = [bare(part) for part in re.split(r"[/_.-]", value) if part]
    heads = [*words, *("".join(pair) for pair in pairwise(words))]
    return next((names[word] for word in heads if word in names), None)


def reuse_signals(shareds: Sequence[Shared], links: Sequence[CodeLink], target: WorkId) -> dict[WorkId, tuple[RankSignal, ...]]:
    """For each paper whose own repository shares code with the target's the signal of that: 1 shared file .4, 31 functions 1."""
    owners: dict[str, set[WorkId]] = defaultdict(set)
    for link in links:
        if link.tier.own:
            owners[link.repo.lower()].add(link.paper)
    best: dict[WorkId, Shared] = {}
    for shared_code in shareds:
        papers, others = owners[shared_code.one.lower()], owners[shared_code.other.lower()]
        for paper in others if target in papers else papers if target in others else ():
            if paper != target and shared_code.weight > (best[paper].weight if paper in best else 0.0):
                best[paper] = shared_code
    return {
        paper: (
            RankSignal("reuse", min(1.0, math.log2(1 + shared_code.weight) / 5), f"its repository shares {shared_code.words()} with the target's"),
        )
        for paper, shared_code in best.items()
    }
