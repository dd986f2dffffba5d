"""Does the decorator gate what a function returns?"""

from __future__ import annotations

import asyncio
import functools
import inspect
import pickle
import time
from typing import Any

import pytest

from renown import Engine, GateFailed, Result, gated, gates


class Tracked:
    """Telemetry as far as the decorator knows it."""

    def __init__(self) -> None:
        self.results: list[Result] = []

    def track(self, result: Result) -> None:
        self.results.append(result)


ENGINE = Engine([gates.pii()], budget_ms=60_000)


def test_a_good_output_is_returned_as_it_is() -> None:
    output = {"fine": True}
    tracked: Any = Tracked()

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


def test_a_bad_output_raises_and_is_tracked() -> None:
    tracked: Any = Tracked()

    @gated(ENGINE, agent_id="a1", tool="mail", telemetry=tracked)
    def read() -> str:
        return "bob@corp.io"

    with pytest.raises(GateFailed, match="pii: email address detected in output") as raised:
        read()
    assert raised.value.result is tracked.results[0] and raised.value.result.tool == "mail"


def test_other_ways_to_fail() -> None:
    def read() -> str:
        return "bob@corp.io"

    assert gated(ENGINE, agent_id="a", on_fail="return")(read)() == "bob@corp.io"
    assert gated(ENGINE, agent_id="a", on_fail=lambda result: result.failed[0].name)(read)() == "pii"
    with pytest.raises(ValueError, match="on_fail: 'ignore', expected"):
        gated(ENGINE, agent_id="a", on_fail="ignore")  # type: ignore[arg-type]


def test_an_async_function() -> None:
    @gated(ENGINE, agent_id="a1")
    async def read(address: str) -> str:
        await asyncio.sleep(0)
        return address

    assert inspect.iscoroutinefunction(read)
    assert asyncio.run(read("nobody")) == "nobody"
    with pytest.raises(GateFailed):
        asyncio.run(read("bob@corp.io"))


def test_what_the_function_raises_is_left_alone() -> None:
    tracked: Any = Tracked()

    @gated(ENGINE, agent_id="a1", telemetry=tracked)
    def broken() -> str:
        raise KeyError("own")

    with pytest.raises(KeyError, match="own"):
        broken()
    assert tracked.results == []


def test_the_input_of_gates_that_look_at_it() -> None:
    engine = Engine([gates.schema({"required": ["query"]}, target="input")], budget_ms=60_000)

    @gated(engine, agent_id="a1", input=lambda query: {"query": query})
    def search(query: str) -> str:
        return query

    assert search("x") == "x"
    with pytest.raises(GateFailed):
        gated(engine, agent_id="a1", input=lambda: {})(lambda: "x")()


def test_what_can_be_called_can_be_gated() -> None:
    tracked: Any = Tracked()

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
    assert with_telemetry(functools.partial(read, "nobody"))() == "nobody"
    assert with_telemetry(Reader())() == "fine"
    waiter: Any = with_telemetry(Waiter())
    with pytest.raises(GateFailed):
        asyncio.run(waiter())
    assert [result.tool for result in tracked.results] == ["read", "Reader", "Waiter"]


def test_an_async_answer_to_a_failure() -> None:
    async def instead(result: Result) -> str:
        await asyncio.sleep(0)
        return f"instead of {result.tool}"

    @gated(ENGINE, agent_id="a1", on_fail=instead)
    async def read() -> str:
        return "bob@corp.io"

    assert asyncio.run(read()) == "instead of read"  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="on_fail: an async function"):
        gated(ENGINE, agent_id="a1", on_fail=instead)(lambda: "x")


def test_mistakes_are_found_before_the_function_runs() -> None:
    with pytest.raises(ValueError, match="agent_id: "):
        gated(ENGINE, agent_id="")
    with pytest.raises(ValueError, match="tool: "):
        gated(ENGINE, agent_id="a", tool="x" * 201)


def test_a_failure_can_be_pickled() -> None:
    with pytest.raises(GateFailed) as raised:
        gated(ENGINE, agent_id="a1", tool="t")(lambda: "bob@corp.io")()
    again = pickle.loads(pickle.dumps(raised.value))
    assert str(again) == str(raised.value) and again.result.to_dict() == raised.value.result.to_dict()
