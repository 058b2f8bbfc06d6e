# SPDX-License-Identifier: GPL-3.0-or-later
"""`run`: takes jobs by name; writes a result file and a journal line for each."""

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
    """The progress of a batch."""

    jobs: int
    before: int = 0  # done before it began
    done: int = 0
    fractions: dict[str, float] = field(default_factory=dict)  # of the running jobs
    last: Entry | None = None  # what ended just now

    @property
    def fraction(self) -> float:
        """Fraction of the work that is done."""
        return (self.done + sum(self.fractions.values())) / max(self.jobs - self.before, 1)


def run(
    jobs: Mapping[str, BakeJob],
    folder: str | Path,
    pool: Pool,
    *,
    resume: bool = False,
    progress: Callable[[Standing], None] | None = None,
    key: Callable[[str], str] | None = None,
) -> dict[str, Entry]:
    """Run the jobs and return their outcomes; results and journal are in the folder.

    `resume` continues a batch in the same folder, however it ended: jobs with results are not run again. A job that
    fails, or whose process crashes, is noted, and the others go on. Jobs are looked up one by one as they are needed,
    so a mapping may make them then. Where a job's `key` can be told by its name without making it, what is done is not
    made again; else it is the job's own. One process at a time works in a folder. The pool is closed at the end.
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
            return _Run(jobs, journal, pool, progress or _show_nothing, key).to_the_end()
    finally:
        pool.close()


def _show_nothing(_: Standing) -> None:
    """For batches without a progress display."""


class _Run:
    """A running batch."""

    def __init__(
        self,
        jobs: Mapping[str, BakeJob],
        journal: Journal,
        pool: Pool,
        show: Callable[[Standing], None],
        key: Callable[[str], str] | None,
    ) -> None:
        self._jobs, self._journal, self._pool, self._show, self._key = jobs, journal, pool, show, key
        self._keys: dict[str, str] = {}  # of the running jobs
        self._standing = Standing(len(jobs))

    def to_the_end(self) -> dict[str, Entry]:
        self._journal.tidy(self._jobs)
        waiting = iter(self._jobs)
        self._feed(waiting)
        while self._keys:
            event = self._pool.wait()
            if not event.ended:
                self._standing.fractions[event.name] = event.fraction
                self._standing.last = None
                self._show(self._standing)
                continue
            key = self._keys.pop(event.name)
            self._feed(waiting)  # first, so that no worker waits while a file is written
            if event.report is None:
                self._end(Entry(event.name, key, FAILED, event.why, {}), None)
            else:
                outcome, why = str(event.report["outcome"]), str(event.report["why"])
                self._end(Entry(event.name, key, outcome, why, event.report), event.result)
        self._journal.tidy(self._jobs)
        return self._journal.entries

    def _feed(self, waiting: Iterator[str]) -> None:
        """Submit as many jobs as the pool takes."""
        while len(self._keys) < self._pool.size and (name := next(waiting, None)) is not None:
            try:
                known = None if self._key is None else self._key(name)
                if known is not None and self._journal.is_done(name, known):
                    self._standing.before += 1
                    continue
                job = self._jobs[name]
            except (ValueError, OSError) as error:  # its files changed after the check
                self._end(Entry(name, "", FAILED, str(error), {}), None)
                continue
            key = job.key() if known is None else known
            if self._journal.is_done(name, key):
                self._standing.before += 1
                continue
            self._keys[name] = key
            self._pool.give(name, job)

    def _end(self, entry: Entry, result: bytes | None) -> None:
        self._journal.add(entry, result)
        self._standing.fractions.pop(entry.name, None)
        self._standing.done += 1
        self._standing.last = entry
        self._show(self._standing)
