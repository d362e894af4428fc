"""Values that a sentence gives several names in their order."""

from __future__ import annotations

import pytest

from indexer.extraction import prose
from indexer.extraction.collector import Sink
from lineage.hyperparameters.ontology import ontology


def scoped(text: str) -> set[tuple[str, str, str]]:
    sink = Sink(ontology(), "prose")
    prose.read(text, sink)
    return {(one.name, one.value, one.scope) for one in sink.found}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "In the case of CelebA-HQ and Stable Diffusion, we chose a learning rate of $5e-6$ and $1e-5$, respectively.",
            {("learning_rate", "5e-6", "CelebA-HQ"), ("learning_rate", "1e-5", "Stable Diffusion")},
        ),
        (
            "The training and sampling batch sizes are set to 4,096 and 10,000, respectively.",
            {("batch_size", "4096", "training"), ("batch_size", "10000", "sampling")},
        ),
        (
            "We use learning rates of 0.1 and 0.2 for ImageNet and CIFAR-10, respectively.",
            {("learning_rate", "0.1", "ImageNet"), ("learning_rate", "0.2", "CIFAR-10")},
        ),
    ],
)
def test_each_value_has_the_name_at_its_place(text: str, expected: set[tuple[str, str, str]]) -> None:
    assert scoped(text) == expected


def test_values_without_as_many_names_stay_a_list() -> None:
    assert scoped("The learning rates are set to 0.1 and 0.2, respectively.") == {("learning_rate", "[0.1, 0.2]", "")}
    assert scoped("For ImageNet and CIFAR-10 the learning rates are 0.1 and 0.2.") == {("learning_rate", "[0.1, 0.2]", "")}


def test_remarks_and_citations_stand_between_a_value_and_what_it_is_for() -> None:
    text = "The number of epochs is set to 12 ($1\\times$ schedule [wu2019]) on COCO, 31 [kers2024] on ADE20K, and 107 [kers2024] on Cityscapes."
    assert scoped(text) == {("epochs", "12", "COCO"), ("epochs", "31", "ADE20K"), ("epochs", "107", "Cityscapes")}
    text = "We train with layer-wise learning rate decay (LLRD) [bao2022beit] (factor 0.8)."
    assert ("layer_decay", "0.8", "") in scoped(text)
