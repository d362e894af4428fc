"""Facts of prose, tables, commands and documentation."""

import pytest

from indexer.extraction import extract, prose, shell, tables
from indexer.extraction.collector import Sink
from lineage.hyperparameters.ontology import ontology
from lineage.records import Document, Span, WorkId


def said(text, around=""):
    sink = Sink(ontology(), "prose")
    prose.read(text, sink, around=around)
    return {(one.name, one.value) for one in sink.found}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We use a learning rate of 1e-4.", {("learning_rate", "0.0001")}),
        ("The step size is set to $1\\times 10^{-3}$.", {("learning_rate", "0.001")}),
        ("AdamW with β2 = .95", {("adam_beta2", "0.95")}),
        ("batch size 4,096 on 8 GPUs", {("batch_size", "4096"), ("gpus", "8")}),
        ("with $\\beta_1=0.9$, $\\beta_2=0.98$", {("adam_beta1", "0.9"), ("adam_beta2", "0.98")}),
        ("We apply 10% dropout and label smoothing of value $\\epsilon_{ls}=0.1$", {("dropout", "0.1"), ("label_smoothing", "0.1")}),
        ("The model has 12 layers and 16 attention heads.", {("layers", "12"), ("attention_heads", "16")}),
        ("We train for 300 epochs", {("epochs", "300")}),
        ("All numbers are means over five seeds.", {("num_runs", "5")}),
        ("with 2, 3 and 6 heads", {("attention_heads", "[2, 3, 6]")}),
        ("a maximum learning rate of 1e-5, 2e-5, 3e-5, or 5e-5", {("learning_rate", "[1e-5, 2e-5, 3e-5, 5e-5]")}),
        ("images of size 224 × 224", {("image_size", "[224, 224]")}),
        ("Training took $3.5$ days.", {("training_time", "84")}),
        ("We warm up over 10,000 steps", {("warmup_steps", "10000")}),
        ("300 epochs with warm-up", {("epochs", "300")}),
        ("the learning rate is divided by 10", {("lr_decay_factor", "10")}),
    ],
)
def test_a_number_belongs_to_what_it_follows_or_counts(text, expected):
    assert said(text) == expected


def test_a_schedule_is_a_structure_with_what_its_sentence_says():
    assert ("lr_schedule", '{"kind": "cosine", "warmup_epochs": 10}') in said("ten epochs of warm-up and a cosine decay of the learning rate")


def test_each_of_several_values_says_what_it_is_for():
    sink = Sink(ontology(), "prose")
    prose.read("an initial learning rate of 1e-5 on the base and 1e-3 on the linear layer.", sink)
    assert [(one.value, one.scope) for one in sink.found] == [("1e-5", "base"), ("0.001", "linear layer")]


def scoped(text):
    sink = Sink(ontology(), "prose")
    prose.read(text, sink)
    return {(one.name, one.value, one.scope) for one in sink.found}


def test_several_values_are_each_for_their_own():
    assert scoped("a batch size of 2048 for ImageNet 64×64 and 1024 for ImageNet 256×256.") == {
        ("batch_size", "2048", "ImageNet 64×64"),
        ("batch_size", "1024", "ImageNet 256×256"),
    }
    assert scoped("The drop path rates are set to 0.1 for ViT-S, 0.2 for ViT-B, and 0.4 for ViT-L.") == {
        ("drop_path", "0.1", "ViT-S"),
        ("drop_path", "0.2", "ViT-B"),
        ("drop_path", "0.4", "ViT-L"),
    }


def test_names_side_by_side_have_their_values_in_order():
    betas = {("adam_betas", "[0.9, 0.95]"), ("adam_beta1", "0.9"), ("adam_beta2", "0.95")}
    assert said("The weight decay and momenta for AdamW are 0.05 and (0.9, 0.95).") == {("weight_decay", "0.05"), *betas}
    assert said("The batch size, learning rate, and dropout are set to 64, 1e-3, and 0.1, respectively.") == {
        ("batch_size", "64"),
        ("learning_rate", "0.001"),
        ("dropout", "0.1"),
    }


def test_what_stands_between_a_name_and_its_verb_is_the_scope():
    assert scoped("The learning rate for ViT-L is set to 4e-3.") == {("learning_rate", "0.004", "ViT-L")}
    assert ("adam_betas", "[0.9, 0.95]", "") in scoped("the beta parameters for AdamW are set to (0.9, 0.95)")
    assert scoped("The learning rate for which it fails is 4e-3.") == set()


def test_a_schedule_of_the_lr_is_one_and_an_example_is_none():
    assert said("The warm-up is followed by a cosine lr schedule.") == {("lr_schedule", '{"kind": "cosine"}')}
    assert said("We keep the activation functions of the network, such as GELU or ReLU.") == set()
    assert said("We use layers such as group normalization [1] and instance normalization.") == set()


