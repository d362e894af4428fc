"""Values under names that no list has."""

from __future__ import annotations

import pytest

from indexer.extraction.extract import settings
from lineage.hyperparameters.ontology import ontology
from lineage.records import Chunk, Document, Work, WorkId
from retrieval.audit.inputs import Repository
from retrieval.audit.named_findings import named_findings
from retrieval.audit.named_values import Named, NamedValues, plain, telling_pieces
from retrieval.decisions.target_text import TargetSentence, TargetText

TARGET, MADE = WorkId("arxiv:2401.00001"), WorkId("local:0000")


def said(text, *section):
    chunk = Chunk("c_0", TARGET, "main.tex", "paper", "paragraph", text, "", 0, len(text), 1, 1, section=section or ("A Implementation details",))
    return TargetSentence(text, chunk, 1, 1.0)


def text_of(*sentences):
    return TargetText(Work(TARGET, title="On Things"), tuple(map(said, sentences)), True)


def repository(code, path="config.yaml"):
    return of_files({path: code})


def of_files(files):
    kinds = {path: ("config", "yaml") if path.endswith(".yaml") else ("code", "python") for path in files}
    documents = [Document(MADE, path, code, (), "", kinds[path][0], kinds[path][1]) for path, code in files.items()]
    chunks = [
        Chunk(f"c_{one.path}", MADE, one.path, one.kind, "module", one.text, "", 0, len(one.text), 1, one.text.count("\n") + 1) for one in documents
    ]
    return Repository({}, chunks, tuple(settings(documents, chunks)))


def verdicts(text, code, path="config.yaml"):
    return {one.title: (one.verdict, one.expected) for one in named_findings(text, repository(code, path), ontology(), ())}


@pytest.mark.parametrize(
    ("sentence", "name", "expected"),
    [
        (r"We fix $\lambda_{\text{cat}}$ to 1.0.", "lambda_cat", {1.0}),
        (r"where $\lambda_{{bce}}$, $\lambda_{{dice}}$, and $\lambda_{{ce}}$ are set to 5.0, 4.0, and 2.0, respectively", "lambda_dice", {4.0}),
        (r"The values $\sigma_{{min}}$ and $\sigma_{{max}}$ are set to 0.002 and 80.0.", "sigma_max", {80.0}),
        ("We linearly decay $\\lambda_{num}$ from 1.0 to 0.0.", "lambda_num", {0.0, 1.0}),
        ("δ is set to $1{e}{-3}$.", "delta", {0.001}),
        ("α is initialized to 0.5.", "alpha_init", {0.5}),
        ("A commitment cost of 0.25 is used.", "commitment_cost", {0.25}),
        ("It passes through a five-layer MLP.", "mlp_layers", {5.0}),
        ("We use 200 learnable queries.", "num_queries", {200.0}),
        ("We use layer-wise decay (LLRD) [bao2022beit] (factor 0.8).", "llrd", {0.8}),
        ("The commitment cost in Table 3 is discussed.", "commitment_cost", set()),
        ("We set sigma to 3.", "sigma_max", set()),
    ],
)
def test_the_number_that_a_sentence_gives_a_name(sentence, name, expected):
    named = Named(name, telling_pieces(name), 0.0, "x", 1)
    assert {one.value for one in NamedValues([said(sentence)]).of(named)} == expected


def test_formulas_are_plain_characters():
    assert plain(r"$\lambda_{\text{cat}}$") == "lambda_cat"


def test_another_number_under_the_papers_name_deviates():
    text = text_of(r"We fix $\lambda_{cat}$ to 1.0 for all data sets.")
    assert verdicts(text, "loss:\n  lambda_cat: 1.0") == {"lambda_cat": ("match", "1")}
    assert verdicts(text, "loss:\n  lambda_cat: 0.1") == {"lambda_cat": ("deviation", "1")}


def test_what_is_worked_with_or_tried_is_no_statement():
    for sentence in (r"In the limit we set $\lambda_{cat} = 0$.", r"We search $\lambda_{cat} = 3$ by a sweep."):
        assert verdicts(text_of(sentence), "lambda_cat: 0.1") == {}


def test_a_name_that_the_list_of_details_has_is_judged_there():
    assert verdicts(text_of("A batch size of 1 is used to measure."), "batch_size: 16") == {}


def test_a_count_that_the_paper_has_no_fact_of_is_judged_by_its_words():
    text = text_of("We process these vectors with a two-layer transformer.")
    assert verdicts(text, "num_layers: 2") == {"num_layers": ("match", "2")}
    assert verdicts(text, "num_layers: 6") == {"num_layers": ("deviation", "2")}
    assert list(named_findings(text, repository("num_layers: 6"), ontology(), (), {"layers"})) == []


def test_a_configuration_takes_the_place_of_a_default():
    text = text_of(r"The value $\sigma_{{min}}$ is set to 0.002.")
    files = {"config.yaml": "sigma_min: 0.5\n", "schedule.py": "def schedule(sigma_min=0.002):\n    pass\n"}
    (one,) = named_findings(text, of_files(files), ontology(), ())
    assert (one.verdict, one.where) == ("deviation", "config.yaml#L1")


def test_a_word_of_its_own_may_be_a_name():
    text = text_of("We inject noise at the timestep $t=250$.", "Starting from timestep $t=250$ is enough.")
    assert verdicts(text, "timestep: 900\n") == {"timestep": ("deviation", "250")}
    assert verdicts(text, "timestep: 250\n") == {"timestep": ("match", "250")}
    assert verdicts(text_of("We use a timestep of 250.", "We use a timestep of 10."), "timestep: 900\n") == {}
