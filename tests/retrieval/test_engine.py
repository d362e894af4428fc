"""From a question to hits that prove themselves, over one real generation."""

from __future__ import annotations

import pytest

from indexer.vectors.flat import create
from lineage.errors import EmbedderMismatch, NotFound
from lineage.generation import open_generation
from lineage.reasons import UNSUPPORTED, words
from lineage.records import Fact, Focus, ReasonKind
from retrieval.search.engine import Engine
from retrieval.search.fusion import likelihood
from retrieval.search.query import make_query
from tests.fakes import small_lineage as small
from tests.fakes.embedder import HashingEmbedder
from tests.fakes.reranker import WordsReranker


@pytest.fixture
def engine(tmp_path):
    embedder = HashingEmbedder(256)
    small.build(tmp_path, embedder)
    generation = open_generation(tmp_path, "small")
    with Engine(generation, lambda: embedder, create(generation.vectors)) as found:
        yield found


@pytest.fixture
def lexical(tmp_path):
    small.build(tmp_path)
    with Engine(open_generation(tmp_path, "small")) as found:
        yield found


def ids(answer):
    return [(hit.work.id, hit.chunk.path, hit.chunk.start_line) for hit in answer.hits]


def of_named_work(hit):
    return any(reason.kind is ReasonKind.NAMED_WORK for reason in hit.why)


def test_the_lines_that_answer_come_first_with_their_proof(engine):
    answer = engine.ask(make_query("what does _init_weights do with linear layers: trunc_normal_?"))
    first = answer.hits[0]
    assert (first.chunk.path, first.chunk.start_line, first.focus) == ("tent.py", 9, Focus(11, 11))
    assert first.paper.id == small.CITED
    assert first.reference == small.reference()
    assert first.from_target is False
    assert [signal.retriever for signal in first.signals] == ["lexical", "dense"]
    assert "baseline of the target" in words(first)
    assert answer.notes == ()
    assert [hit.rank for hit in answer.hits] == list(range(1, len(answer.hits) + 1))


def test_a_copy_in_another_repository_is_one_hit_that_names_it(engine):
    answer = engine.ask(make_query("_init_weights"))
    assert [place for place in ids(answer) if "tent.py" in place[1] and place[2] in {3, 9}] == [(small.REPO, "tent.py", 9)]
    assert answer.hits[0].chunk.copies == ("repo:github.com/someone/fork#lib/tent.py#L3-L6",)


def test_what_the_target_states_itself_says_so(engine):
    hit = engine.ask(make_query("encoders are initialised from a truncated normal distribution")).hits[0]
    assert (hit.work.id, hit.from_target) == (small.TARGET, True)
    assert "the target's own" in words(hit)


def test_kinds_restrict_what_is_found(engine):
    answer = engine.ask(make_query("optimizer adam lr betas", kinds=["config"]))
    assert ids(answer) == [(small.REPO, "conf.yaml", 1)]


def test_the_targets_own_code_can_be_left_out(engine):
    with_it = engine.ask(make_query("def forward head", k=20))
    without = engine.ask(make_query("def forward head", k=20, no_target_code=True))
    assert small.OWN in {hit.work.id for hit in with_it.hits}
    assert small.OWN not in {hit.work.id for hit in without.hits}
    assert small.TARGET in {hit.work.id for hit in without.hits}
    assert without.notes == ("the target's own code is excluded: repo:github.com/target/own",)


def test_many_questions_give_the_answers_of_each_alone(engine):
    queries = [make_query(text) for text in ("entropy at test time", "adam betas", "init weights")]
    assert engine.ask_many(queries) == [engine.ask(query) for query in queries]
    assert engine.ask_many([]) == []


def test_answers_name_lineage_and_generation(engine):
    answer = engine.ask(make_query("entropy"))
    assert answer.lineage == "small"
    assert answer.generation.startswith("000001-")


