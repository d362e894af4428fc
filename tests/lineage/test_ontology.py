"""One name and one form of value for a detail, however code, configuration and prose call it."""

import json

import pytest

from lineage.errors import NotFound, SettingsError
from lineage.hyperparameters.ontology import ontology


@pytest.mark.parametrize(
    "written", ["lr", "--lr", "base_lr", "baseLR", "optimizer.lr", "SOLVER.BASE_LR", "learning-rate", "learning rate", "step size"]
)
def test_a_learning_rate_has_many_names(written):
    assert ontology().name_of(written) == "learning_rate"


@pytest.mark.parametrize(
    ("written", "context", "name"),
    [
        ("eps", "torch.optim.AdamW", "adam_epsilon"),
        ("eps", "nn.LayerNorm", "norm_epsilon"),
        ("eps", "", None),
        ("p", "nn.Dropout", "dropout"),
        ("std", "trunc_normal_", "init_std"),
        ("std", "transforms.Normalize", "normalize_std"),
        ("model", "completions.create", "llm_model"),
        ("top_k", "retrieve", "retrieval_k"),
        ("type", "model.encoder.optimizer", "optimizer"),
        ("type", "dataset_reader.indexers.bert", None),
    ],
)
def test_some_names_mean_a_detail_only_where_they_stand(written, context, name):
    found = ontology().naming(written, context)
    assert (found.name if found else None) == name


def test_what_a_name_is_qualified_by_is_its_scope():
    found = ontology().naming("lr_backbone")
    assert (found.name, found.scope) == ("learning_rate", "backbone")
    assert ontology().naming("use_dropout") is None
    assert ontology().naming("search_depth") is None


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("learning_rate", "1e-4", "0.0001"),
        ("adam_betas", "(0.9, 0.95)", "[0.9, 0.95]"),
        ("optimizer", "torch.optim.AdamW", "adamw"),
        ("activation", "nn.GELU", "gelu"),
        ("precision", "bf16", "bfloat16"),
        ("precision", "16-mixed", "float16"),
        ("lr_schedule", "CosineAnnealingLR", '{"kind": "cosine"}'),
        ("lr_schedule", '{"type": "cosine", "warmup_steps": 1000}', '{"kind": "cosine", "warmup_steps": 1000}'),
        ("dropout", "10%", "0.1"),
        ("training_time", "3 days", "72"),
        ("image_size", "(224, 224)", "[224, 224]"),
    ],
)
def test_values_have_one_form(name, text, value):
    found = ontology().normalize(name, text)
    assert found.value == value
    assert found.literal
    assert ontology().normalize(name, value).value == value


@pytest.mark.parametrize(
    ("name", "text"),
    [("learning_rate", "adam"), ("batch_size", "0.5"), ("dropout", "12"), ("seed", "none"), ("dataset", "data/train.jsonl"), ("nothing", "1")],
)
def test_what_cannot_be_a_value_is_none(name, text):
    assert ontology().normalize(name, text) is None


def test_an_expression_is_kept_as_written():
    assert ontology().normalize("learning_rate", "args.lr * 256") == ("args.lr * 256", "", False)


def test_equal_values_are_the_same_however_written():
    assert ontology().same("learning_rate", "1e-4", "10^{-4}")
    assert ontology().same("adam_betas", "(0.9, .95)", "[0.9, 0.95]")
    assert ontology().same("lr_schedule", "cosine", '{"kind": "cosine", "warmup_steps": 1000}')
    assert not ontology().same("lr_schedule", "cosine", "linear")
    assert not ontology().same("batch_size", "256", "512")


def test_a_model_that_is_a_language_model_is_called_so():
    assert ontology().refined("model", "openai/gpt-4o-mini") == "llm_model"
    assert ontology().refined("model", "resnet50") == "model"


def test_an_unknown_name_comes_back_with_the_nearest():
    with pytest.raises(NotFound) as caught:
        ontology().find("wieght decay")
    assert "weight_decay" in caught.value.hint


def test_a_file_of_the_users_own_extends_the_table(tmp_path):
    own = tmp_path / "details.json"
    rows = [
        {"name": "learning_rate", "identifiers": ["eta0"]},
        {"name": "quokkas", "title": "quokkas", "topic": "fauna", "type": "integer", "identifiers": ["nq"]},
    ]
    own.write_text(json.dumps({"details": rows}))
    extended = ontology(own)
    assert extended.name_of("eta0") == extended.name_of("lr") == "learning_rate"
    assert extended.title(extended.name_of("nq")) == "quokkas"
    assert extended.digest != ontology().digest


@pytest.mark.parametrize(
    "text", ["{]", "[]", '{"details": [{"name": "x"}]}', '{"details": [{"name": "x", "title": "x", "topic": "x", "type": "colour"}]}']
)
def test_a_file_that_is_no_table_is_refused_by_name(tmp_path, text):
    own = tmp_path / "details.json"
    own.write_text(text)
    with pytest.raises(SettingsError, match=r"details\.json"):
        ontology(own)


def test_no_identifier_means_two_details():
    seen: dict[str, str] = {}
    for term in ontology().terms.values():
        for identifier in term.identifiers:
            key = "".join(c for c in identifier.lower() if c.isalnum())
            assert seen.setdefault(key, term.name) == term.name, identifier


@pytest.mark.parametrize(
    "value", [float("inf"), float("nan"), 10**400, [float("inf")], [10**400, 1]], ids=["infinite", "none", "huge", "infinite list", "huge list"]
)
def test_numbers_beyond_all_bounds_are_no_error(value):
    known = ontology()
    for name in known.terms:
        if (found := known.accepted(name, value)) is not None:
            assert known.same(name, found.value, "1") is False


def test_a_value_is_taken_whole_or_not_at_all():
    assert ontology().normalize("augmentation", "rand-m9-mstd0.5-inc1") == ("rand-m9-mstd0.5-inc1", "", True)
    assert ontology().normalize("activation", "torch.nn.SomeGate") == ("somegate", "", True)
    assert ontology().normalize("loss", "float") is None
    assert ontology().normalize("precision", "float") == ("float32", "", True)


def test_a_list_of_widths_is_no_number_of_layers():
    assert ontology().refined("layers", "[512, 256]") == "hidden_size"
    assert ontology().refined("layers", "[6, 12, 48, 32]") == "layers"
    assert ontology().refined("normalization", "quantile") == "feature_scaling"


def test_a_name_with_spaces_is_the_title_of_a_run():
    assert ontology().normalize("model", "VarNet DDP x4") is None
    assert ontology().normalize("model", "vit_base_patch16") == ("vit_base_patch16", "", True)
    assert ontology().normalize("dataset", "Natural Questions") == ("Natural Questions", "", True)


def test_a_name_made_of_the_words_of_its_detail_means_nothing_else():
    assert all(ontology().naming(name).own for name in ("beta_dpo", "--learning-rate"))
    assert not any(ontology().naming(name).own for name in ("lr", "temperature", "encoder_learning_rate"))


def test_under_its_own_name_a_number_is_kept_however_high():
    assert ontology().normalize("guidance_scale", "7500") is None
    assert ontology().normalize("guidance_scale", "7500", own=True).value == "7500"
