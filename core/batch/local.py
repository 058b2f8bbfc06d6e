# SPDX-License-Identifier: GPL-3.0-or-later
"""A pool of processes on this machine. If one is lost, another one takes its job; a job that loses two fails."""

import os
import queue
from pathlib import Path

from ..job import BakeJob
from ..worker import tasks
from ..worker.messages import Message
from ..worker.worker import Worker
from .pool import Event


class LocalPool:
    """One process for each concurrent job, started when first needed."""

    def __init__(self, size: int, cache: Path | None, kernels: Path | None = None) -> None:
        """`cache` is the folder for references and gains, `kernels` that for compiled code; by default numba's own."""
        self.size = size
        self._cache, self._kernels = cache, kernels
        self._said: queue.SimpleQueue[tuple[int, Message]] = queue.SimpleQueue()
        self._workers: dict[int, Worker] = {}
        self._names: dict[int, str] = {}  # of the job of a busy worker
        self._jobs: dict[str, BakeJob] = {}  # of busy workers
        self._lost: set[str] = set()  # jobs whose worker was lost
        self._started = 0

    def give(self, name: str, job: BakeJob) -> None:
        """Send it to an idle worker."""
        idle = [number for number, worker in self._workers.items() if number not in self._names and worker.alive]
        number = idle[0] if idle else self._start()
        self._names[number], self._jobs[name] = name, job
        self._workers[number].send("bake", *tasks.request(job, None if self._cache is None else str(self._cache)))

    def wait(self) -> Event:
        """The next event of a worker's job."""
        while True:
            number, message = self._said.get()
            name = self._names.get(number)
            if message.kind == "ended":
                self._workers.pop(number).stop()
            if name is None:
                continue
            if message.kind == "progress":
                return Event(name, float(message.values["fraction"]))
            del self._names[number]
            job = self._jobs.pop(name)
            if message.kind == "ended" and name not in self._lost:
                self._lost.add(name)
                self.give(name, job)
                continue
            if message.kind == "done":
                return Event(name, report=message.values["report"], result=message.arrays["result"].tobytes())
            return Event(name, why=str(message.values["why"]))

    def close(self) -> None:
        """End the processes at once."""
        while self._workers:
            self._workers.popitem()[1].stop()

    def _start(self) -> int:
        number = self._started
        self._started += 1
        self._workers[number] = Worker(self._kernels, listener=lambda message: self._said.put((number, message)))
        return number


def processors() -> int:
    """Number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
