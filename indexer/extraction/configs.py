"""Settings and facts of configuration files: YAML, JSON, TOML, INI and gin, under their nested names.

YAML, and JSON as YAML, is read as events, so that aliases cannot multiply; the rest by its lines, and so is what is broken.
Nothing is constructed and no interpolation is resolved.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import PurePosixPath

import yaml

from indexer.extraction.collector import Sink
from lineage.hyperparameters.ontology import Ontology
from lineage.hyperparameters.values import MOST_ITEMS, Expression
from lineage.hyperparameters.values import read as read_value

_COMMENTS = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/')
"""Comments of JSON, and strings, in which there are none."""
_SECTION = re.compile(r"\s*\[\[?\s*([^\[\]\n]{1,160}?)\s*\]\]?\s*(?:[#;].*)?\Z")
_PAIR = re.compile(r"\s*([\w./@%-]{1,160})\s*(?:=|:(?=\s))\s*(.*?)\s*\Z")
_COMMENT = re.compile(r"\s+[#;].*\Z")
_LINE_YAML = re.compile(r"(\s*)(?:- )?['\"]?([\w./-]{1,100})['\"]?\s*:(?:\s+(.*?))?\s*\Z")
_NAME = re.compile(r"[\w-]+")
_DEPTH, _NESTED = 60, 200
_TOP_LEVEL = re.compile(r"^([a-z]{1,20}):", re.MULTILINE)
_ENVIRONMENT = {"channels", "dependencies"}
"""Top-level keys of a conda environment, whatever its file is called."""
_SKIPPED = re.compile(
    r"(?:^|/)(?:package(?:-lock)?\.json|tsconfig[^/]*\.json|\.github/|\.circleci/|docker-compose[^/]*|mkdocs\.ya?ml|\.pre-commit[^/]*|renovate\.json|"
    r"setup\.cfg|tox\.ini|pyproject\.toml|Cargo\.toml|environment[^/]*\.ya?ml|conda[^/]*\.ya?ml|codecov\.ya?ml|\.readthedocs[^/]*|vercel\.json|"
    r"[^/]*requirements[^/]*\.txt|CITATION[^/]*|\.eslintrc[^/]*|special_tokens_map\.json|vocab\.json|components\.json)",
    re.IGNORECASE,
)


def read(path: str, text: str, language: str, sink: Sink) -> str:
    """Put the facts of a file into `sink`; gives a note where it is not what its name says and was read by its lines."""
    if _SKIPPED.search(path) or (language == "yaml" and _ENVIRONMENT.issubset(_TOP_LEVEL.findall(text))):
        return ""
    if language in {"yaml", "json"}:
        return _yaml(path, _COMMENTS.sub(_blank, text) if language == "json" else text, language, sink)
    if language in {"toml", "gin"}:
        _sections(path, text, sink)
    return ""


def around(path: str) -> str:
    """What a file's own name says of its content: `conf/optimizer/adam.yaml` is about an optimiser."""
    pure = PurePosixPath(path)
    return ".".join([part.replace(".", "_") for part in pure.parts[-2:-1]] + [pure.stem.replace(".", "_")])


def _leaf(sink: Sink, line: int, keys: list[str], text: str, path: str) -> None:
    if not keys:
        return
    scope = ".".join(keys[:-1])
    with suppress(Expression):
        value = read_value(text)
        sink.setting(line, keys[-1], "none" if value is None and text.strip() else value, "config", scope)
    context = f"{around(path)}.{scope}" if scope else around(path)
    if _NAME.fullmatch(keys[-1]) or not _invented(keys[-1], text, context, sink.ontology):
        sink.text(line, keys[-1], text, context=context, scope=scope, kind="config")


def _invented(key: str, text: str, context: str, ontology: Ontology) -> bool:
    """Whether a key that is no identifier has a choice that nobody knows: `capital.loss` is a column of a table."""
    naming = ontology.naming(key, context)
    if naming is None:
        return False
    value = ontology.normalize(naming.name, text)
    return value is not None and not ontology.knows(naming.name, value.value)


# -- YAML and JSON


