"""A loopback server that speaks OpenAI's `/chat/completions`, answering what a test scripted."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class ChatServer:
    """A context manager; `answer` makes the content of the reply from the messages, `status` is that of every reply."""

    def __init__(self, answer: Callable[[list[dict[str, str]]], str], status: int = 200) -> None:
        self.answer, self.status = answer, status
        self.requests: list[tuple[str, dict[str, str], dict[str, object]]] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.requests.append((self.path, {name.lower(): value for name, value in self.headers.items()}, asked))
                message = {"role": "assistant", "content": server.answer(asked["messages"])}
                choice = {"index": 0, "message": message, "finish_reason": "stop"}
                body = json.dumps({"id": "x", "object": "chat.completion", "created": 0, "model": asked["model"], "choices": [choice]}).encode()
                self.send_response(server.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.send_header("Retry-After-Ms", "1")
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_port}/v1"

    def __enter__(self) -> ChatServer:
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
