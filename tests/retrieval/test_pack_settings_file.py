"""Every value of the settings has its source; what nobody says is UNSPECIFIED."""

from __future__ import annotations

from dataclasses import replace

import pytest
import yaml as reader
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.records import Fact, Focus, Hit, Work
from lineage.results import Detail, FactOccurrence, Gap, Specification, Suggestion
from retrieval.context.settings_file import entries, scalar, yaml
from tests.fakes import small_lineage as small

CODE = Hit(
    1, 1.0, small.chunk(small.REPO, "conf.yaml", small.CONFIG, "config"), Work(small.REPO, "code", meta={"commit": small.COMMIT}), focus=Focus(3, 3)
)
SAID = Hit(1, 1.0, small.chunk(small.TARGET, "main.tex", small.STATED, "paper", section=("3 Model",)), Work(small.TARGET))


def held(name, value, hit, scope=""):
    return FactOccurrence(Fact(name, value, "", hit.work.id, hit.chunk.id, "config", 3, scope=scope), hit)


def gap(name, state, topic="optimiser", **more):
    return Gap(Detail(name, name, topic, f"which {name}", weight=more.pop("weight", 0.5)), state, **more)


def written(*gaps):
    return yaml(entries(gaps))


def test_a_stated_value_is_the_targets_and_what_contradicts_it_is_told():
    facts = (held("lr", "0.001", SAID), held("lr", "0.1", SAID, "linear layer"))
    assert (
        written(gap("lr", Specification.SPECIFIED, facts=facts)) == "optimiser:\n  lr: 0.001  # stated: arXiv:2401.00001#3; also 0.1 (linear layer)"
    )


def test_where_the_target_is_silent_the_lineage_speaks_with_its_grade():
    offer = Suggestion("0.001", "", "fair", "why", (held("lr", "0.001", CODE),))
    text = written(gap("lr", Specification.UNSPECIFIED, suggestions=(offer,)))
    assert text == "optimiser:\n  lr: 0.001  # lineage, fair evidence: github.com/DequanWang/tent/conf.yaml#L3"


def test_a_weak_value_of_others_is_a_remark_and_one_of_the_targets_own_code_is_a_setting():
    def line(hit):
        offer = Suggestion("0.001", "", "weak", "why", (held("lr", "0.001", hit),))
        return written(gap("lr", Specification.UNSPECIFIED, suggestions=(offer,))).splitlines()[-1]

    assert line(CODE) == "  lr: UNSPECIFIED  # perhaps 0.001: lineage, weak evidence: github.com/DequanWang/tent/conf.yaml#L3"
    own = "github.com/DequanWang/tent/conf.yaml#L3-L3@e9e926a6"
    assert line(replace(CODE, from_target=True)) == f"  lr: 0.001  # own code: {own}, not stated"


def test_what_is_stated_in_words_is_no_value():
    text = written(gap("initialisation", Specification.SPECIFIED, stated=(SAID,)))
    assert "  # initialisation: stated in words: arXiv:2401.00001#3" in text
    assert reader.safe_load(text) == {"optimiser": None}


def test_several_values_of_as_many_experiments_are_listed_and_none_is_set():
    facts = (held("layers", "32", SAID, "small"), held("layers", "48", SAID, "large"))
    text = written(gap("layers", Specification.SPECIFIED, facts=facts))
    assert "  # layers: one for each model or experiment: 32 (small), 48 (large): arXiv:2401.00001#3" in text


def test_what_nobody_says_is_unspecified():
    text = written(gap("seed", Specification.UNSPECIFIED), gap("warmup", Specification.PARTIALLY_SPECIFIED, stated=(SAID,)))
    assert text.splitlines() == [
        "# UNSPECIFIED: neither the target nor anything in its lineage says; decide knowingly",
        "optimiser:",
        "  seed: UNSPECIFIED",
        "  warmup: UNSPECIFIED  # spoken of: arXiv:2401.00001#3",
    ]


def test_a_detail_of_several_settings_has_a_line_for_each():
    facts = (held("gpus", "1", SAID), held("gpu_type", "p100", SAID))
    text = written(gap("hardware", Specification.SPECIFIED, "hardware", facts=facts))
    assert reader.safe_load(text) == {"hardware": {"gpus": 1, "gpu_type": "p100"}}


def test_values_are_read_back_as_they_are():
    for value, read in {
        "0.0001": 0.0001,
        "true": True,
        "roberta-large": "roberta-large",
        '{"kind": "cosine"}': {"kind": "cosine"},
        "[0.9, 0.95]": [0.9, 0.95],
        "lr * 2 # not a comment": "lr * 2 # not a comment",
        "a: b\n- c": "a: b - c",
        "": "",
        "1e-8": 1e-8,
        "5E6": 5e6,
        "2.5e-4": 2.5e-4,
        "[1e-5, 3]": [1e-5, 3],
        str(list(range(100))): list(range(100)),
    }.items():
        assert reader.safe_load(f"x: {scalar(value)}  # said") == {"x": read}


def test_the_weightiest_come_first():
    text = written(gap("b", Specification.UNSPECIFIED, weight=0.1), gap("a", Specification.UNSPECIFIED, "data", weight=0.9))
    assert text.splitlines()[1:] == ["data:", "  a: UNSPECIFIED", "optimiser:", "  b: UNSPECIFIED"]


@pytest.mark.parametrize("value", ["runs/1e5", "lr-1e-4", "model-1e4.pt", "resnet50/2e3", "v1e5"])
def test_figures_inside_of_a_name_stay_as_they_are(value):
    assert reader.safe_load(f"x: {scalar(value)}") == {"x": value}


@pytest.mark.parametrize(
    "value", ["[" * 100_000, '{"a":' * 50_000, "\ud800", "a\u0085b", "'", '"', "# x", "&a", "*a", "!!python/object:x", "%x", "x" * 900]
)
def test_what_is_no_value_is_quoted_and_cut(value):
    made = scalar(value)
    assert len(made) < 410
    assert isinstance(reader.safe_load(f"x: {made}  # said".encode("utf-8", "replace"))["x"], str)


@given(st.text(st.sampled_from("ab1e-+. :#{}[]'\",\n\u2028"), max_size=24))
@settings(max_examples=25, deadline=None)
def test_any_value_stays_on_its_line_and_can_be_read(value):
    found = reader.safe_load(f"x: {scalar(value)}  # said\ny: 1")
    assert list(found) == ["x", "y"]
