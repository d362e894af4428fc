"""What an audit calls a match, a deviation and missing, and what it does not judge."""

from __future__ import annotations

from dataclasses import replace

from lineage.hyperparameters.ontology import ontology
from lineage.records import Chunk, Fact, Focus, Hit, Work, WorkId
from lineage.results import AuditFinding, FactOccurrence
from retrieval.audit.audit import audited, score
from retrieval.audit.inputs import Paper, Subject, loosely
from retrieval.decisions.target_text import TargetText

TARGET, MADE, OWN = WorkId("arxiv:2401.00001"), WorkId("local:0000"), WorkId("repo:github.com/own/own")


def held(work, name, value, *, text="", path="train.py", section=("4 Training",), scope="", kind="default", own=False, written="", unit=""):
    of_paper = work == TARGET
    text = text or (f"The {name.replace('_', ' ')} is set to {value}." if of_paper else f"{name} = {value}")
    role = "paper" if of_paper else "config" if path.endswith(".yaml") else "code"
    chunk = Chunk("c_" + "0" * 20, work, path, role, "paragraph", text, "", 0, len(text), 1, 1, section=section if of_paper else ())
    hit = Hit(1, 1.0, chunk, Work(work, "paper" if of_paper else "code"), focus=Focus(1, 1), from_target=own or of_paper)
    fact = Fact(name, value, unit, work, chunk.id, "prose" if of_paper else kind, 1, literal=True, scope=scope, written=written or name, said=text)
    return FactOccurrence(fact, hit)


def stated(name, value, **more):
    return held(TARGET, name, value, path="main.tex", **more)


def has(name, value, **more):
    return held(MADE, name, value, **more)


def audit(expected, found, text=""):
    """The findings by name; the repository's text is that of its values, and `text`."""
    by_name = {}
    for one in expected:
        by_name.setdefault(one.fact.name, []).append(one)
    theirs = {}
    for one in found:
        theirs.setdefault(one.fact.name, []).append(one)
    chunks = [one.evidence.chunk for one in found] + [Chunk("c_1", MADE, "notes.py", "code", "module", text, "", 0, len(text), 1, 1)]
    terms = ontology()
    paper = Paper(TARGET, by_name, TargetText(Work(TARGET), (), True), terms, loosely(terms.same), lambda name: 1.0)
    return {(one.name, one.verdict): one for one in audited(paper, Subject(theirs, chunks))}


def test_the_stated_value_matches_in_any_spelling():
    (one,) = audit([stated("learning_rate", "0.000005")], [has("learning_rate", "5e-6")]).values()
    assert (one.verdict, one.expected, one.where, one.strength) == ("match", "0.000005", "train.py#L1", "stated")


def test_another_value_of_the_same_role_deviates():
    (one,) = audit([stated("learning_rate", "0.0001")], [has("learning_rate", "0.01")]).values()
    assert (one.verdict, one.expected, one.found, one.severity) == ("deviation", "0.0001", "0.01", 1.0)


def test_a_list_of_what_was_tried_is_no_value():
    tried = stated("learning_rate", "[0.001, 0.0001]", text="For the learning rate we experiment with 1e-3 and 1e-4.")
    assert audit([tried], [has("learning_rate", "0.01")]) == {}
    chosen = stated("learning_rate", "0.0001", text="The learning rate is 1e-4.")
    assert ("learning_rate", "deviation") in audit([tried, chosen], [has("learning_rate", "0.001")])


def test_another_stages_rate_is_no_match():
    encoder = stated("learning_rate", "0.00001", section=("A", "Training the RationaleSelection module"))
    label = stated("learning_rate", "0.001", section=("A", "Training the LabelPrediction module"))
    right = [has("learning_rate", "0.00001", path="train_rationale.py"), has("learning_rate", "0.001", path="train_label.py")]
    assert {verdict for _, verdict in audit([encoder, label], right)} == {"match"}
    swapped = [has("learning_rate", "0.01", path="train_rationale.py"), has("learning_rate", "0.001", path="train_label.py")]
    assert audit([encoder, label], swapped)["learning_rate", "deviation"].where == "train_rationale.py#L1"


