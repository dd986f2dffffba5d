"""Tests that the client has a method for every route, and that its errors are clear."""

from __future__ import annotations

import asyncio
import pickle
import json
import socket
import threading
import time
from typing import Any

import httpx
import pytest
from conftest import ROOT, Server
from fake import ACCEPTED, LIMITED, OVERLOADED, UNAVAILABLE, Fake

from renown import AsyncClient, Client, Engine, RenownError, StreamEvent
from renown._http import _retry_after

OK = (200, {"status": "ok", "version": "1"}, {})
EVENT: Any = {"agent_id": "a", "passed": True, "total_latency_ms": 1}


def test_every_operation_of_the_openapi_document_is_a_method() -> None:
    document = json.loads((ROOT / "crates/server/openapi.json").read_text())
    for methods in document["paths"].values():
        for operation in methods.values():
            name = operation["operationId"]
            if name != "docs":
                assert callable(getattr(Client, name)) and callable(getattr(AsyncClient, name)), name


def test_the_common_operations_work_on_a_real_server(server: Server) -> None:
    agent = "a/b c?é"
    with Client(server.url, server.secret) as client:
        assert client.health()["status"] == "ok" and client.ready()["status"] == "ready"
        assert "# TYPE" in client.metrics() and client.openapi()["info"]["title"] == "Renown"
        verdict = client.evaluate(agent_id=agent, output="bob@corp.io", tool="mail", latency_ms=3)
        assert not verdict["passed"] and verdict["gates"][1].get("reason") == "email address detected in output"
        assert client.get_reputation(agent)["eval_count"] == 1
        assert client.explain_reputation(agent)["next"]["pass"] > 0
        assert len(client.get_reputation_history(agent, points=10)["points"]) == 1
        assert client.add_agent(agent_id="new")["agent_id"] == "new"
        assert [found["agent_id"] for found in client.list_agents(q="NEW")["agents"]] == ["new"]
        assert client.list_events(passed=True)["count"] == 0
        key = client.create_key(kind="publishable", label="ci")
        assert key["id"] in [found["id"] for found in client.iter_keys(page_size=1)]
        client.revoke_key(key["id"])
        with pytest.raises(RenownError) as raised:
            Client(server.url, key["key"]).list_agents()
        assert (raised.value.code, raised.value.status) == ("auth_revoked", 401)


def test_verdicts_of_the_engine_can_be_ingested(server: Server) -> None:
    engine = Engine.default()
    results: Any = [engine.evaluate(agent_id="a", output=output, tool="t").to_dict() for output in ("x", "bob@corp.io")]
    with Client(server.url, server.publishable) as client:
        assert client.ingest(events=results)["accepted"] == 2
        assert client.ingest(events=results)["duplicates"] == 2
        assert [event["passed"] for event in client.iter_events(agent_id="a")] == [False, True]


def test_an_iterator_reads_all_pages(server: Server) -> None:
    with Client(server.url, server.publishable) as client:
        client.ingest(events=[{**EVENT, "tool": f"t{index}"} for index in range(25)])
        tools = [event.get("tool_name") for event in client.iter_events(page_size=10, agent_id="a")]
        assert tools == [f"t{index}" for index in reversed(range(25))]

    async def main() -> int:
        async with AsyncClient(server.url, server.publishable) as client:
            return len([event async for event in client.iter_events(page_size=7)])

    assert asyncio.run(main()) == 25


def test_a_repeat_with_an_idempotency_key_returns_the_first_reply(server: Server) -> None:
    with Client(server.url, server.publishable) as client:
        first = client.evaluate(agent_id="a", output="x", idempotency_key="k1")
        assert client.evaluate(agent_id="a", output="x", idempotency_key="k1") == first
        with pytest.raises(RenownError) as raised:
            client.evaluate(agent_id="a", output="y", idempotency_key="k1")
        assert raised.value.code == "conflict"


def test_the_stream_delivers_scores(server: Server) -> None:
    found: list[StreamEvent] = []
    with Client(server.url, server.publishable) as client, Client(server.url, server.publishable) as other:
        events = client.stream()
        stop = threading.Event()

        def evaluate() -> None:
            # Repeats, because the stream may not be open yet.
            while not stop.wait(0.02):
                other.evaluate(agent_id="a", output="x")

        thread = threading.Thread(target=evaluate)
        thread.start()
        for event in events:
            found.append(event)
            if len(found) == 2:
                break
        stop.set()
        thread.join()
        events.close()  # type: ignore[attr-defined]
    assert found[0].event == "score" and found[0].data["agent_id"] == "a"

    async def main() -> StreamEvent:
        async with AsyncClient(server.url, server.publishable) as client:
            async def evaluate() -> None:
                while True:
                    await asyncio.sleep(0.02)
                    await client.evaluate(agent_id="b", output="x")

            evaluating = asyncio.create_task(evaluate())
            async for event in client.stream():
                evaluating.cancel()
                return event
        raise AssertionError("the stream ended")

    assert asyncio.run(main()).data["agent_id"] == "b"


def test_an_error_reply_raises_with_code_status_and_request_id(server: Server) -> None:
    with Client(server.url, server.publishable) as client:
        with pytest.raises(RenownError, match=r"agent_id.*\(validation_error\)") as raised:
            client.evaluate(agent_id="", output="x")
        assert raised.value.status == 400 and len(raised.value.request_id or "") == 36
        with pytest.raises(RenownError) as raised:
            client.list_keys()
        assert raised.value.code == "forbidden"
    with pytest.raises(RenownError) as raised:
        list(Client(server.url, "").stream())
    assert raised.value.code == "auth_missing"


