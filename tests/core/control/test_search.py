# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings found by rehearsing."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from heft.core.contact.terrain import Mesh, Plane
from heft.core.control.lookahead import Settings, choose_settings
from heft.core.control.lookahead.rehearsing import FEW
from heft.core.control.lookahead.search import candidates
from heft.core.job import Scene, run

from tests.core.job import golden

TOO_MUCH = Settings(adaptation=500.0)  # torques answer to contact so strongly that the walk falls at once


def test_settings_that_hold_are_kept_without_a_word(walk, walk_track):
    choice = choose_settings(walk.character, walk_track, duration=2.0)
    assert choice.settings == Settings()
    assert choice.held
    assert choice.text == ""
    assert [len(trial.rehearsals) for trial in choice.trials] == [3]


def test_others_are_found_where_they_do_not_and_told(walk, walk_track):
    choice = choose_settings(walk.character, walk_track, TOO_MUCH, duration=2.0)
    assert not choice.trials[0].survived
    assert choice.held
    assert choice.settings == Settings(adaptation=0.005)
    assert choice.text == (
        "The character fell with the given settings; in 4 rehearsals it stays up with adaptation 0.005."
    )


def test_the_same_search_finds_the_same(walk, walk_track):
    first, second = (choose_settings(walk.character, walk_track, TOO_MUCH, duration=1.5) for _ in range(2))
    assert first == second


@pytest.mark.parametrize("limit", [{"most": 1}, {"seconds": 0.0}])
def test_limits_are_kept_and_told(walk, walk_track, limit):
    choice = choose_settings(walk.character, walk_track, TOO_MUCH, duration=2.0, **limit)
    assert choice.settings == TOO_MUCH
    assert not choice.held
    assert "1 rehearsals with others found none better" in choice.text


def test_candidates_change_one_thing_before_two():
    tried = list(candidates(Settings()))
    assert tried[0] == Settings()
    assert len(set(tried)) == len(tried)
    assert all(not s.reset_phase and s.force == Settings().force for s in itertools.islice(tried, 6))
    assert {s.force for s in tried} == {Settings().force, 0.1 * Settings().force}


def test_who_runs_into_a_wall_is_told_after_a_few_tries():
    """With help at hand, the default: who falls in all of a dozen will not be saved by more."""
    c, s = np.cos(golden.heading()), np.sin(golden.heading())
    corners = np.array([(c * 1.2 - s * y, s * 1.2 + c * y, z) for y in (-3.0, 3.0) for z in (-0.1, 0.7)])
    corners[:, :2] += golden.kept("walk").clip.position[0, 0, :2]
    wall = Mesh(corners, np.array([(0, 1, 2), (2, 1, 3), (0, 2, 1), (2, 3, 1)]), name="wall")
    tries = []
    job = replace(golden.kept("walk"), scene=Scene(surfaces=(Plane(), wall)), ground="level", help="as_needed")
    result = run(job, lambda progress: tries.append(progress) if progress.stage == "rehearse" else None)
    assert not result.report["good"]
    assert len(tries) <= FEW


def test_the_rest_is_skipped_where_somebody_asks_for_it(walk, walk_track):
    asked = []

    def progress(number):
        asked.append(number)
        return False

    choice = choose_settings(walk.character, walk_track, TOO_MUCH, duration=2.0, progress=progress)
    assert asked == [0, 1]  # the first is had in any case
    assert choice.settings == TOO_MUCH
    assert choice.skipped
    assert choice.text == (
        "The character fell in 1 rehearsals; the others were skipped, and it is simulated with these settings."
    )
