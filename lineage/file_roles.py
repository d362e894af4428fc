"""The role of a repository's file, judged by its path: the only list of such names.

`indexer.repo_profile` adds what only the content tells, once, when a lineage is built; the catalogue keeps the profile.
"""

from __future__ import annotations

from functools import lru_cache

from lineage.records import FileRole
from lineage.text.tokens import parts


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_FOLDERS = {
    FileRole.TEST: _words("tests test test_fixtures testing unit_tests unit_test unittests __tests__ fixtures testdata"),
    FileRole.EXAMPLE: _words("examples example demo demos tutorials tutorial toy"),
    FileRole.VENDORED: _words(
        "third_party third_parties thirdparty third-party third-parties 3rdparty vendor vendored external extern externals submodules"
        " site-packages node_modules"
    ),
    FileRole.LEGACY: _words("legacy"),
    FileRole.DOCUMENTATION: _words("docs"),
    FileRole.BASELINE: _words("baselines baseline competitors competitor comparisons comparison compared_methods other_methods"),
    FileRole.DEVELOPMENT: _words("dev debug bench benchmark benchmarks"),
}
_STEMS = {
    FileRole.EXAMPLE: _words("example examples demo demos toy tutorial tutorials"),
    FileRole.DEVELOPMENT: _words("dev debug bench benchmark"),
}
_TRAINING = _words("train trainer training pretrain pretraining finetune finetuning fit")
_EVALUATION = _words("generate generation sample sampling eval evaluate evaluation inference infer predict demo serve")
_PROGRAMS = _words("train trainer training pretrain finetune main run")
_SETTINGS = _words("config configs configuration settings defaults default hparams params args options")
_TOOLS = (
    *("requirements", "environment", "setup", "pyproject", "package", "tsconfig", "dockerfile", "docker", "makefile", "conda", "mkdocs"),
    *("codecov", "license", "citation", "pre-commit", "readthedocs", "manifest"),
)
DATA_FOLDERS = _words("data datasets dataset info results outputs output node_modules wandb logs assets")
"""Folders that hold no settings of an experiment."""
PARTS = _words("src script scripts tool tools config configs doc docs util utils eval evaluation train test")
"""Folders that are parts of one program."""
_RECORDS = (".txt", ".csv", ".tsv", ".json", ".jsonl")
ASIDE = frozenset({FileRole.TEST, FileRole.EXAMPLE, FileRole.VENDORED, FileRole.LEGACY, FileRole.DOCUMENTATION, FileRole.BASELINE})
"""Files that say little of what was run."""


@lru_cache(1 << 15)
def named_roles(path: str, repository: str = "") -> frozenset[FileRole]:
    """The roles that a path says a file has; a repository called `baselines` holds none."""
    *folders, file = path.split("/")
    below, stem = {folder.lower() for folder in folders} - {repository.lower()}, set(parts(_stem(file)))
    roles = {role for role, names in _FOLDERS.items() if names & below}
    roles |= {role for role, names in _STEMS.items() if names & stem}
    roles |= {FileRole.EXAMPLE} if any(word.startswith("toy") for word in stem) else set()
    roles |= {FileRole.TEST} if file.lower() == "conftest.py" else set()
    roles |= {FileRole.DATA} if below & DATA_FOLDERS and file.lower().endswith(_RECORDS) else set()
    roles |= {FileRole.PROGRAM} if is_program(path) else set()
    roles |= {FileRole.PACKAGING} if file.lower().startswith(_TOOLS) or path.startswith(".") else set()
    return frozenset(roles | _stages(folders, set(parts(file))))


def _stem(file: str) -> str:
    """A file's name without its last ending; a point that begins or ends it begins none."""
    at = file.rfind(".")
    return file[:at] if 0 < at < len(file) - 1 else file


def _stages(folders: list[str], named: set[str]) -> frozenset[FileRole]:
    """What the name of a file, else that of its folders, says it does with a model: training it is said first."""
    named = named if named & (_TRAINING | _EVALUATION) else {word for folder in folders for word in parts(folder)}
    if named & _TRAINING:
        return frozenset({FileRole.TRAINING})
    return frozenset({FileRole.EVALUATION}) if named & _EVALUATION else frozenset()


def is_program(path: str) -> bool:
    """Whether a file is named after what is run: `main.py`, `train_vae.sh`."""
    return path.endswith((".py", ".sh")) and not _PROGRAMS.isdisjoint(parts(_stem(path.rpartition("/")[2])))


def holds_settings(path: str) -> bool:
    """Whether a file is named after what it runs or sets, so that its constants are settings; elsewhere they are tables of what there is."""
    return not (_PROGRAMS | _SETTINGS).isdisjoint(parts(path.rpartition("/")[2]))
