"""Roles are read from what a sentence says of a citation, and the words that decided are shown."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest

from lineage.records import Mention, Role
from lineage.references.citation_cues import TARGET, mark
from lineage.references.roles import classify, judge, read_model, section_kind
from lineage.text.phrases import sentences


def mention(sentence, key="bert", section=(), together=()):
    return Mention(key, sentence, section, together=together)


PLAIN_CASES = [
    ("We build upon the framework of [bert] and extend it to graphs.", Role.BASE),
    ("Our method is an extension of the model proposed by [bert].", Role.BASE),
    ("We use the optimizer of [bert] to train our model.", Role.METHOD),
    ("The sentences are parsed with the Stanford parser [bert].", Role.METHOD),
    ("We follow the experimental setup of [bert] for all experiments.", Role.SETUP),
    ("Following [bert], we set the learning rate to 1e-4.", Role.SETUP),
    ("We evaluate our approach on the SQuAD dataset [bert].", Role.DATA),
    ("We report BLEU scores [bert].", Role.METRIC),
    ("Unlike [bert], our model does not need any labels.", Role.BASELINE),
    ("Our model outperforms the approach of [bert] by three points.", Role.BASELINE),
    ("Deep networks have achieved great success in many tasks [bert].", Role.BACKGROUND),
    ("[bert] proposed a method to learn representations of words.", Role.BACKGROUND),
]


@pytest.mark.parametrize(("sentence", "role"), PLAIN_CASES)
def test_a_plain_sentence_gives_its_role_with_sentence_and_cues(sentence, role):
    verdicts = classify([mention(sentence)])
    said = next(v for v in verdicts if v.role is role)
    assert said.sentence == sentence
    assert said.cues
    assert 0 < said.score <= 1


@pytest.mark.parametrize(
    ("written", "by"),
    [
        ("We follow [bert].", "a key in brackets"),
        ("We follow [elmo; bert].", "a key among others"),
        ("We follow <cite>Devlin et al., 2019</cite>.", "a tag"),
        ("We follow [12].", "a number"),
        ("We follow Devlin et al. (2019).", "names and a year"),
        ("We follow (Devlin et al., 2019; Peters et al., 2018).", "a bracket of names"),
    ],
)
def test_the_citation_is_found_however_it_is_written(written, by):
    assert any(TARGET in sentence for sentence in mark(written, "bert").focus), by


def test_a_citation_in_a_bunch_is_told_from_one_that_stands_alone():
    assert mark("Many did so (Abe et al., 2001; Bea et al., 2002; [bert]; Cox et al., 2003).".replace("[bert]", "⟦T⟧")).bunch == 4
    assert mark("As in [bert], we stop early.", "bert").bunch == 1
    assert mark("No marker is left here.", "bert", ("bert", "elmo", "gpt")).bunch == 3


@pytest.mark.parametrize(
    ("printed", "marked"),
    [
        ("Croce & Hein, 2020", "TeCoA ⟦o⟧ of Mao et al. (2023) is tested with APGD ⟦T⟧ as Qi et al. ⟦o⟧ do."),
        ("Croce & Hein", "TeCoA ⟦o⟧ of Mao et al. (2023) is tested with APGD ⟦T⟧ as Qi et al. ⟦o⟧ do."),
        ("Mao et al. (2023", "TeCoA ⟦o⟧ of ⟦T⟧ is tested with APGD ⟦o⟧ as Qi et al. ⟦o⟧ do."),
        ("12", "TeCoA ⟦o⟧ of Mao et al. (2023) is tested with APGD ⟦o⟧ as Qi et al. ⟦T⟧ do."),
    ],
)
def test_of_several_citations_the_one_that_is_printed_is_marked(printed: str, marked: str) -> None:
    text = "TeCoA (Bai et al., 2021) of Mao et al. (2023) is tested with APGD (Croce & Hein, 2020) as Qi et al. [11, 12] do."
    (focus,) = mark(text, printed).focus
    assert focus == marked.replace("Mao et al. (2023)", "⟦o⟧")


def test_several_roles_come_from_several_mentions_each_with_its_own_evidence():
    use, compare = "We evaluate our approach on the SQuAD dataset [bert].", "Unlike [bert], our model does not need any labels."
    verdicts = {v.role: v for v in classify([mention(use), mention(compare, section=("5 Results",))])}
    assert verdicts[Role.DATA].sentence == use
    assert (verdicts[Role.BASELINE].sentence, verdicts[Role.BASELINE].section) == (compare, ("5 Results",))


def test_verdicts_are_ordered_by_score_and_there_is_always_one():
    verdicts = classify([mention("xyzzy [bert] qux.")])
    assert len(verdicts) >= 1
    assert [v.score for v in verdicts] == sorted((v.score for v in verdicts), reverse=True)


def test_the_section_counts_and_is_named_among_the_cues():
    sentence = "The method of [bert] is a known one."
    related = {v.role: v for v in judge(mention(sentence, section=("2 Related Work",)))}
    method = {v.role: v for v in judge(mention(sentence, section=("3 Our Method",)))}
    assert related[Role.BACKGROUND].score > method[Role.BACKGROUND].score
    assert "section: related work" in related[Role.BACKGROUND].cues


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (("5 Experiments", "5.1 Datasets"), "data"),
        (("5 Experiments", "5.2 Implementation details"), "experiments"),
        (("Introduction",), "introduction"),
        (("Conclusion",), "discussion"),
        (("Foo", "Bar"), ""),
        ((), ""),
    ],
)
def test_sections_are_told_by_their_innermost_title(path, kind):
    assert section_kind(path) == kind


def test_without_a_context_only_the_title_speaks_and_weakly():
    (verdict,) = classify([], cited_title="ImageNet: a large-scale hierarchical image database")
    assert (verdict.role, verdict.score, verdict.sentence) == (Role.DATA, 0.25, "")
    assert classify([], cited_title="Attention is all you need") == ()
    assert classify([mention("  ")], cited_title="Attention is all you need") == ()


def test_the_same_input_gives_the_same_verdicts():
    mentions = [mention(sentence) for sentence, _ in PLAIN_CASES]
    assert classify(mentions) == classify(mentions)


def test_hostile_text_is_judged_like_any_other():
    for text in (
        "[" * 5000,
        "⟦T⟧" * 2000,
        "\x00\ud800"[:1] + "[bert]",
        "et al. (" * 3000,
        "<cite>" * 900,
        "a" * 100_000,
        "; ".join(["(A, 2001)"] * 900),
    ):
        assert classify([mention(text)])


def test_ten_thousand_mentions_are_cut_to_the_first_two_hundred():
    assert classify([mention("We use [bert].")] * 10_000) == classify([mention("We use [bert].")])


def test_sentences_do_not_end_at_abbreviations():
    assert sentences("As in Smith et al. We agree. See Fig. 3 there.") == ["As in Smith et al. We agree.", "See Fig. 3 there."]


def test_a_model_is_plain_json():
    model = {
        "provenance": {},
        "sections": {"weights": {}},
        "roles": {role.value: {"bias": -1.0, "threshold": 0.5} for role in Role},
        "unit": 100,
        "cues": {"says use": [300 * (role is Role.METHOD) for role in Role]},
    }
    (verdict,) = classify([mention("We use [bert].")], model=read_model(model))
    assert (verdict.role, verdict.score, verdict.cues) == (Role.METHOD, 0.8808, ("“use”",))


def _provenance(name):
    return json.loads(files("lineage").joinpath(f"data/{name}.json").read_text("utf-8"))["provenance"]


def test_what_ships_says_where_it_comes_from_and_never_saw_the_test_sets():
    roles, ranking = _provenance("roles"), _provenance("ranking")
    assert "MultiCite" in roles["never_seen"]
    assert "MultiCite" not in roles["fitted_on"]
    assert "pst_extended" in ranking["fitted_on"]
    assert "pst_valid_pairs" in ranking["never_seen"]
