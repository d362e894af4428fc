"""Split a task into questions (pure): what its implementer needs to know, one thing at a time.

One question ranks what is most like the whole task, over and over. A task is therefore taken apart into itself, the
components it lists, the clauses it enumerates, and what its stage cannot do without; evidence is then chosen to cover
them all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from lineage.records import ChunkKind
from lineage.results import Detail, Stage
from lineage.text.tokens import STOP, terms
from retrieval.search.query import beginning, plain

MOST_PARTS = 24
LONGEST = 600
_ITEM = re.compile(r"\s{0,12}(?:[-*•+]|\(?\d{1,2}[.)])\s+(?=\S)")
_FILE = re.compile(r"\s{0,12}`?([\w./-]{1,100}\.(?:py|yaml|yml|sh|json|toml|cfg|ipynb|cpp|cu|rs|js|ts))`?\s{0,4}(?:[:\-–—]|\Z)")
_SENTENCE = re.compile(r"(?<=[.;?!])\s+(?=[A-Z`\"'(])|\n+")
_CLAUSE = re.compile(r",\s+(?:and\s+|or\s+)?|;\s+|\s+and\s+|\s+(?:with|using|via|including)\s+")
_SETTINGS = re.compile(r"\b(?:hyper-?parameters?|settings?|configurations?|options)\b", re.IGNORECASE)
_WORDS = 2


@dataclass(frozen=True)
class Subquestion:
    """One thing to ask: its `text`, how much of the pack it is `worth`, of which `kinds` the answer is, `of` what it is part.

    `of` is `task`, `part` (`name` is its file or component) or `detail` (`name` is the detail's).
    """

    text: str
    worth: float
    of: str = "task"
    name: str = ""
    kinds: frozenset[ChunkKind] = frozenset()


NEEDS: tuple[Detail, ...] = (
    Detail("architecture", "architecture", "architecture", "model architecture: layers, hidden size, heads, dimensions, modules", weight=0.9),
    Detail("objective", "objective", "objective", "loss function and training objective, with its weights and regularisation", weight=0.8),
    Detail("data", "data", "data", "datasets used, their splits and number of examples", weight=0.8),
    Detail("preprocessing", "preprocessing", "data", "preprocessing, tokenisation, filtering and augmentation of the data", weight=0.6),
    Detail("initialisation", "initialization", "initialization", "how weights are initialised; which pretrained checkpoint", weight=0.5),
    Detail("optimiser", "optimizer", "optimizer", "optimizer, learning rate, betas, weight decay, gradient clipping", weight=0.8),
    Detail("schedule", "schedule", "schedule", "learning rate schedule, warmup, number of epochs or steps, batch size", weight=0.8),
    Detail("evaluation", "evaluation", "evaluation", "evaluation metrics and protocol, how results are computed and averaged", weight=0.8),
    Detail("baselines", "baselines", "evaluation", "baselines compared with and their settings", weight=0.4),
    Detail("hardware", "hardware", "hardware", "hardware, precision, software versions, random seeds, number of runs", weight=0.4),
)
"""What planning a reproduction needs where no list of details was made for the target."""


def subquestions(task: str, stage: Stage | None = None, details: Sequence[Detail] = ()) -> tuple[Subquestion, ...]:
    """The task itself first, then its parts, then the details that its stage needs; texts of a kind differ from each other.

    The task and its parts are asked once of everything and once of code alone, because what a lineage says in prose and
    what it does in code are ranked on scales that cannot be compared; stages differ in what each is worth.
    """
    whole = plain(task)
    prose, code, detail = _WORTH[stage]
    parts = [Subquestion(beginning(whole)[0], 1.0), *_parts(task)]
    subparts = [replace(subquestion, worth=prose * subquestion.worth) for subquestion in parts]
    subparts += [replace(subquestion, worth=code * subquestion.worth, kinds=_CODE) for subquestion in parts]
    subparts += [replace(_detail(need), worth=detail * need.weight) for need in asked(details or NEEDS, whole, stage)]
    kept = {_key(subquestion): subquestion for subquestion in reversed(subparts)}
    return tuple(subquestion for subquestion in subparts if subquestion.text.strip() and subquestion.worth and kept[_key(subquestion)] is subquestion)


_CODE: frozenset[ChunkKind] = frozenset({"code"})
_WORTH: dict[Stage | None, tuple[float, float, float]] = {
    None: (1.0, 0.5, 0.6),
    "planning": (1.0, 0.0, 0.6),
    "analysis": (1.0, 0.7, 0.4),
    "coding": (0.6, 1.0, 0.2),
}
"""What the task and its parts are worth asked of everything, and of code alone; and what a detail of weight one is worth."""


def _key(subquestion: Subquestion) -> tuple[str, frozenset[ChunkKind]]:
    return " ".join(terms(subquestion.text)), subquestion.kinds


def components(task: str) -> tuple[tuple[str, str], ...]:
    """(name, description) of the files and items that a task lists, line by line; a file's name is its path."""
    parts = []
    for line in task.splitlines():
        named, item = _FILE.match(_ITEM.sub("", line, count=1)), _ITEM.match(line)
        if named:
            rest = _ITEM.sub("", line, count=1)[named.end() :].strip()
            parts.append((named[1], rest or named[1].rpartition("/")[2].rpartition(".")[0].replace("_", " ")))
        elif item:
            text = line[item.end() :].strip()
            parts.append((text.split(":")[0][:60], text))
    return tuple(parts[:MOST_PARTS])


def _parts(task: str) -> list[Subquestion]:
    listed = components(task)
    if listed:
        return [Subquestion(_short(_spoken(name, text)), 0.8, "part", name) for name, text in listed]
    sentences = [part.strip() for part in _SENTENCE.split(task) if len(terms(part)) >= _WORDS]
    parts = [Subquestion(_short(text), 0.7, "part") for text in sentences] if len(sentences) > 1 else []
    clauses = [clause for sentence in sentences for clause in _clauses(sentence)]
    return [*parts, *(Subquestion(_short(text), 0.5, "part") for text in clauses)][:MOST_PARTS]


def _spoken(name: str, text: str) -> str:
    return text if "." not in name else f"{name.rpartition('/')[2].rpartition('.')[0].replace('_', ' ')}: {text}"


def _clauses(sentence: str) -> Iterable[str]:
    """The members of an enumeration, each long enough to be asked alone; of what a colon lists each, without what frames it.

    "settings" alone is like notebooks' first cells; settings are due where they are set.
    """
    _, colon, listed = sentence.partition(": ")
    parts = [part.strip(" .:;") for part in _CLAUSE.split(listed if colon else sentence)]
    least = 1 if colon else _WORDS
    return [part for part in parts if len(terms(part)) >= (_WORDS if asks_settings(part) else least)] if colon or len(parts) > 1 else []


def _short(text: str) -> str:
    return plain(text)[:LONGEST].encode("utf-8", "replace").decode()


def _detail(detail: Detail) -> Subquestion:
    return Subquestion(_short(detail.question or detail.title), detail.weight, "detail", detail.name)


def asks_settings(text: str) -> bool:
    """Whether a text asks for settings as such."""
    return _SETTINGS.search(text) is not None


def asked(details: Iterable[Detail], task: str, stage: Stage | None) -> list[Detail]:
    """All details for planning; else those that share a word with the task."""
    return [detail for detail in details if stage == "planning" or relevant(detail, task)]


def relevant(detail: Detail, task: str) -> bool:
    """Whether the task speaks of a detail: shares a telling word with its name, title or topic."""
    own = set(terms(f"{detail.name.replace('_', ' ')} {detail.title} {detail.topic}")) - STOP - _EVERYWHERE
    return bool(own & set(terms(task)))


_EVERYWHERE = frozenset(terms("model models training train method methods number size rate value paper code data set type name use"))
