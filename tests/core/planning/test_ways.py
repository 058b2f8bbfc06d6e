# SPDX-License-Identifier: GPL-3.0-or-later
"""Values over errors of place, and what is looked ahead along a way, against all sequences tried one by one."""

import itertools

import numpy as np
import pytest
from heft.core.planning import Action, Ahead, Errand, Pose, Trials, Way, fit
from heft.core.planning.places import ASIDE, ASIDES, HEADINGS
from heft.core.planning.search import ASKEW, BREADTH, MISS, MOST, UNSURE
from heft.core.planning.values import KEPT

WALKS, STANDS = 1, 0
HALF = ((0.5, 0.0), (1.0, 0.0))


def turning(degrees):
    """An arc of a metre."""
    angle = np.radians(degrees)
    way = tuple((float(np.sin(a) / angle), float((1.0 - np.cos(a)) / angle)) for a in (0.5 * angle, angle))
    return Action(f"{degrees}", WALKS, WALKS, angle, 1.0, 1.0, way[-1], way)


AHEAD = Action("ahead", WALKS, WALKS, 0.0, 1.0, 1.0, (1.0, 0.0), HALF)
SHORT = Action("short", WALKS, WALKS, 0.0, 0.8, 0.75, (0.6, 0.0), ((0.3, 0.0), (0.6, 0.0)))
STOP = Action("stop", WALKS, STANDS, 0.0, 1.0, 0.5, (0.5, 0.0), ((0.25, 0.0), (0.5, 0.0)))
STAND = Action("stand", STANDS, STANDS, 0.0, 0.25, 0.0, (0.0, 0.0), ((0.0, 0.0), (0.0, 0.0)))
START = Action("start", STANDS, WALKS, 0.0, 1.0, 0.5, (0.5, 0.0), ((0.25, 0.0), (0.5, 0.0)))
TURNS = (AHEAD, turning(30), turning(-30), turning(15), turning(-15))
ALL = (AHEAD, SHORT, turning(30), turning(-30), STOP, STAND, START)
SPACING = 0.02
ERRAND = Errand()


def bent(aside):
    """What it costs to be aside: a square, and from 0.2 m on its tangent."""
    aside = min(abs(aside), ASIDE)
    return aside**2 if aside < 0.2 else 0.04 + 0.4 * (aside - 0.2)


def missed(off, usual):
    """Half a square, and from what is usual on its tangent."""
    off = abs(off)
    return 0.5 * off**2 / usual if off < usual else off - 0.5 * usual


def trials(actions):
    size = len(actions), len(actions)
    return Trials(np.zeros(size), np.zeros(size))


def straight(length, *, stops=True):
    x = np.arange(0.0, length + 0.5 * SPACING, SPACING)
    return Way(np.column_stack([x, np.zeros(len(x))]), np.zeros(len(x)), stops)


def ring(radius, length):
    """To the left, from the origin along x."""
    angle = np.arange(0.0, length, SPACING) / radius
    return Way(radius * np.column_stack([np.sin(angle), 1.0 - np.cos(angle)]), angle, stops=False)


def ahead_of(actions, depth=5, errand=ERRAND):
    return Ahead(actions, fit(actions, trials(actions), 1.0, 1.0, errand), 1.0, 1.0, errand, depth, depth)


def choose(planner, actions, last, pose, way):
    place = way.nearest(pose.x, pose.y)
    return planner.best(last, pose, way, place, np.zeros(len(actions)))


def moved(pose, action):
    c, s = np.cos(pose.heading), np.sin(pose.heading)
    x, y = action.shift
    return Pose(pose.x + c * x - s * y, pose.y + s * x + c * y, pose.heading + action.turn)


def walked(actions, way, pose, count, last=0, depth=5):
    """Poses, and the names of what was chosen."""
    planner, poses, names = ahead_of(actions, depth), [pose], []
    place = way.nearest(pose.x, pose.y)
    for _ in range(count):
        last = planner.best(last, poses[-1], way, place, np.zeros(len(actions))).number
        names.append(actions[last].name)
        poses.append(moved(poses[-1], actions[last]))
        place = way.along(place, poses[-1].x, poses[-1].y)
    return poses, names


