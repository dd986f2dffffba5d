"""Threads that run custom gates, and an event loop for async custom gates.

All threads are daemon threads, so a gate that never returns blocks neither the evaluation nor the exit of the
program. It does block its thread. There are at most `THREADS_MAX` threads; when all of them hang, further gates time
out and fail.
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
    """A pool of threads. Threads start on demand and are reused."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._lock = threading.Lock()
        # Jobs that no thread has started yet, idle threads, and all threads.
        self._pending = self._idle = self._count = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._loop_thread: threading.Thread | None = None

    def submit(self, job: Callable[[], None]) -> None:
        """Runs a job on a thread. The job must not raise."""
        with self._lock:
            self._pending += 1
            if self._pending > self._idle and self._count < THREADS_MAX:
                self._count += 1
                self._idle += 1
                threading.Thread(target=self._work, name="renown-gate", daemon=True).start()
        self._jobs.put(job)

    def _work(self) -> None:
        while True:
            job = self._jobs.get()
            with self._lock:
                self._pending -= 1
                self._idle -= 1
            job()
            # An idle thread must not keep the last output in memory.
            del job
            with self._lock:
                self._idle += 1

    def submit_async(self, coroutine: Coroutine[Any, Any, Any]) -> Future[Any]:
        """Runs a coroutine on the event loop of these workers."""
        with self._lock:
            # A task that a gate left running can end the loop with SystemExit. Then the next coroutine gets a new loop.
            if self._loop is None or self._loop_thread is None or not self._loop_thread.is_alive():
                self._loop = asyncio.new_event_loop()
                target = self._loop.run_forever
                self._loop_thread = threading.Thread(target=target, name="renown-gates", daemon=True)
                self._loop_thread.start()
            return asyncio.run_coroutine_threadsafe(coroutine, self._loop)


class _Shared:
    """The workers of this process: one pool for gates, which may hang, and one for evaluations, which respect the
    budget."""

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        self.gates = Workers()
        self.evaluations = Workers()


shared = _Shared()

# Threads do not survive a fork, so a forked child needs new workers.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=shared.renew)
