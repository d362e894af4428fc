"""A folder in place of a chat endpoint: prompts are files, and whoever writes the answers beside them is the model.

So the coding agent that works with the lineage reads for it, without a key. An answer is checked like that of any model.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from indexer.store.atomic_files import write_whole
from lineage.errors import AnswersMissing, SettingsError
from lineage.results import ModelUsage
from lineage.settings import Settings

_SCHEME = "prompts:"
_LETTERS_A_TOKEN = 3
_HEAD = """Answer with one JSON object of the form at the end, in the file {answer} beside this one.

"""


@dataclass
class PromptFolder:
    """A chat model (`ChatModel`) that writes `NAME.md` into a folder and reads `NAME.json`; `tokens` counts a text's."""

    model: str
    folder: Path
    tokens: Callable[[str], int]
    sends: bool = True
    usage: ModelUsage = field(init=False)

    def __post_init__(self) -> None:
        self.usage = ModelUsage(self.model)

    @classmethod
    def of(cls, settings: Settings, tokens: Callable[[str], int]) -> PromptFolder | None:
        """The folder that `prompts:FOLDER` names as the endpoint, None for another endpoint."""
        url = settings.llm_base_url
        return cls(settings.llm_model, Path(url.removeprefix(_SCHEME)).expanduser(), tokens) if url.startswith(_SCHEME) else None

    @contextmanager
    def rehearsing(self) -> Iterator[PromptFolder]:
        """A folder that counts the prompts without an answer and writes none."""
        yield replace(self, sends=False)

    def complete(self, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any], most: int) -> str:
        """The first `most` characters of the answer; raises `AnswersMissing` after writing the prompt, and `SettingsError`."""
        form = json.dumps(schema["schema"], indent=1)
        text = "\n\n".join((*(message["content"] for message in messages), f"The form of the answer, as JSON Schema:\n\n{form}\n"))
        name = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
        answer = self.folder / f"{name}.json"
        try:
            if answer.is_file():
                self.usage = self.usage.plus(cached=1)
                with answer.open(encoding="utf-8", errors="replace") as file:
                    return file.read(most)
            self.usage = self.usage.plus(calls=1, tokens_in=self.tokens(text), tokens_out=most // _LETTERS_A_TOKEN)
            if not self.sends:
                return ""
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(self.folder / f"{name}.md", (_HEAD.format(answer=answer.name) + text).encode("utf-8", "replace"))
        except OSError as error:
            raise SettingsError(f"the folder of prompts {self.folder} cannot be used: {error.strerror}") from error
        raise AnswersMissing(self.folder)
