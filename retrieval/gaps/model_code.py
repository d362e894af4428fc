"""Which choices of cited code a reproduction has to make too: a chat model picks files of the ancestors, reads them whole, and lists them.

Search finds the places of decisions that somebody names; most of what a paper leaves open nobody names before having read the code. A choice is
kept with lines that were shown, so nothing but what is stored can be told.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from lineage.file_roles import ASIDE, named_roles
from lineage.records import Chunk, ChunkKind, FileRole, Query, WorkId
from lineage.references.signals import Ancestor
from lineage.results import Detail, Gap, Specification, Suggestion
from lineage.text.hidden_text import inline, own_words
from retrieval.decisions.provenance import evidence
from retrieval.decisions.target_text import OWN, section_weight
from retrieval.gaps.model_reader import QUOTED, Claim, Reader, ShownPlace, batched, fact_of, fitting, window_text
from retrieval.search.batch import asked

_LISTED, _PICKED = 30, 40
"""Files of a repository that are listed because they decide most, and as many because the text leads to them; those that are read of all."""
_CODE, _FILE, _WINDOW = 400_000, 48_000, 22_000
"""Characters of code that are read in all, of one file, and in one call."""
_EACH, _WIDEST = 14, 8
"""Choices that are taken of one call, and lines of one."""
_ABSTRACT, _TOLD, _TEXT, _OUTLINE = 900, 3_500, 5_000, 60
"""Characters of the abstract, of the passages by which the target is told, and of those beside which code is read; headings of its outline."""
_DONE = "implementation details: architecture of the model, training objective, optimizer, data and preprocessing, evaluation protocol, baselines"
_VOTES, _PASSAGE = 10, 400
"""Hits of a passage of the target that speak for their files, and its characters that are searched for."""
_KINDS: frozenset[ChunkKind] = frozenset(("code", "config"))
_NOT_READ = ASIDE - {FileRole.DOCUMENTATION} | {FileRole.DATA, FileRole.PACKAGING}
_FILES = """You plan the reproduction of a machine-learning paper without its authors' code. Files of repositories that it cites follow. Choose those
that its authors most likely took over, adapted or called for what they built and ran: first of the work that the method, its losses and its training
loop come from, then networks, preparation of data, environments and their rewards, prompts, configurations and commands, evaluation and metrics. Of
several that do the same choose the one closest to the paper. Last come methods that it runs for comparison: what sets how they run. Give the numbers
of the files, what one would read first first, at most 40."""
_CHOICES = """You know machine-learning code. A paper is re-implemented without its authors' code. Of its text the passages nearest to the code
come first, then code of works that it builds on, its lines numbered. List the choices that this code makes, that the re-implementation has to make
too, and that the text does not state: formulas and constants of losses and targets, which copy of a network is used where, where gradients stop,
bounds and clipping, initialization, layers and their order, optimizer and schedule, how data are loaded, cut, filtered, normalized, sampled and
ended, environments and rewards, masks, prompts and how outputs are read, when something stops, how it is evaluated and averaged, which checkpoint.
One choice a row, none bundled; nothing of logging, paths, or parts that the paper does not have. Give for each a title of two to five words; the
question that an engineer would ask who has never seen this code, in whole words of the paper and not in names of the code; the number of the file;
and the first and the last of the lines that decide it, as few as do. At most fourteen, those that change results most first."""


class Files(Claim):
    """The numbers of the files to read, the most telling first."""

    files: tuple[int, ...]


class CodeChoice(Claim):
    """A choice that lines of a file make."""

    title: str
    question: str
    file: int
    first: int
    last: int


class CodeChoices(Claim):
    """The choices of some code, those that matter most first."""

    choices: tuple[CodeChoice, ...]


@dataclass(frozen=True)
class _CodeFile:
    work: WorkId
    path: str


def choices_of_code(reader: Reader, taken: Sequence[Ancestor]) -> list[Gap]:
    """A row for each choice of the code that the model read, the most telling file first; `taken` is what the target takes from which works."""
    rows: dict[str, Gap] = {}
    for places in batched(_read(reader, _files(reader, taken)), _WINDOW):
        for gap in _choices(reader, places):
            known = rows.get(gap.detail.name)
            rows[gap.detail.name] = replace(known, suggestions=(*known.suggestions, *gap.suggestions)) if known else gap
    return list(rows.values())


def about(reader: Reader, taken: Sequence[Ancestor]) -> str:
    """The paper: its abstract, what it takes from which works, and the passages that come nearest to how it was done."""
    catalog, target = reader.engine.generation.catalog, reader.context.target
    titles = {work.id: work.title for work in catalog.works()}
    lines = [f"- {ancestor.part} from {titles.get(ancestor.work, ancestor.work)}: {ancestor.reason[:QUOTED]}" for ancestor in taken]
    return "\n".join((f"The paper: {target.title}. {target.abstract[:_ABSTRACT]}", *lines, _nearest(reader, _DONE, _TOLD)))


def _files(reader: Reader, taken: Sequence[Ancestor]) -> list[_CodeFile]:
    """The files to read, the most telling first."""
    listed, shown, decided = list[_CodeFile](), [about(reader, taken), "Its headings: " + "; ".join(_headings(reader))], _decided(reader)
    for work, paths in _candidates(reader, decided, _led_to(reader)).items():
        relation = reader.engine.relations.of(work)
        shown.append(f"\nRepository {relation.work.title or work}, of: {relation.paper.title if relation.paper else relation.work.title}")
        for path in paths:
            listed.append(_CodeFile(work, path))
            shown.append(f"{len(listed)}: {path}")
    answer = reader.ask(_FILES, "\n".join(shown), Files) if listed else None
    reader.proceed()
    if not answer:  # also where it is only counted what would be asked
        return [] if reader.chat.sends else sorted(listed, key=lambda file: -decided[file])[:_PICKED]
    return [listed[n - 1] for n in islice(dict.fromkeys(answer.files), _PICKED) if reader.is_kept(1 <= n <= len(listed))]


def _headings(reader: Reader) -> list[str]:
    chunks = (chunk for chunk in _own_text(reader) if chunk.section)
    return list(islice(dict.fromkeys(inline(chunk.section[-1])[: QUOTED // 2] for chunk in chunks), _OUTLINE))


def _own_text(reader: Reader) -> Iterator[Chunk]:
    catalog, target = reader.engine.generation.catalog, reader.context.target.id
    for document in catalog.documents(target):
        yield from catalog.chunks(catalog.neighbours(target, document.path))


def _decided(reader: Reader) -> Counter[_CodeFile]:
    """How many decisions each file takes."""
    catalog, decided = reader.engine.generation.catalog, Counter[_CodeFile]()
    counts = catalog.deciding()
    for outline in catalog.outlines(catalog.rows_of(counts)).values():
        decided[_CodeFile(outline.chunk.work, outline.chunk.path)] += counts[outline.chunk.id]
    return decided


def _led_to(reader: Reader) -> Counter[_CodeFile]:
    """How much the passages of the target's text lead to each file."""
    votes = Counter[_CodeFile]()
    own = [chunk.text[:_PASSAGE] for chunk in _own_text(reader) if section_weight(chunk) > OWN]
    for hits in asked(reader.engine, [Query(text, _VOTES, _KINDS) for text in own])[0]:
        for hit in hits:
            votes[_CodeFile(hit.work.id, hit.chunk.path)] += _VOTES + 1 - hit.rank
    return votes


