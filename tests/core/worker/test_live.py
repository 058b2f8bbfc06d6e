# SPDX-License-Identifier: GPL-3.0-or-later
"""What a worker that follows edits ends with is what a fresh bake gives, to the bit."""

from heft.core.job import run
from heft.core.worker.worker import Worker

from tests.core.worker.edits import live


def test_a_worker_that_was_overtaken_and_kept_what_it_made_ends_as_a_fresh_bake(tmp_path):
    worker = Worker(None)
    try:
        ended = list(live(worker, str(tmp_path), 8, seed=1))
    finally:
        worker.stop()
    assert 2 < len(ended) < 8
    assert ended[-1].number == 7
    for one in (ended[1], ended[-1]):
        assert one.result == run(one.job)
