"""What a target states, what it leaves to others, and what its lineage offers instead."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lineage.hyperparameters.checklist import ChecklistItem, checklist
from lineage.hyperparameters.ontology import ontology
from lineage.records import Chunk, CodeLink, Fact, Hit, Mention, Reference, Role, RoleVerdict, Tier, Work, WorkId
from lineage.results import Detail, FactOccurrence, Gap, Specification, Suggestion
from retrieval.decisions.target_text import TargetSentence, TargetText, of_chunks
from retrieval.gaps.offers import GRADES, Context, Support, graded, offers
from retrieval.gaps.report import _order, _suggestions, asked_for
from retrieval.gaps.stated import DetailVerdict, Pointer, judged, unclaimed
from tests.fakes.profiles import profiled

TARGET = Work(WorkId("arxiv:2401.00001"), title="The Target")
CITED = Work(WorkId("arxiv:2006.10726"), title="Tent")
REPO = Work(WorkId("repo:github.com/DequanWang/tent"), "code", "tent", meta={"commit": "e9e926a668d85244c66a6d5c006efbd2b82e83e8"})
OWN = Work(WorkId("repo:github.com/target/own"), "code", "own", meta={"commit": "a" * 40})
EDGE = Reference(
    TARGET.id,
    CITED.id,
    "wang21",
    mentions=(Mention("wang21", "We build on Tent [wang21]."),),
    roles=(RoleVerdict(Role.BASE, 0.9, "We build on Tent [wang21]."),),
    score=0.8,
)


def passage(text: str, section: str = "Implementation details", role: str = "paragraph", number: int = 1) -> Chunk:
    return Chunk(f"c_{number}", TARGET.id, "main.tex", "paper", role, text, "", 0, len(text), 1, text.count("\n") + 1, section=(section,))


def said(*texts: str, section: str = "Implementation details", role: str = "paragraph") -> list[TargetSentence]:
    return list(of_chunks([passage(text, section, role, n) for n, text in enumerate(texts)], [EDGE]))


def verdict(name: str, sentences: list[TargetSentence]) -> DetailVerdict:
    needs = checklist().of(["training", "vision", "llm", "language"])
    return next(one for one in judged(needs, sentences) if one.item.detail.name == name)


def test_a_value_beside_the_name_specifies_a_detail() -> None:
    found = verdict("learning_rate", said("We train with a learning rate of 1e-4 and a batch size of 256."))
    assert (found.state, found.shown[0].value) == (Specification.SPECIFIED, "1e-4")


def test_a_number_before_the_name_counts_but_not_across_a_preposition() -> None:
    sentences = said("The encoder has 12 transformer layers.", "A batch of 256 through gradient clipping is used.")
    assert verdict("layers", sentences).shown[0].value == "12"
    assert verdict("gradient_clipping", sentences).state is Specification.PARTIALLY_SPECIFIED


def test_a_name_without_a_value_is_partial_and_silence_is_unspecified() -> None:
    sentences = said("We tune the learning rate by hand for every model.")
    assert verdict("learning_rate", sentences).state is Specification.PARTIALLY_SPECIFIED
    assert verdict("weight_decay", sentences).state is Specification.UNSPECIFIED


def test_numbers_of_sections_tables_and_citations_are_no_values() -> None:
    sentences = said("The learning rate is discussed in Section 4.", "Dropout follows earlier work [12].", "Warmup is as proposed by others, 2019).")
    states = {name: verdict(name, sentences).state for name in ("learning_rate", "dropout", "warmup")}
    assert set(states.values()) == {Specification.PARTIALLY_SPECIFIED}


def test_a_longer_name_is_not_mistaken_for_the_shorter_one_inside_it() -> None:
    found = verdict("learning_rate", said("We apply cosine learning rate decay over 20 epochs."))
    assert found.state is Specification.UNSPECIFIED


def test_what_others_did_in_related_work_states_nothing() -> None:
    found = verdict("learning_rate", said("Smith uses a learning rate of 0.1 for everything.", section="Related work"))
    assert found.state is Specification.UNSPECIFIED


def test_a_column_of_a_table_states_what_its_first_line_names() -> None:
    found = verdict("batch_size", said("Model | Batch size | Epochs\nBase | 512 | 30", section="Hyper-parameters", role="table"))
    assert (found.state, found.shown[0].value) == (Specification.SPECIFIED, "512")


def test_a_sentence_that_follows_a_work_points_to_it() -> None:
    found = verdict("schedule", said("The learning rate schedule is the one of Tent [wang21]."))
    assert found.state is Specification.PARTIALLY_SPECIFIED
    assert found.pointers[0].works == (CITED.id,)


def test_everything_else_as_in_a_work_points_for_details_that_are_not_named() -> None:
    sentences = said("We use AdamW, and everything else is as in their public code [wang21].")
    assert verdict("weight_decay", sentences).pointers[0].works == (CITED.id,)
    assert verdict("metrics", sentences).pointers == ()


def test_the_setting_of_a_problem_points_to_nobodys_settings() -> None:
    plain = "We derive it as a multi-step approach in the same setting as existing work [wang21]."
    assert not verdict("initialisation", said(plain, section="Method")).pointers
    trained = "We train it in the same setting as existing work [wang21]."
    assert verdict("initialisation", said(trained, section="Method")).pointers


# -- how far a deferral reaches


def defers(name: str, sentences: list[TargetSentence]) -> bool:
    return bool(verdict(name, sentences).pointers)


def test_a_size_that_matches_anothers_says_nothing_of_other_settings() -> None:
    sentences = said("We set the embedding size as 4, matching the size used in [wang21].")
    assert defers("width", sentences)
    assert not any(defers(name, sentences) for name in ("activation", "normalisation_layer", "head", "initialisation"))


def test_who_gave_the_schedule_gave_its_warm_up_unless_it_is_called_standard() -> None:
    assert defers("warmup", said("The learning rate schedule is the one of Tent [wang21]."))
    assert not defers("warmup", said("We use the standard learning rate schedule [wang21]."))


def test_the_same_setup_unless_otherwise_specified_carries_over_even_beside_a_detail() -> None:
    sentences = said("We follow the same setup as in Tent [wang21] unless otherwise specified, but with dropout.")
    assert all(defers(name, sentences) for name in ("weight_decay", "dropout", "activation"))


def test_a_caption_defers_nothing() -> None:
    sentences = said("Table 1: standard training with early stopping follows all hyper-parameters of [wang21].", role="caption")
    assert not any(defers(name, sentences) for name in ("early_stopping", "warmup", "weight_decay"))


def test_a_sentence_about_evaluation_defers_evaluation_only() -> None:
    sentences = said("Following previous work [wang21], we evaluate accuracy after a grid search over the settings of every baseline.")
    assert defers("metrics", sentences)
    assert not any(defers(name, sentences) for name in ("weight_decay", "learning_rate", "dropout"))


# -- words that are no value


def test_part_of_a_hyphenated_word_is_another_word() -> None:
    assert verdict("schedule", said("Log-linear schedule for categorical features.")).state is not Specification.SPECIFIED
    assert verdict("layers", said("An alignment-depth of 8 is used.")).state is Specification.UNSPECIFIED
    assert verdict("datasets", said("It stands for dataset-level statistics.")).state is Specification.UNSPECIFIED
    assert verdict("layers", said("We use a two-layer transformer.")).shown[0].value == "two"


def test_a_number_of_another_noun_is_shown_but_specifies_nothing() -> None:
    found = verdict("splits", said("We use 50K images of the validation set at a resolution of 256."))
    assert (found.state, found.shown[0].value) == (Specification.PARTIALLY_SPECIFIED, "")


def test_a_number_in_a_formula_is_a_value_only_behind_an_equals_sign() -> None:
    assert verdict("loss_weights", said("We set the coefficient to $\\lambda_{{REPA}_g}=0.5$ here.")).shown[0].value == "0.5"
    sentences = said("The term in the direction of the update is scaled by $1-\\beta_t$.", "Two terms $\\lambda_{num}$ are summed.")
    assert verdict("loss_weights", sentences).state is Specification.PARTIALLY_SPECIFIED


def test_a_bare_mention_outside_of_set_up_sections_is_partial() -> None:
    sentence = "Further accuracy and recall of the system are promising."
    assert verdict("metrics", said(sentence, section="Our view")).state is Specification.PARTIALLY_SPECIFIED
    assert verdict("metrics", said(sentence, section="Evaluation protocol")).state is Specification.SPECIFIED


def test_a_detail_is_known_by_what_the_ontology_calls_its_facts() -> None:
    found = verdict("heads", said("Num layer | 12\nNum head | 12", section="Hyper-parameters", role="table"))
    assert (found.state, found.shown[0].value) == (Specification.SPECIFIED, "12")


def stated(value: str, text: str, words: str, name: str = "lr_schedule") -> FactOccurrence:
    chunk = passage(text)
    return FactOccurrence(Fact(name, value, "", TARGET.id, chunk.id, "prose", 1, name, words), Hit(1, 1.0, chunk, TARGET, from_target=True))


def test_a_number_that_was_read_as_something_else_is_no_second_value() -> None:
    found = verdict("dataset_size", said("Quality is high after 400K steps and on many images."))
    judged_as = replace(found, state=Specification.SPECIFIED, shown=(replace(found.shown[0], value="400k"),))
    steps = stated("400000", found.shown[0].sentence.chunk.text, "400K steps", "steps")
    steps = replace(steps, fact=replace(steps.fact, chunk=found.shown[0].sentence.chunk.id))
    assert unclaimed(judged_as, {"steps": [steps]}, TARGET.id).state is Specification.PARTIALLY_SPECIFIED
    assert unclaimed(judged_as, {}, TARGET.id).state is Specification.SPECIFIED


# -- what is asked at all


def test_a_detail_of_a_domain_is_asked_where_the_text_names_it_or_somebody_has_a_value() -> None:
    needs = checklist().of(["training", "generative"])

    def asked(text: TargetText, facts: dict[str, list[FactOccurrence]] | None = None) -> set[str]:
        return {one.detail.name for one in asked_for(needs, text, facts or {})}

    silent = TargetText(TARGET, tuple(said("We train a diffusion model.")), True)
    assert {"adversarial_updates", "human_evaluation", "ema"}.isdisjoint(asked(silent))
    assert "learning_rate" in asked(silent)
    assert "ema" in asked(silent, {"ema_decay": [held("0.99")]})
    assert "adversarial_updates" in asked(TargetText(TARGET, tuple(said("The discriminator is updated.")), True))
    assert "human_evaluation" in asked(TargetText(TARGET, (), False))


def test_what_own_code_has_stands_before_what_others_have_and_what_nobody_has_last() -> None:
    def gap(name: str, *some: FactOccurrence, weight: float = 0.5) -> Gap:
        offered = tuple(Suggestion(one.fact.value, "", "fair", "why", (one,), (one.evidence,)) for one in some)
        return Gap(Detail(name, name, "loss", "?", weight=weight), Specification.PARTIALLY_SPECIFIED, suggestions=offered)

    rows = [gap("empty", weight=0.9), gap("other", held("1"), weight=0.9), gap("own", held("1", OWN))]
    assert [one.detail.name for one in sorted(rows, key=_order)] == ["own", "other", "empty"]


# -- offers


def held(value: str, work: Work = REPO, path: str = "conf.yaml", kind: str = "config", scope: str = "", line: int = 3) -> FactOccurrence:
    chunk = Chunk(f"c_{value}{path}{work.id}", work.id, path, "config", "config", f"lr: {value}", "", 0, 5, 1, 9)
    own = work is OWN
    hit = profiled(Hit(1, 1.0, chunk, work, reference=None if own else EDGE, paper=TARGET if own else CITED, from_target=own))
    fact = Fact("learning_rate", value, "", work.id, chunk.id, kind, line, "lr", value, scope)  # type: ignore[arg-type]
    return FactOccurrence(fact, hit)


def context() -> Context:
    link = CodeLink(CITED.id, REPO.id, Tier.OFFICIAL)
    return Context(TARGET, {REPO.id: link}, ontology().same)


def values(*some: FactOccurrence, pointers: tuple[Pointer, ...] = ()) -> list[tuple[str, str]]:
    made = offers(("learning_rate",), {"learning_rate": some}, pointers, context())
    return [(one.suggestion.value, one.suggestion.grade) for one in made]


def test_the_targets_own_code_is_believed_before_its_lineage() -> None:
    assert [value for value, _ in values(held("0.001"), held("0.01", OWN))] == ["0.01", "0.001"]


def test_code_of_the_target_comes_before_others_that_agree_and_what_it_keeps_aside_does_not() -> None:
    others = [held("0.001", Work(WorkId(f"repo:github.com/a/{name}"), "code", name)) for name in "bcdef"]
    assert values(*others, held("0.01", OWN))[0][0] == "0.01"
    assert values(*others, held("0.01", OWN, "examples/conf.yaml"))[0][0] == "0.001"


def test_a_work_that_the_target_points_to_is_believed_more() -> None:
    pointer = Pointer(said("We follow Tent [wang21].")[0], (CITED.id,), "follow")
    assert values(held("0.001"), pointers=(pointer,))[0][1] > values(held("0.001"))[0][1]


def test_the_targets_own_code_is_named_first_where_a_pointed_work_has_the_same() -> None:
    pointer = Pointer(said("We follow Tent [wang21].")[0], (CITED.id,), "follow")
    made = offers(("learning_rate",), {"learning_rate": [held("0.001"), held("0.001", OWN)]}, (pointer,), context())
    assert made[0].suggestion.held[0].evidence.from_target
    assert made[0].suggestion.chain[0] == "the target's own repository github.com/target/own"


def renamed(one: FactOccurrence, name: str, written: str = "", scope: str = "") -> FactOccurrence:
    return replace(one, fact=replace(one.fact, name=name, written=written or name, scope=scope))


def test_a_repository_that_a_paper_only_mentions_offers_nothing() -> None:
    assert values(replace(held("0.5"), mentioned=True), held("0.001", OWN)) == values(held("0.001", OWN))
    assert values(replace(held("0.5"), mentioned=True)) == []


def test_the_order_of_a_details_own_names_wins_and_channels_that_go_in_are_no_width() -> None:
    some = {
        "channels": [renamed(held("4"), "channels", "in_channels"), renamed(held("64"), "channels", "base_channels")],
        "hidden_size": [renamed(held("768", path="a.py"), "hidden_size"), renamed(held("1024", path="b.py"), "hidden_size")],
    }
    made = offers(("hidden_size", "channels"), some, (), context())
    assert [one.name for one in made] == ["hidden_size", "hidden_size", "channels"]
    assert made[-1].suggestion.value == "64"


def option(value: str, scope: str = "get_args_parser", path: str = "main.py") -> FactOccurrence:
    """A default in own code, of a program or of a function."""
    one = held(value, OWN, path, "default", scope)
    return replace(one, evidence=replace(one.evidence, chunk=replace(one.evidence.chunk, kind="code", symbol=scope)))


def test_examples_state_nothing() -> None:
    assert verdict("activation", said("Networks use an activation function such as GELU or ReLU.")).state is not Specification.SPECIFIED


def test_equal_values_in_other_forms_are_one_offer_and_agreement_raises_it() -> None:
    other = Work(WorkId("repo:github.com/a/b"), "code", "b")
    both = values(held("0.001"), held("1e-3", other))
    assert len(both) == 1
    third = held("0.7", Work(WorkId("repo:github.com/c/d"), "code", "d"))
    assert (both[0][1], values(held("0.001"), held("0.5", other), third)[0][1]) == ("fair", "weak")


def test_the_chain_names_the_citation_the_repository_and_the_line() -> None:
    made = offers(("learning_rate",), {"learning_rate": [held("0.001")]}, (), context())
    assert made[0].suggestion.chain == (
        "target cites Tent as base: “We build on Tent [wang21].”",
        "its repository github.com/DequanWang/tent (official)",
        "has learning_rate = 0.001 at github.com/DequanWang/tent/conf.yaml#L3-L3@e9e926a6",
    )


@pytest.mark.parametrize(
    ("support", "grade", "reason"),
    [
        (Support(own=True, run=1.0), "strong", "the target's own code sets it"),
        (Support(own=True, values=3), "fair", "the target's own code has it, and 2 other values"),
        (Support(own=True, aside=True), "weak", "only tests, examples or other people's code in the repository have it"),
        (Support(pointed=1.0), "strong", "the target says that it takes this over; one work has it"),
        (Support(role=1.0, role_name="base", works=2, everyone=3), "fair", "an ancestor of the target (base) has it; 2 of 3 works have it"),
        (Support(role=0.4, role_name="baseline", works=2, everyone=3), "fair", "2 of 3 works have it; none of them is an ancestor"),
        (Support(role=1.0, role_name="base", works=1, everyone=3), "weak", "1 of 3 works have it; others have something else"),
        (Support(role=0.4, role_name="baseline"), "weak", "one work has it; its role is baseline"),
    ],
)
def test_a_grade_follows_from_who_has_a_value_and_how_many_agree(support, grade, reason) -> None:
    assert graded(support) == (grade, reason)


def test_what_the_targets_code_has_is_said_first_in_the_report_too() -> None:
    others = [held("0.001", Work(WorkId(f"repo:github.com/a/{name}"), "code", name)) for name in "bcdef"]
    need = ChecklistItem(Detail("learning_rate", "learning rate", "optimiser", "which?", facts=("learning_rate",)), frozenset(), ())
    made = _suggestions(need, {"learning_rate": [*others, held("0.01", OWN)]}, (), context())
    assert [one.value for one in made] == ["0.01", "0.001"]
    assert GRADES.index(made[0].grade) <= GRADES.index(made[1].grade)
