"""What an audit calls present, different and absent, and what it weighs."""

from __future__ import annotations

from dataclasses import replace

from lineage.insight import AuditFinding, Detail, Gap, Gaps, Held, Specification, Suggestion
from lineage.model import Chunk, Fact, Focus, Hit, Work, WorkId
from lineage.ontology import same
from retrieval.audit import Component, audited, components, found_components, score
from retrieval.conflicts import loosely
from retrieval.gaps.text import Said, TargetText

TARGET, REPO, MADE = WorkId("arxiv:2401.00001"), WorkId("repo:github.com/a/b"), WorkId("local:0000")


def chunk(work, text, *, path="train.py", symbol="", section=(), kind="code", line=1):
    return Chunk("c_" + "0" * 20, work, path, kind, "function", text, "", 0, len(text), line, line + text.count("\n"), symbol=symbol, section=section)


def held(work, name, value, *, literal=True, line=3, path="train.py", scope="", own=False):
    place = chunk(work, f"{name} = {value}", line=line, path=path, symbol=scope)
    hit = Hit(1, 1.0, place, Work(work), focus=Focus(line, line), from_target=own)
    return Held(Fact(name, value, "", work, place.id, "default", line, literal=literal, scope=scope), hit)


def gap(name, *, facts=(), suggestion=None, more=(), names=(), topic="optimiser", weight=1.0):
    state = Specification.SPECIFIED if facts else Specification.UNSPECIFIED
    return Gap(
        Detail(name, name.replace("_", " "), topic, f"what is the {name}?", (name, *names), weight),
        state,
        facts=tuple(facts),
        suggestions=(*((suggestion,) if suggestion else ()), *more),
    )


def findings(gaps, **theirs):
    report = Gaps("l", "1", Work(TARGET), (), tuple(gaps))
    return {one.name: one for one in audited(report, {name: tuple(some) for name, some in theirs.items()}, same)}


def test_the_stated_value_is_present_in_any_spelling():
    one = findings([gap("learning_rate", facts=[held(TARGET, "learning_rate", "0.0001")])], learning_rate=[held(MADE, "learning_rate", "0.0001")])[
        "learning_rate"
    ]
    assert (one.verdict, one.expected, one.where, one.severity) == ("present", "0.0001", "train.py#L3", 1.0)


def test_one_of_several_stated_values_is_enough():
    stated = [held(TARGET, "learning_rate", "0.001"), held(TARGET, "learning_rate", "0.0001")]
    assert findings([gap("learning_rate", facts=stated)], learning_rate=[held(MADE, "learning_rate", "0.0001")])["learning_rate"].verdict == "present"


def test_another_value_differs_and_both_are_told():
    one = findings([gap("learning_rate", facts=[held(TARGET, "learning_rate", "0.0001")])], learning_rate=[held(MADE, "learning_rate", "0.01")])[
        "learning_rate"
    ]
    assert (one.verdict, one.expected, one.found) == ("different", "0.0001", "0.01")


def test_a_value_that_nobody_sets_is_absent_and_one_that_is_computed_is_not_judged():
    expected = [gap("batch_size", facts=[held(TARGET, "batch_size", "256")])]
    assert findings(expected)["batch_size"].verdict == "absent"
    assert findings(expected, batch_size=[held(MADE, "batch_size", "8 * world", literal=False)]) == {}


def test_what_only_the_lineage_holds_counts_by_its_confidence_and_not_below_a_half():
    sure = Suggestion("0.05", "", 0.8, held=(held(REPO, "weight_decay", "0.05"),))
    doubtful = Suggestion("0.9", "", 0.4, held=(held(REPO, "momentum", "0.9"),))
    spoken = Hit(1, 1.0, chunk(TARGET, "We use weight decay.", section=("3 Method",), kind="paper"), Work(TARGET), from_target=True)
    unspoken = findings([gap("weight_decay", suggestion=sure)])
    found = findings([replace(gap("weight_decay", suggestion=sure), stated=(spoken,)), gap("momentum", suggestion=doubtful)])
    assert unspoken == {}
    assert list(found) == ["weight_decay"]
    assert (found["weight_decay"].severity, found["weight_decay"].why) == (
        0.8,
        "from its lineage, with confidence 0.80; no value of it was found in the repository",
    )


def test_the_names_of_one_detail_agree_with_each_other():
    expected = gap("epochs", facts=[held(TARGET, "epochs", "8000"), held(TARGET, "steps", "50")], names=("steps",))
    one = findings([expected], steps=[held(MADE, "steps", "8000")])["epochs"]
    assert (one.verdict, one.expected, one.found) == ("present", "8000 or 50", "8000")


def test_one_of_several_values_of_a_statement_is_present():
    expected = gap("batch_size", facts=[held(TARGET, "batch_size", "[4096, 10000]")])
    report = Gaps("l", "1", Work(TARGET), (), (expected,))
    (one,) = audited(report, {"batch_size": (held(MADE, "batch_size", "4096"),)}, loosely(same))
    assert one.verdict == "present"


def test_a_value_that_the_report_has_no_room_for_is_expected_too():
    shown, more = held(TARGET, "learning_rate", "0.1"), held(TARGET, "learning_rate", "0.0025")
    stated = [replace(one, fact=replace(one.fact, kind="table")) for one in (shown, more)]
    report = Gaps("l", "1", Work(TARGET), (), (gap("learning_rate", facts=stated[:1]),))
    (one,) = audited(report, {"learning_rate": (held(MADE, "learning_rate", "0.0025"),)}, same, {"learning_rate": stated})
    assert (one.verdict, one.expected, one.found) == ("present", "0.1 or 0.0025", "0.0025")


