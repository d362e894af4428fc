"""The search engine: from a question to ranked, cited hits of one pinned generation."""

from __future__ import annotations

import copy
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from types import TracebackType

from lineage.errors import EmbedderMismatch, SourceError
from lineage.generation import SETTLED, SETTLED_WITHOUT, Generation
from lineage.hyperparameters.mechanisms import MechanismKind
from lineage.hyperparameters.ontology import Ontology, ontology
from lineage.ports import Embedder, Reranker, VectorIndex, Vectors, WordEmbedder
from lineage.reasons import UNSUPPORTED
from lineage.records import Answer, Chunk, Focus, Hit, Query, Reason, ReasonKind, WorkId
from lineage.text.tokens import tokens
from retrieval.decisions.settled import Making, SettledIndex, Shown, mark, settled_values
from retrieval.search import candidates, entity_routing, fusion
from retrieval.search.candidates import QueryWords, Scope, in_words, is_quotation, is_telling, sequence, share_in_order, spells_code
from retrieval.search.chosen import Chooser, ChosenPlaces
from retrieval.search.concepts import MISS, MISSES, Asked, Field, Signs, concepts, first, profile, signs, supported
from retrieval.search.decided import DecidedPlace, Deciders, asked_kinds, decided, statements
from retrieval.search.definitions import definitions
from retrieval.search.focus import focus
from retrieval.search.fusion import Fusion, Ranked, Scored
from retrieval.search.line_scores import focus_of_code
from retrieval.search.passages import EvidenceWindow, PassageReader, Passages, neighbours, widened
from retrieval.search.priors import FusionWeights, KnownNames, fitted, stages_asked, with_deciders, with_priors, with_siblings
from retrieval.search.query import Vocabulary, plain, vocabulary
from retrieval.search.question_subject import asked_details, names_of
from retrieval.search.work_relations import WorkRelations

READ = 300
"""Chunks looked at for priors, folding and capping; further down another passage of its paper seldom lifts one into a list."""

_RERANKED = 30
_NAMING = 2
"""Chunks that a word may stand in to name them: what else a passage decides does not come before it."""
_SPOKEN, _QUOTED = 4, 20
_NAMED = 4
"""Hits of whose lines the names are looked up."""
_CLOSELY, _STATED = 5, 2
"""Hits whose lines are told with the vectors of words too, which takes ten times as long as by words alone: the first are those that are read.
Fewer where statements of what is asked for tell them."""


@dataclass(frozen=True)
class _Asked:
    """A question while it is answered: its text without markup, the words to look for, the details whose value it wants, what may be found;
    `quoted` are its words in order, where they may be those of a passage, `exact` the rows that have all of them, and `decided` the
    statements of code by row, and the rows that may be found of them (`settled`), that settle what it asks for; it is `open` whose code it
    is where it names no work and the target's own is not at hand."""

    query: Query
    text: str
    words: QueryWords
    details: tuple[str, ...]
    scope: Scope
    quoted: tuple[str, ...] = ()
    exact: tuple[int, ...] = ()
    kinds: Sequence[tuple[MechanismKind, float]] = ()
    decided: Mapping[int, DecidedPlace] = field(default_factory=dict)
    settled: Sequence[int] = ()
    open: bool = False


