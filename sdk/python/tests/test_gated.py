"""Tests that the decorator gates the return value of a function."""

from __future__ import annotations

import asyncio
import functools
import inspect
import pickle
import time
from typing import Any

import pytest

from renown import Engine, GateFailed, Result, gated, gates


class FakeTelemetry:
    """The part of `Telemetry` that the decorator uses."""

    def __init__(self) -> None:
        self.results: list[Result] = []

    def track(self, result: Result) -> None:
        self.results.append(result)


ENGINE = Engine([gates.pii()], budget_ms=60_000)


def test_an_output_that_passes_is_returned_unchanged() -> None:
    output = {"fine": True}
    tracked: Any = FakeTelemetry()

    @gated(ENGINE, agent_id="a1", telemetry=tracked)
    def search(query: str, *, limit: int = 3) -> dict[str, bool]:
        """Finds."""
        time.sleep(0.005)
        return output

    assert search("x", limit=1) is output
    (result,) = tracked.results
    assert (result.agent_id, result.tool) == ("a1", "search")
    assert 5 <= result.latency_ms <= 60_000
    assert search.__doc__ == "Finds." and "limit" in inspect.signature(search).parameters


def test_an_output_that_fails_raises_and_is_tracked() -> None:
    tracked: Any = FakeTelemetry()

    @gated(ENGINE, agent_id="a1", tool="mail", telemetry=tracked)
    def read() -> str:
        return "bob@corp.io"

    with pytest.raises(GateFailed, match="pii: email address detected in output") as raised:
        read()
    assert raised.value.result is tracked.results[0] and raised.value.result.tool == "mail"


def test_on_fail_returns_the_output_or_a_replacement() -> None:
    def read() -> str:
        return "bob@corp.io"

    assert gated(ENGINE, agent_id="a", on_fail="return")(read)() == "bob@corp.io"
    assert gated(ENGINE, agent_id="a", on_fail=lambda result: result.failed[0].name)(read)() == "pii"
    with pytest.raises(ValueError, match="on_fail: 'ignore', expected"):
        gated(ENGINE, agent_id="a", on_fail="ignore")  # type: ignore[arg-type]


def test_an_async_function_is_gated() -> None:
    @gated(ENGINE, agent_id="a1")
    async def read(address: str) -> str:
        await asyncio.sleep(0)
        return address

    assert inspect.iscoroutinefunction(read)
    assert asyncio.run(read("bob")) == "bob"
    with pytest.raises(GateFailed):
        asyncio.run(read("bob@corp.io"))


def test_an_exception_of_the_function_passes_through() -> None:
    tracked: Any = FakeTelemetry()

    @gated(ENGINE, agent_id="a1", telemetry=tracked)
    def broken() -> str:
        raise KeyError("own")

    with pytest.raises(KeyError, match="own"):
        broken()
    assert tracked.results == []


def test_gates_get_the_input_of_the_function() -> None:
    engine = Engine([gates.schema({"required": ["query"]}, target="input")], budget_ms=60_000)

    @gated(engine, agent_id="a1", input=lambda query: {"query": query})
    def search(query: str) -> str:
        return query

    assert search("x") == "x"
    with pytest.raises(GateFailed):
        gated(engine, agent_id="a1", input=lambda: {})(lambda: "x")()


def test_every_callable_can_be_gated() -> None:
    tracked: Any = FakeTelemetry()

    class Reader:
        def __call__(self) -> str:
            return "fine"

    class Waiter:
        async def __call__(self) -> str:
            await asyncio.sleep(0)
            return "bob@corp.io"

    def read(address: str) -> str:
        return address

    with_telemetry = gated(ENGINE, agent_id="a1", telemetry=tracked)
    assert with_telemetry(functools.partial(read, "bob"))() == "bob"
    assert with_telemetry(Reader())() == "fine"
    waiter: Any = with_telemetry(Waiter())
    with pytest.raises(GateFailed):
        asyncio.run(waiter())
    assert [result.tool for result in tracked.results] == ["read", "Reader", "Waiter"]


def test_on_fail_may_be_async_if_the_function_is() -> None:
    async def replace(result: Result) -> str:
        await asyncio.sleep(0)
        return f"replaced {result.tool}"

    @gated(ENGINE, agent_id="a1", on_fail=replace)
    async def read() -> str:
        return "bob@corp.io"

    assert asyncio.run(read()) == "replaced read"  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="on_fail: an async function"):
        gated(ENGINE, agent_id="a1", on_fail=replace)(lambda: "x")


def test_invalid_arguments_are_rejected_before_the_function_runs() -> None:
    with pytest.raises(ValueError, match="agent_id: "):
        gated(ENGINE, agent_id="")
    with pytest.raises(ValueError, match="tool: "):
        gated(ENGINE, agent_id="a", tool="x" * 201)


def test_a_failure_can_be_pickled() -> None:
    with pytest.raises(GateFailed) as raised:
        gated(ENGINE, agent_id="a1", tool="t")(lambda: "bob@corp.io")()
    copy = pickle.loads(pickle.dumps(raised.value))
    assert str(copy) == str(raised.value) and copy.result.to_dict() == raised.value.result.to_dict()