def test_the_conditions_of_a_cost_are_none_of_training():
    assert said("GFLOPs per forward pass in training with batch size 1") == set()
    assert said("a throughput of 1.29 seconds per image (at a batch size of 1,024 on a single GPU)") == set()
    assert said("The inference speed is compared. We use a batch size of 1, on an NVIDIA H100 GPU.") == set()
    assert ("batch_size", "64") in said("It is trained with a batch size of 64, at a throughput of 100 images per second.")
    assert ("batch_size", "64") in said("The speed is compared.\n\nWe use a batch size of 64.")


@pytest.mark.parametrize(
    "text",
    [
        "The learning rate is important.",
        "learning rate (see Table 3)",
        "as in Section 4 dropout",
        "between the two layers",
        "every 30 epochs",
        "after 10 epochs it drops",
    ],
)
def test_numbers_that_belong_elsewhere_are_left(text):
    assert said(text) == set()


@pytest.mark.parametrize(
    "text",
    [
        "Log-linear schedule for the noise of categorical features.",
        "an alignment-depth of 8 is used",
    ],
)
def test_what_is_part_of_another_word_or_of_another_thing_states_nothing(text):
    assert said(text) == set()


def test_a_number_in_words_is_read_whole():
    assert said("Two hundred epochs are run in total.") == {("epochs", "200")}
    assert said("We train for five thousand steps.") == {("steps", "5000")}


def test_a_choice_counts_where_its_sentence_speaks_of_such():
    assert ("optimizer", "adam") in said("We train with Adam.")
    assert said("Adam lives in Berlin.") == set()
    assert ("initialization", "normal") in said("Weights are drawn from a normal distribution.", around="3 Initialisation")


def test_the_unit_of_a_batch_is_kept():
    sink = Sink(ontology(), "prose")
    prose.read("a batch size of 4096 tokens", sink)
    assert [(one.value, one.unit) for one in sink.found] == [("4096", "tokens")]


def test_prose_takes_time_in_proportion_to_its_length():
    text = "learning rate " * 20_000 + "of " * 20_000 + "1" * 20_000 + "(" * 20_000 + "learning rate of of of set to to " * 3_000
    text += "learning rate for a b " * 1_000 + "such as a, b, " * 1_000 + "lr and weight decay, " * 1_000 + "scaled " * 1_000
    assert said(text) == set()


def table(text):
    sink = Sink(ontology(), "table")
    for rows in tables.blocks(text.split("\n")):
        tables.read(rows, sink)
    return [(one.line, one.name, one.value, one.scope) for one in sink.found]


def test_settings_by_row():
    text = "setting | value\nbase learning rate | $1.5 \\times 10^{-4}$ (per 256 images)\n$\\beta_1$ | 0.9\n"
    text += "augmentation | RandAugment (2, 9)\nTop-1 | 74.9"
    assert table(text) == [
        (2, "learning_rate", "0.00015", ""),
        (3, "adam_beta1", "0.9", ""),
        (4, "augmentation", "randaugment", ""),
    ]


def test_settings_by_row_for_several_models():
    assert table("| | Base | Large |\n|---|---|---|\n| Layers | 12 | 24 |") == [(3, "layers", "12", "Base"), (3, "layers", "24", "Large")]


def test_settings_by_column():
    assert table("| model | width | depth | top-1 |\n|---|---|---|---|\n| micro | 128 | 12 | 70.8 |\n| base | 384 | 12 | 78.3 |") == [
        (3, "hidden_size", "128", "micro"),
        (3, "layers", "12", "micro"),
        (4, "hidden_size", "384", "base"),
        (4, "layers", "12", "base"),
    ]


def test_the_second_cell_may_name_the_detail_of_a_group_of_rows_and_an_empty_first_cell_is_a_column():
    assert table("Stage | Name | Value\nPretraining | epochs | 300\nPretraining | weight decay | 0.05\n| batch size | 64") == [
        (2, "epochs", "300", "Pretraining"),
        (3, "weight_decay", "0.05", "Pretraining"),
        (4, "batch_size", "64", ""),
    ]
    assert table("| Base | Large\nepochs | 100 | 200") == [(2, "epochs", "100", "Base"), (2, "epochs", "200", "Large")]


def test_a_name_must_be_known_as_a_whole():
    assert table("Ablation | FID\nOurs with large-scale LR | 0.5\nMore Warmup | 0.2\nBaseline LR | 0.7") == []


def test_a_pair_in_a_table_is_both_betas():
    assert {row[1:3] for row in table("Params | Values\nAdam β | (0.9, 0.95)")} == {
        ("adam_betas", "[0.9, 0.95]"),
        ("adam_beta1", "0.9"),
        ("adam_beta2", "0.95"),
    }


def test_what_is_measured_is_never_a_column_s_detail():
    assert table("model | layers\nours | 12\n#params (M) | 86\nGFLOPs | 17") == [(2, "layers", "12", "ours")]


def test_with_guidance_is_no_scale():
    assert table("tokenizer | Generation w/ CFG\nLDM | 1.55") == []


def test_results_are_no_settings():
    assert table("model | Precision | Recall | F1\nours | 32 | 16 | 24\ntheirs | 0.5 ± 0.1 | 3 | 4") == []