class Engine:
    """Answers questions from one generation. Safe to share between threads if the embedder is.

    Without vectors in the generation, or without an `embedder` (asked for when the first question comes) and `index`,
    it answers lexically and says so. `words` is the vocabulary and `known` the names of details, the packaged ones if none
    are given; a `reranker` looks at the first hits again, and where it fails the answer says so and keeps its order. `table`
    gives the packaged table of words (`static`), by which the lines of code that answer are told in the first hits; in
    others, and without it, they are told by words alone. `chosen` gives the places that a chat model chose for decisions
    (`retrieval.search.chosen`). Questions raise `EmbedderMismatch` if the
    embedder is not the one that made the vectors. Leaving the `with` block closes the generation.
    """

    def __init__(
        self,
        generation: Generation,
        embedder: Callable[[], Embedder] | None = None,
        index: VectorIndex | None = None,
        weights: FusionWeights | None = None,
        words: Vocabulary | None = None,
        reranker: Reranker | None = None,
        table: Callable[[], WordEmbedder] | None = None,
        known: Ontology | None = None,
        chosen: Chooser | None = None,
    ) -> None:
        self._generation = generation
        self._catalog = generation.catalog
        self._dense = (embedder, index) if embedder and index and generation.manifest.embedder else None
        self._rows = generation.vectors if self._dense else None
        self._weights = weights or fitted(generation.manifest.embedder)
        self._vocabulary = words or vocabulary()
        self._reranker = reranker
        self._table = table
        self._chosen = chosen
        self._ontology = known or ontology()
        self._documents = generation.manifest.counts.get("chunks", 0)
        self._excluded: frozenset[str] = frozenset()
        self._partial: Engine | None = None
        self._lock = threading.Lock()
        self._read_works()

    def _read_works(self) -> None:
        self._passages = Passages(self._catalog)
        self._settled_index: SettledIndex | None = None
        chosen = self._chosen
        self._choices = ChosenPlaces(partial(chosen.read, bool(self._excluded)), self._catalog, chosen.embedder) if chosen else None
        self._relations = WorkRelations.read(self._catalog, WorkId(self._generation.manifest.target))
        self._deciders = Deciders(self._catalog, self._relations)
        own = {relation.work.kind for relation in self._relations.by_work.values() if relation.from_target}
        self._others_speak = bool(own) and "code" not in own
        self._works = {id_: relation.work for id_, relation in self._relations.by_work.items()}
        work_ids = self._catalog.works_read()
        self._names = entity_routing.names_of({id_: relation for id_, relation in self._relations.by_work.items() if id_ in work_ids})

    def without_target_code(self) -> Engine:
        """This engine over everything but the target's own code, copies of it included, as if it had never been fetched.

        Made once; closing either closes both.
        """
        if self._excluded:
            return self
        with self._lock:
            self._partial = self._partial or self._without_target_code()
            return self._partial

    def _kinds(self, question: str) -> Sequence[tuple[MechanismKind, float]]:
        """The kinds of decisions that a question asks for, none where it looks for a name of code."""
        return () if spells_code(question) else asked_kinds(question, self._table() if self._table else None)  # type: ignore[arg-type]

    def _without_target_code(self) -> Engine:
        from lineage.catalog.partial import without_target_code

        catalog = without_target_code(self._catalog)
        if catalog is None:
            return self
        made = copy.copy(self)
        made._excluded, made._catalog = catalog.without, catalog  # noqa: SLF001 - a copy of itself
        made._generation = replace(self._generation, catalog=catalog)  # noqa: SLF001
        made._read_works()  # noqa: SLF001
        return made

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the generation; nothing can be asked afterwards."""
        self._generation.close()

    @property
    def ontology(self) -> Ontology:
        """The details that questions and identifiers may mean."""
        return self._ontology

    @property
    def generation(self) -> Generation:
        """The generation that is read."""
        return self._generation

    @property
    def excluded(self) -> frozenset[str]:
        """Works, and files as `work#path`, that are left out of all answers."""
        return self._excluded

    @property
    def relations(self) -> WorkRelations:
        """How each work of it is related to the target."""
        return self._relations

    def ask(self, query: Query) -> Answer:
        """Hits, best first, at most `query.k`; notes say what limited the search."""
        return self.ask_many([query])[0]

    def ask_many(self, queries: Sequence[Query]) -> list[Answer]:
        """The same for many questions, embedded together."""
        engines = [self.without_target_code() if query.no_target_code else self for query in queries]
        asked = [engine._asked(query) for engine, query in zip(engines, queries, strict=True)]  # noqa: SLF001 - itself or a copy of itself
        vectors = self._vectors([question.text for question in asked])
        rows = [None if vectors is None else vectors[n : n + 1] for n in range(len(asked))]
        return [engine._answer(question, row) for engine, question, row in zip(engines, asked, rows, strict=True)]  # noqa: SLF001

    def _vectors(self, texts: Sequence[str]) -> Vectors | None:
        if not self._dense or not texts:
            return None
        embedder, manifest = self._dense[0](), self._generation.manifest
        if embedder.id != manifest.embedder:
            hint = "set LINEAGE_EMBEDDER to the model of the build, or build again"
            raise EmbedderMismatch(f"the vectors of {manifest.lineage} were made by {manifest.embedder}, not by {embedder.id}", hint=hint)
        return embedder.queries(texts)

    def _asked(self, query: Query, without: AbstractSet[str] = frozenset()) -> _Asked:
        text = plain(query.text)
        is_open = self._others_speak and not (without or query.work)
        without = frozenset(without | self._excluded)
        if query.work:
            work = self._relations.work(query.work)
            without |= self._relations.by_work.keys() - {work}
            text = entity_routing.asked_of(text, {name: works for name, works in self._names.items() if work in works})[1]
        words = candidates.words_of(self._catalog, text, self._documents, self._vocabulary)
        scope, details = candidates.scope_of(self._catalog, query.kinds, without), asked_details(text, self._ontology)
        if not query.around:
            return _Asked(query, text, words, details, scope)
        if not is_quotation(text):
            # the target's own code, where it is at hand, needs no ancestors to speak for it
            kinds = self._kinds(text) if self._others_speak else ()
            settling = decided(kinds, self._settling, without) if kinds else {}
            question = in_words(text)
            settling |= self._choices.decided(question, without) if self._choices and self._others_speak and not spells_code(question) else {}
            chunks = ((outline.chunk, row) for row, outline in self._catalog.outlines(list(settling)).items())
            settled = [row for _, row in sorted((chunk.id, row) for chunk, row in chunks if not scope.kinds or chunk.kind in scope.kinds)]
            return _Asked(query, text, words, details, scope, kinds=kinds, decided=settling, settled=settled, open=is_open)
        return _Asked(query, text, words, details, scope, sequence(text), candidates.exact(self._catalog, text, scope))

    def settled(self, answer: Answer) -> Answer:
        """The same with what the works of the lineage, or one `work` of them, settle the details and mechanisms with that it asks for."""
        query = answer.query
        return (self.without_target_code() if query.no_target_code else self)._settled(answer, plain(query.text))  # noqa: SLF001 - itself or a copy of itself

    def _settled(self, answer: Answer, text: str) -> Answer:
        query, shown = answer.query, Shown(self._passages.chunks, self._relations)
        without = self._excluded | (self._relations.by_work.keys() - {self._relations.work(query.work)} if query.work else frozenset())
        values = settled_values(self._settling, asked_details(text, self._ontology), self._ontology, without, shown)
        stated = statements(self._kinds(text), self._settling, without, shown)
        kept = tuple(hit for hit in stated if not query.kinds or hit.chunk.kind in query.kinds)
        return replace(answer, settled=tuple(values), statements=kept, definitions=definitions(answer.hits[:_NAMED], self._catalog))

    @property
    def _settling(self) -> SettledIndex:
        """What the works settle, as the generation keeps it, else made when it is asked for."""
        if self._settled_index is None:
            kept = self._generation.file(SETTLED_WITHOUT if self._excluded else SETTLED)
            making = partial(Making.of, self._generation, self._relations, self._ontology)
            self._settled_index = SettledIndex(making, kept, mark(self._ontology) if kept else "")
        return self._settled_index

    def evidence(self, chunk: str, before: int = 0, after: int = 0) -> EvidenceWindow | None:
        """A chunk with up to so many lines of its document around it; None if this generation has no such chunk."""
        shown = self._catalog.chunk(chunk)
        if not shown:
            return None
        hit, above, below = widened(self._catalog, shown, self._relations.of(shown.work), before, after)
        manifest = self._generation.manifest
        return EvidenceWindow(manifest.lineage, manifest.id, hit, above, below, *neighbours(self._catalog, shown))

    def _answer(self, asked: _Asked, vector: Vectors | None) -> Answer:
        lexical, dense = self._found(asked, vector)
        ranked, doubts = self._ranked(asked, lexical, dense)
        ranked, further = self._led(asked, ranked)
        misses = self._unsupported(asked, lexical, dense)
        hits = tuple(self._hits(ranked, asked, (MISS,) if misses else ()))
        manifest = self._generation.manifest
        notes = (*misses, *self._notes(asked), *dict.fromkeys((*doubts, *further)))
        return Answer(asked.query, manifest.lineage, manifest.id, hits, notes, supported=not misses)

    def _found(self, asked: _Asked, vector: Vectors | None) -> tuple[Ranked, Ranked | None]:
        lexical = candidates.lexical(self._catalog, asked.words, asked.scope, first=(*asked.exact, *asked.settled))
        if not self._dense or vector is None:
            return lexical, None
        return lexical, candidates.dense(self._dense[1], vector, asked.scope, [row for row, _ in lexical], self._rows)

    def _fused(self, lexical: Ranked, dense: Ranked | None) -> Fusion:
        name = ReasonKind.STATIC if self._generation.manifest.tier == "static" else ReasonKind.DENSE
        return fusion.fuse(lexical, dense, self._weights.dense, self._weights.pool, name)

    def _led(self, asked: _Asked, ranked: list[Scored]) -> tuple[list[Scored], tuple[str, ...]]:
        """With what the works that the question names have to say to the rest of it, and notes on what could not be done there."""
        works, rest = entity_routing.asked_of(asked.text, self._names)
        works -= asked.scope.without
        if not works or asked.query.work or (bool(ranked) and any(reason.kind is ReasonKind.VERBATIM for reason in ranked[0].why)):
            return ranked, ()
        inside = self._asked(replace(asked.query, text=rest), self._relations.by_work.keys() - works)
        there, doubts = self._ranked(inside, *self._found(inside, self._vectors([inside.text])))
        return entity_routing.led(ranked, there, works, asked.query.k), doubts

    def worth(self, question: str) -> Mapping[str, float]:
        """The rarity in this generation of each word of a question, and of its forms."""
        return self._asked(Query(question)).words.worth

    def similarities(self, question: str, texts: Sequence[str], *, fast: bool = True) -> list[float]:
        """How near in meaning each text is to a question: by the packaged table of words, or (`fast` false, some milliseconds a text) by the
        embedder of the generation; zeros without it."""
        embedder = self._table if fast else self._dense and self._dense[0]
        if not embedder or not texts:
            return [0.0] * len(texts)
        loaded = embedder()
        return [float(value) for value in loaded.passages(texts) @ loaded.queries([question])[0]]

    def _signs(self, asked: _Asked, lexical: Ranked, dense: Ranked | None) -> Signs:
        """The features that decide whether the hits support an answer."""
        terms, rows = asked.words.terms, first(lexical, dense)
        passages = dict(zip(rows, self._passages.chunks(rows), strict=True))
        question = Asked(asked.text, terms, names_of(asked.text, self._ontology), self._vocabulary.crossed(asked.text))
        wanted = {*terms, *(token for crossing in question.crossed for token in crossing.bridge.code)}
        held = self._catalog.held([token for token in wanted if asked.words.counts.get(token)], rows)
        field = Field(max(1, self._documents), asked.words.counts, self._shares, self._works, passages, held)
        return signs(len(terms), lexical, dense, concepts(question, lexical, dense, field))

    @cached_property
    def _shares(self) -> dict[str, float]:
        """What the lineage is about: by area the share of its chunks."""
        return profile(self._catalog, self._documents)

    def _unsupported(self, asked: _Asked, lexical: Ranked, dense: Ranked | None) -> tuple[str, ...]:
        """A note where nothing that was found supports an answer, with what was searched."""
        if (lexical or dense) and supported(self._signs(asked, lexical, dense), self._generation.manifest.embedder):
            return ()
        kinds = Counter(relation.work.kind for relation in self._relations.by_work.values())
        where = asked.query.work or f"{kinds['paper']} papers and {kinds['code']} repositories"
        pieces = self._documents if asked.scope.rows is None else len(asked.scope.rows)
        how = "by words and vectors" if dense else "by words"
        return (f"{UNSUPPORTED}: {pieces:,} pieces of {where} were searched {how}; {MISSES}",)

    def _named(self, asked: _Asked, scored: Sequence[Scored]) -> frozenset[int]:
        """The rows that hold a word of the question which at most `_NAMING` chunks have."""
        names = {term for term in asked.words.terms if 0 < asked.words.counts.get(term, 0) <= _NAMING}
        return frozenset(row for row, held in self._catalog.held(names, [candidate.row for candidate in scored] if names else ()).items() if held)

    def _ranked(self, asked: _Asked, lexical: Ranked, dense: Ranked | None) -> tuple[list[Scored], tuple[str, ...]]:
        """The hits, and notes on what could not be done."""
        combined = self._fused(lexical, dense)
        first = combined.first(max(READ, 2 * asked.query.k), asked.settled)
        outlines = self._catalog.outlines(list(first))
        known = self._known(asked, lexical, [outlines[row].chunk.id for row in first])
        scored = with_siblings(with_priors(first, outlines, known), self._weights.siblings)
        if asked.open:
            scored = with_deciders(scored, self._deciders.worth, self._weights.decides, self._named(asked, scored))
        folded, doubts = self._reranked(asked, fusion.folded(scored))
        reader = PassageReader(self._catalog, self._passages, combined.by_row, folded, grows=asked.query.around)
        shown = fusion.apart(reader.read(folded), reader.grow)
        capped = fusion.capped(shown, asked.query.k, self._weights.share, {candidate.chunk.work for candidate in folded})
        return combined.explained(capped), doubts

    def _known(self, asked: _Asked, lexical: Ranked, chunks: Sequence[str]) -> KnownNames:
        stated = self._catalog.stating(asked.details, chunks) if asked.details else {}
        if not asked.query.around:
            return KnownNames(replace(self._weights, code=0.0), asked.details, stated, self._relations.by_work)
        return KnownNames(
            self._weights, asked.details, stated, self._relations.by_work, self._verbatim(asked, lexical), stages_asked(asked.text), asked.decided
        )

    def _verbatim(self, asked: _Asked, lexical: Ranked) -> dict[int, float]:
        """How much of a question that may be a quotation the first passages by words have in its order, by row."""
        words, rows = asked.quoted, [row for row, _ in lexical[:_QUOTED]] if is_telling(asked.quoted) else []
        chunks = zip(rows, self._passages.chunks(rows), strict=True)
        shares = {row: share_in_order(words, sequence(chunk.text), asked.words.worth) for row, chunk in chunks}
        return {row: share for row, share in shares.items() if share} | dict.fromkeys(asked.exact, 1.0)

    def _reranked(self, asked: _Asked, scored: Sequence[Scored]) -> tuple[Sequence[Scored], tuple[str, ...]]:
        """The first hits in the reranker's order, where there is one; as they were, with a note, where it fails."""
        if not self._reranker or not asked.query.around:
            return scored, ()
        first, rest = scored[:_RERANKED], scored[_RERANKED:]
        chunks = self._passages.chunks([candidate.row for candidate in first])
        try:
            marks = self._reranker.scores(asked.text, [f"{chunk.header}\n{chunk.text}".strip() for chunk in chunks])
        except SourceError as error:
            return scored, (f"not reranked: {error}",)
        return [*fusion.reordered(first, marks, self._reranker.id), *rest], ()

    def _hits(self, ranked: Sequence[Scored], asked: _Asked, flags: tuple[str, ...]) -> Iterator[Hit]:
        homes = self._catalog.homes([scored.row for scored in ranked])
        decisions = self._decisions(asked, [(scored.found or scored.chunk).id for scored in ranked])
        for rank, scored in enumerate(ranked, 1):
            chunk, relation, matched = scored.chunk, self._relations.of(scored.chunk.work), scored.found or scored.chunk
            copies = _copies(scored, homes[scored.row], asked.scope.without)
            focus = _chosen_focus(asked, scored) or self._focus(rank, matched, asked, decisions.get(matched.id, {}))
            yield replace(
                relation.hit(chunk if copies == chunk.copies else replace(chunk, copies=copies), focus),
                rank=rank,
                score=round(fusion.likelihood(scored.score), 4),
                signals=scored.signals,
                file=self._relations.file(scored.chunk),
                flags=flags,
                why=(*_aspects(matched, asked.words), *scored.why),
            )

    def _decisions(self, asked: _Asked, chunks: Sequence[str]) -> dict[str, dict[int, float]]:
        """By chunk the lines of statements of the kinds that are asked for, each with how surely."""
        shares, lines_by_chunk = {kind.name: share for kind, share in asked.kinds}, defaultdict[str, dict[int, float]](dict)
        for kind, chunk, start, end in self._catalog.decisions(list(shares), chunks) if shares else ():
            for line in range(start, end + 1):
                lines_by_chunk[chunk][line] = max(lines_by_chunk[chunk].get(line, 0.0), shares[kind])
        return lines_by_chunk

    def _focus(self, rank: int, chunk: Chunk, asked: _Asked, decisions: Mapping[int, float]) -> Focus | None:
        worth = asked.words.worth
        if chunk.kind != "code" and not decisions:
            return focus(chunk.text, chunk.start_line, worth)
        table = self._table() if self._table and rank <= (_STATED if decisions else _CLOSELY) else None
        return focus_of_code(chunk.text, chunk.start_line, worth, asked.text, table, decisions if asked.kinds else None)

    def _notes(self, asked: _Asked) -> tuple[str, ...]:
        notes = []
        if not self._generation.manifest.embedder:
            notes.append("lexical only: this generation has no vectors yet")
        elif not self._dense:
            notes.append("lexical only: no embedder was loaded")
        elif self._generation.manifest.tier == "static":
            notes.append("fast index: lexical search and static vectors; the dense vectors are not computed yet")
        if asked.query.work and asked.scope.rows is not None and not len(asked.scope.rows):
            notes.append(f"this lineage holds no text of {asked.query.work}, or none of the kind that was asked for")
        if self._excluded:
            notes.append("the target's own code is excluded: " + ", ".join(sorted(self._excluded)))
        return tuple(notes)


