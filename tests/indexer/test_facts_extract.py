"""Facts of a document in their chunks."""

from indexer.chunking.chunker import chunks
from indexer.extraction.extract import extract
from indexer.parsers import config, plain
from indexer.parsers.code import parser as code
from lineage.hyperparameters.ontology import ontology
from lineage.records import WorkId

REPO = WorkId("repo:github.com/a/b")


def test_every_fact_names_the_chunk_that_holds_its_line():
    text = "import x\n\n\ndef train(model, lr=1e-3):\n" + "    pass\n" * 70 + "\n\ndef evaluate(model, batch_size=8):\n    return model\n"
    document = code.parse("train.py", text.encode(), REPO, "b")
    own = {chunk.id: chunk for chunk in chunks(document)}
    found = extract(document, list(own.values()), ontology())
    assert [(fact.name, fact.line) for fact in found.facts] == [("learning_rate", 4), ("batch_size", 77)]
    for fact in found.facts:
        assert own[fact.chunk].start_line <= fact.line <= own[fact.chunk].end_line
    assert (found.facts[0].written, found.facts[0].said, found.facts[0].scope, found.facts[0].work) == ("lr", "1e-3", "train", REPO)


def test_what_cannot_be_read_is_said():
    broken = code.parse("old.py", b"print 'lr', lr=1\nlr = 3\n", REPO, "b")
    assert extract(broken, chunks(broken), ontology()).notes == ("repo:github.com/a/b: old.py: no valid Python 3; no facts were read",)
    half = config.parse("c.yaml", b"lr: 0.1\na: [1\nb: 2\n", REPO, "b")
    assert extract(half, chunks(half), ontology()).notes == ("repo:github.com/a/b: c.yaml: no valid YAML from line 3; read by its lines",)


def test_settings_of_tests_are_no_settings():
    for path, text in (("tests/test_train.py", b"lr = 0.1\n"), ("check.py", b"import pytest\nlr = 0.1\n")):
        document = code.parse(path, text, REPO, "b")
        assert extract(document, chunks(document), ontology()).facts == ()


def python_facts(path, text):
    document = code.parse(path, text.encode(), REPO, "b")
    return [fact.name for fact in extract(document, chunks(document), ontology()).facts]


TRAINER = """import torch
class Trainer:
    def __init__(self, ema_decay=0.997):
        self.optimizer = torch.optim.AdamW(self.parameters(), weight_decay=0)
    def test_impute(self, trail_start):
        return trail_start
"""


def test_a_trainer_with_a_method_that_tests_is_no_test():
    assert python_facts("tabdiff/trainer.py", TRAINER) == ["ema_decay", "optimizer", "weight_decay"]
    module = (
        "class VarNetModule(MriModule):\n    def __init__(self, lr=0.0003):\n        pass\n    def test_step(self, batch, batch_idx):\n        pass\n"
    )
    assert python_facts("pl_modules/varnet_module.py", module) == ["learning_rate"]
    loops = "def train_epoch(model, lr=0.1):\n    pass\n\n\ndef test_epoch(model):\n    pass\n"
    assert python_facts("main.py", loops) == ["learning_rate"]
    assert python_facts("layers/test_time_pool.py", "class TestTimePoolHead(nn.Module):\n    def __init__(self, dropout=0.1):\n        pass\n") == [
        "dropout"
    ]


def test_a_python_file_is_a_test_by_what_it_defines():
    for path, text in (
        ("check.py", "lr = 0.1\ndef test_sum():\n    assert lr\n"),
        ("check.py", "class TestSum:\n    lr = 0.1\n\n    def test_sum(self):\n        pass\n"),
        ("check.py", "class Sums(unit.TestCase):\n    lr = 0.1\n    async def test_sum(self):\n        pass\n"),
        ("check.py", "from pytest import fixture\nlr = 0.1\n"),
        ("optim/test_adam.py", "class Adams:\n    lr = 0.1\n    def test_sum(self):\n        pass\n"),
    ):
        assert python_facts(path, text) == []


def test_a_class_with_an_endless_name_ends_quickly():
    assert python_facts("a.py", "class Test" + "a" * 400_000) == []


def test_what_a_paper_says_that_a_program_works_on_is_no_setting_but_what_its_readme_says_is():
    def found(path):
        document = plain.parse(path, b"We train with a batch size of 256 for 90 epochs.\n", REPO, "b")
        return {fact.name for fact in extract(document, chunks(document), ontology()).facts}

    assert found("README.md") == found("examples/gpt/README.md") == found("doc/training.md") == {"batch_size", "epochs"}
    assert found("examples/Transformer_cleaned.md") == found("data/papers/a.md") == found("dataset/a.txt") == set()


def test_a_number_that_is_infinite_states_nothing():
    for path, parser, text in (("a.py", code, b"max_steps = 1e999\nlr = 0.1\n"), ("a.json", config, b'{"seed": 1E+400, "lr": 0.1}')):
        document = parser.parse(path, text, REPO, "b")
        assert {fact.name for fact in extract(document, chunks(document), ontology()).facts} == {"learning_rate"}
