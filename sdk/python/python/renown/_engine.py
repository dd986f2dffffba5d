"""The engine: a set of gates, built once and used often.

The built-in gates run in Rust. Then the custom gates run here, all at the same time, within the rest of the budget.
Rust combines the outcomes of both into the verdict.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import json
import os
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import Any, Literal

from . import _native
from ._native import GateResult, Result, SettingsError
from ._workers import shared
from .gates import Answer, BuiltIn, Context, Custom

# The outcome of a custom gate: pass, fail, skip, late or broken; the reason; the seconds it took.
Outcome = tuple[str, str | None, float]

# Strings of this length or more are judged on a thread. For shorter ones, switching threads costs more than the gates.
OFF_LOOP_CHARS = 65_536


class Engine:
    """A set of gates. Build it once and use it for all outputs.

        engine = Engine.default()
        engine = Engine.from_file("renown.toml", "proxy")
        engine = Engine([gates.pii(), gates.latency(max_ms=2000), my_gate], budget_ms=50)

    :param gates: Built-in gates (`gates.pii()` and others) and custom gates (`gate(name, function)`), in the order of
        the results.
    :param budget_ms: Time budget of an evaluation, 1 to 60 000 ms: the CPU time of the built-in gates, and what is
        left of it as wall-clock time for the custom gates. Default: 50, or 15 for a set with `rtb` gates.
    :param fail_fast: Whether gates after the first failing one are skipped. Default: false.
    :param strictness: `"strict"` (the default) counts every mention; `"balanced"` counts only what looks intended.
    """

    def __init__(
        self,
        gates: Sequence[BuiltIn | Custom],
        *,
        budget_ms: int | None = None,
        fail_fast: bool | None = None,
        strictness: Literal["strict", "balanced"] | None = None,
    ) -> None:
        common = {"budget_ms": budget_ms, "fail_fast": fail_fast, "strictness": strictness}
        tables = {gate.name: {"kind": gate.kind, **gate.options} for gate in gates if isinstance(gate, BuiltIn)}
        settings = {"gates": {key: value for key, value in common.items() if value is not None}, "gate": tables}
        customs = [gate for gate in gates if isinstance(gate, Custom)]
        if not all(isinstance(gate, BuiltIn | Custom) for gate in gates):
            raise SettingsError("gates: expected built-in gates, such as `gates.pii()`, or `gate(name, function)`")
        names = [gate.name for gate in gates]
        text = json.dumps(settings, allow_nan=False)
        self._init(_native.Engine(text, names, [gate.name for gate in customs]), customs)

    def _init(self, native: _native.Engine, customs: Sequence[Custom]) -> None:
        self._native = native
        self._customs = {gate.name: gate for gate in customs}

    @classmethod
    def default(cls) -> Engine:
        """Builds the default gates of `POST /v1/evaluate`: filesystem, pii, content and secrets."""
        engine = cls.__new__(cls)
        engine._init(_native.Engine("{}", None, []), [])
        return engine

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str],
        place: Literal["evaluate", "cli", "proxy"] = "evaluate",
        *,
        gates: Sequence[Custom] = (),
    ) -> Engine:
        """Builds the gates that a `renown.toml` defines for a place.

        :param place: Which set of the file to build: for the server (`"evaluate"`), for `renown gate` (`"cli"`) or
            for the proxy (`"proxy"`).
        :param gates: Custom gates. The set of the file may name them; the others are added at the end.
        """
        engine = cls.__new__(cls)
        names = [gate.name for gate in gates]
        if len(set(names)) != len(names):
            raise SettingsError("gates: two gates have the same name")
        engine._init(_native.Engine.from_file(path, place, names), gates)
        return engine

    @property
    def names(self) -> list[str]:
        """Names of the gates, in the configured order."""
        return self._native.names

    @property
    def budget_ms(self) -> int:
        """Time budget of an evaluation, in milliseconds."""
        return self._native.budget_ms

    @property
    def fail_fast(self) -> bool:
        """Whether gates after the first failing one are skipped."""
        return self._native.fail_fast

    def __repr__(self) -> str:
        return f"<Engine {', '.join(self.names)}>"

    def evaluate(
        self,
        *,
        agent_id: str,
        output: Any,
        tool: str | None = None,
        input: Any = None,
        latency_ms: float | None = None,
        tmax_ms: int | None = None,
        started_at: int | None = None,
    ) -> Result:
        """Judges one output. A failed gate is a result, not an exception.

        If a gate redacts, `output` of the result is rebuilt from JSON: a dataclass or a model becomes a dictionary, a
        tuple becomes a list. Custom gates get the output itself, not a copy, and run last. They must not change it,
        because no gate judges it again.

        :param agent_id: The agent that returned the output.
        :param output: Any value with a JSON form; strings are fastest. NaN and values of unknown types raise
            `ValueError`.
        :param tool: The tool that returned the output.
        :param input: The input of the tool.
        :param latency_ms: Latency of the agent in milliseconds, for the `latency` gate. The result, and a server,
            count at most one minute.
        :param tmax_ms: Time limit of the caller for this output, in milliseconds, for the `rtb` gates. It has an
            effect only together with `started_at`.
        :param started_at: Start of the request, in milliseconds after 1970, for the `rtb` gates.
        """
        run = None
        if self._customs:
            run = _CustomRun(self._customs, agent_id, output, tool, input, latency_ms, None)
        return self._native.evaluate(agent_id, output, tool, input, latency_ms, tmax_ms, started_at, run)

    async def aevaluate(
        self,
        *,
        agent_id: str,
        output: Any,
        tool: str | None = None,
        input: Any = None,
        latency_ms: float | None = None,
        tmax_ms: int | None = None,
        started_at: int | None = None,
    ) -> Result:
        """Like `evaluate`, without blocking the event loop.

        Async gates run on the event loop of the caller. Sync custom gates, and evaluations of long strings, run on
        threads.
        """
        loop = asyncio.get_running_loop()
        if not self._customs:
            if not (isinstance(output, str) and len(output) >= OFF_LOOP_CHARS):
                return self._native.evaluate(agent_id, output, tool, input, latency_ms, tmax_ms, started_at, None)
            run = None
        else:
            run = _CustomRun(self._customs, agent_id, output, tool, input, latency_ms, loop)
        native = self._native
        done: asyncio.Future[Result] = loop.create_future()

        def settle(result: Result | None, error: BaseException | None) -> None:
            if done.cancelled():
                return
            if error is not None:
                done.set_exception(error)
            elif result is not None:
                done.set_result(result)

        def job() -> None:
            try:
                result = native.evaluate(agent_id, output, tool, input, latency_ms, tmax_ms, started_at, run)
                _call_on_loop(loop, settle, result, None)
            except BaseException as error:  # noqa: BLE001 (the awaiting caller raises it)
                _call_on_loop(loop, settle, None, error)

        shared.evaluations.submit(job)
        return await done


def _call_on_loop(loop: asyncio.AbstractEventLoop, call: Callable[..., None], *values: Any) -> None:
    try:
        loop.call_soon_threadsafe(call, *values)
    except RuntimeError:
        # The loop was closed in the meantime, so no caller is waiting.
        pass


class _CustomRun:
    """Runs the custom gates of one evaluation."""

    def __init__(
        self,
        customs: Mapping[str, Custom],
        agent_id: str,
        output: Any,
        tool: str | None,
        input: Any,
        latency_ms: float | None,
        loop: asyncio.AbstractEventLoop | None,
    ) -> None:
        self._customs = customs
        self._values = (agent_id, output, tool, input, latency_ms)
        self._loop = loop
        # Gates see the context variables of the caller, whatever thread they run on.
        self._context = contextvars.copy_context()
        self._futures: list[Future[Answer]] = []

    def __call__(self, names: list[str], left_s: float) -> list[Outcome]:
        """Runs the gates with these names at the same time. A gate without an answer after `left_s` seconds is late."""
        start = time.monotonic()
        deadline = start + left_s
        context = Context(*self._values, deadline)
        arrived: SimpleQueue[tuple[int, Outcome]] = SimpleQueue()
        for index, name in enumerate(names):
            self._start(self._customs[name], context, index, arrived)
        outcomes: dict[int, Outcome] = {}
        while len(outcomes) < len(names):
            left = deadline - time.monotonic()
            if left <= 0:
                break
            try:
                index, outcome = arrived.get(timeout=left)
            except Empty:
                break
            outcomes[index] = outcome
        for future in self._futures:
            future.cancel()
        late = ("late", None, time.monotonic() - start)
        return [outcomes.get(index, late) for index in range(len(names))]

    def _start(
        self, gate: Custom, context: Context, index: int, arrived: SimpleQueue[tuple[int, Outcome]]
    ) -> None:
        def job() -> None:
            start = time.monotonic()

            def put(answer: Any) -> None:
                word, reason = _parse_answer(answer)
                arrived.put((index, (word, reason, time.monotonic() - start)))

            try:
                answer = gate.check(context)
                if not inspect.isawaitable(answer):
                    put(answer)
                    return
                self._await(answer, put)
            except BaseException:  # noqa: BLE001 (a gate that raises fails closed)
                put(None)

        # One copy per gate, because a context cannot be entered twice.
        context_of_gate = self._context.copy()
        # Calling an async function only creates a coroutine, so it needs no thread.
        if inspect.iscoroutinefunction(gate.check):
            context_of_gate.run(job)
        else:
            shared.gates.submit(lambda: context_of_gate.run(job))

    def _await(self, answer: Awaitable[Answer], put: Callable[[Any], None]) -> None:
        coroutine = _answer_or_none(answer)
        if self._loop is None:
            future = shared.gates.submit_async(coroutine)
        else:
            future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        self._futures.append(future)
        future.add_done_callback(
            lambda done: put(None if done.cancelled() or done.exception() else done.result())
        )


def _answer_or_none(answer: Awaitable[Answer]) -> Coroutine[Any, Any, Answer | None]:
    async def wait() -> Answer | None:
        try:
            return await answer
        except (asyncio.CancelledError, GeneratorExit):
            raise
        except BaseException:  # noqa: BLE001 (a SystemExit would end the shared event loop)
            return None

    return wait()


def _restored(text: str) -> Result:
    """Unpickles a `Result`. Pickles refer to this function by name."""
    return Result._restored(text)


def _restored_gate(text: str) -> GateResult:
    """Unpickles a `GateResult`. Pickles refer to this function by name."""
    return GateResult._restored(text)


def _parse_answer(answer: Any) -> tuple[str, str | None]:
    """Returns the outcome and the reason. An invalid answer is `broken`."""
    if answer is True:
        return "pass", None
    if answer is False:
        return "fail", None
    if not isinstance(answer, Mapping):
        return "broken", None
    reason, skipped, passed = answer.get("reason"), answer.get("skipped", False), answer.get("passed")
    if not (reason is None or isinstance(reason, str)) or not isinstance(skipped, bool):
        return "broken", None
    if reason is not None:
        # UTF-8 cannot encode half a surrogate pair.
        reason = reason.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if skipped and passed in (None, True):
        return "skip", reason
    if skipped or not isinstance(passed, bool):
        return "broken", None
    return ("pass", None) if passed else ("fail", reason)
