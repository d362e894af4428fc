"""What carries the lineage comes first, and the reasons are given in words."""

from __future__ import annotations

from lineage.records import CodeLink, Mention, Reference, Role, Tier, Work, WorkId
from lineage.references.ranking import Weights, rank, read_weights, text_signals
from lineage.text.tokens import counted

TARGET = Work(WorkId("arxiv:2020.00001"), title="Entropy minimisation for test-time adaptation", authors=("Ada Lovelace", "Alan Turing"), year=2020)


def reference(name, *sentences, sections=(), **more):
    mentions = tuple(Mention(name, s, (sections[i],) if i < len(sections) else ()) for i, s in enumerate(sentences))
    return Reference(TARGET.id, WorkId(f"ref:{name}"), name, mentions=mentions, **more)


def works(*references, **titles):
    return {r.cited: Work(r.cited, title=titles.get(r.key, f"A title of {r.key}"), authors=("Some One",), year=2019) for r in references}


BASE = reference(
    "base",
    "We build upon the framework of [base] and extend it.",
    "Our code is based on the official implementation of [base].",
    "We follow the same settings as [base] in all experiments.",
    sections=("3 Method", "4 Experiments", "4 Experiments"),
)
BACKGROUND = reference("background", "Deep networks have achieved success in many tasks [background; a; b; c; d].", sections=("1 Introduction",))
BASELINE = reference(
    "baseline", "We compare our model with [baseline].", "Our model outperforms [baseline].", sections=("4 Experiments", "4 Experiments")
)


def test_what_is_built_upon_comes_before_what_is_compared_with_before_what_is_background():
    ranked = rank((BACKGROUND, BASELINE, BASE), works=works(BASE, BASELINE, BACKGROUND), target=TARGET)
    assert [r.key for r in ranked] == ["base", "baseline", "background"]
    assert all(0 <= r.score <= 1 for r in ranked)


def test_the_reasons_are_words_with_the_sentence_that_proves_them():
    best = rank((BASE,), works=works(BASE), target=TARGET)[0]
    assert "mentioned 3 times" in best.why
    assert any("Our code is based on the official implementation" in reason for reason in best.why)
    assert any(v.role is Role.BASE for v in best.roles)


def test_known_code_and_influence_raise_a_reference_and_are_named():
    other = reference(
        "other", *(m.sentence.replace("baseline", "other") for m in BASELINE.mentions), sections=("4 Experiments", "4 Experiments"), influential=True
    )
    links = [
        CodeLink(other.cited, WorkId("repo:github.com/a/mentioned"), Tier.MENTIONED),
        CodeLink(other.cited, WorkId("repo:github.com/a/own"), Tier.OFFICIAL),
    ]
    ranked = rank((BASELINE, other), works=works(BASELINE, other), links=links, target=TARGET)
    assert [r.key for r in ranked] == ["other", "baseline"]
    assert "official code is known: github.com/a/own" in ranked[0].why
    assert "Semantic Scholar calls the citation influential" in ranked[0].why


def test_without_any_context_code_title_year_and_influence_decide_and_it_is_said():
    near, far, plain = (reference(name) for name in ("near", "far", "plain"))
    known = works(near, far, plain, near="Test-time adaptation by entropy", far="A history of psychology", plain="Some survey of things")
    links = [CodeLink(near.cited, WorkId("repo:github.com/a/near"), Tier.OFFICIAL)]
    ranked = rank((plain, far, near), works=known, links=links, target=TARGET)
    assert ranked[0].key == "near"
    assert all(r.why[-1] == "no sentence of the citing paper is known: judged by code, influence, title and year alone" for r in ranked)
    assert any(reason.startswith("titles share") for reason in ranked[0].why)


def test_one_and_many_are_said_as_one_would_say_them():
    assert [counted(n, "year") for n in (0, 1, 2)] == ["0 years", "1 year", "2 years"]
    near = reference("near", "We use entropy as in our work [near].")
    known = {near.cited: Work(near.cited, title="Entropy, a history", year=TARGET.year - 1)}
    said = rank((near,), works=known, target=TARGET)[0].why
    assert {"titles share 1 word", "1 year older"} <= set(said)


def test_ties_keep_the_order_of_the_bibliography():
    same = tuple(reference(f"k{i}") for i in range(5))
    assert [r.key for r in rank(same, works=works(*same))] == ["k0", "k1", "k2", "k3", "k4"]


def test_a_work_by_the_same_authors_says_so():
    own = reference("own", "In earlier work we did this [own].")
    ranked = rank((own,), works={own.cited: Work(own.cited, title="Earlier work", authors=("A. Lovelace",), year=2018)}, target=TARGET)
    assert "by the same authors (lovelace)" in ranked[0].why


def test_references_without_records_or_target_are_ranked_all_the_same():
    assert [r.key for r in rank((BACKGROUND, BASE), works={})] == ["base", "background"]
    assert rank((), works={}) == ()


def test_given_roles_are_kept():
    ranked = rank(rank((BASE,), works={}), works={})
    assert ranked[0].roles == rank((BASE,), works={})[0].roles


def test_weights_are_one_place_and_can_be_replaced():
    only_code = Weights(0.0, 0.0, {"code": 2.0})
    linked = rank((BASE,), works={}, links=[CodeLink(BASE.cited, WorkId("repo:github.com/a/b"), Tier.OFFICIAL)], weights=only_code)
    assert (linked[0].score, linked[0].why) == (0.8808, ("official code is known: github.com/a/b",))
    assert rank((BASE,), works={}, weights=only_code)[0].score == 0.5


def test_weights_set_by_hand_and_fitted_are_read_together():
    table = {"bias": 1, "bias_without_contexts": 2, "set_by_hand": {"code": 1}, "fitted": {"alone": 2}, "provenance": {}}
    assert read_weights(table).signals == {"code": 1, "alone": 2}


def test_a_thousand_mentions_cost_what_sixty_do():
    many = reference("many", *(["We follow [many]."] * 1000))
    assert text_signals(many.mentions) == text_signals(many.mentions[:60])
