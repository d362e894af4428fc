"""An OpenAI-compatible chat endpoint: asked for one JSON object, answering with its text or a typed error.

What the model answers is a third party's text like any other: whoever asked checks it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from indexer.store.atomic_files import write_whole
from indexer.store.computed_cache import DerivedCache
from lineage.errors import AnswersMissing, SettingsError, SourceError
from lineage.records import Status
from lineage.results import ModelUsage
from lineage.settings import Settings
from lineage.text.hidden_text import object_in

PUBLIC = "https://api.openai.com/v1"
LOOPBACK = {"127.0.0.1", "::1", "localhost"}
_STATUSES = {401: Status.FORBIDDEN, 403: Status.FORBIDDEN, 429: Status.RATE_LIMITED, 404: Status.NOT_FOUND}


@dataclass(frozen=True)
class Chat:
    """A model at an endpoint; `offline` refuses to send, `timeout` is in seconds."""

    model: str
    base_url: str
    key: str
    timeout: float = 60.0
    offline: bool = False
    client: Any = None

    @classmethod
    def of(cls, settings: Settings, client: Any = None) -> Chat | None:
        """The endpoint of the settings, None where no model is named; raises `SettingsError` for what is missing."""
        if not settings.llm_model:
            return None
        base_url, key = settings.llm_base_url or PUBLIC, settings.llm_api_key.get_secret_value()
        host = urlsplit(base_url).hostname
        if base_url == PUBLIC and not key and not settings.mirror:
            raise SettingsError(f"{host} needs a key", hint="set LINEAGE_LLM_API_KEY, or LINEAGE_LLM_BASE_URL for another endpoint")
        return cls(settings.llm_model, base_url, key, settings.deadline, settings.offline and host not in LOOPBACK, client)

    def complete(self, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any], most: int) -> str:
        """The first `most` characters of the answer to the messages, asked to keep to a JSON schema; raises `SourceError`."""
        if self.offline:
            raise SourceError(Status.OFFLINE, "nothing is sent offline")
        import openai

        endpoint = openai.OpenAI(base_url=self.base_url, api_key=self.key or "none", http_client=self.client, timeout=self.timeout, max_retries=2)
        form: Any = {"type": "json_schema", "json_schema": dict(schema)}
        request_messages: Any = [dict(message) for message in messages]
        try:
            answer = endpoint.chat.completions.create(model=self.model, messages=request_messages, temperature=0, response_format=form)
            return str(answer.choices[0].message.content or "")[:most].encode("utf-8", "replace").decode()
        except openai.APIStatusError as error:
            status = _STATUSES.get(error.status_code, Status.UPSTREAM_5XX if error.status_code >= 500 else Status.FORBIDDEN)
            raise SourceError(status, f"the model's endpoint answered with status {error.status_code}") from error
        except openai.APITimeoutError as error:
            raise SourceError(Status.TIMEOUT_FETCH, "the model's endpoint took too long") from error
        except openai.OpenAIError as error:
            raise SourceError(Status.UNREACHABLE, f"the model's endpoint cannot be reached: {type(error).__name__}") from error
        except (ValueError, TypeError, AttributeError, IndexError, RecursionError) as error:
            raise SourceError(Status.WRONG_TYPE, "the model's endpoint did not answer with a chat completion") from error


_LETTERS_A_TOKEN = 3
_STAGE = "chat"


@dataclass
class MeteredChat:
    """A chat model (`ChatModel`) whose answers are kept under `home`; `tokens` counts a text's, `budget` is the most that this process may
    use (0: any), `price` is that of a million tokens in and out."""

    chat: Chat
    home: Path
    tokens: Callable[[str], int]
    budget: int = 0
    price: tuple[float, float] = (0.0, 0.0)
    sends: bool = True

    def __post_init__(self) -> None:
        self.usage = ModelUsage(self.model)

    @property
    def model(self) -> str:
        """Its name."""
        return self.chat.model

    @contextmanager
    def rehearsing(self) -> Iterator[MeteredChat]:
        """A door that counts what would be asked, of which `usage` tells, and sends nothing; answers that are kept are given."""
        made = MeteredChat(self.chat, self.home, self.tokens, 0, self.price, False)
        yield made

    def complete(self, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any], most: int) -> str:
        """The answer's text; raises `SourceError`, POLICY_SKIPPED where the call would go beyond the budget."""
        asked = json.dumps([list(map(dict, messages)), dict(schema), most], sort_keys=True)
        key = hashlib.sha256(asked.encode("utf-8", "replace")).hexdigest()
        version = f"chat@1 {self.model}@{urlsplit(self.chat.base_url).netloc.rpartition('@')[2]}"
        with closing(DerivedCache(self.home)) as cache:
            if (kept := cache.get(key, _STAGE, version)) is not None:
                self.usage = self.usage.plus(cached=1)
                return kept.decode()
            self._count(self.tokens(asked), most // _LETTERS_A_TOKEN)
            if not self.sends:
                return ""
            answer = self.chat.complete(messages, schema, most)
            if _is_object(answer):
                cache.put(key, _STAGE, version, answer.encode())
        return answer

    def _count(self, read: int, written: int) -> None:
        """Count a call that is about to be made, at the most that it can cost."""
        if self.budget and self.usage.tokens + read + written > self.budget:
            words = f"the budget of {self.budget:,} tokens holds no further call to {self.model}"
            raise SourceError(Status.POLICY_SKIPPED, words, hint="LINEAGE_LLM_BUDGET sets it; what was answered is kept")
        cost = (read * self.price[0] + written * self.price[1]) / 1e6
        self.usage = self.usage.plus(calls=1, tokens_in=read, tokens_out=written, cost=cost)


def _is_object(answer: str) -> bool:
    try:
        return isinstance(json.loads(object_in(answer)), dict)
    except (ValueError, RecursionError):
        return False


# -- a folder in place of an endpoint


_SCHEME = "prompts:"
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