def test_without_vectors_the_answer_is_lexical_and_says_so(lexical):
    answer = lexical.ask(make_query("initWeights"))
    assert ids(answer)[0] == (small.REPO, "tent.py", 9)
    assert answer.notes == ("lexical only: this generation has no vectors yet",)
    assert [signal.retriever for signal in answer.hits[0].signals] == ["lexical"]


def test_without_an_embedder_the_answer_is_lexical_and_says_so(tmp_path):
    small.build(tmp_path, HashingEmbedder())
    with Engine(open_generation(tmp_path, "small")) as engine:
        assert engine.ask(make_query("adam")).notes == ("lexical only: no embedder was loaded",)


def test_a_question_that_nothing_speaks_of_finds_nothing_lexically(lexical):
    assert lexical.ask(make_query("zzz qqq")).hits == ()


def test_vectors_of_another_embedder_are_never_searched(tmp_path):
    small.build(tmp_path, HashingEmbedder())
    generation = open_generation(tmp_path, "small")
    with (
        Engine(generation, lambda: HashingEmbedder(name="other@1"), create(generation.vectors)) as engine,
        pytest.raises(EmbedderMismatch, match="other@1"),
    ):
        engine.ask(make_query("adam"))


@pytest.mark.parametrize("text", ['"', "a AND b OR NOT (c", "body:*", "NEAR(", "' OR 1=1 --", "学习率", "?!", "\\begin{equation}" * 200, "a " * 2000])
def test_odd_questions_are_answered_or_answered_with_nothing(engine, text):
    assert isinstance(engine.ask(make_query(text)).hits, tuple)


def test_what_code_calls_the_questions_words_is_found_and_said(lexical):
    hit = lexical.ask(make_query("which initialization?", kinds=["code"])).hits[0]
    assert (hit.chunk.path, hit.chunk.symbol) == ("tent.py", "_init_weights")
    assert "initialisation: init_weights, trunc_normal_, zeros_" in words(hit)


def test_a_reranker_orders_the_first_hits_and_says_so(tmp_path):
    small.build(tmp_path)
    with Engine(open_generation(tmp_path, "small"), reranker=WordsReranker()) as engine:
        found = engine.ask(make_query("truncated normal distribution encoders initialised"))
    marks = [hit.signals[-1].score for hit in found.hits]
    assert [hit.signals[-1].retriever for hit in found.hits] == ["words@1"] * len(found.hits)
    assert marks == sorted(marks, reverse=True)
    assert [hit.score for hit in found.hits] == sorted((hit.score for hit in found.hits), reverse=True)


def test_a_reranker_that_fails_leaves_the_order_and_says_so(tmp_path):
    small.build(tmp_path)
    question = make_query("how does _init_weights work?")
    with Engine(open_generation(tmp_path, "small")) as engine:
        plain = engine.ask(question)
    with Engine(open_generation(tmp_path, "small"), reranker=WordsReranker(broken=True)) as engine:
        found = engine.ask(question)
    assert ids(found) == ids(plain)
    assert any(note.startswith("not reranked: took too long") for note in found.notes)


def test_the_nearest_misses_are_flagged_where_nothing_supports_an_answer(lexical):
    found = lexical.ask(make_query("which weather does a sailing regatta in the north need to be held, and who decides about it?"))
    assert any("nothing in this lineage supports an answer well" in note and "were searched by words" in note for note in found.notes)
    assert all("nearest-miss" in hit.flags for hit in found.hits)


@pytest.mark.parametrize(
    "text",
    [
        "initialised " * 340,
        "".join(chr(0x4E00 + number) for number in range(1_300)),
        "学習率はいくつですか？",
        "каков темп обучения? ما هو معدل التعلم؟",
        '"a" AND (b OR NEAR(c, d)) NOT e* ^f -g : {h} ; DROP TABLE chunks --',
        "?!…— \t \n ()[]{}",
        "_" * 4_000,
    ],
    ids=["4-kib", "4-kib-of-signs", "japanese", "russian-and-arabic", "operators", "no-words", "one-word"],
)
def test_any_question_is_answered_or_said_to_have_no_answer(engine, text):
    found = engine.ask(make_query(text))
    assert len(found.hits) <= 10
    assert all(hit.chunk.text for hit in found.hits)


