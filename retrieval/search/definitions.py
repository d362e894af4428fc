"""Where the names that the lines of a hit use are set: one step within its repository, and only where all that sets a name agrees."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from lineage.file_roles import ASIDE
from lineage.records import Hit, Setting, WorkId

if TYPE_CHECKING:
    from lineage.catalog.reader import Catalog

_HOLDER = r"(?i:args?|opts?|options?|flags|hparams|hps|params|conf|config|cfg|settings)"
_READ = re.compile(
    rf"\b_?{_HOLDER}\b(?:\.\w+|\[[\"']\w+[\"']\])*?(?:\.|\[[\"'])(\w{{2,}})\b(?![\w.(]|[\"']\]\.)|\b([A-Za-z]\w{{0,60}}_\w{{1,60}}|[A-Z][A-Z0-9]{{2,60}})\b(?!\()"
)
_SETS = frozenset({"default", "config"})
_AROUND = 4
"""Lines above and below those that answer whose names are looked up too: a call goes on, a condition stands above."""


def names_read(text: str) -> list[str]:
    """The names that a text reads from a configuration, and names of several words: what else is called by a common word may be anything."""
    return list(dict.fromkeys(one or other for one, other in _READ.findall(text)))


def _is_local(name: str, text: str) -> bool:
    """Whether a name is neither read from a configuration nor a constant: then only its own file says what sets it."""
    return not name.isupper() and all(name != held for held, _ in _READ.findall(text))


def definitions(hits: Iterable[Hit], catalog: Catalog) -> Mapping[tuple[WorkId, str, str], Setting]:
    """By work, path and name what sets the names of the focus of each hit and of the lines around it: in its file, else in its repository."""
    used: dict[WorkId, dict[str, dict[str, bool]]] = defaultdict(lambda: defaultdict(dict))
    for hit in hits:
        if hit.focus and hit.chunk.kind == "code":
            first = hit.focus.start_line - hit.chunk.start_line
            lines = hit.chunk.text.split("\n")[max(0, first - _AROUND) : hit.focus.end_line - hit.chunk.start_line + 1 + _AROUND]
            text = "\n".join(lines)
            for name in names_read(text):
                used[hit.chunk.work][name][hit.chunk.path] = _is_local(name, text)
    found: dict[tuple[WorkId, str, str], Setting] = {}
    for work, names in used.items():
        setting: dict[str, list[Setting]] = defaultdict(list)
        aside = {path for path, file in catalog.files(work).items() if not ASIDE.isdisjoint(file.roles)}
        for one in catalog.settings(work, tuple(names)):
            if one.kind in _SETS and one.path not in aside:
                setting[one.name].append(one)
        for name, some in setting.items():
            for path, is_local in names[name].items():
                near = [one for one in some if one.path == path] or ([] if is_local else some)
                if len({one.value for one in near}) == 1:
                    found[work, path, name] = near[0]
    return found
