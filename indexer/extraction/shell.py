"""Settings and facts of commands: flags and overrides on a command line, variables that a script sets, in scripts and in READMEs.

What a command line says overrides what configuration and defaults say, so these facts carry the program that is run as
their scope. A variable that the same text sets to a literal stands for it, one that holds flags states them; nothing else is
expanded and nothing is run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from indexer.extraction.collector import Sink
from lineage.hyperparameters.values import Expression, Plain
from lineage.hyperparameters.values import read as read_value

_WORD = re.compile(r"""(?:[^\s"'\\|;&<>()]|\\.|"(?:[^"\\]|\\.)*"|'[^']*')+|[|;&<>()]+""")
_ASSIGNED = re.compile(
    r"\s*(?:export\s+|local\s+|readonly\s+)?([A-Za-z_]\w{0,60})=(?!=)((?:\"[^\"\n]*\"|'[^'\n]*'|[^\s;&|\"'])*)\s*(?:;|#.*|&&.*)?\Z"
)
_HELD = re.compile(r"\s*(?:export\s+|local\s+|readonly\s+)?[A-Za-z_]\w{0,60}=\s{0,4}\(?[\"']?\s{0,80}(?=--?[A-Za-z])")
"""A variable that holds flags for a command further down."""
_OPENS = re.compile(r"\s*(?:export\s+|local\s+|readonly\s+)?[A-Za-z_]\w{0,60}=(?:\(|[\"'])\s*\Z")
"""A variable whose value begins on the next line."""
_VARIABLE = re.compile(r"\$\{?([A-Za-z_]\w{0,60}|\d)(?::?-([^}\n]*))?\}?")
_RUNS = re.compile(
    r"(?:^|[\s;&|(\"'/`])(python[\d.]*|torchrun|accelerate|deepspeed|fairseq-\w+|allennlp|srun|mpirun|horovodrun|uv|poetry|CUDA_VISIBLE_DEVICES=\S*|"
    r"composer|nnUNetv2_\w+|lm_eval|vllm|swift|llamafactory-cli|\S{1,200}\.(?:py|sh))(?=\s|\Z|[\"'`])"
)
_PROGRAM = re.compile(r"(?:^|[\s\"'=])((?:[\w.-]+/)*[\w.-]+\.(?:py|sh))(?=\s|\Z|[\"'])|-m\s+([\w.]+)")
_OVERRIDE = re.compile(r"\+{0,2}([A-Za-z_][\w./@-]{0,80})=(.+)\Z", re.DOTALL)
_FLAG = re.compile(r"--?([A-Za-z][\w.-]{0,80})(?:=(.*))?\Z", re.DOTALL)
_PROMPT = re.compile(r"\A\s*(?:\$|>|%|#)\s+(?=\S)")
_CONTINUED = 60
_CLOSING = (")", '"', "'")


def read(text: str, sink: Sink, first: int = 0) -> None:
    """Put the facts of a script into `sink`; `first` lines stand before it."""
    variables: dict[str, str] = {}
    for number, line in _commands(text):
        assigned, holding = _ASSIGNED.match(line), _HELD.match(line)
        if holding:
            _command(number + first + line.count("\n", 0, holding.end()), line[holding.end() :].rstrip("\"')\n "), variables, sink)
        elif assigned:
            assigned_value = _expanded(_bare(assigned[2]), variables)
            variables[assigned[1]] = assigned_value
            if "$" not in assigned_value and "`" not in assigned_value:
                sink.text(number + first, assigned[1], assigned_value, kind="command")
        elif _RUNS.search(line):
            _command(number + first, line, variables, sink)


def commands_of(text: str, sink: Sink, first: int = 0) -> None:
    """The same for a block of a document, where a line may begin with a prompt."""
    read("\n".join(_PROMPT.sub("", line) for line in text.split("\n")), sink, first)


def _commands(text: str) -> Iterator[tuple[int, str]]:
    """Logical lines with the number of their first; a continued one is given line by line in its words' own lines."""
    pending_words: list[str] = []
    start = 0
    for number, line in enumerate(text.split("\n"), 1):
        if not pending_words and line.lstrip().startswith("#"):
            continue
        start = start if pending_words else number
        inside = _OPENS.match(pending_words[0] if pending_words else line) is not None
        line = "" if inside and line.lstrip().startswith("#") else line.rstrip()
        going = (line.endswith("\\") or (inside and not (pending_words and line.endswith(_CLOSING)))) and len(pending_words) < _CONTINUED
        pending_words.append(line.removesuffix("\\") if going else line)
        if not going:
            yield start, "\n".join(pending_words)
            pending_words = []
    if pending_words:
        yield start, "\n".join(pending_words)


def _command(number: int, line: str, variables: dict[str, str], sink: Sink) -> None:
    program = _PROGRAM.search(line)
    scope = (program[1] or program[2] or "") if program else ""
    words = [(match[0], number + line.count("\n", 0, match.start())) for match in _WORD.finditer(line[:20_000])]
    at = 0
    while at < len(words):
        word, row = words[at]
        at += 1
        if flag := _FLAG.match(word):
            flag_value, taken = _value(flag[2], words, at)
            at += taken
            _put(row, flag[1], _expanded(flag_value, variables), scope, sink)
        elif word[:1] in "\"'" and " -" in word:
            _command(row, word[1:-1], variables, sink)
        elif (override := _OVERRIDE.match(word)) and ".py" in line:
            _put(row, override[1], _expanded(_bare(override[2]), variables), scope, sink)


def _put(line: int, name: str, value: str, program: str, sink: Sink) -> None:
    """A flag with its value; several numbers stay together, as the program takes them."""
    sink.text(line, name, value, kind="command", scope=program)
    if program and len(name) > 1 and "$" not in value and "`" not in value:
        sink.setting(line, name, value if "," in value and value[0] != "[" else _read(value), "command", program)


def _read(value: str) -> Plain:
    """The literal that a value is; a command hands on what would compute something (`dog+cat`) as it stands."""
    try:
        return read_value(value)
    except Expression:
        return value


def _value(inline: str | None, words: list[tuple[str, int]], at: int) -> tuple[str, int]:
    """The value of a flag and how many words it took: what follows it, several as a list, `true` where nothing does."""
    if inline is not None:
        return _bare(inline), 0
    values: list[str] = []
    if at < len(words) and words[at][0][0] == "<":
        return "", 0  # `--name <NAME>`: there to be filled in
    while at + len(values) < len(words) and len(values) < 9:
        word = words[at + len(values)][0]
        if word[0] in "|;&<>()#" or " --" in word or (word[0] == "-" and not re.match(r"-\.?\d", word)):
            break
        values.append(_bare(word))
        if not re.match(r"[-\d.]", values[-1]):
            break
    numeric = [value for value in values if re.match(r"[-\d.]", value)]
    if len(numeric) > 1:
        return "[" + ", ".join(numeric) + "]", len(numeric)
    return (values[0], 1) if values else ("true", 0)


def _bare(word: str) -> str:
    return word[1:-1] if len(word) > 1 and word[0] == word[-1] and word[0] in "\"'" else word.strip("\"'")


def _expanded(text: str, variables: dict[str, str]) -> str:
    """The text with the variables that are known put in, defaults of unknown ones too; the rest stays as it is."""

    def value(match: re.Match[str]) -> str:
        return variables.get(match[1], match[2] if match[2] is not None else match[0])

    return _VARIABLE.sub(value, text) if "$" in text and len(text) < 400 else text
