"""Runs the scenarios of the API through the transport of this client.

Each file of `api-scenarios` runs on its own server, as in the tests of the server.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Server
from scenario import MISSING, Variables, check, make, make_text

from renown import Client

FILES = sorted((ROOT / "api-scenarios").glob("*.json"))


class Clients:
    """One client per key."""

    def __init__(self, server: Server) -> None:
        self._server, self._clients = server, dict[str, Client]()

    def of(self, key: str) -> Client:
        if key not in self._clients:
            self._clients[key] = Client(self._server.url, key, retries=0)
        return self._clients[key]

    def __enter__(self) -> Clients:
        return self

    def __exit__(self, *_: object) -> None:
        for client in self._clients.values():
            client.close()


def run_step(clients: Clients, step: dict[str, Any], keys: dict[str, str], variables: Variables) -> None:
    request, expected = step["request"], step["expect"]
    # Spaces at the ends of a header value have no meaning, and this transport does not send them.
    headers = {name: make_text(value, variables).strip() for name, value in request.get("headers", {}).items()}
    content = None
    if "body" in request:
        content = json.dumps(make(request["body"], variables)).encode()
    elif "raw_body" in request:
        content = make_text(request["raw_body"], variables).encode()
    if content is not None and not any(name.lower() == "content-type" for name in headers):
        headers["Content-Type"] = "application/json"
    # A server may close an idle connection. A request on it would fail, because this client does not retry.
    headers.setdefault("Connection", "close")
    name = request.get("key", "publishable")
    key = "" if name == "none" else keys[name]
    target = make_text(request["path"], variables)
    reply = clients.of(key).raw(request["method"], target, headers=headers, content=content)
    assert reply.status_code == expected["status"], reply.text[:500]
    assert len(reply.headers.get("x-request-id", "")) == 36
    for header, value in expected.get("headers", {}).items():
        check(f"header {header}", value, reply.headers.get(header, MISSING), variables)
    try:
        body = json.loads(reply.content)
    except ValueError:
        body = reply.text
    if reply.status_code >= 400 and request["method"] != "HEAD":
        shape = {"error": {"$matches": "."}, "code": {"$is": "string"}, "status": reply.status_code}
        check("error", {"$only": shape}, body, variables)
    if "body" in expected:
        check("body", expected["body"], body, variables)
    if "same_body_as" in expected:
        assert reply.text == variables[expected["same_body_as"]]
    if "save_body" in expected:
        variables[expected["save_body"]] = reply.text


def run_until(clients: Clients, step: dict[str, Any], keys: dict[str, str], variables: Variables) -> None:
    """Runs a step; one that has to pass eventually, again and again for a minute."""
    deadline = time.monotonic() + 60
    while True:
        try:
            return run_step(clients, step, keys, variables)
        except AssertionError:
            if not step.get("eventually") or time.monotonic() > deadline:
                raise
        time.sleep(0.01)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_scenario_runs_as_written(file: Path, start: Callable[..., Server]) -> None:
    scenario = json.loads(file.read_text())
    server = start(scenario.get("settings"))
    keys = {"publishable": server.publishable, "secret": server.secret}
    for name, key in scenario.get("keys", {}).items():
        keys[name] = server.create_key(key["kind"], key["org"])
    variables: Variables = {f"key:{name}": key for name, key in keys.items()}
    failures = []
    with Clients(server) as clients:
        for step in scenario["steps"]:
            for turn in range(step.get("repeat", 1)):
                variables["time"] = turn
                try:
                    run_until(clients, step, keys, variables)
                except AssertionError as error:
                    failures.append(f"{step['name']}: {str(error)[:1000]}")
                    break
                # Later steps can use a key that this step created, by the name `made`.
                if isinstance(variables.get("key"), str):
                    keys["made"] = variables["key"]
    assert not failures, "\n".join(failures)


def test_the_scenarios_are_found() -> None:
    assert len(FILES) > 10
