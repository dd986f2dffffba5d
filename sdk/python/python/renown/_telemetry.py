"""Verdicts on their way to a server, in the background.

The buffer, the retries and the spool are in Rust, the same code as the proxy's. Here is what concerns a process of Python: its end,
its forks and its event loops. What goes wrong on the way is told to the logger `renown`.
"""

from __future__ import annotations

import asyncio
import atexit
import glob
import logging
import os
import threading
import time
import weakref
from collections.abc import Iterable
from types import TracebackType

from . import _native
from ._http import AsyncHttp, Http
from ._native import Result

_log = logging.getLogger("renown")

# How long the end of the program waits for the last delivery, of all together.
EXIT_S = 5.0


class Telemetry:
    """Sends verdicts to a server every `interval_s` seconds, or as soon as `batch` of them wait.

        with Telemetry(client) as telemetry:
            telemetry.track(engine.evaluate(agent_id="a1", output=output))

    `track` never waits and never raises. At most `buffer` verdicts are held; beyond that the oldest goes to the folder `spool` if
    there is one, else it is dropped and counted. While the server is away everything waits. A program that is killed loses what it
    holds in memory; with `spool_first` every verdict is in the folder before `track` returns, and the next process sends what a dead
    one has left there. Shut down when the program ends normally; a child of `multiprocessing`, which ends otherwise, has to do it itself. A forked child has a thread and a buffer of
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
        spool_first: bool = False,
    ) -> None:
        if not 1 <= batch <= 100:
            raise ValueError(f"batch: {batch}, expected 1 to 100")
        if buffer < 1:
            raise ValueError(f"buffer: {buffer}, expected 1 or more")
        if spool_first and spool is None:
            raise ValueError("spool_first: True, expected a folder as spool with it")
        # A child of this process may work in another folder.
        self._spool = None if spool is None else os.path.abspath(os.fspath(spool))
        self._settings = (client.base_url, client._key, float(interval_s), batch, buffer, self._spool, spool_first)
        self._start()
        _running.add(self)

    def _start(self) -> None:
        self._native = _native.Telemetry(*self._settings)
        # When nobody holds this any more. The end of the program is a matter of all together.
        self._end = weakref.finalize(self, self._native.shutdown, EXIT_S)
        self._end.atexit = False

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
        """Waits until what was tracked so far is delivered.

        False if that takes longer, or if something was refused or dropped since the last time. It does not wait for the interval,
        but for a server that has said when to come back; where that is later than `timeout`, it is false at once.
        """
        return self._native.flush(timeout, None)

    async def aflush(self, timeout: float = 30.0) -> bool:
        """The same without holding the event loop."""
        cancelled = threading.Event()
        try:
            return await asyncio.to_thread(self._native.flush, timeout, cancelled.is_set)
        finally:
            # Whoever is not waited for any more ends soon.
            cancelled.set()

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


def _end_all() -> None:
    """Ends all at the same time, so that the program does not wait for one after the other."""
    until = time.monotonic() + EXIT_S
    ending = [telemetry for telemetry in _running if telemetry._end.alive]
    for telemetry in ending:
        telemetry._native.begin_shutdown()
    for telemetry in ending:
        telemetry.shutdown(max(0.0, until - time.monotonic()))


atexit.register(_end_all)


def _after_fork() -> None:
    running = list(_running)
    _let_go(telemetry._spool for telemetry in running if telemetry._spool is not None)
    for telemetry in running:
        telemetry._restart()


def _let_go(spools: Iterable[str]) -> None:
    """Closes the inherited locks of the parent's spools: held by a child, the parent would seem to live for as long as it does."""
    locks = set()
    for lock in (lock for spool in set(spools) for lock in glob.glob(os.path.join(glob.escape(spool), "*", "lock"))):
        try:
            found = os.stat(lock)
            locks.add((found.st_dev, found.st_ino))
        except OSError:
            continue
    try:
        names = os.listdir("/dev/fd") if locks else []
    except OSError:
        # Not mounted here. The child has to get its own telemetry all the same.
        return
    for name in names:
        try:
            found = os.fstat(int(name))
            if (found.st_dev, found.st_ino) in locks:
                os.close(int(name))
        except (OSError, ValueError):
            continue


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
