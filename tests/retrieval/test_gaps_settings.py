"""Settings that no list of details knows: read out of code, held against the text, offered as rows; and what the own code leaves out."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from indexer.extraction import extract
from lineage.hyperparameters.ontology import ontology
from lineage.records import Chunk, CodeLink, Document, Fact, Hit, Setting, Work, WorkId
from lineage.results import SETTING, Detail, FactOccurrence, Gap, Specification, Suggestion
from retrieval.decisions.target_text import of_chunks
from retrieval.gaps import undocumented_settings
from retrieval.gaps.offers import Context
from retrieval.gaps.report import _order
from retrieval.gaps.undocumented_settings import Spoken
from retrieval.search.work_relations import WorkRelation, WorkRelations
from tests.fakes.profiles import NamedFiles

TARGET = Work(WorkId("arxiv:2401.00001"), title="Drifting Forests")
OWN = Work(WorkId("repo:github.com/target/drift"), "code", "drift", meta={"commit": "a" * 40})
OTHER = Work(WorkId("repo:github.com/someone/else"), "code", "else", meta={"commit": "b" * 40})
KINSHIP = WorkRelations({OWN.id: WorkRelation(OWN, TARGET, from_target=True), OTHER.id: WorkRelation(OTHER)}, NamedFiles)
CONTEXT = Context(TARGET, {}, ontology().same)


def passage(text: str, path: str = "train.py", kind: str = "code", role: str = "config", symbol: str = "", line: int = 1) -> Chunk:
    lines = (line, line + text.count("\n"))
    return Chunk(f"c_{path}{line}", OWN.id, path, kind, role, text, "", 0, len(text), *lines, symbol=symbol)  # type: ignore[arg-type]


def settings(chunk: Chunk) -> list[Setting]:
    """The settings of a file of which a passage is all that there is."""
    language = {"py": "python", "sh": "bash", "md": "markdown", "yml": "yaml"}.get(suffix := chunk.path.rpartition(".")[2], suffix)
    text = "\n" * (chunk.start_line - 1) + chunk.text
    document = Document(chunk.work, chunk.path, text, (), "test", chunk.kind, language)
    return list(extract.extract(document, [chunk], ontology()).settings)


def given(chunk: Chunk) -> list[tuple[str, str, int, str]]:
    return [(one.name, one.value, one.line, one.scope) for one in settings(chunk)]


# -- reading


def test_options_of_a_program_are_settings_by_their_long_names() -> None:
    text = (
        'parser.add_argument("-r", "--rho-init", type=float,\n    default=7.0, help="(start)")\n'
        'parser.add_argument("--out")\nparser.add_argument("--path-type", default="linear")'
    )
    assert given(passage(text, line=10)) == [("rho-init", "7", 10, ""), ("path-type", "linear", 13, "")]


def test_configurations_are_read_with_the_heads_they_stand_under() -> None:
    toml = "[train.main]\nfactor = 0.90  # of the plateau\n\n[model]\nfactor = 32"
    assert given(passage(toml, "a.toml", "config")) == [("factor", "0.9", 2, "train.main"), ("factor", "32", 5, "model")]
    yaml = "losses:\n  gan:\n    start: 0\n  perceptual: lpips\nseed_everything: 1"
    read = given(passage(yaml, "a.yaml", "config"))
    assert [(name, scope) for name, _, _, scope in read] == [("start", "losses.gan"), ("perceptual", "losses"), ("seed_everything", "")]


def test_parameters_of_constructors_belong_to_their_class() -> None:
    text = "class Drift:\n    def __init__(self, params, r: float = 0.0,\n        betas: Tuple[float, float] = (0.9, 0.999), foreach=None): pass"
    assert given(passage(text, "drift.py", role="class", symbol="Drift")) == [("r", "0", 2, "Drift"), ("betas", "[0.9, 0.999]", 3, "Drift")]


def test_a_block_of_constants_is_one_of_settings_in_a_program_only() -> None:
    text = "\n".join(f"name_{n} = {n}.5" for n in range(5))
    assert len(given(passage(text, "train.py", role="module"))) == 5
    assert given(passage(text, "models/vit.py", role="module")) == []


@pytest.mark.parametrize("value", ["xxx", "your_project", "path/to/imagenet", "TODO", "??"])
def test_what_somebody_is_to_fill_in_is_no_setting(value: str) -> None:
    assert given(passage(f'mode: "{value}"\nmax: 1', "a.yaml", "config")) == [("max", "1", 2, "")]


def test_an_environment_of_conda_under_any_name_holds_no_settings() -> None:
    assert given(passage("name: forest\nchannels:\n- defaults\ndependencies:\n- numpy=1.26", "forest.yaml", "config")) == []


def test_commands_fenced_as_python_are_commands() -> None:
    text = "```python\npython main.py --rho_init 7 --mode <MODE> --path linear\n```"
    assert given(passage(text, "README.md", "docs", "text")) == [("rho_init", "7", 2, "main.py"), ("path", "linear", 2, "main.py")]


def test_what_a_parser_is_told_of_an_option_is_no_block_of_settings() -> None:
    text = "\n".join(["    action='store_true',", "    default=2000,", "    required=True,", "    nargs='+',", "    help='steps',"])
    assert given(passage(text)) == []


def test_flags_of_commands_belong_to_their_program_and_addresses_are_no_values() -> None:
    text = "```\npython tools/train.py \\\n  --bn-momentum=0.1 --weighting uniform\n```\nwget --content-disposition https://example.org/x"
    program = "tools/train.py"
    assert given(passage(text, "README.md", "docs", "text")) == [("bn-momentum", "0.1", 3, program), ("weighting", "uniform", 3, program)]


def test_a_flag_by_itself_switches_on_and_several_numbers_stay_together() -> None:
    text = "```\npython main.py --guiding_pixel --num_iter_list 64,16 \\\n --amp\n```"
    read = [(name, value) for name, value, _, _ in given(passage(text, "README.md", "docs", "text"))]
    assert read == [("guiding_pixel", "true"), ("num_iter_list", "64,16"), ("amp", "true")]


@pytest.mark.parametrize("text", ["add_argument(" * 20_000, "a" + " " * 200_000 + "=", "--a " * 50_000, "x = [" * 40_000, "def __init__(" * 15_000])
def test_hostile_text_takes_no_long(text: str) -> None:
    begin = time.process_time()
    for kind, role in (("code", "module"), ("config", "config"), ("docs", "text")):
        list(settings(passage("python a.py " + text, "train.py", kind, role)))
    assert time.process_time() - begin < 5.0


# -- whether the text gives it


def spoken(*texts: str) -> Spoken:
    return Spoken(tuple(of_chunks([in_paper(text, "Details", n + 1) for n, text in enumerate(texts)], [])))


def in_paper(text: str, section: str, line: int) -> Chunk:
    return replace(passage(text, "main.tex", "paper", "paragraph", line=line), work=TARGET.id, section=("Experiments", section))


def test_a_name_in_words_beside_a_number_gives_a_setting() -> None:
    text = spoken("We drop classes with a classifier-free guidance probability of 0.2.", "The noise level is bounded.")
    assert text.gives("cfg-prob", "0.2")
    assert not text.gives("noise_level", "0.5")
    assert not text.gives("rho_init", "7")


def test_a_rare_value_beside_a_telling_part_gives_it_and_a_plain_one_does_not() -> None:
    text = spoken("The projector has 2048 units and 2 layers.")
    assert text.gives("projector_dim", "2048")
    assert not text.gives("projector_depth", "2")


def test_a_value_of_several_words_is_given_where_they_stand_and_one_word_beside_the_name() -> None:
    text = spoken("We use a log-linear schedule.", "The path is linear.", "Targets are uniform.")
    assert text.gives("cat_scheduler", "log_linear")
    assert text.gives("path-type", "linear")
    assert not text.gives("weighting", "uniform")


def test_per_cent_is_a_fraction_and_the_heads_of_a_table_name_its_numbers() -> None:
    assert spoken("Labels are dropped for 10\\% of the samples.").gives("label_drop_prob", "0.1")
    table = replace(in_paper("model | attention | others\nB | 0.8/0.2 | 0.3", "Details", 1), role="table")
    assert Spoken(tuple(of_chunks([table], []))).gives("attn_alpha_init_value", "0.8")


# -- rows


def engine_of(*chunks: Chunk, links: Sequence[CodeLink] = ()) -> Any:
    """An engine over a catalogue of passages, with the settings in them."""
    catalog = SimpleNamespace(
        links=lambda: links,
        settings=lambda work: [setting for chunk in chunks for setting in settings(chunk) if chunk.work == work],
        chunks_of=lambda ids: {chunk.id: chunk for chunk in chunks},
    )
    return SimpleNamespace(relations=KINSHIP, generation=SimpleNamespace(catalog=catalog))


def code(*chunks: Chunk) -> list[FactOccurrence]:
    return list(undocumented_settings.settings_of(engine_of(*chunks), [OWN.id]))


def rows(
    held: Sequence[FactOccurrence],
    text: Spoken,
    gaps: Sequence[Gap] = (),
    facts: dict[str, list[FactOccurrence]] | None = None,
    context: Context = CONTEXT,
) -> list[str]:
    known = undocumented_settings.known_of(gaps, facts or {}, TARGET.id)
    return [gap.detail.name.removeprefix(SETTING) for gap in undocumented_settings.own_rows(held, text, known, context)]


def test_what_programs_set_comes_first_switches_last_and_what_runs_them_never() -> None:
    config = passage("use_bias = true\nrho_init = 7.0\nnum_workers = 8\nk_offset = 1\noutput_dir = 'runs'", "conf/a.toml", "config")
    assert rows(code(config), spoken("We train a forest.")) == ["rho_init", "k_offset", "use_bias"]


def test_counters_of_a_resumed_run_and_minus_one_say_nothing() -> None:
    config = passage("start_epoch = 0\nwarmup_steps = -1\nk_offset = -6", "conf/a.toml", "config")
    assert rows(code(config), spoken("We train a forest.")) == ["k_offset"]


def test_what_a_fact_knows_comes_before_what_nothing_knows() -> None:
    held = code(passage("k_offset = 5\nmodel_ema_decay = 0.9999", "conf/a.toml", "config"))
    facts = {"ema_decay": [replace(held[1], fact=replace(held[1].fact, name="ema_decay"))]}
    assert rows(held, spoken("We train a forest."), facts=facts) == ["model_ema_decay", "k_offset"]


# -- experiments beside the own program


# -- parameters and names


def test_descriptions_of_data_and_packaging_hold_no_settings() -> None:
    some = [passage('"num_rows": 17', path, "config") for path in ("data/info/adult.json", "environment.yml", ".github/ci.yml", "conf/a.json")]
    assert [one.evidence.chunk.path for one in code(*some)] == ["conf/a.json"]


# -- the order of rows


def gap(name: str, *facts: str, offered: Sequence[Suggestion] = ()) -> Gap:
    return Gap(Detail(name, name.replace("_", " "), "optimiser", "?", facts), Specification.UNSPECIFIED, suggestions=tuple(offered))


def others(name: str, value: str) -> Suggestion:
    hit = Hit(1, 1.0, replace(passage("x"), work=OTHER.id), OTHER)
    return Suggestion(value, "", "fair", "why", (FactOccurrence(Fact(name, value, "", OTHER.id, "c_x", "config"), hit),), (hit,))


def test_an_open_detail_of_the_own_code_stands_before_its_further_settings_and_those_before_others() -> None:
    mine = replace(others("a", "1"), evidence=(replace(others("a", "1").evidence[0], from_target=True),))
    partial = replace(gap("b", offered=[mine]), state=Specification.PARTIALLY_SPECIFIED)
    some = [gap("setting:a", offered=[mine]), partial, gap("c"), gap("d", offered=[mine])]
    assert [one.detail.name for one in sorted(some, key=_order)] == ["d", "b", "setting:a", "c"]
