"""Facts of configuration files, whole, broken and hostile."""

import pytest

from indexer.extraction import configs
from indexer.extraction.collector import Sink
from lineage.hyperparameters.ontology import ontology


def facts(path, text, language):
    sink = Sink(ontology(), "config")
    note = configs.read(path, text, language, sink)
    return [(one.line, one.name, one.value, one.scope) for one in sink.found], note


YAML = """defaults:
  - optimizer: adamw
  - _self_
optimizer:
  lr: 1e-4          # peak
  betas: [0.9, 0.95]
  name: lamb
trainer: {max_epochs: 100, precision: bf16-mixed}
image_size:
  - 224
  - 224
batch_size: ${data.bs}
"""


def rows(path, text, language):
    sink = Sink(ontology(), "config")
    configs.read(path, text, language, sink)
    return [(one.name, one.value, one.scope) for one in sink.found]


def test_yaml_under_its_nested_names():
    found, note = facts("conf/config.yaml", YAML, "yaml")
    assert note == ""
    assert found == [
        (2, "optimizer", "adamw", "defaults"),
        (5, "learning_rate", "0.0001", "optimizer"),
        (6, "adam_betas", "[0.9, 0.95]", "optimizer"),
        (6, "adam_beta1", "0.9", "optimizer"),
        (6, "adam_beta2", "0.95", "optimizer"),
        (7, "optimizer", "lamb", "optimizer"),
        (8, "epochs", "100", "trainer"),
        (8, "precision", "bfloat16", "trainer"),
        (10, "image_size", "[224, 224]", ""),
        (12, "batch_size", "${data.bs}", ""),
    ]


def test_settings_of_a_loss_are_its_weights_and_its_kinds():
    text = 'losses:\n  discriminator_weight: 0.1\n  perceptual_loss: "lpips"\n  perceptual_weight: 1.0\n'
    text += '  reconstruction_loss: "l1"\n  logvar_init: 0.0\n'
    found = [(name, value, scope) for name, value, scope, *_ in rows("configs/l1_lpips_kl_gan.yaml", text, "yaml")]
    assert found == [
        ("loss_weight", "0.1", "losses.discriminator"),
        ("loss_weight", "1", "losses.perceptual"),
        ("loss", "mae", "losses.reconstruction"),
    ]
    assert rows("a.yaml", "model:\n  perceptual_weight: 1.0\n", "yaml") == []


def test_columns_of_data_and_counts_of_features_are_no_settings():
    columns = '{"capital.loss": "float", "capital.optimizer": "numerical", "age": "int"}'
    text = f'{{"task": 1, "column_info": {columns}, "n_num_features": 7, "num_targets": 1, "eval_iters": 20}}'
    assert rows("data/Info/adult.json", text, "json") == []


def test_tokens_of_a_dataset_are_a_batch_and_those_of_a_request_an_answer():
    assert rows("a.yaml", "dataset:\n  max_tokens: 1200000\nllm:\n  max_tokens: 512\n", "yaml") == [
        ("batch_size", "1200000", "dataset"),
        ("max_new_tokens", "512", "llm"),
    ]


def test_a_value_goes_to_the_detail_that_knows_it():
    text = '[train.T]\nnormalization = "quantile"\n[model]\nnormalization = "layer"\nd_layers = [256, 128]\nd_token = 4\n'
    text += '[diffusion_params]\nscheduler = "power_mean"\n'
    assert [row[:2] for row in rows("configs/adult.toml", text, "toml")] == [
        ("feature_scaling", "quantile"),
        ("normalization", "layernorm"),
        ("hidden_size", "[256, 128]"),
        ("embedding_dim", "4"),
        ("noise_schedule", "power_mean"),
    ]


def test_a_group_file_is_about_what_its_folder_says():
    assert facts("conf/optimizer/adam.yaml", "eps: 1e-8\n", "yaml")[0] == [(1, "adam_epsilon", "1e-8", "")]


def test_yaml_that_breaks_is_read_by_its_lines_and_said():
    found, note = facts("c.yaml", "lr: 0.1\nmodel: {{ name }}\n  epochs: 3\nseed: 7 # why\n", "yaml")
    assert (1, "learning_rate", "0.1", "") in found
    assert (4, "seed", "7", "") in found
    assert note == "c.yaml: no valid YAML from line 3; read by its lines"


def test_json_with_comments_and_a_missing_brace():
    found, _ = facts("c.json", '{"optimizer": {"type": "adam", "lr": 3e-4}, // note\n "betas": [0.9, 0.99],\n "epochs": 5', "json")
    assert (1, "optimizer", "adam", "optimizer") in found
    assert (1, "learning_rate", "0.0003", "optimizer") in found
    assert (2, "adam_betas", "[0.9, 0.99]", "") in found
    assert (3, "epochs", "5", "") in found


def test_toml_ini_and_gin():
    assert facts("c.toml", "[train]\nlr = 0.001\n[train.sched]\nwarmup_steps = 1_000 # few\n", "toml")[0] == [
        (2, "learning_rate", "0.001", "train"),
        (4, "warmup_steps", "1000", "train.sched"),
    ]
    assert facts("c.gin", "AdamW.learning_rate = 1e-3\ntrain.batch_size = 64\nx.optimizer = @AdamW\n", "gin")[0] == [
        (1, "learning_rate", "0.001", "AdamW"),
        (2, "batch_size", "64", "train"),
    ]


def test_schemas_and_housekeeping_state_nothing():
    assert facts("schema.json", '{"dataset": {"type": "string"}}', "json")[0] == []
    assert facts("package.json", '{"timeout": 30}', "json")[0] == []


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [x, x]\n" + "".join(f"{chr(98 + n)}: &{chr(98 + n)} [*{chr(97 + n)}, *{chr(97 + n)}]\n" for n in range(20)),
        "[" * 50_000,
        "[\n" * 400_000,
        "a:\n" * 20_000,
        "? " * 20_000,
    ],
)
def test_hostile_yaml_ends_quickly(text):
    assert facts("bad.yaml", text, "yaml")[0] == []


def test_hostile_json_ends_quickly_and_keeps_what_is_not_deep():
    found, _ = facts("deep.json", '{"lr": 0.1, "a": ' + '{"lr": 0.2, "a":' * 40_000, "json")
    assert 1 < len(found) <= 60