def _blank(match: re.Match[str]) -> str:
    """A comment as white space, a string as it is."""
    return match[0] if match[0][0] == '"' else re.sub(r"[^\n]", " ", match[0])


def _yaml(path: str, text: str, language: str, sink: Sink) -> str:
    try:
        for line, keys, written_value in leaves(text):
            _leaf(sink, line, keys, written_value, path)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        where = getattr(error, "problem_mark", None)
        at = where.line + 1 if where else 0
        for line, keys, written_value in _yaml_lines(text, at):
            _leaf(sink, line, keys, written_value, path)
        return f"{path}: no valid {language.upper()}" + (f" from line {at}" if at else "") + "; read by its lines"
    return ""


class _Frame:
    """An open mapping or sequence: the key that awaits its value, and the scalars of a sequence so far."""

    def __init__(self, mapping: bool, line: int) -> None:
        self.mapping, self.line = mapping, line
        self.key: str | None = None
        self.items: list[str] | None = []


def leaves(text: str) -> Iterator[tuple[int, list[str], str]]:
    """(line, keys, text) of every scalar, and of every list of scalars as one."""
    frames: list[_Frame] = []
    for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        if isinstance(event, yaml.ScalarEvent):
            yield from _scalar(frames, event)
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            if frames and not frames[-1].mapping:
                frames[-1].items = None
            if len(frames) == _NESTED:  # each token costs the parser as many steps as brackets are open
                raise ValueError(f"more than {_NESTED} levels")
            frames.append(_Frame(isinstance(event, yaml.MappingStartEvent), _line(event)))
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            done = frames.pop()
            if not done.mapping and done.items is not None and len(done.items) <= MOST_ITEMS and len(frames) < _DEPTH:
                yield done.line, _keys(frames), "[" + ", ".join(done.items) + "]"
            _closed(frames)
        elif isinstance(event, yaml.AliasEvent):
            _closed(frames)


def _scalar(frames: list[_Frame], event: yaml.ScalarEvent) -> Iterator[tuple[int, list[str], str]]:
    frame = frames[-1] if frames else None
    if frame is None:
        return
    if not frame.mapping:
        if frame.items is not None and len(frame.items) <= MOST_ITEMS:
            frame.items.append(event.value)
    elif frame.key is None:
        frame.key = event.value[:100]
    else:
        if len(frames) < _DEPTH and len(event.value) < 400:
            yield _line(event), _keys(frames), event.value
        frame.key = None


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1


def _closed(frames: list[_Frame]) -> None:
    """A nested value has ended: the key of what holds it has its value."""
    if frames and frames[-1].mapping:
        frames[-1].key = None if frames[-1].key is not None else ""


def _keys(frames: list[_Frame]) -> list[str]:
    return [frame.key for frame in frames if frame.key]


def _yaml_lines(text: str, first: int) -> Iterator[tuple[int, list[str], str]]:
    """Keys and values by indentation, from line `first` on: what a parser that gave up has not seen."""
    open_: list[tuple[int, str]] = []
    for number, line in enumerate(text.split("\n"), 1):
        match = _LINE_YAML.match(line) if len(line) < 500 and not line.lstrip().startswith("#") else None
        if not match:
            continue
        indent = len(match[1])
        while open_ and open_[-1][0] >= indent:
            open_.pop()
        written_value = _COMMENT.sub("", match[3] or "")
        if written_value and number >= first:
            yield number, [*(key for _, key in open_), match[2]], written_value
        elif not written_value:
            open_.append((indent, match[2]))


# -- TOML, INI, gin


def _sections(path: str, text: str, sink: Sink) -> None:
    section: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > 500 or not line.strip() or line.lstrip()[0] in "#;":
            continue
        if header := _SECTION.match(line):
            section = [part.strip(" \"'") for part in header[1].split(".")]
        elif pair := _PAIR.match(line):
            *names, last = pair[1].replace("@", "").split(".")
            written_value = _COMMENT.sub("", pair[2]).strip()
            if written_value and written_value[0] not in "@%":
                _leaf(sink, number, [*section, *names, last], written_value, path)
