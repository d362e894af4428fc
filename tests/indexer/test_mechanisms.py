"""Mechanisms of code: what is called, named, defined and compared decides something of a known kind."""

from indexer.extraction import mechanisms
from indexer.extraction.extract import extract
from lineage.hyperparameters.mechanisms import kinds
from lineage.hyperparameters.ontology import ontology
from lineage.records import MECHANISM, Chunk, Document, WorkId

WORK = WorkId("repo:github.com/someone/thing")


def document(text: str, path: str = "train.py", language: str = "python", kind: str = "code") -> Document:
    return Document(WORK, path, text, (), "test@1", kind, language)  # type: ignore[arg-type]


def read(text: str, **how: str) -> set[tuple[int, str]]:
    return {(fact.line, fact.name.removeprefix(MECHANISM)) for fact in mechanisms.read(document(text, **how))}


def test_calls_of_three_frameworks_show_the_same_kind():
    text = "nn.utils.clip_grad_norm_(model.parameters(), 1.0)\ntx = optax.clip_by_global_norm(1.0)\nTrainer(gradient_clip_val=0.5)"
    assert {(line, name) for line, name in read(text) if name == "gradient_clipping"} == {(n, "gradient_clipping") for n in (1, 2, 3)}


def test_who_is_exempt_from_weight_decay_is_seen_in_a_comparison():
    text = "for name, p in model.named_parameters():\n    if p.ndim <= 1 or name.endswith('.bias'):\n        rest.append(p)"
    assert (2, "weight_decay_exemption") in read(text)
    assert not read("def f(x):\n    assert x.ndim == 2")


def test_what_is_only_handed_on_decides_nothing():
    assert not read("model = Net(dropout=dropout, drop_path=args.drop_path)")
    assert (1, "dropout") in read("model = Net(dropout=0.1)")


def test_parameters_keep_their_line_and_their_function():
    (fact,) = list(mechanisms.read(document("class Net:\n    def __init__(self, dim,\n                 qkv_bias=True):\n        pass")))
    assert (fact.line, fact.name, fact.how, fact.scope) == (3, MECHANISM + "bias_terms", "parameter", "Net.__init__")


def test_a_statement_over_several_lines_is_one_line_of_code_without_comments():
    text = "torch.optim.AdamW(\n    params,  # decayed\n    lr=1e-3,\n)"
    (fact,) = [fact for fact in mechanisms.read(document(text)) if fact.name == MECHANISM + "optimizer"]
    assert (fact.line, fact.end_line, fact.value) == (1, 4, "torch.optim.AdamW( params, lr=1e-3, )")


def test_configurations_and_commands_name_mechanisms_too():
    assert read("train:\n  grad_clip: 1.0\n", path="a.yaml", language="yaml", kind="config") == {(2, "gradient_clipping")}
    assert (1, "gradient_clipping") in read("python train.py --max-grad-norm 1.0", path="run.sh", language="bash")


def test_what_is_no_python_and_what_tests_do_gives_nothing():
    assert not mechanisms.read(document("def f(:\n"))
    tested = document("import pytest\ndef test_it():\n    clip_grad_norm_(p, 1.0)", path="tests/test_it.py")
    chunk = Chunk("c_1", WORK, tested.path, "code", "module", tested.text, "", 0, len(tested.text), 1, 3)
    assert not extract(tested, [chunk], ontology()).mechanisms


def test_facts_stand_in_their_chunk():
    source = document("a = 1\nclip_grad_norm_(p, 1.0)")
    chunk = Chunk("c_1", WORK, source.path, "code", "module", source.text, "", 0, len(source.text), 1, 2)
    facts = extract(source, [chunk], ontology()).mechanisms
    assert [(fact.chunk, fact.line, fact.end_line, fact.said) for fact in facts] == [("c_1", 2, 2, "call")]


def test_every_kind_can_be_recognized_and_has_its_own_name():
    names = [kind.name for kind in kinds()]
    assert len(names) == len(set(names)) >= 60
    assert all(kind.calls or kind.names or kind.functions or kind.code for kind in kinds())
    assert all(0 < kind.weight <= 1 for kind in kinds())


def branches(text: str) -> list[tuple[int, int, str]]:
    found = mechanisms.read(document(text))
    return [(fact.line, fact.end_line, fact.name.removeprefix(MECHANISM)) for fact in found if fact.how == "branch"]


def test_a_rate_in_a_branch_on_the_step_is_a_schedule_and_where_it_rises_warm_up():
    text = "if step > 6000:\n    lr = base - step * base / n\nelif step < 3000:\n    lr = base_lr * step / 3000\nelse:\n    lr = base_lr"
    assert branches(text) == [(1, 6, "lr_schedule"), (3, 4, "warmup_and_floor")]
    assert branches("def f(it):\n    if it < n:\n        return learning_rate * (it + 1) / n") == [(2, 3, "lr_schedule"), (2, 3, "warmup_and_floor")]


def test_a_rate_that_falls_in_an_early_branch_is_no_warm_up():
    for falling in ("lr * (1 - step / n)", "lr / step", "lr * 0.9 ** (step / n)", "lr * cos(step / n)"):
        assert branches(f"if step < n:\n    lr = {falling}") == [(1, 2, "lr_schedule")]


def test_what_depends_on_no_step_or_is_only_read_is_no_schedule():
    assert not branches("if loss > 3:\n    lr = lr * step / 3")
    assert not branches("if step % 100 > 3:\n    lr = lr * step / 3")
    assert not branches("if step < 10:\n    lr = scheduler.get_last_lr()[0]")
    assert not branches("if step < 10:\n    x = y * step / 3")
