"""Gating what a function returns."""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar, cast

from . import _native
from ._engine import Engine
from ._native import Result

if TYPE_CHECKING:
    from ._telemetry import Telemetry

P = ParamSpec("P")
R = TypeVar("R")


class GateFailed(Exception):
    """An output that did not pass. `result` says why."""

    def __init__(self, result: Result) -> None:
        failed = "; ".join(f"{gate.name}: {gate.reason}" for gate in result.failed)
        super().__init__(f"the output did not pass: {failed}")
        self.result = result

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.result,)


def gated(
    engine: Engine,
    *,
    agent_id: str,
    tool: str | None = None,
    telemetry: Telemetry | None = None,
    input: Callable[..., Any] | None = None,
    on_fail: Literal["raise", "return"] | Callable[[Result], Any] = "raise",
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Gates what a function returns, sync or async, and measures how long it took.

    What did not pass raises `GateFailed`. With `on_fail="return"` the caller gets the output all the same, and the verdict only goes
    to `telemetry`; a function as `on_fail` gets the result and gives what is returned instead, and may be async where the gated
    function is. Redacted outputs are returned redacted, and made anew of JSON: a dataclass becomes a dictionary. What the function
    itself raises is not looked at.

    :param tool: What the verdict calls it; the name of the function if not given.
    :param input: A function of the same arguments that gives the `input` of the evaluation, for gates that look at it.
    """
    if not callable(on_fail) and on_fail not in ("raise", "return"):
        raise ValueError(f'on_fail: {on_fail!r}, expected "raise", "return" or a function')
    # What is wrong with them should not be found out after the function has run.
    _native.Engine.check(agent_id, tool)

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        name = tool if tool is not None else _name(function)
        _native.Engine.check(agent_id, name)
        given = input if input is not None else lambda *_, **__: None

        def settle(result: Result) -> Any:
            if telemetry is not None:
                telemetry.track(result)
            if result.passed or on_fail == "return":
                return result.output
            if on_fail == "raise":
                raise GateFailed(result)
            return on_fail(result)

        if _is_async(function):
            waited = cast(Callable[P, Awaitable[Any]], function)

            @functools.wraps(function)
            async def wait(*args: P.args, **kwargs: P.kwargs) -> Any:
                began = time.perf_counter()
                output = await waited(*args, **kwargs)
                latency_ms = _latency_ms(began)
                result = await engine.aevaluate(
                    agent_id=agent_id, output=output, tool=name, input=given(*args, **kwargs), latency_ms=latency_ms
                )
                settled = settle(result)
                is_answer = callable(on_fail) and not result.passed
                return await settled if is_answer and inspect.isawaitable(settled) else settled

            return cast(Callable[P, R], wait)

        if callable(on_fail) and _is_async(on_fail):
            raise ValueError("on_fail: an async function, expected one that is not, as the gated function is not")

        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> Any:
            began = time.perf_counter()
            output = function(*args, **kwargs)
            latency_ms = _latency_ms(began)
            result = engine.evaluate(
                agent_id=agent_id, output=output, tool=name, input=given(*args, **kwargs), latency_ms=latency_ms
            )
            return settle(result)

        return cast(Callable[P, R], call)

    return decorate


def _latency_ms(began: float) -> float:
    return (time.perf_counter() - began) * 1000.0


def _name(function: Callable[..., Any]) -> str:
    """The name of a function, of what a `partial` is of, or of the class of an object that can be called."""
    while isinstance(function, functools.partial):
        function = function.func
    return str(getattr(function, "__name__", type(function).__name__))


def _is_async(function: Callable[..., Any]) -> bool:
    while isinstance(function, functools.partial):
        function = function.func
    if inspect.iscoroutinefunction(function):
        return True
    return not isinstance(function, type) and inspect.iscoroutinefunction(getattr(function, "__call__", None))

