"""A fake server with the replies that a test chooses."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

OVERLOADED = (503, {"error": "too much at once", "code": "overloaded", "status": 503}, {"Retry-After": "0"})
UNAVAILABLE = (503, {"error": "no disk", "code": "store_unavailable", "status": 503}, {"Retry-After": "0"})
LIMITED = (429, {"error": "too many", "code": "rate_limited", "status": 429}, {"Retry-After": "1"})


def accepted_reply(body: Any) -> Any:
    """Returns the reply of a server that accepted all events."""
    return {"accepted": len(body["events"]), "duplicates": 0, "reputation_updates": []}


ACCEPTED: tuple[int, Any, dict[str, str]] = (202, accepted_reply, {})

Answer = tuple[int, Any, dict[str, str]]


class Fake:
    """Sends its answers in order, then repeats the last one. Records all requests."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.requests: list[tuple[str, str, dict[str, str], Any]] = []
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                headers = {name.lower(): value for name, value in self.headers.items()}
                sent = json.loads(body) if body else None
                fake.requests.append((self.command, self.path, headers, sent))
                status, reply, more = fake.answers.pop(0) if len(fake.answers) > 1 else fake.answers[0]
                reply = reply(sent) if callable(reply) else reply
                content = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(content)))
                self.send_header("X-Request-Id", "the-request")
                for name, value in more.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = do_DELETE = handle_any

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()

    def __enter__(self) -> Fake:
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()