def _chosen_focus(asked: _Asked, scored: Scored) -> Focus | None:
    """The lines that a model chose for what is asked."""
    place = asked.decided.get(scored.row)
    return place.focus if place else None


def _copies(scored: Scored, homes: Sequence[tuple[int, WorkId, str, int, int]], without: AbstractSet[str]) -> tuple[str, ...]:
    others = (f"{work}#{path}#L{a}-L{b}" for row, work, path, a, b in homes if row != scored.row and work not in without)
    return tuple(dict.fromkeys((*scored.chunk.copies, *others)))


def _aspects(chunk: Chunk, words: QueryWords) -> tuple[Reason, ...]:
    """The aspects of the question that a chunk of code speaks of, with the identifiers that say so."""
    if not words.bridged or chunk.kind == "paper":
        return ()
    chunk_tokens = {*tokens(chunk.symbol), *tokens(chunk.text)}
    names_by_aspect: dict[str, dict[str, str]] = {}
    for bridged in words.bridged:
        names_by_aspect.setdefault(bridged.aspect, {}).update((token, name) for token, name in bridged.code.items() if token in chunk_tokens)
    return tuple(Reason(ReasonKind.ASPECT, of=(aspect, *_longest(names)[:_SPOKEN])) for aspect, names in names_by_aspect.items() if names)


def _longest(names: Mapping[str, str]) -> list[str]:
    """Spellings by token, without those that another holds: `normal_` is part of `trunc_normal_`."""
    return [name for token, name in names.items() if not any(token != other and token in other for other in names)]
