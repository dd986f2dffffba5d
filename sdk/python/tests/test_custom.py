"""Tests that custom gates follow the rules of the engine, whatever they do."""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
import time
from typing import Any

import pytest

from renown import Context, Engine, Result, gate, gates


def outcome(result: Result, name: str = "mine") -> tuple[bool, str | None, bool]:
    found = next(found for found in result.gates if found.name == name)
    return found.passed, found.reason, found.skipped


def judge(engine: Engine, way: str, output: Any = "x") -> Result:
    if way == "sync":
        return engine.evaluate(agent_id="a", output=output, tool="t", input={"q": 1}, latency_ms=5)
    return asyncio.run(engine.aevaluate(agent_id="a", output=output, tool="t", input={"q": 1}, latency_ms=5))


def make_async(check: Any) -> Any:
    async def wait(context: Context) -> Any:
        await asyncio.sleep(0)
        return check(context)

    return wait


def raises(_: Context) -> bool:
    raise RuntimeError("no")


def exits(_: Context) -> bool:
    raise SystemExit(3)


ANSWERS: list[tuple[Any, tuple[bool, str | None, bool]]] = [
    (lambda _: True, (True, None, False)),
    (lambda _: False, (False, "failed without a reason", False)),
    (lambda _: {"passed": True, "reason": "ignored"}, (True, None, False)),
    (lambda _: {"passed": False, "reason": "too long"}, (False, "too long", False)),
    (lambda _: {"skipped": True, "reason": "no text"}, (True, "no text", True)),
    (lambda _: {"passed": True, "skipped": True}, (True, "skipped without a reason", True)),
    (lambda _: {"passed": False, "skipped": True}, (False, "renown:error", False)),
    (lambda _: {"passed": "no", "skipped": True}, (False, "renown:error", False)),
    (lambda _: {"passed": False, "reason": "half \ud800 \U0001f600"}, (False, "half \ufffd \U0001f600", False)),
    (lambda _: {"passed": False, "reason": "é" * 600}, (False, "é" * 499 + "…", False)),
    (raises, (False, "renown:error", False)),
    (exits, (False, "renown:error", False)),
    (lambda _: None, (False, "renown:error", False)),
    (lambda _: "yes", (False, "renown:error", False)),
    (lambda _: 1, (False, "renown:error", False)),
    (lambda _: {}, (False, "renown:error", False)),
    (lambda _: {"passed": "yes"}, (False, "renown:error", False)),
    (lambda _: {"passed": True, "reason": 5}, (False, "renown:error", False)),
]


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize("kind", ["plain", "coroutine"])
def test_each_answer_has_its_outcome(way: str, kind: str) -> None:
    for check, expected in ANSWERS:
        engine = Engine([gate("mine", check if kind == "plain" else make_async(check))], budget_ms=60_000)
        assert outcome(judge(engine, way)) == expected


def test_the_context_has_every_field_of_the_evaluation() -> None:
    seen: list[Context] = []
    before = time.monotonic()
    engine = Engine([gate("mine", lambda context: bool(seen.append(context)) or True)], budget_ms=60_000)
    output = {"a": 1}
    assert engine.evaluate(agent_id="a1", output=output, tool="t", input=[1], latency_ms=7).passed
    (context,) = seen
    assert context.output is output
    assert (context.agent_id, context.tool, context.input, context.latency_ms) == ("a1", "t", [1], 7)
    assert before + 30 < context.deadline < time.monotonic() + 60


def test_an_event_loop_that_a_gate_ended_is_replaced() -> None:
    async def end(_: Context) -> bool:
        asyncio.get_running_loop().call_soon(exits, None)
        await asyncio.sleep(0.01)
        return True

    engine = Engine([gate("mine", end)], budget_ms=200)
    assert not judge(engine, "sync").passed
    for _ in range(3):
        assert judge(Engine([gate("mine", make_async(lambda _: True))], budget_ms=60_000), "sync").passed


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize("kind", ["plain", "coroutine"])
def test_gates_see_context_variables(way: str, kind: str) -> None:
    variable = contextvars.ContextVar("variable", default="unset")
    variable.set("set")

    def check(_: Context) -> Any:
        return {"passed": False, "reason": variable.get()}

    engine = Engine([gate("mine", check if kind == "plain" else make_async(check)), gate("two", check)], budget_ms=60_000)
    result = judge(engine, way)
    assert outcome(result)[1] == outcome(result, "two")[1] == "set"


