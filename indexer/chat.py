"""An OpenAI-compatible chat endpoint: asked for one JSON object, answering with its text or a typed error.

What the model answers is a third party's text like any other: whoever asked checks it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from lineage.errors import SettingsError, SourceError
from lineage.records import Status
from lineage.settings import Settings

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
            return str(answer.choices[0].message.content or "")[:most]
        except openai.APIStatusError as error:
            status = _STATUSES.get(error.status_code, Status.UPSTREAM_5XX if error.status_code >= 500 else Status.FORBIDDEN)
            raise SourceError(status, f"the model's endpoint answered with status {error.status_code}") from error
        except openai.APITimeoutError as error:
            raise SourceError(Status.TIMEOUT_FETCH, "the model's endpoint took too long") from error
        except openai.OpenAIError as error:
            raise SourceError(Status.UNREACHABLE, f"the model's endpoint cannot be reached: {type(error).__name__}") from error
        except (ValueError, TypeError, AttributeError, IndexError) as error:
            raise SourceError(Status.WRONG_TYPE, "the model's endpoint answered something else than a chat completion") from error
