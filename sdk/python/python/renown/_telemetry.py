"""Sends verdicts to a server in the background.

The buffer, the retries and the spool are Rust code, shared with the proxy. This module handles what is specific to
Python: process exit, forks and event loops. Problems are logged to the logger `renown`.
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

# Time limit for the last delivery at process exit, shared by all senders.
EXIT_S = 5.0


class Telemetry:
    """Sends verdicts to a server in the background.

        with Telemetry(client) as telemetry:
            telemetry.track(engine.evaluate(agent_id="a1", output=output))

    `track` never waits for the network and never raises. While the server is unreachable, verdicts wait, as many
    as fit into `buffer` and `spool`; others are lost and counted in `dropped`.

    A program that is killed loses the verdicts in its memory, unless `spool_first` is set: then every verdict is on
    disk before `track` returns, and the next process with the same `spool` sends what a dead process left.

    A normal program exit shuts telemetry down. A child process of `multiprocessing` skips these exit handlers and
    must call `shutdown` itself. A forked child gets its own thread and buffer; waiting verdicts stay with the parent.

    :param client: The server and the key.
    :param interval_s: Maximum time in seconds that a verdict waits for others before a batch is sent.
    :param batch: Number of verdicts per batch, 1 to 100. A full batch is sent immediately.
    :param buffer: Maximum number of verdicts in memory. When it is full, the oldest verdict moves to `spool`. Without a
        spool it is dropped and counted in `dropped`.
    :param spool: Folder for verdicts that do not fit in memory, or that are left at shutdown.
    :param spool_first: Whether every verdict is written to `spool` before `track` returns.
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
            raise ValueError("spool_first: True, expected spool to be set, too")
        # Absolute, because a forked child may change its working directory.
        self._spool = None if spool is None else os.path.abspath(os.fspath(spool))
        self._settings = (client.base_url, client._key, float(interval_s), batch, buffer, self._spool, spool_first)
        self._start()
        _running.add(self)

    def _start(self) -> None:
        self._native = _native.Telemetry(*self._settings)
        # Shuts down when this object is collected. At process exit, `_end_all` shuts all senders down together.
        self._end = weakref.finalize(self, self._native.shutdown, EXIT_S)
        self._end.atexit = False

    def _restart(self) -> None:
        """Replaces the native sender in a forked child. The parent's thread does not exist there, so the old sender
        must not be used again."""
        ended = self._end.detach() is None
        self._start()
        if ended:
            self._end()

    def track(self, result: Result) -> None:
        """Queues a verdict without waiting for the network. With `spool_first` it is first written to disk. A verdict contains no part of the output or the input."""
        try:
            self._native.track(result)
        except Exception:  # noqa: BLE001 (telemetry must not break the program)
            _log.warning("a verdict was not tracked", exc_info=True)

    def flush(self, timeout: float = 30.0) -> bool:
        """Sends now, and waits until every verdict tracked so far is delivered.

        Returns false after `timeout` seconds, or if a verdict was rejected or dropped since the last flush. If the
        server sent `Retry-After`, `flush` waits that long before it sends. If that is longer than `timeout`, it returns
        false immediately.
        """
        return self._native.flush(timeout, None)

    async def aflush(self, timeout: float = 30.0) -> bool:
        """Like `flush`, without blocking the event loop."""
        cancelled = threading.Event()
        try:
            return await asyncio.to_thread(self._native.flush, timeout, cancelled.is_set)
        finally:
            # Ends the thread soon if this task was cancelled.
            cancelled.set()

    def shutdown(self, timeout: float = EXIT_S) -> None:
        """Tries once more to deliver the waiting verdicts. What is left goes to `spool`, or is lost without one. Calling it again has no effect."""
        self._native.shutdown(timeout)
        self._end.detach()

    @property
    def dropped(self) -> int:
        """Number of lost verdicts.

        Lost are verdicts that did not fit into memory or `spool`, that were left at shutdown without a spool or tracked after it,
        or that the server rejected and that were not saved.
        """
        return self._native.dropped

    @property
    def waiting(self) -> int:
        """Number of verdicts that are not yet delivered, rejected or dropped."""
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
    """Shuts all senders down at the same time, so that they share one time limit."""
    deadline = time.monotonic() + EXIT_S
    ending = [telemetry for telemetry in _running if telemetry._end.alive]
    for telemetry in ending:
        telemetry._native.begin_shutdown()
    for telemetry in ending:
        telemetry.shutdown(max(0.0, deadline - time.monotonic()))


atexit.register(_end_all)


def _after_fork() -> None:
    running = list(_running)
    _close_inherited_locks(telemetry._spool for telemetry in running if telemetry._spool is not None)
    for telemetry in running:
        telemetry._restart()


def _close_inherited_locks(spools: Iterable[str]) -> None:
    """Closes the inherited lock files of the parent's spools. While a child keeps them open, a dead parent looks
    alive."""
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
        # /dev/fd is not mounted. The child still needs its own telemetry.
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
