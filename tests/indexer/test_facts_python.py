"""Facts of Python: defaults, settings, literal arguments; nothing is run."""

import pytest

from indexer.extraction import python
from indexer.extraction.collector import Sink
from indexer.read_document import MOST_FACTS as MOST
from lineage.hyperparameters.ontology import ontology


def facts(text):
    sink = Sink(ontology(), "default")
    python.read(text, sink)
    return {(one.line, one.kind, one.name, one.value) for one in sink.found}


def scopes(text):
    sink = Sink(ontology(), "default")
    python.read(text, sink)
    return {(one.name, one.scope) for one in sink.found}


def test_options_of_a_command_line():
    text = (
        "parser.add_argument('--lr', type=float, default=1e-4)\n"
        "parser.add_argument('--batch-size', '-b', type=int,\n    default=2**5)\n"
        "@click.option('--epochs', default=90)\n"
        "def main(): pass\n"
        "flags.DEFINE_float('weight_decay', 0.05, 'decay')\n"
        "parser.add_argument('--name', required=True)"
    )
    assert facts(text) == {
        (1, "default", "learning_rate", "0.0001"),
        (2, "default", "batch_size", "32"),
        (4, "default", "epochs", "90"),
        (6, "default", "weight_decay", "0.05"),
    }


def test_fields_and_parameters():
    text = (
        "@dataclass\nclass TrainConfig:\n    lr: float = 1e-3\n    betas: tuple = field(default_factory=lambda: (0.9, 0.95))\n"
        "    dropout: float = Field(0.1)\n"
        "def build(model, warmup_steps=100, *, seed: int = 7): ...\n"
        "def main(epochs: int = typer.Option(3)): ..."
    )
    assert facts(text) == {
        (3, "default", "learning_rate", "0.001"),
        (4, "default", "adam_betas", "[0.9, 0.95]"),
        (4, "default", "adam_beta1", "0.9"),
        (4, "default", "adam_beta2", "0.95"),
        (5, "default", "dropout", "0.1"),
        (6, "default", "warmup_steps", "100"),
        (6, "default", "seed", "7"),
        (7, "default", "epochs", "3"),
    }


def test_arguments_of_known_calls_by_name_and_by_place():
    text = (
        "opt = torch.optim.AdamW(params, 1e-3, betas=(0.9, args.beta2), weight_decay=0.1)\n"
        "nn.init.trunc_normal_(w, std=.02)\n"
        "w.normal_(0, 0.01)\n"
        "drop = nn.Dropout(0.5)\n"
        "sched = get_cosine_schedule_with_warmup(opt, 100, 5000)\n"
    )
    found = facts(text)
    assert {
        (1, "call", "optimizer", "adamw"),
        (1, "call", "learning_rate", "0.001"),
        (1, "call", "adam_beta1", "0.9"),
        (1, "call", "weight_decay", "0.1"),
        (2, "call", "initialization", "truncated_normal"),
        (2, "call", "init_std", "0.02"),
        (3, "call", "init_std", "0.01"),
        (4, "call", "dropout", "0.5"),
        (5, "call", "lr_schedule", '{"kind": "cosine"}'),
        (5, "call", "warmup_steps", "100"),
    } <= found
    assert not any(name == "adam_beta2" for _, _, name, _ in found)


def test_calls_of_language_models():
    text = "client.chat.completions.create(model='gpt-4o', temperature=0.7, max_tokens=1024)"
    assert {(name, value) for _, _, name, value in facts(text)} == {("llm_model", "gpt-4o"), ("temperature", "0.7"), ("max_new_tokens", "1024")}


def test_settings_in_dictionaries_and_attributes():
    text = "config = {'optimizer': {'type': 'SGD', 'lr': 0.1}, 'epochs': 90}\ncfg.SOLVER.BASE_LR = 0.02\ncfg['seed'] = 3\n"
    text += "optimizer = dict(type='AdamW', lr=6e-5)\n"
    assert facts(text) == {
        (1, "config", "optimizer", "sgd"),
        (1, "config", "learning_rate", "0.1"),
        (1, "config", "epochs", "90"),
        (2, "config", "learning_rate", "0.02"),
        (3, "config", "seed", "3"),
        (4, "config", "optimizer", "adamw"),
        (4, "config", "learning_rate", "6e-5"),
    }
    assert ("learning_rate", "config.optimizer") in scopes(text)


def test_a_constant_of_the_module_stands_for_its_literal():
    assert (2, "call", "learning_rate", "0.0003") in facts("LR = 3e-4\nopt = Adam(p, lr=LR)")
    assert (3, "call", "learning_rate", "0.0001") not in facts("LR = 3e-4\nLR = 1e-4\nopt = SGD(p, lr=LR)")


def test_an_expression_is_said_and_not_run():
    sink = Sink(ontology(), "default")
    python.read("opt = AdamW(p, lr=args.lr * args.batch_size / 256, weight_decay=args.wd)", sink)
    (found,) = [one for one in sink.found if one.name == "learning_rate"]
    assert (found.value, found.literal) == ("args.lr * args.batch_size / 256", False)
    assert not any(one.name == "weight_decay" for one in sink.found)


