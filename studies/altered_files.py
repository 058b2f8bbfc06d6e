# SPDX-License-Identifier: GPL-3.0-or-later
"""Ten thousand files of jobs, results and batches with something wrong in them: refused in a line, or run."""

import faulthandler
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from heft.core import archive
from heft.core.batch.plan import Plan
from heft.core.job import BakeJob, BakeResult, Progress, job, result, run
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import SearchStrategy

from tests.core.batch.nights import NIGHT, night
from tests.core.job import mutations
from tests.core.job.jobs import full_job, lively_job

KINDS = {"job that runs": 3000, "job with everything": 2000, "result": 2500, "batch file": 2500}
BEGUN = 0.1  # share of the simulation, after which a run is stopped
HANGS = 120  # s after which one file is said to hang; the study then ends with a traceback
MEMORY = 8 * 2**30  # bytes of address space

INTRODUCTION = f"""# Altered files

Hypothesis corrupts files of jobs, results and batches (TOML): values of the wrong kind or size; parts left out,
doubled or swapped; arrays of other shapes and numbers; bytes and packing changed. Each file is read, and a job that
can be read is run until its simulation has started. Allowed are a refusal in one line (for a batch file with the
line of the mistake) and a run. Any other exception ends the study, as does a file that takes longer than {HANGS} s; the
process may use {MEMORY // 2**30} GB of address space. Written by `run.py study altered_files`.
"""


def until_it_simulates(progress: Progress) -> bool:
    return progress.stage != "simulate" or progress.share < BEGUN


def read_and_run(path: Path) -> None:
    run(BakeJob.load(path), until_it_simulates)


def tried(count: int, files: SearchStrategy[bytes], path: Path, read: Callable[[Path], object]) -> Counter[str]:
    """What became of so many."""
    outcomes: Counter[str] = Counter()

    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(files)
    def one(content: bytes) -> None:
        path.write_bytes(content)
        faulthandler.dump_traceback_later(HANGS, exit=True)
        said = mutations.refusal(read, path)
        faulthandler.cancel_dump_traceback_later()
        outcomes["read or run" if said is None else "refused"] += 1
        if said is not None and (not said or "\n" in said):
            outcomes["refused in no line or several"] += 1
            sys.stdout.write(f"{said!r}\n")
        if path.suffix == ".toml" and said is not None and not said.startswith(f"{path.name}, line "):
            outcomes["refused without its line"] += 1

    one()
    return outcomes


def study(folder: Path) -> str:
    """The page; this study leaves no pictures."""
    del folder
    if sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    jobs = {"job that runs": lively_job(), "job with everything": full_job()}
    run(lively_job(), until_it_simulates)  # so that no file waits for kernels to compile
    rows = []
    with tempfile.TemporaryDirectory() as place:
        for kind, count in KINDS.items():
            if kind == "batch file":
                path, files, read = night(Path(place)), mutations.altered_lines(NIGHT), Plan.read
            elif kind == "result":
                packed = archive.pack(run(lively_job()), BakeResult, result.FORMAT, result.VERSION)
                path, files, read = Path(place, "a.heftresult"), mutations.altered_archives(packed), BakeResult.load
            else:
                packed = archive.pack(jobs[kind], BakeJob, job.FORMAT, job.VERSION)
                path, files, read = Path(place, "a.heftjob"), mutations.altered_archives(packed), read_and_run
            found = tried(count, files, path, read)
            wrong = found["refused in no line or several"] + found["refused without its line"]
            rows.append(
                f"| {kind} | {found['refused'] + found['read or run']} | {found['refused']} | "
                f"{found['read or run']} | {wrong} |"
            )
    head = ["| file | tried | refused | read or run | refused without a line |", "|---|---|---|---|---|"]
    return "\n".join([INTRODUCTION, *head, *rows])