def test_the_key_comes_from_the_environment_and_is_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RENOWN_KEY", "rn_pub_from_outside")
    with Fake(OK) as fake, Client(fake.url) as client:
        client.health()
        assert fake.requests[0][2]["authorization"] == "Bearer rn_pub_from_outside"
        assert "rn_pub" not in repr(client)


def outcome(way: str, call: Any, url: str, **options: Any) -> Any:
    """Returns what a call returns or raises, with the sync or the async client."""

    def sync() -> Any:
        with Client(url, "k", **options) as client:
            return call(client)

    async def main() -> Any:
        async with AsyncClient(url, "k", **options) as client:
            return await call(client)

    try:
        return sync() if way == "sync" else asyncio.run(main())
    except RenownError as error:
        return error


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize(
    ("answers", "call", "options", "attempts", "code"),
    [
        ([OVERLOADED, ACCEPTED], "ingest", {}, 2, None),
        ([OVERLOADED], "ingest", {"retries": 1}, 2, "overloaded"),
        ([UNAVAILABLE, ACCEPTED], "ingest", {}, 1, "store_unavailable"),
        ([UNAVAILABLE, ACCEPTED], "ingest_once", {}, 2, None),
        ([UNAVAILABLE, OK], "health", {}, 2, None),
        ([LIMITED, ACCEPTED], "ingest", {}, 2, None),
        ([LIMITED], "ingest", {"retry_wait_max": 0.5}, 1, "rate_limited"),
        ([(500, {"error": "oh", "code": "internal", "status": 500}, {})], "health", {}, 1, "internal"),
        ([(200, b"<html>", {})], "health", {}, 1, "bad_reply"),
        ([(502, b"<html>", {})], "health", {}, 1, "bad_reply"),
    ],
)
def test_only_requests_that_are_safe_to_repeat_are_retried(
    way: str, answers: Any, call: str, options: Any, attempts: int, code: str | None
) -> None:
    calls = {
        "health": lambda client: client.health(),
        "ingest": lambda client: client.ingest(events=[EVENT]),
        "ingest_once": lambda client: client.ingest(events=[EVENT], idempotency_key="k"),
    }
    with Fake(*answers) as fake:
        found = outcome(way, calls[call], fake.url, **options)
        assert len(fake.requests) == attempts
    assert (found.code if isinstance(found, RenownError) else None) == code


def test_retry_after_is_obeyed() -> None:
    with Fake(LIMITED, OK) as fake, Client(fake.url, "k") as client:
        start = time.monotonic()
        client.health()
        assert time.monotonic() - start >= 1
    for value, expected in [("1.5", 1.5), ("-3", 0.0), ("nan", None), ("inf", None), ("soon", None)]:
        assert _retry_after(httpx.Response(429, headers={"Retry-After": value})) == expected, value


@pytest.mark.parametrize("way", ["sync", "async"])
def test_a_closed_port_is_unreachable_and_a_silent_server_times_out(way: str) -> None:
    with Fake(OK) as fake:
        closed = fake.url
    found = outcome(way, lambda client: client.health(), closed, retries=0)
    assert isinstance(found, RenownError) and (found.code, found.status) == ("unreachable", None)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        found = outcome(way, lambda client: client.health(timeout=0.05), url, retries=0)
        assert isinstance(found, RenownError) and found.code == "timed_out"


def test_errors_can_be_pickled() -> None:
    error = RenownError("no", code="rate_limited", status=429, request_id="r", retry_after=1.5)
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), vars(copy), str(copy)) == (RenownError, vars(error), str(error))


@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_an_invalid_key_or_address_is_rejected(kind: Any) -> None:
    for key in ["hidden\nkey", "hidden key", "hidden\u00e9"]:
        with pytest.raises(ValueError, match="key: 1?[0-9] characters, expected only visible ASCII") as raised:
            kind("http://127.0.0.1:1", key)
        assert "hidden" not in str(raised.value)
    assert kind("http://127.0.0.1:1", " k\n")._key == "k"
    for url in ["127.0.0.1:7070", "localhost", "ftp://a", "http://", "http://a:99999", "http://a:port", ""]:
        with pytest.raises(ValueError, match="base_url: .*expected a URL such as http://"):
            kind(url, "k")


@pytest.mark.parametrize("way", ["sync", "async"])
def test_an_invalid_argument_is_not_sent_and_an_invalid_reply_is_an_error(way: str) -> None:
    with Fake(OK) as fake:
        for key in ["a\nb", "\u00e9"]:
            with pytest.raises(ValueError, match="idempotency_key: "):
                outcome(way, lambda client: client.ingest(events=[EVENT], idempotency_key=key), fake.url)
        for agent in ["", ".", ".."]:
            with pytest.raises(ValueError, match="agent_id: .*expected a name"):
                outcome(way, lambda client: client.get_reputation(agent), fake.url)
        assert fake.requests == []
    with Fake((200, b"no gzip", {"Content-Encoding": "gzip"})) as fake:
        found = outcome(way, lambda client: client.health(), fake.url)
        assert isinstance(found, RenownError) and found.code == "bad_reply" and len(fake.requests) == 1

    async def items(client: Any) -> Any:
        return [event async for event in client.iter_events()]

    # The last one repeats its cursor, so reading it would never end.
    for reply in [{}, {"events": 5}, [], {"events": [], "next_cursor": "c"}]:
        with Fake((200, reply, {})) as fake:
            call = items if way == "async" else lambda client: list(client.iter_events())
            found = outcome(way, call, fake.url)
            assert isinstance(found, RenownError) and found.code == "bad_reply" and len(fake.requests) <= 2


def test_nan_is_never_sent() -> None:
    with Fake(OK) as fake, Client(fake.url, "k") as client:
        with pytest.raises(ValueError):
            client.evaluate(agent_id="a", output=float("nan"))
        assert fake.requests == []
