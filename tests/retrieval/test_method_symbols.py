"""The method's own symbols with the values that a paper prints."""

from lineage.records import Chunk, Work, WorkId
from retrieval.context.method_symbols import config_lines
from retrieval.decisions.target_text import TargetText, of_chunks

TARGET = Work(WorkId("arxiv:2401.00001"), title="Drifting Forests")


def lines(text: str, section: str = "Implementation Details", role: str = "paragraph") -> list[str]:
    chunk = Chunk("c_1", TARGET.id, "paper.tex", "paper", role, text, "", 0, len(text), 1, 1 + text.count("\n"), section=(section,))
    return [line.line.partition("  # ")[0] for line in config_lines(TargetText(TARGET, tuple(of_chunks([chunk], ())), True))]


def test_a_symbol_that_is_set_has_its_value():
    assert lines("We set the temperature to $\\tau=0.07$ and the coefficient to $\\lambda_{{REPA}_g}=0.5$ here.") == [
        "tau: 0.07",
        "lambda_REPA_g: 0.5",
    ]


def test_symbols_in_a_list_have_theirs_in_order():
    text = "The values $\\sigma_{{min}}$ and $\\sigma_{{max}}$ are set to 0.002 and 80.0, as before, and δ is set to $1{e}{-3}$."
    assert lines(text) == ["sigma_min: 0.002", "sigma_max: 80.0", "δ: 1.0e-3"]


def test_a_quantity_in_words_and_a_row_of_a_table_count():
    assert lines("In all runs the number of centroids is set to 64 for every dataset.") == ["number_of_centroids: 64"]
    assert lines("Hyperparameter | Value\nbuffer tokens | 5", role="table") == ["buffer_tokens: 5"]


def test_proofs_and_settings_that_are_known_by_name_are_left_out():
    assert not lines("Suppose we set $\\tau=0.07$ in the proof of the bound above.")
    assert not lines("The learning rate is set to 0.1 in all of our experiments.")


def test_several_values_are_listed_and_none_is_chosen():
    assert lines("We use $\\lambda=0.5$ for the first model.\nWe use $\\lambda=0.9$ for the second model.")[0].startswith(
        "# lambda: one for each of several: 0.5, 0.9"
    )
