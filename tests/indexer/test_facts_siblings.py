"""Values of parts that a paper sets up alike hold for their own part."""

import pytest

from indexer.extraction import extract
from indexer.extraction.collector import Sink
from lineage.hyperparameters.ontology import ontology
from lineage.records import Document, Span, WorkId


def paper(*sections):
    text, spans = "", []
    for path, said in sections:
        spans.append(Span(len(text), len(text) + len(said), "table" if "|" in said else "paragraph", path))
        text += said + "\n\n"
    sink = Sink(ontology(), "prose")
    extract.read(Document(WorkId("arxiv:2001.00001"), "main.tex", text, tuple(spans), "latex@2", "paper"), sink)
    return [(one.name, one.value, one.scope) for one in sink.found]


LOW, HIGH = "The learning rate is 1e-4. We train for 400 epochs.", "The learning rate is 1e-3. We train for 400 epochs."


def test_sections_of_one_title_below_siblings_speak_of_what_the_siblings_name():
    found = paper((("C Details", "C.1 Tokenizer", "Training."), LOW), (("C Details", "C.2 Generator", "Training."), HIGH))
    assert set(found) == {
        ("learning_rate", "0.0001", "Tokenizer"),
        ("epochs", "400", "Tokenizer"),
        ("learning_rate", "0.001", "Generator"),
        ("epochs", "400", "Generator"),
    }


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("Details", "Tokenizer", "Training"), ("Details", "Tokenizer", "Training")),
        (("Details", "Tokenizer", "Training"), ("Details", "Generator", "Sampling")),
        (("Details", "Tokenizer", "Training"), ("Results", "Generator", "Training")),
        (("Details", "Training"), ("Results", "Training")),
    ],
)
def test_other_sections_have_no_part(one, other):
    assert {scope for *_, scope in paper((one, LOW), (other, HIGH))} == {""}


def test_parts_that_agree_are_not_told_apart():
    assert {scope for *_, scope in paper((("C", "Tokenizer", "Training"), LOW), (("C", "Generator", "Training"), LOW))} == {""}


def test_tables_and_values_that_say_what_they_are_for_keep_their_scope():
    found = paper(
        (("C", "Tokenizer", "Training"), "The learning rate for ViT-L is set to 1e-4."),
        (("C", "Tokenizer", "Training"), "| Base | Large\nepochs | 100 | 200"),
        (("C", "Generator", "Training"), "The learning rate is set to 1e-3."),
    )
    assert found == [
        ("learning_rate", "0.0001", "ViT-L"),
        ("epochs", "100", "Base"),
        ("epochs", "200", "Large"),
        ("learning_rate", "0.001", "Generator"),
    ]