@pytest.mark.parametrize("named", ["repo:github.com/DequanWang/tent", "dequanwang/tent", "arxiv:2006.10726", "s2:abc"])
def test_a_question_can_be_put_to_one_paper_or_repository(engine, named):
    found = engine.ask(make_query("which optimizer, and how are layers initialised?", work=named))
    assert {hit.work.id for hit in found.hits} == {small.REPO if "tent" in named.lower() else small.CITED}


def test_a_work_that_is_not_there_is_refused_by_name(engine):
    with pytest.raises(NotFound, match="no work 'nobody/nothing'"):
        engine.ask(make_query("which optimizer?", work="nobody/nothing"))


def test_a_question_that_names_a_work_is_asked_of_it_too(engine):
    found = engine.ask(make_query("which optimizer does TENT configure?"))
    assert any(of_named_work(hit) for hit in found.hits)
    assert found.hits[0].score == max(hit.score for hit in found.hits)


def test_where_one_work_is_asked_the_note_counts_what_was_searched_of_it(lexical):
    question = "which weather does a sailing regatta in the north need to be held, and who decides about it?"
    notes = lexical.ask(make_query(question, work="DequanWang/tent")).notes
    assert any(": 4 pieces of DequanWang/tent were searched by words; " in note for note in notes)


def test_a_work_without_text_is_said_to_have_none(engine):
    found = engine.ask(make_query("which optimizer?", work="DequanWang/tent", kinds=["paper"]))
    assert found.hits == ()
    assert "this lineage holds no text of DequanWang/tent, or none of the kind that was asked for" in found.notes


def test_a_question_for_a_value_prefers_what_states_it_to_what_passes_it_on(tmp_path):
    passed = small.chunk(small.REPO, "a.py", "temperature = args.temperature\nsample(temperature=temperature)", symbol="main")
    stated = small.chunk(small.REPO, "b.py", "ask(prompt, model, temperature=0.7, retries=3, timeout=60, stop=None)", symbol="ask")
    fact = Fact("temperature", "0.7", "", small.REPO, stated.id, "call", 1, "temperature", "0.7")
    small.build(tmp_path, pieces=[*small.chunks(), passed, stated], facts=[fact])
    with Engine(open_generation(tmp_path, "small")) as engine:
        first = engine.ask(make_query("what temperature is used?")).hits[0]
        other = engine.ask(make_query("how is the temperature passed on?")).hits[0]
    assert (first.chunk.path, other.chunk.path) == ("b.py", "a.py")
    assert "states temperature" in words(first)


def test_where_nothing_at_all_is_found_that_is_said(lexical):
    answer = lexical.ask(make_query("zygomorphic"))
    assert answer.hits == ()
    assert any(note.startswith(UNSUPPORTED) for note in answer.notes)


def test_a_sentence_that_stands_in_the_lineage_is_first_though_other_passages_have_more_of_its_words(engine):
    sentence = small.PROSE.split(". ")[0]
    first = engine.ask(make_query(sentence)).hits[0]
    assert first.chunk.path == "main.tex"
    assert first.why[0].kind in {ReasonKind.LEXICAL, ReasonKind.ASPECT}
    assert ReasonKind.VERBATIM in {reason.kind for reason in first.why}


def test_the_parts_of_every_score_add_up_to_it(engine):
    for hit in engine.ask(make_query("how does TENT initialize its layers?", explain=True)).hits:
        assert hit.score == pytest.approx(likelihood(sum(reason.value for reason in hit.why)), abs=1e-4)
