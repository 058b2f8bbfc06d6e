# SPDX-License-Identifier: GPL-3.0-or-later
"""A pool of Dask workers, on this machine or on many.

Jobs and results go through the scheduler as the bytes of their files, so that workers need no disk in common with this
machine. If a worker dies, Dask gives its jobs to others; a job that kills workers again and again is given up. Only
this module needs Dask.
"""

import json
import queue
import threading
import time
import uuid
from pathlib import Path
from typing import Any

from .. import archive
from ..job import BakeJob, BakeResult, job, result
from .pool import Event

PATIENCE = 30.0  # s to reach the scheduler
LOOK = 5.0  # s between polls of the workers
AHEAD = 2  # jobs queued for each thread, so that none waits for the next to arrive

one_at_a_time = threading.Lock()
"""Kernels use workspaces of a run's own, but a worker of many threads shall not need the memory of many runs."""


def bake(content: bytes, cache: str | None) -> tuple[str, bytes]:
    """Run on a worker: a job's file to its report and the result's file, or to an error's sentence and nothing."""
    import distributed

    from ..job import run

    try:
        asked = archive.unpack(BakeJob, content, job.FORMAT, job.VERSION)
        folder = cache or str(Path(distributed.get_worker().local_directory) / "heft-cache")
        with one_at_a_time:
            done = run(asked, cache=folder)
    except (ValueError, OSError) as error:
        return str(error), b""
    return done.report_text, archive.pack(done, BakeResult, result.FORMAT, result.VERSION)


class ClusterPool:
    """The workers of a scheduler; their number may change."""

    def __init__(self, address: str, cache: Path | None = None) -> None:
        """Connect. References are kept in `cache`, a folder that all workers can reach, or else by each worker."""
        try:
            import distributed
        except ImportError:
            raise ValueError("A cluster needs Dask: install it with pip install 'heft[cluster]'.") from None
        self._address, self._cache = address, None if cache is None else str(cache)
        try:
            self._client: Any = distributed.Client(address, timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError) as error:
            raise ValueError(f"No Dask scheduler answers at {address}: {error}.") from None
        self._ended: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        self._futures: dict[str, Any] = {}  # Dask drops what nobody holds
        self._looked, self._size = -LOOK, 1

    @property
    def size(self) -> int:
        """Number of jobs for the workers connected now."""
        if time.monotonic() - self._looked > LOOK:
            self._looked = time.monotonic()
            self._size = max(AHEAD * sum(self._asked().values()), 1)
        return self._size

    def give(self, name: str, asked: BakeJob) -> None:
        """Send it."""
        content = archive.pack(asked, BakeJob, job.FORMAT, job.VERSION)
        future = self._client.submit(bake, content, self._cache, key=f"{name}-{uuid.uuid4().hex}", pure=False)
        self._futures[name] = future
        future.add_done_callback(lambda ended: self._ended.put((name, ended)))

    def wait(self) -> Event:
        """The next event of a job; OSError if the scheduler is gone."""
        while True:
            try:
                name, future = self._ended.get(timeout=LOOK)
            except queue.Empty:
                self._asked()
                continue
            del self._futures[name]
            if future.status == "error":
                error = future.exception()
                return Event(name, why=f"{type(error).__name__}: {' '.join(str(error).split())}")
            if future.status != "finished":
                raise self._gone()
            try:
                said, content = future.result(timeout=PATIENCE)
            except OSError:
                raise self._gone() from None
            return Event(name, report=json.loads(said), result=content) if content else Event(name, why=said)

    def close(self) -> None:
        """Disconnect; the scheduler drops unfinished jobs."""
        self._futures.clear()
        self._client.close(timeout=1.0)

    def _asked(self) -> dict[str, int]:
        """Threads by worker, as the scheduler reports them."""
        try:
            found: dict[str, int] = self._client.nthreads()
        except OSError:
            raise self._gone() from None
        return found

    def _gone(self) -> OSError:
        return OSError(
            f"The scheduler at {self._address} is gone. Finished bakes are kept: start a scheduler and "
            "continue with --resume."
        )
