"""What the files of a repository are for: by their paths, and by what is in them."""

from __future__ import annotations

import pytest

from indexer.repo_profile import experiment_folders, names_of, profiles
from lineage.file_roles import holds_settings, named_roles
from lineage.records import CodeLink, Document, FileRole, Tier, Work, WorkId

PAPER = Work(WorkId("arxiv:2401.00001"), title="Clipper: clipping anew")
REPO = Work(WorkId("repo:github.com/someone/net"), "code", "net")
LINK = CodeLink(PAPER.id, REPO.id, Tier.OFFICIAL)
FILES = {
    "train.py": "loss.backward()",
    "go.py": "if __name__ == '__main__':\n    go()",
    "net_test.py": "def test_net(): pass",
    "test_time_pool.py": "class Pool: pass",
    "utils/lpips/__init__.py": "from lpips import net",
    "utils/lpips/net.py": "depth = 12",
}


def documents(files: dict[str, str]) -> list[Document]:
    return [Document(REPO.id, path, text, (), "code@1", "code", "python", "b" * 64) for path, text in files.items()]


@pytest.mark.parametrize(
    ("path", "roles"),
    [
        ("tests/conf.yaml", {FileRole.TEST}),
        ("lib/third_party/x.py", {FileRole.VENDORED}),
        ("examples/toy_run.txt", {FileRole.EXAMPLE}),
        ("baselines/x.txt", {FileRole.BASELINE}),
        ("data/info/adult.json", {FileRole.DATA}),
        (".github/ci.yml", {FileRole.PACKAGING}),
        ("environment.yml", {FileRole.PACKAGING}),
        ("train_and_eval.py", {FileRole.TRAINING, FileRole.PROGRAM}),
        ("train/sample.py", {FileRole.EVALUATION}),
        ("models/vit.py", set()),
    ],
)
def test_a_path_tells_what_a_file_is_for(path, roles):
    assert named_roles(path) == roles


def test_a_repository_that_is_called_baselines_holds_none():
    assert named_roles("baselines/x.py", "baselines") == frozenset()


def test_only_files_named_after_programs_and_settings_hold_settings():
    assert [holds_settings(path) for path in ("train.py", "a/defaults.py", "models/vit.py")] == [True, True, False]


def test_the_content_tells_tests_copies_and_programs():
    told = {file.path: file.roles for file in profiles(documents(FILES), [PAPER, REPO], [LINK])}
    assert told == {
        "train.py": {FileRole.TRAINING, FileRole.PROGRAM},
        "go.py": {FileRole.PROGRAM},
        "net_test.py": {FileRole.TEST},
        "test_time_pool.py": frozenset(),
        "utils/lpips/__init__.py": {FileRole.VENDORED},
        "utils/lpips/net.py": {FileRole.VENDORED},
    }


def test_a_repository_is_called_like_itself_and_like_its_paper():
    assert names_of(REPO.id, {PAPER.id: PAPER}.get, [LINK]) == ("net", "Clipper")
    assert names_of(REPO.id, {PAPER.id: PAPER}.get, []) == ("net",)


def test_sibling_folders_with_their_own_commands_are_experiments_beside_a_program_at_the_root():
    some = ("main.py", "tasks/oak/README.md", "tasks/wav2vec2/README.md", "tasks/elm/notes.md", "docs/README.md", "src/README.md")

    def found(*paths: str) -> frozenset[str]:
        return experiment_folders(paths, lambda _: "python train.py --lr 1")

    assert found(*some) == {"tasks/oak", "tasks/wav2vec2"}
    assert found(*some[1:]) == found(*some[:2]) == frozenset()
