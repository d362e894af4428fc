"""The profile of a repository: what each of its files is for, told once, when a lineage is built (pure).

Paths tell most (`lineage.file_roles`); the content tells tests from programs that evaluate, packages of others that were copied
in, programs that train, and which folders are experiments of their own beside the root's program.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from indexer.vendored import RepositoryFiles, vendored
from lineage.catalog.reader import Catalog
from lineage.file_roles import DATA_FOLDERS, PARTS, is_program, named_roles
from lineage.ids import repo_name
from lineage.records import CodeLink, Document, FileProfile, FileRole, Work, WorkId

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
class Repository:
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
        for file in Repository(work, frozenset(files), files.__getitem__, names_of(work, by_id.get, all_links)).profile()
    ]


def stored_profile(catalog: Catalog, work: WorkId) -> list[FileProfile]:
    """The same of one repository of a catalogue that was written before there were profiles."""
    paths = frozenset(document.path for document in catalog.documents(work) if document.kind != "paper")
    return Repository(work, paths, lambda path: catalog.document_text(work, path) or "", names_of(work, catalog.work, catalog.links())).profile()


def names_of(work: WorkId, work_of: Callable[[WorkId], Work | None], links: Iterable[CodeLink]) -> tuple[str, ...]:
    """What a repository is called, by itself and by the titles of the papers that it belongs to: "Clipper: clipping anew"."""
    papers = [work_of(link.paper) for link in links if link.repo == work and link.tier.own]
    heads = [paper.title.partition(":")[0] for paper in papers if paper and ":" in paper.title]
    return (repo_name(work), *(head for head in heads if 0 < len(head.split()) <= _HEAD))


def is_test(path: str, text: str) -> bool:
    """Whether a Python file is a test rather than a program with a method `test_step` or a loop `test_epoch` beside `train_epoch`."""
    if _TEST_TOOLS.search(text) or _TEST_CLASS.search(text):
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
