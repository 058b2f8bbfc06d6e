# SPDX-License-Identifier: GPL-3.0-or-later
"""The run: what is done is left alone, the rest is baked as a batch, and each file is written once its motions are.

Results of the batch are kept until their file is written, and no longer: a folder may be larger than a disk.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ..batch.journal import FAILED, SUFFIX, Entry
from ..batch.journal import NAME as JOURNAL
from ..batch.pool import Pool
from ..batch.running import Standing, run
from ..files import remove_unfinished
from ..job import BakeJob, BakeResult
from .delivery import Out
from .rows import Row, failed_row, row_of
from .sources import Format, Source, Take, find_sources

Trouble = (ValueError, OSError, RuntimeError)
"""What reading and writing files of others raises, Blender's operators included."""


@dataclass(frozen=True)
class Asked:
    """What is asked of every clip."""

    simulate: bool = False
    opensim: bool = False  # files for it are written too

    @property
    def words(self) -> tuple[str, ...]:
        """By which what is done is told from what is not."""
        return ("simulate",) * self.simulate + ("opensim",) * self.opensim

    def of(self, job: BakeJob, name: str) -> BakeJob:
        """A clip's job."""
        return replace(job, name=name, simulate=self.simulate)


class Cleaning(Mapping[str, BakeJob]):
    """The motions of a folder that are not done yet, as jobs by name; each is made when it is looked up."""

    def __init__(self, folder: Path, out: Path, formats: Mapping[str, Format], asked: Asked) -> None:
        """Look what there is, and what of it is done."""
        if not folder.is_dir():
            raise ValueError(f"There is no folder {folder}: check its name.")
        if folder.resolve() == out.resolve():
            raise ValueError("The clips would be overwritten: choose another output folder.")
        self.out, self._formats, self._asked = Out(out), formats, asked
        self.sources = find_sources(folder, out)
        if not self.sources:
            raise ValueError(f"There is nothing to clean in {folder}: no BVH, FBX, glTF or .blend file.")
        self._keys: dict[Source, str] = {}
        self._rows: dict[Source, list[Row]] = {}
        self._takes: dict[str, Take] = {}
        self._jobs: dict[str, BakeJob] = {}  # that are baked now
        self._waiting: dict[Source, list[Take]] = {}
        for source in self.sources:
            self._look(source)

    def _look(self, source: Source) -> None:
        try:
            self._keys[source] = source.key(*self._asked.words)
            done = self.out.rows(source, self._keys[source])
            if done is not None:
                self._rows[source] = done
                return
            takes = [Take(source, name) for name in self._format(source).takes(source.path)]
        except Trouble as error:
            self._rows[source] = [failed_row(str(source.relative), "", _sentence(error))]
            return
        self._waiting[source] = takes
        self._takes.update({take.job_name: take for take in takes})

    def __getitem__(self, name: str) -> BakeJob:
        """The job of that name, made now."""
        try:
            job = self._jobs[name] = self._job(self._takes[name])
        except Trouble as error:
            raise ValueError(_sentence(error)) from error
        return job

    def __iter__(self) -> Iterator[str]:
        """Names, in the order of the files."""
        return iter(self._takes)

    def __len__(self) -> int:
        """How many are to be baked."""
        return len(self._takes)

    def label(self, name: str) -> str:
        """What a motion is called before people."""
        return self._takes[name].label

    @property
    def rows(self) -> list[Row]:
        """What is known of all files, in their order."""
        return [row for source in self.sources for row in self._rows.get(source, [])]

    def run(self, pool: Pool, progress: Callable[[Standing], None], *, resume: bool) -> None:
        """Bake and write all that is not done; what fails has a row that says why."""
        folder = self.out.data
        if (folder / JOURNAL).is_file() and not resume:
            raise ValueError(
                f"{self.out.folder} already holds cleaned clips: continue with --resume, or choose another folder."
            )
        ended: dict[str, Entry] = {}

        def tell(standing: Standing) -> None:
            progress(standing)
            if standing.last is not None:
                ended[standing.last.name] = standing.last
                self._write_if_whole(self._takes[standing.last.name].source, ended)

        entries = run(self, folder, pool, resume=resume, progress=tell, key=self._key)
        for source in list(self._waiting):  # baked by a run that ended before it wrote them
            self._write_if_whole(source, entries)
        for left in folder.glob(f"*{SUFFIX}"):  # written by a run that ended before it removed them
            left.unlink(missing_ok=True)
        for place in {place for source in self.sources for place in self.out.folders(source)}:
            remove_unfinished(place)

    def _write_if_whole(self, source: Source, ended: Mapping[str, Entry]) -> None:
        """Write a file if nothing more is to come of it."""
        takes = self._waiting[source]
        if not all(take.job_name in ended for take in takes):
            return
        del self._waiting[source]
        rows, results = [], {}
        for take in takes:
            entry, path = ended[take.job_name], self._result(take)
            if entry.outcome == FAILED:
                rows.append(failed_row(str(source.relative), take.name, entry.why))
                continue
            results[take.name] = BakeResult.load(path)
            rows.append(row_of(str(source.relative), take.name, results[take.name]))
        try:
            self._write(source, takes, results, rows)
        except Trouble as error:
            why = f"It could not be written: {_sentence(error)}"
            rows = [failed_row(str(source.relative), take.name, why) for take in takes]
        self._rows[source] = rows
        for take in takes:
            self._result(take).unlink(missing_ok=True)
            self._jobs.pop(take.job_name, None)

    def _write(self, source: Source, takes: list[Take], results: Mapping[str, BakeResult], rows: list[Row]) -> None:
        if not results:
            return
        target = self.out.clip(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        for take in takes:
            if take.name in results:
                job = self._jobs.get(take.job_name) or self._job(take)
                self.out.deliver(take, job, results[take.name], opensim=self._asked.opensim)
        self._format(source).write(source.path, results, target)
        if len(results) == len(takes):
            self.out.finish(source, self._keys[source], rows)

    def _job(self, take: Take) -> BakeJob:
        return self._asked.of(self._format(take.source).job(take.source.path, take.name), take.job_name)

    def _format(self, source: Source) -> Format:
        return self._formats[source.ending]

    def _key(self, name: str) -> str:
        return self._keys[self._takes[name].source]

    def _result(self, take: Take) -> Path:
        return self.out.data / f"{take.job_name}{SUFFIX}"


def _sentence(error: BaseException) -> str:
    """What is wrong, in one line."""
    said = " ".join(str(error).split()) or type(error).__name__
    return said if said.endswith((".", "!", "?")) else f"{said}."
