"""Both spellings mean the same; words that only look alike are left as they are."""

from __future__ import annotations

import pytest

from lineage.hyperparameters.terms import american


@pytest.mark.parametrize(
    ("british", "expected"),
    [
        *(
            ("optimiser", "optimizer"),
            ("Initialisation", "Initialization"),
            ("regularisation", "regularization"),
            ("normalisation_layer", "normalization_layer"),
        ),
        *(("tokenised", "tokenized"), ("Colour jitter", "Color jitter"), ("optimiser_constants", "optimizer_constants"), ("optimizer", "optimizer")),
    ],
)
def test_british_words_are_shown_in_american_spelling(british, expected):
    assert american(british) == expected


@pytest.mark.parametrize("word", ["noise", "denoiser", "supervised", "layer-wise", "precision", "exercise", "premise", "raised", "data", ""])
def test_words_that_only_look_alike_stay(word):
    assert american(word) == word
