"""What a target states, what it leaves to others, and what its lineage offers instead."""

from __future__ import annotations

from lineage.details import Need, checklist
from lineage.insight import Detail, Held, Specification
from lineage.model import Chunk, CodeLink, Fact, Hit, Mention, Reference, Role, RoleVerdict, Tier, Work, WorkId
from lineage.ontology import ontology
from retrieval.gaps.components import against, unsaid
from retrieval.gaps.confidence import Support, confidence
from retrieval.gaps.offers import Context, aside, offers
from retrieval.gaps.report import _suggestions
from retrieval.gaps.stated import Judged, Pointer, judged
from retrieval.gaps.text import Said, of_chunks

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


def said(*texts: str, section: str = "Implementation details", role: str = "paragraph") -> list[Said]:
    return list(of_chunks([passage(text, section, role, n) for n, text in enumerate(texts)], [EDGE]))


def verdict(name: str, sentences: list[Said]) -> Judged:
    needs = checklist().of(["training", "vision", "llm", "language"])
    return next(one for one in judged(needs, sentences) if one.need.detail.name == name)


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


# -- offers


def held(value: str, work: Work = REPO, path: str = "conf.yaml", kind: str = "config", scope: str = "", line: int = 3) -> Held:
    chunk = Chunk(f"c_{value}{path}{work.id}", work.id, path, "config", "config", f"lr: {value}", "", 0, 5, 1, 9)
    own = work is OWN
    hit = Hit(1, 1.0, chunk, work, reference=None if own else EDGE, paper=TARGET if own else CITED, from_target=own)
    fact = Fact("learning_rate", value, "", work.id, chunk.id, kind, line, "lr", value, scope)  # type: ignore[arg-type]
    return Held(fact, hit)


def context() -> Context:
    link = CodeLink(CITED.id, REPO.id, Tier.OFFICIAL)
    return Context(TARGET, {REPO.id: link}, ontology().same, frozenset({"finetune"}))


def values(*some: Held, pointers: tuple[Pointer, ...] = ()) -> list[tuple[str, float]]:
    made = offers(("learning_rate",), {"learning_rate": some}, pointers, context())
    return [(one.suggestion.value, one.suggestion.confidence) for one in made]


def test_the_targets_own_code_is_believed_before_its_lineage() -> None:
    assert [value for value, _ in values(held("0.001"), held("0.01", OWN))] == ["0.01", "0.001"]


def test_code_of_the_target_comes_before_others_that_agree_and_what_it_keeps_aside_does_not() -> None:
    others = [held("0.001", Work(WorkId(f"repo:github.com/a/{name}"), "code", name)) for name in "bcdef"]
    assert values(*others, held("0.01", OWN))[0][0] == "0.01"
    assert values(*others, held("0.01", OWN, "examples/conf.yaml"))[0][0] == "0.001"


def test_a_work_that_the_target_points_to_is_believed_more() -> None:
    pointer = Pointer(said("We follow Tent [wang21].")[0], (CITED.id,), "follow")
    assert values(held("0.001"), pointers=(pointer,))[0][1] > values(held("0.001"))[0][1]


def test_equal_values_in_other_forms_are_one_offer_and_agreement_raises_it() -> None:
    other = Work(WorkId("repo:github.com/a/b"), "code", "b")
    both = values(held("0.001"), held("1e-3", other))
    assert len(both) == 1
    assert both[0][1] > values(held("0.001"), held("0.5", other))[0][1]


def test_a_file_of_a_stage_that_the_target_never_speaks_of_says_little() -> None:
    one = held("0.001", path="configs/finetune.yaml")
    assert aside(one, frozenset({"finetune"}))
    assert not aside(one)


def test_the_chain_names_the_citation_the_repository_and_the_line() -> None:
    made = offers(("learning_rate",), {"learning_rate": [held("0.001")]}, (), context())
    assert made[0].suggestion.chain == (
        "target cites Tent as base: “We build on Tent [wang21].”",
        "its repository github.com/DequanWang/tent (official)",
        "has learning_rate = 0.001 at github.com/DequanWang/tent/conf.yaml#L3-L3@e9e926a6",
    )


def test_confidence_is_a_probability_and_grows_with_support() -> None:
    weak, strong = confidence(Support()), confidence(Support(own=1.0, run=1.0, agreement=1.0, alone=1.0))
    assert 0.0 < weak < strong < 1.0


# -- what code does besides


def test_operations_and_numbers_that_the_passage_does_not_name_are_told() -> None:
    code = "def score(x):\n    x = x.clamp(min=1e-6)\n    return x.softmax(-1).mean()"
    assert list(unsaid("We take the softmax of the scores and average it.", code)) == ["clamp", "min", "1e-6"]


def test_opposites_are_told_and_agreement_is_not() -> None:
    assert list(against("We return the plan with the highest score.", "best = np.argmin(scores)")) == [("highest", "argmin")]
    assert list(against("We return the plan with the highest score.", "best = np.argmax(scores)")) == []


def test_what_the_targets_code_has_is_said_first_in_the_report_too() -> None:
    others = [held("0.001", Work(WorkId(f"repo:github.com/a/{name}"), "code", name)) for name in "bcdef"]
    need = Need(Detail("learning_rate", "learning rate", "optimiser", "which?", facts=("learning_rate",)), frozenset(), ())
    made = _suggestions(need, {"learning_rate": [*others, held("0.01", OWN)]}, (), (), context())
    assert [one.value for one in made] == ["0.01", "0.001"]
    assert made[0].confidence < made[1].confidence