def test_a_value_for_evaluation_contradicts_no_training():
    expected = stated("batch_size", "10000", text="The sampling batch size is 10000.")
    assert ("batch_size", "deviation") not in audit([expected], [has("batch_size", "64", scope="train")])


def test_batches_are_counted_over_devices_and_passes():
    expected = stated("batch_size", "2048")
    found = [has("batch_size", "8"), has("gradient_accumulation", "16"), has("gpus", "16")]
    assert ("batch_size", "match") in audit([expected], found)
    assert ("batch_size", "deviation") in audit([expected], [has("batch_size", "8"), has("gradient_accumulation", "4"), has("gpus", "16")])


def test_values_in_other_units_are_not_compared():
    expected = replace(stated("batch_size", "4000000"), fact=replace(stated("batch_size", "4000000").fact, unit="tokens"))
    (one,) = audit([expected], [has("batch_size", "4096")]).values()
    assert (one.verdict, one.severity) == ("cannot judge", 0.3)


def test_two_values_of_one_statement_are_expected_one_by_one():
    expected = stated("batch_size", "[4096, 10000]", text="The training and sampling batch sizes are set to 4,096 and 10,000.")
    train, sample = has("batch_size", "4096", scope="train"), has("batch_size", "10000", scope="sample")
    assert {verdict for _, verdict in audit([expected], [train, sample])} == {"match"}
    assert audit([expected], [has("batch_size", "512", scope="train"), sample])["batch_size", "deviation"].found == "512"


def test_adamw_without_weight_decay_is_adam():
    expected = stated("optimizer", "adam", text="We use Adam.")
    assert ("optimizer", "match") in audit([expected], [has("optimizer", "adamw"), has("weight_decay", "0")])
    assert ("optimizer", "deviation") in audit([expected], [has("optimizer", "adamw"), has("weight_decay", "0.1")])


def test_a_value_is_missing_only_where_others_of_its_section_are_there():
    expected = [stated("learning_rate", "0.1"), stated("batch_size", "64"), stated("ema_decay", "0.999")]
    there = [has("learning_rate", "0.1"), has("batch_size", "64")]
    assert ("ema_decay", "missing") in audit(expected, there)
    assert ("ema_decay", "missing") not in audit(expected, there[:1])
    assert ("ema_decay", "missing") not in audit(expected, there, "ema = AveragedModel(net)\nema_decay = schedule(step)")
    elsewhere = [*expected[:2], stated("ema_decay", "0.999", section=("B", "Other"))]
    assert ("ema_decay", "missing") not in audit(elsewhere, there)


def test_each_augmentation_is_to_be_there_and_none_deviates():
    expected = [
        stated("learning_rate", "0.1"),
        stated("batch_size", "64"),
        stated("augmentation", "horizontal_flip", text="We use horizontal flips."),
    ]
    there = [has("learning_rate", "0.1"), has("batch_size", "64"), has("augmentation", "random_crop", kind="call")]
    found = audit(expected, there)
    assert ("augmentation", "missing") in found
    assert ("augmentation", "deviation") not in found


def test_what_only_the_authors_code_has_may_agree_and_never_deviates():
    own = held(OWN, "weight_decay", "0.05", own=True)
    agreed, other = (
        audit([own], [has("weight_decay", value)])[("weight_decay", verdict)] for value, verdict in (("0.05", "match"), ("0.3", "cannot judge"))
    )
    assert (agreed.strength, other.strength) == ("code", "code")
    assert other.why == "the paper leaves it open; its authors' code has another value"


def test_examples_and_defaults_of_functions_do_not_deviate_beside_what_is_set():
    expected = [stated("warmup_steps", "4000")]
    parameter = has("warmup_steps", "0", scope="AdamW", text="class AdamW:\n    def __init__(self, warmup_steps=0)")
    example = has("warmup_steps", "10", path="examples/mnist/main.py")
    assert {verdict for _, verdict in audit(expected, [parameter, example, has("warmup_steps", "4000")])} == {"match"}


