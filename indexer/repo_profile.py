"""The profile of a repository: what each file is for and which are copies of others' packages, computed once per build (pure).

Paths tell most (`lineage.file_roles`); the content tells tests from programs that evaluate, packages of others that were copied
in, programs that train, and which folders are experiments of their own beside the root's program.
"""

from __future__ import annotations

import ast
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
from lineage.text.syntax import UNREADABLE, module

_VERSIONS = frozenset(("__init__.py", "version.py", "_version.py", "__version__.py"))
_SCRIPTS = frozenset(("setup.py", "pyproject.toml", "setup.cfg"))
_VERSION = re.compile(
    r"^(?:__version__|version|VERSION)(?:[ \t]{0,4}:[ \t]{0,4}str)?[ \t]{0,9}=[ \t]{0,9}[\"']v?(\d[\w.+-]{0,40})[\"']", re.MULTILINE
)
_FIRST = re.compile(r"[01](?:\.[01]){0,2}(?:[.-]?(?:dev|a|b|rc)\w{0,9})?")
"""Versions that whoever begins a package gives it, which say nothing of where it comes from."""
_PROJECT = re.compile(r"\b(?:setuptools|distutils|torch\.utils\.cpp_extension)\b|^\[(?:project|tool\.poetry|metadata)\]", re.MULTILINE)
_HOME = re.compile(r"github\.com/[\w.-]{1,60}/([\w.-]{1,100})")
_HOLDER = re.compile(r"copyright[ \t]{1,4}(?:\(c\)[ \t]{0,4}|©[ \t]{0,4})?(?:\d{4}[\d, -]{0,20})?([A-Za-z][^\n]{2,80})", re.IGNORECASE)
_TRAINS = (
    *(".backward(", "optimizer.step(", "optimiser.step(", "def training_step(", "Trainer(", "trainer.fit(", "trainer.train(", "value_and_grad("),
    *("apply_gradients(", "optimizer.minimize("),
)
_STARTED = ('if __name__ == "__main__"', "if __name__ == '__main__'")
_FORKED = frozenset(
    ("deepspeed", "detectron2", "diffusers", "fairseq", "mmcv", "mmdet", "mmengine", "mmseg", "peft", "timm", "torchvision", "transformers", "trl")
)
"""Frameworks that experiments come with a whole copy of, version and all, and load."""
_COPIED = frozenset(("clip", "dnnlib", "k_diffusion", "lpips", "open_clip", "pytorch_fid", "taming", "torch_fidelity", "torch_utils"))
"""Packages that experiments come with pieces of, without a version; of a framework such a piece is an addition to it, and own."""
_PARTS = frozenset(("base", "common", "core", "lib", "meta", "tools", "util", "utils"))
"""Folders in which a package may keep its own version."""
_ROOTS = frozenset((".", "src"))
_LEAST = 4
"""Letters that a name must have to be known again in another."""
_BLOCKS = (ast.Try, ast.If, ast.With)


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

    @cached_property
    def distributed(self) -> bool:
        """Whether the repository is a distribution itself: packages at its top are what it distributes."""
        return any(self._is_project(path) for path in _SCRIPTS & self.paths)

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
    packages, projects = set(_packages(places, repository)), set(_projects(places, repository))
    perhaps = {*_licensed(places, repository), *_named(places)}
    theirs = {folder for folder in packages | projects | perhaps if not repository.called(PurePosixPath(folder).name)}
    if not theirs or all(_under(path, theirs) for path in repository.python):
        return frozenset()
    trains = any(not _under(path, theirs) for path in repository.training)
    loaded = _loaded(repository, theirs) if theirs & packages else frozenset[str]()
    sure = {directory for directory in theirs & packages if _is_copy(directory, repository, loaded)}
    sure |= {part for directory in theirs & projects for part in _parts(directory, repository)}
    copies = {directory for directory in sure | theirs & perhaps if not repository.trains_in(directory) or (trains and directory in sure)}
    return frozenset(directory for directory in copies if not _under(directory, copies))


def _packages(places: Iterable[PurePosixPath], repository: RepositoryFiles) -> Iterator[str]:
    """The packages that count versions of their own, other than what the repository itself distributes."""
    for place in places:
        if place.name in _VERSIONS and str(place.parent / "__init__.py") in repository.paths:
            version = _VERSION.search(repository.text(str(place)))
            mine = repository.distributed and str(place.parent.parent) in _ROOTS
            if version and not (mine or _FIRST.fullmatch(version[1]) or place.parent.name.lower() in _PARTS):
                yield str(place.parent)


