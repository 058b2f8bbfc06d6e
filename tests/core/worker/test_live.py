# SPDX-License-Identifier: GPL-3.0-or-later
"""What a worker that follows edits ends with is what a fresh bake gives, to the bit."""

from dataclasses import replace

from heft.core.cache import Cache, Memory
from heft.core.control.lookahead import search
from heft.core.control.lookahead.search import rehearse
from heft.core.job import Scene, run
from heft.core.worker.worker import Worker

from tests.core.worker.edits import live, pushed, walk


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


def test_a_push_that_is_recovered_from_is_not_rehearsed_again_where_it_moves(tmp_path, monkeypatch):
    rehearsed = []
    monkeypatch.setattr(search, "rehearse", lambda *arguments: rehearsed.append(1) or rehearse(*arguments))
    cache = Cache(tmp_path, Memory())
    for recovery in (True, False):
        for aside in (0.0, 0.5):
            job = replace(walk(), recovery=recovery, scene=Scene(pushes=(pushed(0.4, 50.0, aside),)))
            before = len(rehearsed)
            result = run(job, cache=cache)
            assert len(rehearsed) - before == (aside == 0.0 or not recovery)  # who does not recover foresees it
            assert result == run(job)
    before = len(rehearsed)
    run(replace(job, scene=replace(job.scene, friction=0.9)), cache=cache)
    assert len(rehearsed) == before + 1
