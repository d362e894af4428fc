"""The profile of a repository: what each file is for and which are copies of others' packages, computed once per build (pure).

Paths tell most (`lineage.file_roles`); the content tells tests from programs that evaluate, packages of others that were copied
in, programs that train, and which folders are experiments of their own beside the root's program.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from lineage.file_roles import DATA_FOLDERS, PARTS, is_program, named_roles
from lineage.hyperparameters.terms import fold
from lineage.ids import repo_name
from lineage.records import CodeLink, Document, FileProfile, FileRole, Work, WorkId

_SCRIPTS = frozenset(("setup.py", "pyproject.toml", "setup.cfg"))
_PROJECT = re.compile(r"\b(?:setuptools|distutils|torch\.utils\.cpp_extension)\b|^\[(?:project|tool\.poetry|metadata)\]", re.MULTILINE)
_HOME = re.compile(r"github\.com/[\w.-]{1,60}/([\w.-]{1,100})")
_HOLDER = re.compile(r"copyright[ \t]{1,4}(?:\(c\)[ \t]{0,4}|©[ \t]{0,4})?(?:\d{4}[\d, -]{0,20})?([A-Za-z][^\n]{2,80})", re.IGNORECASE)
_TRAINS = (
    *(".backward(", "optimizer.step(", "optimiser.step(", "def training_step(", "Trainer(", "trainer.fit(", "trainer.train(", "value_and_grad("),
    *("apply_gradients(", "optimizer.minimize("),
)
_STARTED = ('if __name__ == "__main__"', "if __name__ == '__main__'")
_COPIED = frozenset(("clip", "dnnlib", "k_diffusion", "lpips", "open_clip", "pytorch_fid", "taming", "torch_fidelity", "torch_utils"))
"""Packages that experiments come with, or with pieces of."""
_LEAST = 4
"""Letters that a name must have to be known again in another."""


@dataclass(frozen=True)
class RepositoryFiles:
    """The paths of a repository with a way to read them, and what it and its paper are called."""

    paths: frozenset[str]
    text: Callable[[str], str]
    names: tuple[str, ...] = ()

    @cached_property
    def python(self) -> tuple[str, ...]:
        """Its programs and modules, without packaging."""
        return tuple(sorted(path for path in self.paths if path.endswith(".py") and PurePosixPath(path).name != "setup.py"))

    @cached_property
    def training(self) -> frozenset[str]:
        """The files that train."""
        return frozenset(path for path in self.python if _has(self.text(path), _TRAINS))

    @cached_property
    def programs(self) -> frozenset[str]:
        """The files that train or are run."""
        return self.training | {path for path in self.python if _has(self.text(path), _STARTED)}

    def of_others(self, path: str) -> bool:
        """Whether a setup script says that its project lives elsewhere."""
        homes = _HOME.findall(self.text(path)) if self._is_project(path) else []
        return bool(homes) and not any(map(self.called, homes))

    def trains_in(self, folder: str) -> bool:
        """Whether a file of a folder trains."""
        return any(_under(path, (folder,)) for path in self.training)

    def called(self, name: str) -> bool:
        """Whether a name is like that of the repository or of its paper."""
        directory = fold(name.removesuffix(".git"))
        return any(
            directory == other or (min(len(directory), len(other)) >= _LEAST and (directory in other or other in directory))
            for other in map(fold, self.names)
        )

    def holder(self, path: str) -> str:
        """Whose rights a licence names first, "" for a blank form."""
        match = _HOLDER.search(self.text(path))
        return fold(match[1]) if match else ""

    def _is_project(self, path: str) -> bool:
        return _PROJECT.search(self.text(path)) is not None


def vendored(repository: RepositoryFiles) -> frozenset[str]:
    """The folders that are copies of other people's packages, none within another."""
    places = [PurePosixPath(path) for path in sorted(repository.paths) if "/" in path]
    projects = {str(place.parent) for place in places if place.name in _SCRIPTS and repository.of_others(str(place))}
    candidates = {*projects, *_licensed(places, repository), *_named(places)}
    theirs = {folder for folder in candidates if not repository.called(PurePosixPath(folder).name)}
    if not theirs or all(_under(path, theirs) for path in repository.python):
        return frozenset()
    trains = any(not _under(path, theirs) for path in repository.training)
    copies = {folder for folder in theirs if not repository.trains_in(folder) or (trains and folder in projects)}
    return frozenset(folder for folder in copies if not _under(folder, copies))


def _named(places: Iterable[PurePosixPath]) -> Iterator[str]:
    return (str(folder) for place in places for folder in place.parents if folder.name.lower() in _COPIED)


def _licensed(places: Iterable[PurePosixPath], repository: RepositoryFiles) -> Iterator[str]:
    """Folders with another party's license."""
    mine = {repository.holder(path) for path in repository.paths if "/" not in path and _is_licence(path)}
    return (str(place.parent) for place in places if _is_licence(place.name) and repository.holder(str(place)) not in {"", *mine})


def _is_licence(name: str) -> bool:
    return name.lower().startswith(("license", "licence", "copying")) and not name.endswith(".py")


def _under(path: str, folders: Iterable[str]) -> bool:
    return any(path.startswith(f"{folder}/") for folder in folders)


def _has(text: str, signs: Iterable[str]) -> bool:
    return any(sign in text for sign in signs)