def _projects(places: Iterable[PurePosixPath], repository: RepositoryFiles) -> Iterator[str]:
    return (str(place.parent) for place in places if place.name in _SCRIPTS and repository.of_others(str(place)))


def _parts(project: str, repository: RepositoryFiles) -> Iterator[str]:
    """What of a project is foreign: all of it, or its packages where it trains: the scripts beside them may be the experiments'."""
    if not repository.trains_in(project):
        yield project
        return
    for place in map(PurePosixPath, repository.paths):
        if place.name == "__init__.py" and str(place.parent.parent) in {project, f"{project}/src"}:
            yield str(place.parent)


def _named(places: Iterable[PurePosixPath]) -> Iterator[str]:
    return (str(folder) for place in places for folder in place.parents if folder.name.lower() in _COPIED)


def _licensed(places: Iterable[PurePosixPath], repository: RepositoryFiles) -> Iterator[str]:
    """Folders with another party's license."""
    mine = {repository.holder(path) for path in repository.paths if "/" not in path and _is_licence(path)}
    return (str(place.parent) for place in places if _is_licence(place.name) and repository.holder(str(place)) not in {"", *mine})


def _is_licence(name: str) -> bool:
    return name.lower().startswith(("license", "licence", "copying")) and not name.endswith(".py")


def _loaded(repository: RepositoryFiles, theirs: Iterable[str]) -> frozenset[str]:
    """What the programs outside of some folders load when they start."""
    return reached(repository.python, repository.text, (path for path in repository.programs if not _under(path, theirs)))


def _is_copy(package: str, repository: RepositoryFiles, loaded: Iterable[str]) -> bool:
    """Whether a package with a version came as a whole: it stands within another, is a known framework, or no program needs it to start."""
    place = PurePosixPath(package)
    within = str(place.parent / "__init__.py") in repository.paths
    return within or place.name.lower() in _FORKED or not any(_under(path, (package,)) for path in loaded)


def _under(path: str, folders: Iterable[str]) -> bool:
    return any(path.startswith(f"{folder}/") for folder in folders)


def _has(text: str, signs: Iterable[str]) -> bool:
    return any(sign in text for sign in signs)


def reached(paths: Iterable[str], text: Callable[[str], str], programs: Iterable[str]) -> frozenset[str]:
    """The files that programs load, themselves included: what their modules import, at whatever distance."""
    known = frozenset(path for path in paths if path.endswith(".py"))
    modules, todo = set[str](), [path for path in programs if path in known]
    while todo:
        path = todo.pop()
        if path not in modules:
            modules.add(path)
            todo += [other for dots, name in imported(text(path)) for other in _files(path, dots, name, known) if other not in modules]
    return frozenset(modules)


def imported(text: str) -> frozenset[tuple[int, str]]:
    """(dots, name) of each import at the level of the module, in a `try` or an `if` too; what is imported from a package may be a module."""
    try:
        tree = module(text)
    except UNREADABLE:
        return frozenset()
    return frozenset(name for statement in _statements(tree) for name in _names(statement))


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """The statements of a module, those of its blocks too, without functions and classes."""
    todo: list[ast.AST] = [*tree.body]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.stmt):
            yield node
        if isinstance(node, (*_BLOCKS, ast.ExceptHandler)):
            todo += [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt | ast.ExceptHandler)]


def _names(statement: ast.stmt) -> Iterator[tuple[int, str]]:
    if isinstance(statement, ast.Import):
        yield from ((0, alias.name) for alias in statement.names)
    elif isinstance(statement, ast.ImportFrom):
        module = statement.module or ""
        yield statement.level, module
        yield from ((statement.level, f"{module}.{alias.name}".lstrip(".")) for alias in statement.names)


def _files(path: str, dots: int, dotted: str, known: frozenset[str]) -> Iterator[str]:
    """The files of a dotted name, looked for from the nearest folder on: nobody says where a program is started."""
    folders, name = tuple(path.split("/")[:-1]), tuple(filter(None, dotted.split(".")))
    if dots:
        if dots - 1 <= len(folders):
            yield from _modules_under(folders[: len(folders) - dots + 1], name, known)
        return
    for depth in range(len(folders), -1, -1):
        for base in (folders[:depth], (*folders[:depth], "src")):
            if some := list(_modules_under(base, name, known)):
                yield from some
                return


def _modules_under(base: tuple[str, ...], name: tuple[str, ...], known: frozenset[str]) -> Iterator[str]:
    for end in range(0 if not name else 1, len(name) + 1):
        place = "/".join((*base, *name[:end]))
        yield from (path for path in (f"{place}.py", f"{place}/__init__.py") if path in known)


VERSION = "profile@1"
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
