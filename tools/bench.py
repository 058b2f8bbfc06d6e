# SPDX-License-Identifier: GPL-3.0-or-later
"""`run.py bench`: every module of tests/benchmarks, as a table and as JSON.

Machines are noisy and differ: read the ratios, each to a reference measured in the same run, before the microseconds.
"""

import argparse
import importlib
import json
import platform
import sys
from pathlib import Path

from tools.environment import ROOT, say


def modules() -> list[str]:
    """The benchmark modules: each has `rows()`."""
    return sorted(path.stem for path in (ROOT / "tests" / "benchmarks").glob("*.py") if path.stem != "harness")


def time_of(microseconds: float) -> str:
    """A time in the unit a reader would choose."""
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if microseconds >= size:
            return f"{microseconds / size:.2f} {unit}"
    return f"{microseconds:.2f} us"


def main() -> None:
    """Run, print, save."""
    parser = argparse.ArgumentParser(prog="run.py bench")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--only", metavar="NAME", choices=modules())
    arguments = parser.parse_args()
    sys.path.insert(0, str(ROOT / "tests" / "benchmarks"))
    results = []
    say(f"{'':58} {'median':>10} {'99 %':>10} {'reference':>10} {'ratio':>7}")
    for name in [arguments.only] if arguments.only else modules():
        say(name)
        for row in importlib.import_module(name).rows():
            compared = f"{time_of(row.reference_us):>10} {row.ratio:>6.2f}x {row.reference}" if row.ratio else ""
            say(f"  {row.name:56} {time_of(row.median_us):>10} {time_of(row.p99_us):>10} {compared}")
            results.append({"module": name, **row._asdict(), "ratio": row.ratio})
    if arguments.json:
        machine = {"python": platform.python_version(), "system": platform.platform(), "processor": platform.machine()}
        Path(arguments.json).write_text(json.dumps({"machine": machine, "rows": results}, indent=1), encoding="utf-8")


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        sys.exit(f"run.py bench: cannot write {error.filename}: {error.strerror}")