VERSION = "profile@2"
_HEAD = 3
"""Words before the colon of a title that may be a name."""
_TEST_NAME = re.compile(r"(?:\A|/)(?:test_[^/]*|[^/]*_test)\.py\Z")
_TEST_TOOLS = re.compile(r"^(?:import|from) (?:pytest|unittest)\b", re.MULTILINE)
_TEST_FUNCTION = re.compile(r"^(?:async )?def test_", re.MULTILINE)
_TEST_METHOD = re.compile(r"^[ \t]+(?:async )?def test_", re.MULTILINE)
_TEST_CLASS = re.compile(
    r"^class[ \t]{1,9}(?:Test\w{0,80}|\w{1,80}\([^()\n]{0,200}TestCase\b[^()\n]{0,200}\))[^\w\n][^\n]{0,200}\n"
    r"(?:[ \t][^\n]*\n|\n)*?[ \t]+(?:async )?def test_",
    re.MULTILINE,
)
_TRAINING = re.compile(r"^(?:async )?def (?:train|fit)", re.MULTILINE)
_RUN = re.compile(r"\b(?:python3?|torchrun|accelerate launch|deepspeed|srun|bash|fairseq-[\w-]{1,40})\s")


@dataclass(frozen=True)
class ProfiledRepository:
    """A repository whose files can be read, and what it and its papers are called."""

    work: WorkId
    paths: frozenset[str]
    text: Callable[[str], str]
    names: tuple[str, ...] = ()

    def profile(self) -> list[FileProfile]:
        """The files with their roles, by path."""
        files = RepositoryFiles(self.paths, self.text, self.names)
        copied, experiments, own_name = vendored(files), experiment_folders(self.paths, self.text), repo_name(self.work)
        programs = files.programs
        return [
            FileProfile(self.work, path, frozenset({*named_roles(path, own_name), *self._told(path, copied, programs)}), _within(path, experiments))
            for path in sorted(self.paths)
        ]

    def _told(self, path: str, copied: Iterable[str], programs: frozenset[str]) -> Iterator[FileRole]:
        if any(path.startswith(f"{folder}/") for folder in copied):
            yield FileRole.VENDORED
        if path.endswith(".py") and is_test(path, self.text(path)):
            yield FileRole.TEST
        if path in programs:
            yield FileRole.PROGRAM


def profiles(documents: Iterable[Document], works: Iterable[Work], links: Iterable[CodeLink]) -> list[FileProfile]:
    """The files of all repositories of a lineage with their roles."""
    texts: dict[WorkId, dict[str, str]] = defaultdict(dict)
    for document in documents:
        if document.kind != "paper":
            texts[document.work][document.path] = document.text
    by_id, all_links = {work.id: work for work in works}, tuple(links)
    return [
        file
        for work, files in texts.items()
        for file in ProfiledRepository(work, frozenset(files), files.__getitem__, names_of(work, by_id.get, all_links)).profile()
    ]


def names_of(work: WorkId, work_of: Callable[[WorkId], Work | None], links: Iterable[CodeLink]) -> tuple[str, ...]:
    """What a repository is called, by itself and by the titles of the papers that it belongs to: "Clipper: clipping anew"."""
    papers = [work_of(link.paper) for link in links if link.repo == work and link.tier.own]
    heads = [paper.title.partition(":")[0] for paper in papers if paper and ":" in paper.title]
    return (repo_name(work), *(head for head in heads if 0 < len(head.split()) <= _HEAD))


def is_test(path: str, text: str) -> bool:
    """Whether a Python file is a test rather than a program with a method `test_step` or a loop `test_epoch` beside `train_epoch`."""
    if ("pytest" in text or "unittest" in text) and _TEST_TOOLS.search(text):
        return True
    if "def test_" not in text:  # what follows is slow, and most files hold none
        return False
    if _TEST_CLASS.search(text):
        return True
    if _TEST_NAME.search(path):  # `test_time_pool.py` is a layer: it must hold tests too
        return bool(_TEST_FUNCTION.search(text) or _TEST_METHOD.search(text))
    return bool(_TEST_FUNCTION.search(text)) and not _TRAINING.search(text)


# -- experiments beside the root's program


def experiment_folders(paths: Iterable[str], text: Callable[[str], str]) -> frozenset[str]:
    """Sibling folders, each with its own program or commands, beside a program at the root; none where no program is the default."""
    rooted, siblings = False, defaultdict[str, set[str]](set)
    for place in map(PurePosixPath, paths):
        if is_program(str(place)) and len(place.parts) == 1:
            rooted = True
        elif _is_home(place, text):
            siblings[str(place.parent.parent)].add(str(place.parent))
    return frozenset(folder for some in siblings.values() if rooted and len(some) > 1 for folder in some)


def _within(path: str, experiments: frozenset[str]) -> str:
    """The innermost experiment that a file belongs to, "" for what the root's program does."""
    return next((str(folder) for folder in PurePosixPath(path).parents if str(folder) in experiments), "")


def _is_home(place: PurePosixPath, text: Callable[[str], str]) -> bool:
    """Whether a file shows that its folder is run by itself: a program, or a README with commands."""
    if len(place.parts) < 2 or place.parent.name.lower() in PARTS | DATA_FOLDERS:
        return False
    return (len(place.parts) > 2 and is_program(str(place))) or (place.stem.lower() == "readme" and _RUN.search(text(str(place))) is not None)
