# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs of every method beside what they gave before, to the last bit; HEFT_GOLDEN=write keeps what they give now."""

import os
from pathlib import Path

from heft.core.job import run

from tests.core.job import golden

TITLE = """# Golden results

A job of every kind, and whether each of its arrays has the bits that `tests/data/golden_results.json` keeps. Who
changes what a bake gives says why in the commit that keeps new ones. Written by `run.py study golden_results`.

| job | method | outcome | bits on Blender {line} |
|---|---|---|---|
"""


def study(_: Path) -> str:
    """Bake all, compare or keep."""
    jobs = golden.jobs()
    found = {name: golden.digests(run(job)) for name, job in jobs.items()}
    if os.environ.get("HEFT_GOLDEN") == "write":
        golden.write(found)
    known = golden.known()
    rows = [
        f"| {name} | {jobs[name].method} | {now['outcome']} | {_said(now, known[name])} |"
        for name, now in found.items()
    ]
    return TITLE.format(line=golden.LINE) + "\n".join(rows)


def _said(now: dict[str, str], known: dict[str, str]) -> str:
    other = [name for name in known if now.get(name) != known[name]]
    return "as before" if not other else "**other**: " + ", ".join(other)
