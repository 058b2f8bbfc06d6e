# SPDX-License-Identifier: GPL-3.0-or-later
"""What is drawn of the window while a bake goes on, and how often."""

from types import SimpleNamespace

import bpy
import pytest
from heft.blender_addon.baking.pace import SHARES, Pace
from heft.operators import working

EVERY = 0.05


def drawn(costs: dict[str, float], passes: int = 1, seconds: float = 3000.0) -> tuple[dict[str, int], int]:
    """Times that each part is drawn, the view `passes` times over, at so many seconds each; and events of the timer."""
    pace, now, events = Pace(EVERY), 0.0, 0
    times, left = {"view": 0, "panels": 0}, []
    while now < seconds:
        events += 1
        kind = pace.due(now, posed=True)
        if kind is not None:
            times[kind] += 1
            left += [costs[kind]] * (passes if kind == "view" else 1)
        now += max(EVERY, left.pop(0)) if left else EVERY
    return times, events


@pytest.mark.parametrize("cost", [0.0, 0.005, 0.04])
def test_what_is_drawn_quickly_is_drawn_every_time(cost):
    times, events = drawn({"view": cost, "panels": cost})
    assert times == {"view": events, "panels": 0}


@pytest.mark.parametrize("cost", [0.15, 0.25, 1.0])
@pytest.mark.parametrize("passes", [1, 8])
def test_what_is_drawn_slowly_takes_a_small_share_of_the_time(cost, passes):
    times, _ = drawn({"view": cost, "panels": 0.08}, passes)
    assert 1 < times["view"] <= 3000.0 * SHARES["view"] / (passes * cost) + 1
    assert 10 < times["panels"] <= 3000.0 * SHARES["panels"] / 0.08 + 1


@pytest.mark.parametrize("cost", [0.03, 0.06, 0.09])
@pytest.mark.parametrize("passes", [1, 8])
def test_the_rig_is_seen_to_move(cost, passes):
    """Ten poses a second where a picture takes less than a tenth, however often a viewport would draw it again."""
    pace, now, poses, since = Pace(EVERY), 0.0, 0, 99
    while now < 60.0:
        if pace.due(now, posed=True) == "view":
            poses, since = poses + 1, 0
        since += 1
        now += max(EVERY, cost) if since <= passes else EVERY
    assert poses >= 600


def test_panels_alone_are_drawn_where_no_pose_is_new():
    pace = Pace(EVERY)
    assert [pace.due(EVERY * k, posed=False) for k in range(3)] == ["panels"] * 3


def test_a_single_slow_picture_is_forgotten():
    pace = Pace(EVERY)
    assert pace.due(0.0, posed=True) == "view"
    after = [0.5 + EVERY * k for k in range(1200)]  # it took half a second
    due = [pace.due(now, posed=True) for now in after]
    first = due.index("view")
    assert after[first] == pytest.approx(0.5 / SHARES["view"], abs=2 * EVERY)
    assert set(due[1:first]) == {"panels"}
    assert set(due[first:]) == {"view"}


def test_the_status_bar_goes_along_with_the_poses(monkeypatch):
    """Drawing the views does not draw it: it would say "Reading the motion" until the end."""
    asked = []
    for name in ("views", "panels", "status_bars"):
        monkeypatch.setattr(working.redraw, name, lambda name=name: asked.append(name))
    monkeypatch.setattr(working.session, "is_going_on", lambda _session: True)
    monkeypatch.setattr(working, "progress_on", lambda _manager: SimpleNamespace(stop=False, skip=False))
    monkeypatch.setattr(working, "show_progress", lambda _session: None)
    monkeypatch.setattr(working, "keeper", SimpleNamespace(poll=lambda: ()))
    shows = SimpleNamespace(take=lambda _said: None, show=lambda: None, has_pose=True, over=False)
    bake = SimpleNamespace(_session=shows, _pace=Pace(working.EVERY), _finishing=None, _evaluated=False)
    assert working.Working.modal(bake, bpy.context, SimpleNamespace(type="TIMER")) == {"PASS_THROUGH"}
    assert asked == ["views", "status_bars"]
