# SPDX-License-Identifier: GPL-3.0-or-later
"""A thousand edits at random, baked live by one worker that keeps what it made, against fresh bakes of the same."""

import tempfile
from collections import Counter
from pathlib import Path

from heft.core.job import run
from heft.core.worker.worker import Worker

from tests.core.worker.edits import LEFT, live
from tools.environment import say

COUNT = 1000
PAGE = """# Live edits

{count} edits at random of a walk with a push: a bone turned around a frame, the push moved, friction, looseness,
recovery and range changed, all taken back. Each is sent to the same worker, which keeps references and gains; {left} %
are overtaken by the next one. Each that ends is compared with a bake of the same job by a process that knows nothing.
Written by `run.py study live_edits`.

{ended} ended, {same} of them equal to the fresh bake, bit for bit; the other {overtaken} were overtaken.

| last edit | ended | equal |
|---|---|---|
{rows}
"""


def study(folder: Path) -> str:
    """The page; this study leaves no pictures."""
    del folder
    ended: Counter[str] = Counter()
    same: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as cache:
        worker = Worker(None)
        try:
            for one in live(worker, cache, COUNT, seed=0):
                ended[one.what] += 1
                same[one.what] += one.result == run(one.job)
                say(f"{one.number + 1}: {one.what}, {same.total()} of {ended.total()} equal")
        finally:
            worker.stop()
    rows = "\n".join(f"| {what} | {ended[what]} | {same[what]} |" for what in sorted(ended))
    return PAGE.format(
        count=COUNT,
        left=round(100 * LEFT),
        ended=ended.total(),
        overtaken=COUNT - ended.total(),
        same=same.total(),
        rows=rows,
    )