def _candidates(reader: Reader, *counts: Mapping[_CodeFile, int]) -> dict[WorkId, list[str]]:
    """By repository of others the files of the highest counts, in the order of their paths."""
    catalog, relations, files = reader.engine.generation.catalog, reader.engine.relations, dict[WorkId, list[str]]()
    for work in (work for work, relation in relations.by_work.items() if relation.work.kind == "code" and not relation.from_target):
        roles = relations.files(work)
        paths = [document.path for document in catalog.documents(work) if document.length]
        read = [path for path in paths if _NOT_READ.isdisjoint({*named_roles(path), *(roles[path].roles if path in roles else ())})]
        for count in counts:
            first = sorted(read, key=lambda path: (-count.get(_CodeFile(work, path), 0), path.count("/"), path))[:_LISTED]
            files[work] = sorted({*files.get(work, ()), *first})
    return {work: paths for work, paths in files.items() if paths}


def _read(reader: Reader, files: Iterable[_CodeFile]) -> Iterator[ShownPlace]:
    """The passages of the files, as far as they are read."""
    catalog, total = reader.engine.generation.catalog, 0
    for file in files:
        size = 0
        for chunk in catalog.chunks(catalog.neighbours(file.work, file.path)):
            if size + len(chunk.text) <= _FILE and total + len(chunk.text) <= _CODE:
                size, total = size + len(chunk.text), total + len(chunk.text)
                yield ShownPlace.whole(evidence(chunk, reader.engine.relations))


