"""Where a paper says whom it follows, what it states there, and what the followed code is run with."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from lineage.hyperparameters.ontology import ontology
from lineage.records import Chunk, Fact, Hit, Tier, Work, WorkId
from lineage.records import CodeLink as Link
from lineage.results import FactOccurrence
from retrieval.decisions.target_text import TargetSentence, TargetText
from retrieval.gaps.declared_baselines import files_of, followed, stated, theirs
from tests.fakes.profiles import profiled

TARGET = Work(WorkId("arxiv:2401.00001"), title="The Wheel Less Turned")
CITED = WorkId("arxiv:2001.00001")
GPT = Work(WorkId("repo:github.com/karpathy/nanoGPT"), "code")
OWN = Work(WorkId("repo:github.com/target/wheel_free"), "code")
SENTENCE = "We followed the NanoGPT codebase as closely as possible, matching the default batch-size."
LINK = Link(TARGET.id, GPT.id, Tier.MENTIONED, ("latex",), (f"latex: “{SENTENCE} — https://github.com/karpathy/nanoGPT”",))
CITING = Link(CITED, GPT.id, Tier.OFFICIAL, ("readme",), ("readme: “the code”",))
SECTION = ("Experimental Setup", "NanoGPT")


def sentence(text: str, *section: str, cites: tuple[WorkId, ...] = (), line: int = 3) -> TargetSentence:
    chunk = Chunk("c_p", TARGET.id, "main.tex", "paper", "paragraph", text, "", 0, len(text), line, line, section=section)
    return TargetSentence(text, chunk, line, 1.0, cites)


def text(*said: TargetSentence) -> TargetText:
    return TargetText(TARGET, said, True)


def paper(name: str, value: str, *, section: tuple[str, ...] = SECTION, kind: str = "table", scope: str = "", line: int = 9) -> FactOccurrence:
    chunk = Chunk(f"c_{section}", TARGET.id, "main.tex", "paper", "table", value, "", 0, 2, 1, 20, section=section)
    return FactOccurrence(Fact(name, value, "", TARGET.id, chunk.id, kind, line, scope=scope), Hit(1, 1.0, chunk, TARGET, from_target=True))  # type: ignore[arg-type]


def code(name: str, value: str, path: str = "train.py", *, kind: str = "default", scope: str = "", role: str = "code") -> FactOccurrence:
    chunk = Chunk(f"c_{path}", GPT.id, path, role, "module", value, "", 0, 2, 1, 20, symbol=scope)  # type: ignore[arg-type]
    return FactOccurrence(Fact(name, value, "", GPT.id, chunk.id, kind, 5, name, value, scope), profiled(Hit(1, 1.0, chunk, GPT)))  # type: ignore[arg-type]


def told(*some: FactOccurrence, said: TargetText | None = None, links: tuple[Link, ...] = (LINK,)) -> list[tuple[list[str], list[str]]]:
    """What the paper states where it says that it follows some code, and the values of that code, where none of them agree."""
    found = []
    names = {fact.fact.name for fact in some}
    for one, name in product(followed(said or text(sentence(SENTENCE, *SECTION)), links), names):
        named = [fact for fact in some if fact.fact.name == name]
        mine, other = ([fact.fact.value for fact in facts] for facts in (stated(name, named, TARGET.id, one), theirs(named, one, files_of([some]))))
        if mine and other and not any(ontology().same(name, left, right) for left in mine for right in other):
            found.append((mine, other))
    return found


def test_a_section_that_follows_code_states_one_value_and_the_code_has_another() -> None:
    assert told(paper("gradient_clip", "0"), code("gradient_clip", "1")) == [(["0"], ["1"])]


def test_an_address_that_stands_alone_is_followed_where_it_stands_only() -> None:
    address = "https://github.com/karpathy/nanoGPT"
    link = Link(TARGET.id, GPT.id, Tier.MENTIONED, ("latex",), (f"latex: “{address}”",))
    assert followed(text(sentence("We adopt the 8-bit AdamW optimizer in all our runs.", *SECTION)), (link,)) == ()
    (one,) = followed(text(sentence(f"We follow the settings of {address} throughout.", *SECTION)), (link,))
    assert one.works == {GPT.id}


def test_the_same_value_and_a_value_of_another_section_are_none() -> None:
    assert told(paper("gradient_clip", "1"), code("gradient_clip", "1")) == []
    assert told(paper("gradient_clip", "0", section=("Experimental Setup", "MAE")), code("gradient_clip", "1")) == []


@pytest.mark.parametrize(
    "plain",
    [
        "We used the FairSeq framework for our experiments.",
        "Unlike the NanoGPT codebase, we follow the paper.",
        "We follow the evaluation code of NanoGPT.",
        "The NanoGPT codebase is popular.",
    ],
)
def test_an_address_without_following_points_nowhere(plain: str) -> None:
    link = Link(TARGET.id, GPT.id, Tier.MENTIONED, ("latex",), (f"latex: “{plain} — https://github.com/karpathy/nanoGPT”",))
    assert followed(text(sentence(plain, *SECTION)), (link,)) == ()


def test_the_folder_of_an_address_is_all_that_is_followed() -> None:
    words = "We used the version of the code base at https://github.com/karpathy/nanoGPT/tree/main/small/part."
    link = Link(TARGET.id, GPT.id, Tier.MENTIONED, ("latex",), (f"latex: “{words}”",))
    said = text(sentence(words, *SECTION))
    assert [one.folder for one in followed(said, (link,))] == ["small/part"]
    outside, inside = code("gradient_clip", "0", "train.py"), code("gradient_clip", "1", "small/part/train.py")
    assert told(paper("gradient_clip", "0"), outside, inside, said=said, links=(link,)) == [(["0"], ["1"])]


def test_a_cited_work_is_followed_where_its_setup_is_and_all_that_are_cited_may_agree() -> None:
    words = "We follow the same setup as in GPT unless otherwise specified."
    assert followed(text(sentence(words, "Experiments", "Setup", cites=(CITED,))), (CITING,))
    assert not followed(text(sentence("Following GPT, we evaluate the quality.", "Experiments", "Setup", cites=(CITED,))), (CITING,))
    assert not followed(text(sentence(words, "Experiments", "Setup")), (CITING,))
    assert not followed(text(sentence("We derive a multi-step approach in the same setting as GPT.", "Method", cites=(CITED,))), (CITING,))


def test_under_a_title_that_says_nothing_the_paragraph_counts_and_the_tables() -> None:
    section = ("Experiments", "Setup")
    said = text(sentence("We follow the same setup as in GPT.", *section, cites=(CITED,), line=3))
    rows = [paper("learning_rate", "0.1", section=section, kind="prose", line=line) for line in (3, 4)]
    assert told(rows[0], code("learning_rate", "0.3"), said=said, links=(CITING,))
    assert not told(rows[1], code("learning_rate", "0.3"), said=said, links=(CITING,))


def test_a_configuration_beats_the_default_that_it_sets_and_a_readme_only_agrees() -> None:
    beaten = (code("epochs", "50", "args.py", scope="Args"), code("epochs", "100", "scripts/run.py", kind="config"))
    assert told(paper("epochs", "50"), *beaten) == [(["50"], ["100"])]
    assert told(paper("epochs", "50"), code("epochs", "100"), code("epochs", "50", "README.md", kind="command", role="docs")) == []
    group = code("weight_decay", "0", "model.py", kind="config", scope="GPT.configure_optimizers.optim_groups")
    assert told(paper("weight_decay", "0.1"), code("weight_decay", "0.1"), group) == []


def test_parameters_tests_other_stages_and_files_for_other_data_are_not_what_a_run_has() -> None:
    rate = paper("learning_rate", "0.5")
    assert told(rate, code("learning_rate", "0.1", "model.py", scope="Optimizer")) == []
    assert told(rate, code("learning_rate", "0.1", "tests/train.py")) == []
    assert told(rate, code("learning_rate", "0.1", "config/finetune_gpt.py")) == []
    variants = [code("learning_rate", "0.1", f"config/train_{data}.py") for data in ("shakespeare", "wikitext", "enwik")]
    assert told(rate, *variants) == []
    others = [code("epochs", "3", f"scripts/{name}.py") for name in ("train", "train_more", "pretrain_more")]
    assert told(rate, code("learning_rate", "0.1", "scripts/pretrain.py"), *others)


def test_what_the_target_calls_its_own_is_nothing_that_it_follows() -> None:
    links = (LINK, Link(TARGET.id, OWN.id, Tier.OFFICIAL))
    rows = (paper("learning_rate", "0.005", scope="Wheel-Free"), paper("learning_rate", "0.0005", scope="Baseline"))
    assert told(*rows, code("learning_rate", "0.0006"), links=links) == [(["0.0005"], ["0.0006"])]


def test_machines_and_repetitions_are_nobodys_deviation() -> None:
    assert told(paper("gpus", "40"), code("gpus", "8", kind="config")) == []


RUN = "We use the official implementation of nanoGPT for all of its sizes."
SIZES = ("Hyperparameters", "Tuning")


def test_what_is_run_as_its_authors_left_it_is_compared_wherever_its_name_stands() -> None:
    said = text(sentence(RUN, "Experiments", "Language"))
    rows = [paper("learning_rate", "0.0004", section=SIZES, scope=scope) for scope in ("nanoGPT-B, LN (original)", "ViT-B, LN (original)")]
    rates = code("learning_rate", "0.0001", scope="main:AdamW", kind="call")
    assert told(*rows, rates, said=said, links=(CITING,)) == [(["0.0004"], ["0.0001"])]


def test_a_work_that_is_cited_as_run_needs_no_name_in_the_sentence() -> None:
    (one,) = followed(text(sentence("For the second study we use their released code without changes.", "Experiments", cites=(CITED,))), (CITING,))
    assert (one.run, one.works) == (True, {GPT.id})


@pytest.mark.parametrize(
    "plain",
    [
        "We use the official implementation of minGPT for all of its sizes.",
        "We use nanoGPT in spirit.",
        "We use the official metrics library of nanoGPT.",
        "The official implementation of nanoGPT is fast.",
    ],
)
def test_code_that_is_not_run_or_not_named_is_compared_with_nothing(plain: str) -> None:
    assert followed(text(sentence(plain, "Experiments", "Language")), (CITING,)) == ()


def test_a_short_name_counts_in_its_own_spelling_only() -> None:
    link = Link(CITED, WorkId("repo:github.com/someone/DiT"), Tier.OFFICIAL, ("readme",), ())
    found = [
        followed(text(sentence(f"We use the official implementation for training {name} models.", "Experiments")), (link,)) for name in ("DiT", "dit")
    ]
    assert [len(one) for one in found] == [1, 0]


def test_lengths_of_tables_and_rates_that_a_program_scales_are_no_deviations_of_what_is_run() -> None:
    said = text(sentence(RUN, "Experiments", "Language"))
    assert told(paper("epochs", "40", scope="nanoGPT"), code("epochs", "80"), said=said, links=(CITING,)) == []
    scaled = replace(code("learning_rate", "0.00015"), fact=replace(code("learning_rate", "0.00015").fact, written="blr"))
    assert told(paper("learning_rate", "0.0024", scope="nanoGPT"), scaled, said=said, links=(CITING,)) == []
