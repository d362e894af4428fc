"""What a question names besides details, and which texts speak of it."""

from __future__ import annotations

import pytest

from lineage.hyperparameters.ontology import ontology
from retrieval.search.question_subject import names_of, share_spoken


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("how many epochs is ViT-B trained on ImageNet", (("ViT-B",), ("ImageNet",))),
        ("What learning rate is used for LLaMA 34B?", (("LLaMA", "34B"),)),
        ("What AdamW betas and EMA decay are used?", ()),
        ("how is BERT's tokenizer trained?", (("BERT",),)),
        ("Which batch size for ImageNet 256×256?", (("ImageNet", "256x256"),)),
        ("how many epochs is the rationale selection trained?", ()),
    ],
)
def test_what_is_written_as_a_name_is_what_a_question_is_about(question, names):
    assert names_of(question, ontology()) == names


@pytest.mark.parametrize(
    ("names", "text", "share"),
    [
        ((("ViT-B",),), "vit_base_patch16", 1.0),
        ((("LLaMA", "34B"),), "LLaMA 7B and 34B", 1.0),
        ((("LLaMA", "34B"),), "LLaMA 7B", 0.0),
        ((("BERT",), ("ImageNet",)), "BERT is trained", 0.5),
        ((("ImageNet", "256x256"),), "ImageNet 256×256", 1.0),
        ((("llama",),), "llama2_7b", 1.0),
    ],
)
def test_how_many_of_the_names_a_text_speaks_of(names, text, share):
    assert share_spoken(names, text) == share