def _choices(reader: Reader, shown_places: Sequence[ShownPlace]) -> Iterator[Gap]:
    files: dict[str, list[ShownPlace]] = {}
    for place in shown_places:
        files.setdefault(place.where, []).append(place)
    shown = [f"File {n}: {where}\n" + "\n".join(place.text for place in places) for n, (where, places) in enumerate(files.items(), 1)]
    answer = reader.ask(_CHOICES, "\n\n".join((_nearest(reader, "\n".join(shown), _TEXT), *shown)), CodeChoices) or _expected(reader, shown_places[0])
    of_file = list(files.values())
    for nth, claim in enumerate(islice(answer.choices if answer else (), _EACH)):
        places = of_file[claim.file - 1] if 1 <= claim.file <= len(of_file) else ()
        chosen = next((place for place in places if place.line(claim.first)), None)
        title = own_words(claim.title)[: QUOTED // 2]
        name = "_".join(re.findall(r"[a-z0-9]+", title.lower()))
        if reader.is_kept(bool(chosen and name)) and chosen:
            detail = Detail(name, title, "procedure", own_words(claim.question)[: 2 * QUOTED], weight=round(1 - nth / 40, 3))
            yield Gap(detail, Specification.UNSPECIFIED, suggestions=(_offer(reader, name, chosen, claim),))


def _expected(reader: Reader, place: ShownPlace) -> CodeChoices | None:
    """As many choices as a call may make, where it is only counted what would be asked."""
    if reader.chat.sends:
        return None
    titles = (f"{reader.calls} {n}" for n in range(_EACH))
    return CodeChoices(choices=tuple(CodeChoice(title=title, question="-" * QUOTED, file=1, first=place.first, last=place.first) for title in titles))


def _offer(reader: Reader, name: str, place: ShownPlace, claim: CodeChoice) -> Suggestion:
    """The lines of a choice as an offer."""
    last = max(claim.first, min(claim.last, claim.first + _WIDEST - 1, place.first + len(place.lines) - 1))
    lines = " ".join(filter(None, map(place.line, range(claim.first, last + 1))))
    value = inline(lines)[:QUOTED]
    fact = replace(fact_of(name, value, place.hit.chunk, "call", claim.first, lines), end_line=last)
    return reader.offer(fact, place.hit.chunk, "that this decides it")


def _nearest(reader: Reader, wanted: str, most: int) -> str:
    """The target's passages that come nearest to what is wanted, in their order."""
    own = [chunk for chunk in _own_text(reader) if section_weight(chunk) > OWN]
    near = reader.engine.similarities(wanted, [chunk.text for chunk in own])
    chosen = fitting(sorted(range(len(own)), key=lambda n: -near[n]), most, lambda n: own[n].text)
    return window_text([own[n] for n in sorted(chosen)])