def test_examples_and_defaults_of_parameters_may_agree_and_never_differ():
    expected = [gap("warmup_steps", facts=[held(TARGET, "warmup_steps", "4000")])]
    parameter = held(MADE, "warmup_steps", "0", scope="AdamW")
    example = held(MADE, "warmup_steps", "10", path="examples/mnist/main.py")
    one = findings(expected, warmup_steps=[parameter, example])["warmup_steps"]
    assert one.verdict == "absent"
    assert one.why == "the target states it; the repository has only examples or defaults of parameters, which a run may set otherwise"
    assert findings(expected, warmup_steps=[parameter, held(MADE, "warmup_steps", "5")])["warmup_steps"].found == "5"
    assert findings(expected, warmup_steps=[held(MADE, "warmup_steps", "4000", scope="AdamW")])["warmup_steps"].verdict == "present"


def test_what_the_target_s_own_code_has_is_expected_before_what_others_have():
    others = Suggestion("0.9999", "", 0.9, held=(held(REPO, "ema_decay", "0.9999"),))
    own = Suggestion("0.997", "", 0.4, held=(held(WorkId("repo:github.com/own/own"), "ema_decay", "0.997", own=True),))
    one = findings([gap("ema_decay", suggestion=others, more=(own,))], ema_decay=[held(MADE, "ema_decay", "0.997")])["ema_decay"]
    assert (one.verdict, one.expected, one.severity, one.why) == ("present", "0.997", 0.4, "from its own code, with confidence 0.40")


def said(text, *section, role="paragraph"):
    return Said(text, chunk(TARGET, text, section=section, kind="paper"), 1, 1.0)


def test_components_are_the_sections_that_describe_the_method():
    text = TargetText(
        Work(TARGET),
        (
            said("We review masking.", "2 Related Work"),
            said("The decoder is shallow.", "3 Method", "3.1 Patch decoder"),
            said("It has two blocks.", "3 Method", "3.1 Patch decoder"),
            said("We train long.", "4 Experiments", "4.1 Settings"),
        ),
        True,
    )
    (one,) = components(text)
    assert one.words == ("Patch", "decoder")
    assert (one.title, one.question) == ("3.1 Patch decoder", "3.1 Patch decoder. The decoder is shallow. It has two blocks.")


def test_what_is_proven_or_studied_is_no_component():
    text = TargetText(
        Work(TARGET),
        (
            said("The bound follows from convexity and Theorem 2.", "A Acceleration"),
            said("Our updates take two steps.", "A Acceleration", "A.1 Optimistic step"),
            said("We vary the width.", "B Study of Model Efficiency", "B.1 Efficiency"),
            said("Proof by induction.", "C Proof of Theorem 2"),
            said("The decoder is shallow.", "3 Method", "3.1 Patch decoder"),
        ),
        True,
    )
    assert [one.title for one in components(text)] == ["3.1 Patch decoder"]


def test_a_component_is_present_if_the_best_hits_speak_of_it():
    component = Component("Patch decoder", "Patch decoder. It is shallow.", ("Patch", "decoder"))
    there = Hit(1, 1.0, chunk(MADE, "class PatchDecoder:\n    pass", symbol="PatchDecoder", path="model.py"), Work(MADE))
    not_there = Hit(1, 1.0, chunk(MADE, "def load(path):\n    pass", symbol="load"), Work(MADE))
    found, missing = found_components([(component, [not_there, there]), (component, [not_there])])
    assert (found.verdict, found.found, found.where) == ("present", "PatchDecoder", "model.py#L1-L2")
    assert (missing.verdict, missing.found) == ("absent", "")


def test_findings_remarks_and_single_words_are_no_components():
    none = ("Remarks.", "Tuning the width enhances results", "Relation to Patch Decoders", "Architecture", "What do patch decoders do?")
    titles = (*none, "Patch decoder")
    text = TargetText(Work(TARGET), tuple(said("It has two blocks.", "3 Method", title) for title in titles), True)
    assert [one.title for one in components(text)] == ["Patch decoder"]


def test_the_parts_of_a_name_are_one_word_of_a_title():
    component = Component("The final VeriSci", "", ("VeriSci",))
    hit = Hit(1, 1.0, chunk(MADE, "python verisci.py", path="run.sh"), Work(MADE))
    assert next(found_components([(component, [hit])])).verdict == "present"


def test_a_value_under_another_name_of_the_detail_contradicts_nothing():
    expected = gap("hardware", facts=[held(TARGET, "gpu_type", "h100")], names=("gpu_type", "gpus"))
    assert findings([expected], gpus=[held(MADE, "gpus", "8")]) == {}
    assert findings([expected], gpu_type=[held(MADE, "gpu_type", "a100")])["hardware"].verdict == "different"


def test_what_stands_in_the_folder_of_another_experiment_contradicts_nothing():
    stated = held(TARGET, "batch_size", "4096", path="main.tex", own=True)
    runs = [held(MADE, "batch_size", value, path=f"tasks/{name}/train.py") for name, value in (("DINO", "6"), ("MAE", "64"), ("DiT", "256"))]
    assert findings([gap("batch_size", facts=[stated])], batch_size=[*runs, held(MADE, "batch_size", "32")])["batch_size"].found == "32"
    of_mae = replace(stated, evidence=replace(stated.evidence, chunk=chunk(TARGET, "We train MAE with 4096.", path="main.tex"), work=Work(TARGET)))
    assert findings([gap("batch_size", facts=[of_mae])], batch_size=[*runs, held(MADE, "batch_size", "32")])["batch_size"].found == "64"


def test_the_score_weighs_what_matters():
    heavy, light = (AuditFinding("method", "x", "x", verdict, "1", severity=weight) for verdict, weight in (("present", 0.9), ("absent", 0.3)))
    assert score([heavy, light]) == 0.75
    assert score([]) == 1.0
