"""Threads that run the gates of Python, and an event loop for those that are async.

They are daemons: a gate that never returns holds neither the evaluation nor the end of the program. It does hold its thread, so
there are at most `THREADS_MAX`; when all of them hang, what waits is not done in time and fails closed.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any

THREADS_MAX = 64


class Workers:
    """Threads that are made when they are needed and kept for the next time."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._lock = threading.Lock()
        # Jobs that nobody has taken yet, threads that will take one, and all threads.
        self._pending = self._waiting = self._count = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._loop_thread: threading.Thread | None = None

    def submit(self, job: Callable[[], None]) -> None:
        """Runs a job, which must not raise."""
        with self._lock:
            self._pending += 1
            if self._pending > self._waiting and self._count < THREADS_MAX:
                self._count += 1
                self._waiting += 1
                threading.Thread(target=self._work, name="renown-gate", daemon=True).start()
        self._jobs.put(job)

    def _work(self) -> None:
        while True:
            job = self._jobs.get()
            with self._lock:
                self._pending -= 1
                self._waiting -= 1
            job()
            # Nothing of the last output is held while there is nothing to do.
            del job
            with self._lock:
                self._waiting += 1

    def submit_async(self, coroutine: Coroutine[Any, Any, Any]) -> Future[Any]:
        """Runs a coroutine on an event loop of its own."""
        with self._lock:
            # A task that a gate has left behind can end the loop with SystemExit. The next one gets a new loop.
            if self._loop is None or self._loop_thread is None or not self._loop_thread.is_alive():
                self._loop = asyncio.new_event_loop()
                target = self._loop.run_forever
                self._loop_thread = threading.Thread(target=target, name="renown-gates", daemon=True)
                self._loop_thread.start()
            return asyncio.run_coroutine_threadsafe(coroutine, self._loop)


class _Shared:
    """Those of this process: for gates, which may hang, and for whole evaluations, which end with their budget."""

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        self.gates = Workers()
        self.evaluations = Workers()


shared = _Shared()

# A forked child has none of the threads, so it begins anew.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=shared.renew)