def test_gate_works_as_a_decorator() -> None:
    @gate("short")
    def short(context: Context) -> bool:
        return len(context.output) < 3

    engine = Engine([gates.content(), short], budget_ms=60_000)
    assert engine.evaluate(agent_id="a", output="ab").passed
    assert not engine.evaluate(agent_id="a", output="abc").passed


def test_results_are_in_the_order_of_the_set() -> None:
    engine = Engine([gate("one", lambda _: True), gates.pii(), gate("two", lambda _: False)], budget_ms=60_000)
    result = engine.evaluate(agent_id="a", output="bob@corp.io")
    assert [(found.name, found.passed) for found in result.gates] == [("one", True), ("pii", False), ("two", False)]


@pytest.mark.parametrize("way", ["sync", "async"])
def test_custom_gates_run_at_the_same_time(way: str) -> None:
    barrier = threading.Barrier(4)

    def meet(_: Context) -> bool:
        barrier.wait(60)
        return True

    engine = Engine([gate(f"g{index}", meet) for index in range(4)], budget_ms=60_000)
    assert judge(engine, way).passed


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize("kind", ["plain", "coroutine"])
def test_a_gate_that_hangs_fails_closed(way: str, kind: str) -> None:
    release = threading.Event()

    def hang(_: Context) -> bool:
        return release.wait()

    async def sleep(_: Context) -> bool:
        await asyncio.sleep(1000)
        return True

    engine = Engine([gate("mine", hang if kind == "plain" else sleep), gates.pii()], budget_ms=40)
    result = judge(engine, way)
    release.set()
    # How late the verdict is depends on the machine, so only the lower limit is checked.
    assert outcome(result) == (False, "renown:timeout", False) and outcome(result, "pii")[0]
    assert result.total_latency_ms >= 40


def test_hanging_gates_cannot_exceed_the_limit_of_threads() -> None:
    release = threading.Event()
    engine = Engine([gate("mine", lambda _: release.wait())], budget_ms=1)
    for _ in range(100):
        assert outcome(engine.evaluate(agent_id="a", output="x")) == (False, "renown:timeout", False)
    assert threading.active_count() < 100
    result = asyncio.run(engine.aevaluate(agent_id="a", output="x"))
    assert outcome(result) == (False, "renown:timeout", False)
    release.set()
    # The waiting gates finish, then the threads are free again.
    engine = Engine([gate("mine", lambda _: True)], budget_ms=60_000)
    assert engine.evaluate(agent_id="a", output="x").passed


def test_fail_fast_skips_the_gates_after_a_failure() -> None:
    ran: list[str] = []

    def recording(name: str) -> Any:
        return gate(name, lambda _: bool(ran.append(name)) or True)

    engine = Engine([recording("before"), gates.pii(), recording("after")], fail_fast=True, budget_ms=60_000)
    result = engine.evaluate(agent_id="a", output="bob@corp.io")
    assert [found.reason for found in result.gates] == [None, "email address detected in output", "renown:aborted"]
    assert ran == ["before"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no fork")
def test_a_forked_child_gets_its_own_threads() -> None:
    engine = Engine([gate("mine", lambda _: True), gate("async", make_async(lambda _: True))], budget_ms=60_000)
    assert engine.evaluate(agent_id="a", output="x").passed
    child = os.fork()
    if child == 0:
        os._exit(0 if engine.evaluate(agent_id="a", output="x").passed else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_an_output_is_freed_after_its_evaluation() -> None:
    import gc
    import weakref

    class Output(dict[str, int]):
        pass

    engine = Engine([gate("mine", lambda _: True)], budget_ms=60_000)
    output = Output(a=1)
    reference = weakref.ref(output)
    assert engine.evaluate(agent_id="a", output=output).passed
    del output
    for _ in range(200):
        gc.collect()
        if reference() is None:
            break
        time.sleep(0.01)
    assert reference() is None
