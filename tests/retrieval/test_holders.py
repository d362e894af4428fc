"""Which settings of one repository override which, by what they name; and what stands against what."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from lineage.records import Chunk, Fact, FactKind, FileProfile, FileRole, Hit, Work, WorkId
from lineage.results import FactOccurrence
from retrieval.decisions.fact_index import FactIndex, holders, is_eval_script, is_low_evidence_path, since, standing
from retrieval.search.work_relations import WorkRelations
from tests.fakes import small_lineage as small
from tests.fakes.profiles import profiled

OPTIONS = "parser.add_argument('--lr', default=1e-2)"


class Shelf:
    """A catalogue of facts, each with the file that holds it."""

    def __init__(self, *said: tuple[Fact, Chunk], texts: bool = True) -> None:
        self.held, self.texts = said, texts

    def meta(self) -> dict[str, object]:
        return {}

    def facts(self) -> list[Fact]:
        return [fact for fact, _ in self.held]

    def chunks_of(self, ids: Iterable[str]) -> dict[str, Chunk]:
        wanted = set(ids)
        return {chunk.id: chunk for _, chunk in reversed(self.held) if chunk.id in wanted}

    def document_text(self, work: WorkId, path: str) -> str | None:
        return next((chunk.text for _, chunk in self.held if chunk.path == path), None) if self.texts else None


def said(kind: FactKind, value: str, path: str, text: str = OPTIONS, line: int = 1, **more: str) -> tuple[Fact, Chunk]:
    """A value of the learning rate on a line of a file; `work`, `scope` and how it is `written` where that matters."""
    work = WorkId(more.pop("work", small.REPO))
    suffix = path.rpartition(".")[2]
    one = small.chunk(work, path, text, kind="config" if suffix in {"yaml", "sh"} and kind == "config" else "code")
    written = more.pop("written", "lr")
    return Fact("learning_rate", value, "", work, one.id, kind, line, written, f"{written} {value}", more.pop("scope", "")), one


def read(*some: tuple[Fact, Chunk], texts: bool = True) -> FactIndex:
    return holders(Shelf(*some, texts=texts), WorkRelations(), "small", "1", small.TARGET)  # type: ignore[arg-type]


def overridden(*some: tuple[Fact, Chunk]) -> dict[str, list[str]]:
    """Values by the value that overrides them."""
    return {one.fact.value: [old.value for old in one.overridden] for one in read(*some).of("learning_rate") if one.overridden}


DEFAULT = said("default", "0.01", "train.py")
CONFIG = said("config", "0.001", "conf/run.yaml", "lr: 1e-3")


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("python train.py --lr 3e-4", ["0.01"]),
        ("python ./src/../train.py --lr 3e-4", ["0.01"]),
        ("python train.py --config conf/run.yaml --lr 3e-4", ["0.01", "0.001"]),
        ("python eval.py --lr 3e-4", []),
        ("python pretrain.py --lr 3e-4", []),
        ("python train.pyc --lr 3e-4", []),
        ("python my-train.py --lr 3e-4", []),
        ("python -m torch.distributed.run \\\n  train.py \\\n  --lr 3e-4", ["0.01"]),
        ("python train.py\npython eval.py --lr 3e-4", []),
        ("python eval.py \\\n  --lr 3e-4\npython train.py", []),
        ("python train.py\npython eval.py \\\n  --lr 3e-4 \\", []),
        ("", []),
    ],
)
def test_a_command_overrides_the_options_of_the_programs_and_files_that_it_names(command, found):
    line = next((n for n, row in enumerate(command.split("\n"), 1) if "--lr" in row), 1)
    made = overridden(DEFAULT, CONFIG, said("command", "0.0003", "run.sh", command, line, scope="x"))
    assert made.get("0.0003", []) == found


def test_without_a_scope_of_its_own_a_command_is_for_the_programs_of_its_whole_script():
    script = "prog=train.py\npython $prog --lr 3e-4"
    assert overridden(DEFAULT, said("command", "0.0003", "run.sh", script, 2)) == {"0.0003": ["0.01"]}
    assert overridden(DEFAULT, said("command", "0.0003", "run.sh", script, 2, scope="eval.py")) == {}
    assert overridden(CONFIG, said("command", "0.0003", "run.sh", "file=conf/run.yaml\npython x --lr 3e-4", 2)) == {}


def test_a_command_of_which_the_line_is_not_known_is_its_whole_chunk_or_its_first_line():
    script = "python train.py --lr 3e-4\npython eval.py"
    assert overridden(DEFAULT, said("command", "0.0003", "run.sh", script, 0, scope="x")) == {"0.0003": ["0.01"]}
    assert overridden(DEFAULT, said("command", "0.0003", "run.sh", script, 9, scope="x")) == {"0.0003": ["0.01"]}


def test_a_dotted_option_is_one_of_the_configuration_whatever_file_that_is():
    dotted = said("config", "0.001", "conf/run.yaml", "lr: 1e-3", written="optimizer.lr")
    assert overridden(dotted, said("command", "0.0003", "run.sh", "python x optimizer.lr=3e-4", written="optimizer.lr", scope="x")) == {
        "0.0003": ["0.001"]
    }


@pytest.mark.parametrize(
    ("scope", "open_"), [("", True), ("TrainingConfig", True), ("Args", True), ("HParams", True), ("Model.__init__", False), ("train", False)]
)
def test_a_configuration_overrides_the_options_of_programs_and_fields_of_settings_and_no_parameters_of_functions(scope, open_):
    made = overridden(said("default", "0.01", "model.py", scope=scope), CONFIG)
    assert made == ({"0.001": ["0.01"]} if open_ else {})


def test_settings_override_no_equals_no_stronger_ones_and_none_of_other_names_values_or_repositories():
    elsewhere = said("default", "0.01", "train.py", work=small.FORK)
    other = said("default", "0.01", "train.py", written="base_rate")
    same = said("default", "0.001", "train.py")
    assert overridden(CONFIG, elsewhere, other, same) == {}
    assert overridden(CONFIG, said("config", "0.5", "conf/b.yaml", "lr: 0.5")) == {}
    assert overridden(said("call", "0.02", "train.py"), CONFIG) == {}
    assert overridden(said("config", "0.7", "train.py", "config.lr = 0.7"), DEFAULT) == {}
    assert overridden(said("config", "0.01", "b.yaml", "lr: 1"), said("default", "0.01", "train.py")) == {}
    assert overridden(said("default", "0.01", "train.py", written="LR"), CONFIG) == {"0.001": ["0.01"]}


def test_four_things_that_are_overridden_are_named_each_once_and_the_weakest_first():
    options = [said("default", f"0.{n}", f"p{n}.py") for n in range(1, 4)] + [said("default", "0.1", "p4.py")]
    configs = [said("config", f"0.0{n}", f"c{n}.yaml", "lr: 1") for n in range(1, 4)]
    names = " ".join(chunk.path for _, chunk in (*configs, *options))
    made = overridden(*configs, *options, said("command", "3", "run.sh", f"python {names} --lr 3", scope="x"))
    assert made["3"] == ["0.1", "0.2", "0.3", "0.01"]


def test_what_is_overridden_stands_no_more_and_everything_else_does():
    found = read(DEFAULT, CONFIG, said("default", "0.01", "other/train.py", scope="fit"))
    assert [one.fact.value for one in found.of("learning_rate")] == ["0.01", "0.001", "0.01"]
    assert [(one.fact.value, one.fact.scope) for one in standing(found.of("learning_rate"))] == [("0.001", ""), ("0.01", "fit")]
    assert found.of("nothing") == ()


EMA = "def ema(m, lr=0.9999):\n    pass\nema(m, lr=0)\nfor x in data:\n    ema(m)\n"


def place(path: str, kind: FactKind = "default", scope: str = "", work: str = small.REPO) -> FactOccurrence:
    fact, chunk = said(kind, "1", path, scope=scope, work=work)
    return FactOccurrence(fact, profiled(Hit(1, 1.0, chunk, Work(WorkId(work), "code"))))


@pytest.mark.parametrize(
    ("path", "is_tried"),
    [
        ("sample.py", True),
        ("scripts/evaluate_model.py", True),
        ("train.py", False),
        ("train_and_eval.py", False),
        ("eval/main.py", True),
        ("train/sample.py", True),
        ("eval/train.py", False),
        ("train/eval/main.py", False),
        ("model.py", False),
        ("retrieval.py", False),
    ],
)
def test_a_program_is_for_trying_a_model_by_its_name_or_else_by_its_folders(path, is_tried):
    assert is_eval_script(place(path)) is is_tried


def test_a_command_is_for_what_it_is_said_to():
    assert is_eval_script(place("train.sh", "command", "sample.py"))
    assert not is_eval_script(place("sample.sh", "command", "train.py"))
    assert is_eval_script(place("sample.sh", "command"))
    assert is_eval_script(place("sample.py", "default", "train"))


@pytest.mark.parametrize(
    ("work", "day"),
    [
        (Work(small.REPO, "code", meta={"commit_date": "2021-03-04T05:06:07Z"}, year=2020), "2021-03-04"),
        (Work(small.CITED, year=2020), "2020"),
        (Work(small.CITED, meta={"commit_date": None}), ""),
    ],
)
def test_a_work_holds_what_it_says_since_its_commit_or_its_year(work, day):
    assert since(work) == day


def test_a_fact_whose_chunk_is_gone_is_no_evidence_and_one_without_a_line_has_no_focus():
    (fact, chunk), (orphan, _) = said("default", "1", "a.py", line=0), said("default", "2", "b.py")
    shelf = Shelf((fact, chunk), (orphan, chunk))
    (held,) = holders(shelf, WorkRelations(), "small", "1", small.TARGET).of("learning_rate")  # type: ignore[arg-type]
    assert (held.fact, held.evidence.focus, held.evidence.chunk) == (fact, None, chunk)


def test_a_copy_of_a_chunk_is_shown_as_the_work_that_holds_the_fact():
    fact, chunk = said("default", "1", "a.py", work=small.FORK)
    (held,) = read((fact, small.chunk(small.REPO, "a.py", OPTIONS)), (fact, chunk)).of("learning_rate")[:1]
    assert held.evidence.chunk.work == held.evidence.work.id == small.FORK


@pytest.mark.parametrize(("role", "found"), [(FileRole.VENDORED, True), (FileRole.TRAINING, False), (FileRole.TEST, True)])
def test_what_stands_in_a_copied_package_is_aside_as_tests_are(role: FileRole, found: bool) -> None:
    fact, chunk = said("default", "0.01", "a/net.py")
    file = FileProfile(chunk.work, chunk.path, frozenset({role}))
    assert is_low_evidence_path(FactOccurrence(fact, Hit(1, 1.0, chunk, Work(small.REPO, "code"), file=file))) is found