def test_what_stands_in_the_folder_of_another_section_contradicts_nothing():
    expected = stated("retrieval_k", "3", text="We retrieve the top 3 documents.")
    found = has("retrieval_k", "20", path="covid/retriever.py")
    terms = ontology()
    said = TargetText(Work(TARGET), (), True)
    assert ("retrieval_k", "deviation") in audit([expected], [found])
    paper = Paper(TARGET, {"retrieval_k": [expected]}, said, terms, loosely(terms.same), lambda name: 1.0)
    paper.__dict__["sections"] = frozenset({("6", "Verifying claims about COVID-19")})
    assert [one.verdict for one in audited(paper, Subject({"retrieval_k": [found]}, [found.evidence.chunk]))] == ["cannot judge"]


def test_the_score_weighs_what_matters_and_leaves_out_what_cannot_be_judged():
    rows = [
        AuditFinding("method", "x", "x", verdict, "1", severity=weight)
        for verdict, weight in (("match", 0.9), ("missing", 0.3), ("cannot judge", 1.0))
    ]
    assert score(rows) == 0.75
    assert score(rows[2:]) == 1.0


def test_what_a_trial_run_sets_is_not_what_is_run():
    expected = stated("batch_size", "64")
    lines = "if args.debug:\n    batch_size = 64\nbatch_size = 16"
    trial, run = has("batch_size", "64", text=lines), has("batch_size", "16", text=lines)
    trial, run = (replace(one, fact=replace(one.fact, line=line)) for one, line in ((trial, 2), (run, 3)))
    assert audit([expected], [trial, run])["batch_size", "deviation"].found == "16"


def test_a_logged_epoch_is_no_length_of_training():
    logged = replace(has("epochs", "epoch + 1"), fact=replace(has("epochs", "epoch + 1").fact, literal=False))
    assert ("steps", "deviation") in audit([stated("steps", "1000")], [has("steps", "50"), logged])


def test_one_of_two_betas_deviates():
    expected = [stated("adam_beta1", "0.9"), stated("adam_beta2", "0.95")]
    found = audit(expected, [has("adam_betas", "[0.9, 0.99]")])
    assert ("adam_beta2", "deviation") in found
    assert ("adam_beta1", "deviation") not in found


def test_a_folder_that_holds_everything_names_no_section():
    expected = [stated("weight_decay", value, section=("A", title)) for value, title in (("0.05", "Second model"), ("0.1", "Swift tokenizer"))]
    found = [has("weight_decay", "0.1", path="swift/engine/first.py"), has("weight_decay", "0.2", path="swift/engine/second.py")]
    assert audit(expected, found)["weight_decay", "deviation"].where == "swift/engine/second.py#L1"


def test_one_number_of_several_that_differs_deviates():
    betas = [has("adam_betas", "[0.9, 0.999]"), has("adam_beta1", "0.9"), has("adam_beta2", "0.999")]
    text = "The momenta for AdamW are (0.9, 0.95)."
    assert ("adam_betas", "deviation") in audit([stated("adam_betas", "[0.9, 0.95]", text=text)], betas)


def test_passes_of_another_run_make_no_batch():
    expected = [stated("batch_size", "64", text="The batch size is 64.")]
    other = has("gradient_accumulation", "16", path="configs/b.yaml", kind="config")
    run = [has("batch_size", "4", path="configs/a.yaml", kind="config"), has("gradient_accumulation", "2", path="configs/a.yaml", kind="config")]
    assert ("batch_size", "match") not in audit(expected, [*run, other])


def test_a_default_holds_where_configurations_leave_it_out():
    text = "class Module:\n    def __init__(self, layer_decay=0.5):\n"
    program = has("layer_decay", "0.5", text=text, path="module.py", scope="Module")
    configs = [has("epochs", "12", path="configs/a.yaml", kind="config"), has("layer_decay", "1", path="configs/b.yaml", kind="config")]
    found = audit([stated("layer_decay", "0.8"), stated("epochs", "12")], [program, *configs])
    assert "module.py#L1" in {one.where for one in found.values() if one.verdict == "deviation"}