def test_an_endless_head_ends_quickly():
    assert table("parameter " * 40_000 + "| x\nours | 32") == []


def commands(text):
    sink = Sink(ontology(), "command")
    shell.read(text, sink)
    return [(one.line, one.name, one.value, one.scope) for one in sink.found]


def test_a_long_line_of_a_script_ends_quickly():
    assert commands("a" * 400_000 + "\npython train.py --lr 0.1") == [(2, "learning_rate", "0.1", "train.py")]


@pytest.mark.parametrize(
    "script",
    [
        'ARGS="\\\n--lr=3e-4 \\\n--epochs 5 \n"\ntorchrun train.py ${ARGS}',
        "ARGS=(\n  --lr 3e-4\n  # --epochs 9\n  --epochs 5\n)\n",
        "export ARGS='\n  --lr 3e-4\n\n  --epochs 5'\npython train.py $ARGS",
    ],
)
def test_a_variable_that_holds_flags_states_them_each_on_its_own_line(script):
    found = commands(script)
    assert [(name, value, scope) for _, name, value, scope in found] == [("learning_rate", "0.0003", ""), ("epochs", "5", "")]
    assert all(value in script.split("\n")[line - 1] or "3e-4" in script.split("\n")[line - 1] for line, _, value, _ in found)


def test_a_variable_that_opens_and_never_closes_ends_quickly():
    assert commands("ARGS=(\n" + "x\n" * 100_000 + "python train.py --lr 0.1")[-1][1:3] == ("learning_rate", "0.1")


SCRIPT = """#!/bin/bash
LR=${1:-3e-4}
export SEED=7
torchrun --nproc_per_node=8 train.py \\
    --lr $LR --weight-decay 0.1 \\
    --fp16 --milestones 30 60 \\
    optimizer.betas=[0.9,0.95] | tee log
echo --lr 5
grep --epochs 3 file
"""


def test_flags_overrides_and_variables_of_a_script():
    assert commands(SCRIPT) == [
        (2, "learning_rate", "0.0003", ""),
        (3, "seed", "7", ""),
        (4, "gpus", "8", "train.py"),
        (5, "learning_rate", "0.0003", "train.py"),
        (5, "weight_decay", "0.1", "train.py"),
        (6, "precision", "float16", "train.py"),
        (6, "lr_decay_steps", "[30, 60]", "train.py"),
        (7, "adam_betas", "[0.9, 0.95]", "train.py"),
        (7, "adam_beta1", "0.9", "train.py"),
        (7, "adam_beta2", "0.95", "train.py"),
    ]


README = """# Model

Trained with a learning rate of 0.1 on one GPU, 90 epochs of the data set.

```bash
$ python train.py --lr 0.2
```

```yaml
optimizer:
  lr: 0.3
```

    python eval.py --batch-size 64

| epochs | acc |
|---|---|
| 90 | 76 |
"""


def test_a_readme_is_read_by_its_parts():
    sink = Sink(ontology(), "prose")
    extract.read(Document(WorkId("repo:github.com/a/b"), "README.md", README, (), "plain@1", "docs", "markdown"), sink)
    rows = [(one.line, one.kind, one.name, one.value) for one in sink.found]
    assert {
        (3, "prose", "learning_rate", "0.1"),
        (3, "prose", "epochs", "90"),
        (3, "prose", "gpus", "1"),
        (6, "command", "learning_rate", "0.2"),
        (11, "config", "learning_rate", "0.3"),
        (14, "command", "batch_size", "64"),
        (18, "table", "epochs", "90"),
    } <= set(rows)


def test_text_of_another_field_states_nothing():
    sink = Sink(ontology(), "prose")
    extract.read(
        Document(WorkId("repo:github.com/a/b"), "AUDIT.md", "The minimum is 2 epochs and 5 layers.", (), "plain@1", "docs", "markdown"), sink
    )
    assert not sink.found


def test_a_paper_is_read_by_its_spans():
    text = "Setup\n\nWe train for 300 epochs.\n\nepochs | 100\nbatch size | 64"
    spans = (Span(7, 31, "paragraph", ("Setup",)), Span(33, len(text), "table", ("Setup",)))
    sink = Sink(ontology(), "prose")
    extract.read(Document(WorkId("arxiv:2001.00001"), "main.tex", text, spans, "latex@2", "paper"), sink)
    assert [(one.line, one.kind, one.name, one.value) for one in sink.found] == [
        (3, "prose", "epochs", "300"),
        (5, "table", "epochs", "100"),
        (6, "table", "batch_size", "64"),
    ]


@pytest.mark.parametrize("wide", [" " * 600_000, "\t" * 600_000, "\n" * 600_000, " \n" * 300_000])
def test_white_space_without_end_is_read_soon(wide: str) -> None:
    sink = Sink(ontology(), "prose")
    prose.read(f"The weight decay{wide}is 0.1 and the learning rate{wide}is 0.2.", sink)
    assert all(found.value in {"0.1", "0.2"} for found in sink.found)
