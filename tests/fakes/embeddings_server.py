"""A loopback server that speaks OpenAI's `/embeddings`, answering with the hashing embedder's vectors."""

from __future__ import annotations

import base64
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.fakes.embedder import HashingEmbedder


class EmbeddingsServer:
    """A context manager; `answers` are (status, headers, body) given before real ones, `requests` the (path, headers, body) that came in."""

    def __init__(self, dim: int = 64) -> None:
        self.embedder = HashingEmbedder(dim)
        self.answers: list[tuple[int, dict[str, str], bytes]] = []
        self.requests: list[tuple[str, dict[str, str], dict[str, object]]] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.requests.append((self.path, {name.lower(): value for name, value in self.headers.items()}, asked))
                status, headers, body = server.answers.pop(0) if server.answers else (200, {}, server.answer(asked))
                self.send_response(status)
                for name, value in ({"Content-Type": "application/json", "Content-Length": str(len(body))} | headers).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_port}/v1"

    def answer(self, asked: dict[str, object]) -> bytes:
        texts = asked["input"]
        if "" in texts:
            return json.dumps({"error": {"message": "input cannot be empty"}}).encode()
        rows = [3 * row for row in self.embedder.passages(texts)]  # not unit vectors: the client must see to that
        if asked.get("encoding_format") == "base64":
            values = [base64.b64encode(row.tobytes()).decode() for row in rows]
        else:
            values = [row.tolist() for row in rows]
        data = [{"object": "embedding", "index": i, "embedding": value} for i, value in enumerate(values)]
        return json.dumps({"object": "list", "data": data[::-1], "model": asked["model"], "usage": {"prompt_tokens": 0, "total_tokens": 0}}).encode()

    def __enter__(self) -> EmbeddingsServer:
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
