"""The engine: a set of gates, built once and asked often.

The built-in gates run in Rust. Those that are functions of Python run here, all together, within what is left of the budget;
what becomes of an evaluation is decided in Rust from what they said.
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

# What a gate said: what became of it, why, and how many seconds it took.
Said = tuple[str, str | None, float]

# From so many characters on, a text is judged off the event loop: below, changing threads costs more than the gates.
OFF_LOOP_CHARS = 65_536


class Engine:
    """A set of gates.

        engine = Engine.default()
        engine = Engine.from_file("renown.toml", "proxy")
        engine = Engine([gates.pii(), gates.latency(max_ms=2000), my_gate], budget_ms=50)
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
            raise SettingsError("gates: expected what `gates.pii()` and the like give, or `gate(name, function)`")
        names = [gate.name for gate in gates]
        text = json.dumps(settings, allow_nan=False)
        self._have(_native.Engine(text, names, [gate.name for gate in customs]), customs)

    def _have(self, native: _native.Engine, customs: Sequence[Custom]) -> None:
        self._native = native
        self._customs = {gate.name: gate for gate in customs}

    @classmethod
    def default(cls) -> Engine:
        """The gates that `POST /v1/evaluate` runs by default: filesystem, pii, content and secrets."""
        engine = cls.__new__(cls)
        engine._have(_native.Engine("{}", None, []), [])
        return engine

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str],
        place: Literal["evaluate", "cli", "proxy"] = "evaluate",
        *,
        gates: Sequence[Custom] = (),
    ) -> Engine:
        """The gates that a `renown.toml` has for a place.

        `gates` are your own. The file's set may name them; those that it does not name stand after it.
        """
        engine = cls.__new__(cls)
        names = [gate.name for gate in gates]
        if len(set(names)) != len(names):
            raise SettingsError("gates: two gates of one name")
        engine._have(_native.Engine.from_file(path, place, names), gates)
        return engine

    @property
    def names(self) -> list[str]:
        """The names of its gates, in the order in which they stand."""
        return self._native.names

    @property
    def budget_ms(self) -> int:
        """The time that a whole evaluation may take."""
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

        Where a gate redacts, `output` of the result is made anew of JSON: a dataclass or a model becomes a dictionary, a tuple a
        list. Gates of your own get the output itself and run last, so they must not change it: nobody judges it again.

        :param output: Anything that JSON can say; a text is the fast case. NaN is refused, also a value of an unknown type.
        :param input: What the tool was given.
        :param latency_ms: How long the agent took, for the gate `latency`. A server counts at most a minute.
        :param tmax_ms: The time that whoever asked for the output gives for it, and `started_at` when that began, in milliseconds
            after 1970: for the gates of `rtb`.
        """
        run = None
        if self._customs:
            run = _Run(self._customs, agent_id, output, tool, input, latency_ms, None)
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
        """The same without holding the event loop.

        Async gates run on the caller's event loop, other gates of Python and large texts in threads.
        """
        loop = asyncio.get_running_loop()
        if not self._customs:
            if not (isinstance(output, str) and len(output) >= OFF_LOOP_CHARS):
                return self._native.evaluate(agent_id, output, tool, input, latency_ms, tmax_ms, started_at, None)
            run = None
        else:
            run = _Run(self._customs, agent_id, output, tool, input, latency_ms, loop)
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
                _later(loop, settle, result, None)
            except BaseException as error:  # noqa: BLE001 (it is raised where it is awaited)
                _later(loop, settle, None, error)

        shared.evaluations.submit(job)
        return await done


def _later(loop: asyncio.AbstractEventLoop, call: Callable[..., None], *values: Any) -> None:
    try:
        loop.call_soon_threadsafe(call, *values)
    except RuntimeError:
        # The loop was closed meanwhile, so nobody waits any more.
        pass


class _Run:
    """The gates of Python of one evaluation."""

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
        # Gates see the context variables of whoever asks, in whatever thread they run.
        self._context = contextvars.copy_context()
        self._futures: list[Future[Answer]] = []

    def __call__(self, names: list[str], left_s: float) -> list[Said]:
        """Runs those of these names together; who has not answered in time is late."""
        began = time.monotonic()
        deadline = began + left_s
        context = Context(*self._values, deadline)
        answers: SimpleQueue[tuple[int, Said]] = SimpleQueue()
        for place, name in enumerate(names):
            self._start(self._customs[name], context, place, answers)
        said: dict[int, Said] = {}
        while len(said) < len(names):
            left = deadline - time.monotonic()
            if left <= 0:
                break
            try:
                place, answer = answers.get(timeout=left)
            except Empty:
                break
            said[place] = answer
        for future in self._futures:
            future.cancel()
        late = ("late", None, time.monotonic() - began)
        return [said.get(place, late) for place in range(len(names))]

    def _start(
        self, gate: Custom, context: Context, place: int, answers: SimpleQueue[tuple[int, Said]]
    ) -> None:
        def job() -> None:
            began = time.monotonic()

            def answered(answer: Any) -> None:
                word, reason = _meaning(answer)
                answers.put((place, (word, reason, time.monotonic() - began)))

            try:
                answer = gate.check(context)
                if not inspect.isawaitable(answer):
                    answered(answer)
                    return
                self._await(answer, answered)
            except BaseException:  # noqa: BLE001 (a gate that raises fails closed)
                answered(None)

        # Each in a copy of its own: a context cannot be entered twice.
        context_of_gate = self._context.copy()
        # An async function does nothing yet when it is called, so it needs no thread.
        if inspect.iscoroutinefunction(gate.check):
            context_of_gate.run(job)
        else:
            shared.gates.submit(lambda: context_of_gate.run(job))

    def _await(self, answer: Awaitable[Answer], answered: Callable[[Any], None]) -> None:
        coroutine = _awaited(answer)
        if self._loop is None:
            future = shared.gates.submit_async(coroutine)
        else:
            future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        self._futures.append(future)
        future.add_done_callback(
            lambda done: answered(None if done.cancelled() or done.exception() else done.result())
        )


def _awaited(answer: Awaitable[Answer]) -> Coroutine[Any, Any, Answer | None]:
    async def wait() -> Answer | None:
        try:
            return await answer
        except (asyncio.CancelledError, GeneratorExit):
            raise
        except BaseException:  # noqa: BLE001 (a SystemExit would end the event loop, which others need)
            return None

    return wait()


def _restored(text: str) -> Result:
    """A result out of pickle."""
    return Result._restored(text)


def _restored_gate(text: str) -> GateResult:
    return GateResult._restored(text)


def _meaning(answer: Any) -> tuple[str, str | None]:
    """What an answer means; one that makes no sense is `broken`."""
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
        # Half a surrogate pair has no UTF-8.
        reason = reason.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if skipped and passed in (None, True):
        return "skip", reason
    if skipped or not isinstance(passed, bool):
        return "broken", None
    return ("pass", None) if passed else ("fail", reason)
