"""The decorator that gates the return value of a function."""

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
    """Raised for an output that did not pass. `result` has the reasons."""

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
    """Gates the return value of a sync or async function, and measures the latency of the function.

    A redacted output is rebuilt from JSON: a dataclass becomes a dictionary. An exception of the function itself passes
    through unchanged, and nothing is evaluated or tracked.

    :param agent_id: The agent that the verdicts belong to.
    :param tool: The tool name in the verdict. Default: the name of the function.
    :param telemetry: Receives every verdict and sends it to a server.
    :param input: A function that takes the same arguments and returns the `input` of the evaluation, for gates that
        read it.
    :param on_fail: What to do with an output that did not pass. `"raise"` raises `GateFailed`. `"return"` returns the
        output anyway, so that only `telemetry` sees the verdict. A function gets the result, and the caller gets its
        return value; it may be async if the gated function is async.
    """
    if not callable(on_fail) and on_fail not in ("raise", "return"):
        raise ValueError(f'on_fail: {on_fail!r}, expected "raise", "return" or a function')
    # Reject invalid arguments now, not after the function has run.
    _native.Engine.check(agent_id, tool)

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        name = tool if tool is not None else _name(function)
        _native.Engine.check(agent_id, name)
        input_of = input if input is not None else lambda *_, **__: None

        def settle(result: Result) -> Any:
            if telemetry is not None:
                telemetry.track(result)
            if result.passed or on_fail == "return":
                return result.output
            if on_fail == "raise":
                raise GateFailed(result)
            return on_fail(result)

        if _is_async(function):
            async_function = cast(Callable[P, Awaitable[Any]], function)

            @functools.wraps(function)
            async def call_async(*args: P.args, **kwargs: P.kwargs) -> Any:
                start = time.perf_counter()
                output = await async_function(*args, **kwargs)
                latency_ms = _latency_ms(start)
                result = await engine.aevaluate(
                    agent_id=agent_id, output=output, tool=name, input=input_of(*args, **kwargs), latency_ms=latency_ms
                )
                settled = settle(result)
                is_replacement = callable(on_fail) and not result.passed
                return await settled if is_replacement and inspect.isawaitable(settled) else settled

            return cast(Callable[P, R], call_async)

        if callable(on_fail) and _is_async(on_fail):
            raise ValueError("on_fail: an async function, expected a sync function because the gated function is sync")

        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> Any:
            start = time.perf_counter()
            output = function(*args, **kwargs)
            latency_ms = _latency_ms(start)
            result = engine.evaluate(
                agent_id=agent_id, output=output, tool=name, input=input_of(*args, **kwargs), latency_ms=latency_ms
            )
            return settle(result)

        return cast(Callable[P, R], call)

    return decorate


def _latency_ms(start: float) -> float:
    return (time.perf_counter() - start) * 1000.0


def _name(function: Callable[..., Any]) -> str:
    """Returns the name of a function, of the function inside a `partial`, or of the class of a callable object."""
    while isinstance(function, functools.partial):
        function = function.func
    return str(getattr(function, "__name__", type(function).__name__))


def _is_async(function: Callable[..., Any]) -> bool:
    while isinstance(function, functools.partial):
        function = function.func
    if inspect.iscoroutinefunction(function):
        return True
    return not isinstance(function, type) and inspect.iscoroutinefunction(getattr(function, "__call__", None))
