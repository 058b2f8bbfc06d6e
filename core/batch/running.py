# SPDX-License-Identifier: GPL-3.0-or-later
"""`run`: jobs by name in, results as files out, a line in the journal for each."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..files import held
from ..job import BakeJob
from .journal import FAILED, Entry, Journal
from .pool import Pool

LOCK = "batch.lock"


@dataclass
class Standing:
    """Where a batch is."""

    jobs: int
    before: int = 0  # that were done when it began
    done: int = 0
    shares: dict[str, float] = field(default_factory=dict)  # of the jobs that are being done
    last: Entry | None = None  # what ended just now

    @property
    def share(self) -> float:
        """Of what there was to do that is done."""
        return (self.done + sum(self.shares.values())) / max(self.jobs - self.before, 1)


def run(
    jobs: Mapping[str, BakeJob],
    folder: str | Path,
    pool: Pool,
    *,
    resume: bool = False,
    progress: Callable[[Standing], None] | None = None,
) -> dict[str, Entry]:
    """Do the jobs and return what became of them; results and journal are in the folder.

    `resume` goes on where a batch of the same folder ended, however it ended: jobs whose results are there are not done
    again. A job that fails, or whose process crashes, is noted, and the others go on. Jobs are looked up one by one as
    they are needed, so a mapping may make them then. One process at a time works in a folder. The pool is closed at
    the end.
    """
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
        with held(place / LOCK):
            journal = Journal(place)
            if journal.entries and not resume:
                raise ValueError(
                    f"{folder} already holds a batch: continue it with --resume, or choose another folder."
                )
            return _Run(jobs, journal, pool, progress or _tell_nobody).to_the_end()
    finally:
        pool.close()


def _tell_nobody(_: Standing) -> None:
    """For batches without an audience."""


class _Run:
    """A batch that goes on."""

    def __init__(
        self, jobs: Mapping[str, BakeJob], journal: Journal, pool: Pool, tell: Callable[[Standing], None]
    ) -> None:
        self._jobs, self._journal, self._pool, self._tell = jobs, journal, pool, tell
        self._keys: dict[str, str] = {}  # of the jobs that are being done
        self._standing = Standing(len(jobs))

    def to_the_end(self) -> dict[str, Entry]:
        self._journal.tidy(self._jobs)
        waiting = iter(self._jobs)
        self._feed(waiting)
        while self._keys:
            event = self._pool.wait()
            if not event.ended:
                self._standing.shares[event.name] = event.share
                self._standing.last = None
                self._tell(self._standing)
                continue
            key = self._keys.pop(event.name)
            self._feed(waiting)  # first, so that nobody waits while a file is written
            if event.report is None:
                self._end(Entry(event.name, key, FAILED, event.why, {}), None)
            else:
                outcome, why = str(event.report["outcome"]), str(event.report["why"])
                self._end(Entry(event.name, key, outcome, why, event.report), event.result)
        self._journal.tidy(self._jobs)
        return self._journal.entries

    def _feed(self, waiting: Iterator[str]) -> None:
        """Give the pool what it can take of the jobs that are not done."""
        while len(self._keys) < self._pool.size and (name := next(waiting, None)) is not None:
            try:
                job = self._jobs[name]
            except (ValueError, OSError) as error:  # its files have changed since they were checked
                self._end(Entry(name, "", FAILED, str(error), {}), None)
                continue
            if self._journal.is_done(name, job.key()):
                self._standing.before += 1
                continue
            self._keys[name] = job.key()
            self._pool.give(name, job)

    def _end(self, entry: Entry, result: bytes | None) -> None:
        self._journal.add(entry, result)
        self._standing.shares.pop(entry.name, None)
        self._standing.done += 1
        self._standing.last = entry
        self._tell(self._standing)