def test_beside_the_way_for_ever_is_a_geometric_series():
    """Without turns nobody comes back: each second costs what the distance does."""
    errand = Errand(aside=20.0, progress=0.0)
    values = fit((AHEAD,), trials((AHEAD,)), 1.0, 1.0, errand)
    middle = (ASIDES - 1) // 2
    aside = np.linspace(-ASIDE, ASIDE, ASIDES)
    assert values.after[0, middle, 0] == pytest.approx(0.0, abs=1e-9)
    costs = [20.0 * bent(away) / (1.0 - KEPT) for away in aside]
    assert values.after[0, :, 0] == pytest.approx(costs, rel=1e-6, abs=1e-9)


def test_values_are_the_same_mirrored():
    values = fit(TURNS, trials(TURNS), 1.0, 1.0, Errand())
    other = np.roll(values.after[0, ::-1, ::-1], 1, axis=1)
    assert values.after[0] == pytest.approx(other, rel=1e-6, abs=1e-6)
    assert values.after[0, 0, 0] > values.after[0, 5, 0]  # farther off is dearer
    assert values.after[0, 0, HEADINGS // 12] < values.after[0, 0, -HEADINGS // 12]  # and to head away from it


@pytest.mark.parametrize("pose", [Pose(0.0, 0.3, 0.2), Pose(0.4, -0.6, -1.0), Pose(2.2, 0.1, 0.0), Pose(1.0, 0.0, 0.5)])
@pytest.mark.parametrize("depth", [1, 3])
def test_what_is_found_is_the_best_of_all_sequences(pose, depth):
    """Brute force: each sequence on its own, without giving any up."""
    way, errand = straight(4.0), Errand()
    planner = ahead_of(ALL, depth, errand)
    number, cost, trim = choose(planner, ALL, 0, pose, way)
    best, first = np.inf, -1
    values = fit(ALL, trials(ALL), 1.0, 1.0, errand)
    for sequence in itertools.product(range(len(ALL)), repeat=depth):
        total, here, last, over = 0.0, pose, 0, False
        for chosen in sequence:
            action = ALL[chosen]
            if not np.isfinite(values.pairs[last, chosen]):
                total = np.inf
                break
            c, s = np.cos(here.heading), np.sin(here.heading)
            off = [(here.y + s * x + c * y) for x, y in action.way]
            there = moved(here, action)
            total += action.seconds * errand.aside * np.mean([bent(a) for a in off])
            total += errand.progress * abs(there.x - here.x - action.seconds) + errand.back * max(here.x - there.x, 0.0)
            here, last = there, chosen
            if action.target == STANDS:
                total += errand.end * missed(np.hypot(here.x - 4.0, here.y), MISS)
                total += errand.turned * missed(here.heading, ASKEW)
                over = True
                break
        if np.isfinite(total) and not over:
            row = (np.clip(here.y, -ASIDE, ASIDE) + ASIDE) / (2 * ASIDE) * (ASIDES - 1)
            column = here.heading % (2 * np.pi) / (2 * np.pi) * HEADINGS
            r, k = min(int(row), ASIDES - 2), int(column)
            table = values.after[last]
            low, high = (
                (1 - column + k) * table[r + up, k % HEADINGS] + (column - k) * table[r + up, (k + 1) % HEADINGS]
                for up in (0, 1)
            )
            total += (1 - row + r) * low + (row - r) * high
            total += errand.end * (UNSURE + max(0.5 - (4.0 - here.x), 0.0))
        if total < best:
            best, first = total, sequence[0]
    assert cost == pytest.approx(best, rel=1e-9)
    assert number == first
    assert trim == (0.0, 0.0, 0.0)


def test_of_many_actions_the_most_promising_suffice():
    """What is best of all sequences is found, up to where the way ends."""
    many = (*ALL, *(turning(degrees) for degrees in (45, -45, 60, -60, 10, -10, 20, -20)))
    bend = np.linspace(0.0, 1.2, 400)
    way = Way(4.0 * np.column_stack([np.sin(bend), 1.0 - np.cos(bend)]), bend)
    values = fit(many, trials(many), 1.0, 1.0, ERRAND)
    looks = []
    few, all_ = (Ahead(many, values, 1.0, 1.0, ERRAND, 4, 4, breadth) for breadth in (BREADTH, (len(many),)))
    for place in range(0, len(way.places), 40):
        for aside in (-0.2, 0.0, 0.1):
            x, y = way.places[place]
            pose = Pose(x - aside * np.sin(bend[place]), y + aside * np.cos(bend[place]), bend[place])
            found, best = (one.best(0, pose, way, place, np.zeros(len(many))) for one in (few, all_))
            assert found.cost == pytest.approx(best.cost, rel=0.02)
            looks.append((few.looks, all_.looks))
    few_looks, all_looks = np.array(looks).T
    assert few_looks.max() <= all_looks.max() <= MOST
    assert few_looks.sum() < all_looks.sum()


def test_however_much_could_be_looked_at_it_decides_in_time():
    """Six actions ahead, where the way ends, and none of them leads there well."""
    many = (*ALL, *(turning(degrees) for degrees in (45, -45, 60, -60, 10, -10, 20, -20)))
    planner = ahead_of(many, depth=6)
    way = straight(4.7)
    for x in np.arange(0.0, 4.0, 0.4):
        choose(planner, many, 0, Pose(x, 0.15, 0.1), way)
        assert planner.looks <= MOST


def test_who_is_beside_the_way_comes_back_and_stays():
    poses, names = walked(TURNS, straight(40.0, stops=False), Pose(0.0, 0.8, 0.0), 20)
    assert abs(poses[-1].y) < 0.1
    assert abs(poses[-1].heading) < 1e-9
    assert names[0] == "-30"


def test_who_heads_the_wrong_way_turns_round():
    sharp = (*TURNS, turning(90), turning(-90))
    poses, _ = walked(sharp, straight(40.0, stops=False), Pose(10.0, 0.0, np.pi), 16)
    assert np.cos(poses[-1].heading) == pytest.approx(1.0)
    assert min(pose.x for pose in poses) > 7.0
    assert abs(poses[-1].y) < 0.15


def test_a_ring_is_kept_to():
    """Of two metres: a metre of it turns by 28.6 degrees."""
    poses, _ = walked(TURNS, ring(2.0, 30.0), Pose(0.0, 0.0, 0.0), 25)
    off = [abs(np.hypot(pose.x, pose.y - 2.0) - 2.0) for pose in poses]
    assert max(off) < 0.2


def test_it_stands_where_the_way_ends():
    """After metres and steps of 0.6 m comes a stop of 0.5 m: 6 + 2 x 0.6 + 0.5 is 7.7."""
    poses, names = walked(ALL, straight(7.74), Pose(0.0, 0.0, 0.0), 12)
    stood = names.index("stop")
    assert np.hypot(poses[stood + 1].x - 7.74, poses[stood + 1].y) < 0.05
    assert set(names[stood + 1 :]) == {"stand"}


def test_the_next_bend_is_seen():
    """A corner of 60 degrees is rounded before it comes."""
    x = np.arange(0.0, 5.0, SPACING)
    first = np.column_stack([x, np.zeros(len(x))])
    second = np.array([5.0, 0.0]) + x[:, None] * np.array([0.5, np.sqrt(0.75)])
    heading = np.concatenate([np.zeros(len(x)), np.full(len(x), np.pi / 3.0)])
    way = Way(np.concatenate([first, second]), heading, stops=False)
    poses, names = walked(TURNS, way, Pose(0.0, 0.0, 0.0), 9)
    assert "30" in names[:5]
    assert poses[-1].heading == pytest.approx(np.pi / 3.0)
