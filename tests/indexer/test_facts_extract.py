"""Facts of a document in their chunks."""

from indexer.chunk import chunks
from indexer.facts.extract import extract
from indexer.parsers import code, config, plain
from lineage.model import WorkId
from lineage.ontology import ontology

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
