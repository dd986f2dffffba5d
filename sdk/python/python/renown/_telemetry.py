"""Verdicts on their way to a server, in the background.

The buffer, the retries and the spool are in Rust, the same code as the proxy's. Here is what concerns a process of Python: its end,
its forks and its event loops. What goes wrong on the way is told to the logger `renown`.
"""

from __future__ import annotations

import asyncio
import logging
import os
import weakref
from types import TracebackType

from . import _native
from ._http import AsyncHttp, Http
from ._native import Result

_log = logging.getLogger("renown")

# How long the end of the program waits for the last delivery.
EXIT_S = 5.0


class Telemetry:
    """Sends verdicts to a server every `interval_s` seconds, or as soon as `batch` of them wait.

        with Telemetry(client) as telemetry:
            telemetry.track(engine.evaluate(agent_id="a1", output=output))

    `track` never waits and never raises. At most `buffer` verdicts are held; beyond that the oldest goes to the folder `spool` if
    there is one, else it is dropped and counted. While the server is away everything waits. Shut down when the program ends
    normally; a child of `multiprocessing`, which ends otherwise, has to do it itself. A forked child has a thread and a buffer of
    its own, and what was waiting stays with its parent.
    """

    def __init__(
        self,
        client: Http | AsyncHttp,
        *,
        interval_s: float = 5,
        batch: int = 100,
        buffer: int = 10_000,
        spool: str | os.PathLike[str] | None = None,
    ) -> None:
        if not 1 <= batch <= 100:
            raise ValueError(f"batch: {batch}, expected 1 to 100")
        if buffer < 1:
            raise ValueError(f"buffer: {buffer}, expected 1 or more")
        self._settings = (client.base_url, client._key, float(interval_s), batch, buffer, spool)
        self._start()
        _running.add(self)

    def _start(self) -> None:
        self._native = _native.Telemetry(*self._settings)
        # Also at the end of the program, and when nobody holds this any more.
        self._end = weakref.finalize(self, self._native.shutdown, EXIT_S)

    def _restart(self) -> None:
        """In a forked child, where the thread is gone and nothing of it may be touched again."""
        ended = self._end.detach() is None
        self._start()
        if ended:
            self._end()

    def track(self, result: Result) -> None:
        """Takes a verdict. It holds no part of the output or the input."""
        try:
            self._native.track(result)
        except Exception:  # noqa: BLE001 (who watches must not be in the way)
            _log.warning("a verdict was not tracked", exc_info=True)

    def flush(self, timeout: float = 30.0) -> bool:
        """Waits until what was tracked so far is delivered. False if that takes longer."""
        return self._native.flush(timeout)

    async def aflush(self, timeout: float = 30.0) -> bool:
        """The same without holding the event loop."""
        return await asyncio.to_thread(self._native.flush, timeout)

    def shutdown(self, timeout: float = EXIT_S) -> None:
        """Tries once more to deliver what waits, and ends. May be repeated."""
        self._native.shutdown(timeout)
        self._end.detach()

    @property
    def dropped(self) -> int:
        """Verdicts that were lost for lack of room, or that the server refused and nobody keeps."""
        return self._native.dropped

    @property
    def waiting(self) -> int:
        """Verdicts of which it is not known yet that the server has them."""
        return self._native.waiting

    def __enter__(self) -> Telemetry:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.shutdown()

    async def __aenter__(self) -> Telemetry:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.shutdown)


_running: weakref.WeakSet[Telemetry] = weakref.WeakSet()


def _after_fork() -> None:
    for telemetry in list(_running):
        telemetry._restart()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
