"""Fixtures that start servers: the real program, with a new data directory per server."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
# `cargo xtask test python` sets the path of the program.
PROGRAM = Path(os.environ.get("RENOWN_PROGRAM", ROOT / "target" / "debug" / "renown"))


def clean_environment(more: dict[str, str] | None = None) -> dict[str, str]:
    """Returns the environment without the Renown settings of the developer."""
    others = {name: value for name, value in os.environ.items() if not name.startswith("RENOWN_")}
    return {**others, "RENOWN_DATA": "no such directory", **(more or {})}


class Server:
    """A running server. The fixture `start` stops it when the test ends."""

    def __init__(self, data: Path, settings: dict[str, str] | None = None, listen: str = "127.0.0.1:0") -> None:
        first = not data.exists()
        data.mkdir(parents=True, exist_ok=True)
        self.log = open(data / "log", "ab")
        self.process = subprocess.Popen(
            [PROGRAM, "serve", "--listen", listen, "--otlp-grpc", "off", "--otlp-http", "off", "--data", data],
            env=clean_environment(settings),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
        )
        self.url = "http://" + self._line().rsplit("http://", 1)[1].strip()
        self.publishable = self.secret = ""
        while first and not self.secret:
            word, _, key = self._line().strip().partition(" ")
            if word == "publishable":
                self.publishable = key.strip()
            elif word == "secret":
                self.secret = key.strip()

    def _line(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"the server ended, see {self.log.name}"
        return line

    def create_key(self, kind: str, org: str) -> str:
        """Creates a key with `renown keys create`."""
        command = ["keys", "create", "--kind", kind, "--org", org, "--format", "json", "--server", self.url]
        run = subprocess.run(
            [PROGRAM, *command], env=clean_environment({"RENOWN_KEY": self.secret}), check=True, capture_output=True
        )
        return str(json.loads(run.stdout)["key"])

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(30)
        if self.process.stdout is not None:
            self.process.stdout.close()
        self.log.close()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Starts servers. Each gets a new data directory, unless the test names one."""
    running: list[Server] = []

    def start(
        settings: dict[str, str] | None = None, *, data: Path | None = None, listen: str = "127.0.0.1:0"
    ) -> Server:
        running.append(Server(data or tmp_path / f"server-{len(running)}", settings, listen))
        return running[-1]

    yield start
    for server in running:
        server.stop()


@pytest.fixture
def server(start: Callable[..., Server]) -> Server:
    return start()
