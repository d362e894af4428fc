"""A loopback endpoint that speaks OpenAI's `/chat/completions` with tools and usage, answering what was scripted.

Every request is kept as it came, so that a test or a benchmark can say what reached the model.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Message = dict[str, Any]


class ScriptedModel:
    """A context manager; `answer` makes the reply's text, or its whole message (tool calls), from the request."""

    def __init__(self, answer: Callable[[Message], str | Message]) -> None:
        self.answer = answer
        self.requests: list[Message] = []
        model = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                model.requests.append(asked)
                body = json.dumps(model.reply(asked)).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_port}/v1"

    def reply(self, asked: Message) -> Message:
        """A chat completion, with the usage that clients account for."""
        said = self.answer(asked)
        message = {"role": "assistant", "content": said} if isinstance(said, str) else said
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if "tool_calls" in message else "stop"}
        usage = {"prompt_tokens": len(prompt(asked)) // 4, "completion_tokens": 1, "total_tokens": len(prompt(asked)) // 4 + 1}
        usage |= {"prompt_tokens_details": {"cached_tokens": 0}}
        return {"id": "x", "object": "chat.completion", "created": 0, "model": asked["model"], "choices": [choice], "usage": usage}

    def __enter__(self) -> ScriptedModel:
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()


def prompt(asked: Message) -> str:
    """All texts of a request's messages, one after the other."""
    return "\n".join(_text(message.get("content")) for message in asked["messages"])


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content)
    return str(content or "")
