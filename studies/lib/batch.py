# SPDX-License-Identifier: GPL-3.0-or-later
"""A batch of short bakes in a process that may be killed: `python -m heft.studies.lib.batch COUNT FOLDER [SCHEDULER]`.

The name of each is printed when it is done.
"""

import sys
from pathlib import Path

from heft.core.batch.cluster import ClusterPool
from heft.core.batch.local import LocalPool
from heft.core.batch.running import Standing, run

from tests.core.batch.nights import quick_jobs


def tell(standing: Standing) -> None:
    """Print a line for whoever waits for it."""
    if standing.last is not None:
        sys.stdout.write(f"{standing.last.name}\n")
        sys.stdout.flush()


def main(count: int, folder: Path, scheduler: str | None = None) -> None:
    """Run it by two workers, here or of a Dask cluster."""
    pool = LocalPool(2, folder / "cache") if scheduler is None else ClusterPool(scheduler)
    run(quick_jobs(count), folder, pool, progress=tell)


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:])