def test_counters_and_lookalikes_are_no_facts():
    assert facts("def run():\n    epoch = 0\n    for epoch in range(3):\n        x.mean(dim=1)\n") == set()


def test_a_class_that_is_given_is_a_choice():
    text = "def block(act_layer=nn.GELU, norm_layer=partial(nn.LayerNorm, eps=1e-6)): ...\nb = block(act_layer=args.relu, norm_layer=norm)\n"
    text += "m = Model(torch_dtype=torch.float16)"
    assert facts(text) == {
        (1, "default", "activation", "gelu"),
        (1, "default", "normalization", "layernorm"),
        (1, "call", "norm_epsilon", "1e-6"),
        (3, "call", "precision", "float16"),
    }


def test_a_function_does_what_its_class_does_but_not_in_a_loss():
    assert facts("def forward(x):\n    return F.silu(x)") == {(2, "call", "activation", "silu")}
    assert facts("def hinge_loss(x):\n    return F.relu(1 - x)") == set()


def test_autocast_is_mixed_precision_unless_it_is_off():
    assert facts("with torch.cuda.amp.autocast():\n    pass") == {(1, "call", "precision", "mixed")}
    assert facts("with autocast(enabled=False):\n    pass") == facts("with autocast('cuda', dtype=of_args):\n    pass") == set()
    assert facts("with torch.autocast('cuda', dtype=torch.bfloat16):\n    pass") == {(1, "call", "precision", "bfloat16")}


def test_a_schedule_of_the_programs_own_is_told_by_the_learning_rate_that_it_takes():
    assert facts("v = utils.cosine_scheduler(args.lr, args.min_lr, args.epochs)") == {(1, "call", "lr_schedule", '{"kind": "cosine"}')}
    assert facts("v = utils.cosine_scheduler(args.wd, args.wd_end, args.epochs)") == set()


def test_endings_leave_a_name_what_it_is():
    assert facts("m = G(num_heads_list=(16, 8))\nclass C:\n    grad_clip_thresh: float = 1.0") == {
        (1, "call", "attention_heads", "[16, 8]"),
        (3, "default", "gradient_clip", "1"),
    }


BRANCHES = """
def get(variant):
    if variant == "llama_34b":
        config = LLaMAConfig(nheads=64)
    elif variant == "llama_7b":
        config = LLaMAConfig(nheads=32)
    else:
        config = LLaMAConfig(nheads=8)
    return config

if __name__ == "__main__":
    main(nheads=4)
"""


def test_a_branch_is_the_scope_of_what_is_set_in_it():
    assert scopes(BRANCHES) == {
        ("attention_heads", "get.llama_34b:LLaMAConfig"),
        ("attention_heads", "get.llama_7b:LLaMAConfig"),
        ("attention_heads", "get:LLaMAConfig"),
        ("attention_heads", "main"),
    }


def test_alternatives_of_a_choice_stay_those_of_their_function():
    assert ("optimizer", "create") in scopes("def create(name):\n    if name == 'adam':\n        return Adam(p)")


def test_a_running_minimum_sets_nothing():
    assert facts("def f(groups):\n    min_lr = 10.\n    for g in groups:\n        min_lr = min(min_lr, g['lr'])") == set()
    assert facts("def f():\n    min_lr = 1e-5\n    min_lr = min(min_lr, 1)") == {(2, "default", "min_learning_rate", "1e-5")}


def test_a_group_without_decay_is_an_exception():
    assert facts("groups = [{'params': a, 'weight_decay': 0.1}, {'params': b, 'weight_decay': 0.}]") == {(1, "config", "weight_decay", "0.1")}


def test_the_betas_of_another_optimizer_are_none_of_adam():
    assert facts("def create(args):\n    if args.opt == 'novograd':\n        kw.setdefault('betas', (0.95, 0.98))") == set()


def test_two_values_of_one_file_are_both_kept():
    assert {value for *_, name, value in facts("LR = 1e-3\nlr = 1e-4") if name == "learning_rate"} == {"0.001", "0.0001"}


def test_a_file_of_thousands_of_settings_is_cut():
    sink = Sink(ontology(), "default")
    python.read("\n".join(f"x{n}.lr = {n}e-6" for n in range(1, MOST + 50)), sink)
    assert (len(sink.found), sink.cut) == (MOST, True)


def test_what_nests_too_deep_raises_and_does_not_crash():
    with pytest.raises((SyntaxError, RecursionError, MemoryError, ValueError)):
        python.read("x = " + "(" * 10_000 + "1" + ")" * 10_000, Sink(ontology(), "default"))
    chain = "lr = " + " + ".join(["1"] * 300)
    sink = Sink(ontology(), "default")
    python.read(chain, sink)
    assert all(not one.literal for one in sink.found)


def test_a_range_never_takes_the_value_of_a_detail_s_own_name():
    found = {
        (name, value)
        for _, _, name, value in facts("parser.add_argument('--guidance_scale', default=7500)\nparser.add_argument('--cfg', default=7500)")
    }
    assert found == {("guidance_scale", "7500")}
    assert facts("batch_size = -1") == set()
