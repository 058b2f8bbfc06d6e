# SPDX-License-Identifier: GPL-3.0-or-later
"""SIMBICON's planar body under combined look-ahead control jumps, and is pushed: part of the study of combination."""

from functools import cache, partial
from typing import NamedTuple

import numpy as np
from heft.core.character import Character
from heft.core.character.presets.planar import ANKLE_HEIGHT, length
from heft.core.control.combination.middles import filled
from heft.core.control.combination.motions import CombinedMotion
from heft.core.control.law import AffineLaw, NoLawError
from heft.core.dynamics import center_of_mass
from heft.core.motion.fit import Trajectory, velocities
from heft.core.motion.reference import Reference
from heft.core.motion.rest import held, without_rest
from heft.core.motion.schedule import ContactSchedule, contact_points, runs
from heft.core.motion.spacetime import build_reference
from heft.core.motion.tracks import point_places
from heft.core.report.svg import line_chart
from heft.core.simulation import DivergedError, World
from heft.studies.lib.chart import alone

RATE = 120.0
THIGH, SHIN = length("thigh"), length("shin")
STANDING = THIGH + SHIN + ANKLE_HEIGHT - 0.01  # m, of the hips
GRAVITY = 9.81
OVER = 0.5 * length("foot") - 0.06  # m, of the sole's middle ahead of the ankle
AFTER = 1.5  # s, in which it is to come to rest
FALLEN, CALM = 0.3, 1.0  # m, rad/s and m/s


class Outcome(NamedTuple):
    heights: np.ndarray  # (n,) of the centre of mass over where it is at first, m
    shares: np.ndarray  # (n, motions)
    stands: bool  # at the end


def smooth(x):
    """From 0 to 1 with no speed at either end."""
    x = np.clip(x, 0.0, 1.0)
    return x * x * (3.0 - 2.0 * x)


def pose(character, hips, ankles, lean, arms):
    """q with the hips and both ankles at (x, z), the torso leaning ahead, the arms swung back by an angle."""
    q = np.zeros(character.nq)
    q[0], q[2] = hips
    q[3], q[5] = np.cos(0.5 * lean), np.sin(0.5 * lean)
    start = character.tree.position_start

    def put(name, angle):
        q[start[character.index(name)]] = angle

    for side, (x, z) in zip(("left", "right"), ankles, strict=True):
        dx, dz = x - hips[0], z - hips[1]
        reach = min(np.hypot(dx, dz), THIGH + SHIN - 1e-3)
        knee = np.arccos(np.clip((reach**2 - THIGH**2 - SHIN**2) / (2.0 * THIGH * SHIN), -1.0, 1.0))
        along = np.arctan2(-dx, -dz)
        thigh = along - np.arctan2(SHIN * np.sin(knee), THIGH + SHIN * np.cos(knee))
        put(f"{side}_thigh", thigh - lean)
        put(f"{side}_shin", knee)
        put(f"{side}_foot", -thigh - knee)
        put(f"{side}_upper_arm", arms)
        put(f"{side}_lower_arm", -0.2)
    return q


def balanced(character, height, lift, lean, arms, over):
    """The pose whose centre of mass is over a point `over` ahead of the ankles."""
    x = 0.0
    for _ in range(30):
        q = pose(character, (x, height), ((0.0, ANKLE_HEIGHT + lift),) * 2, lean, arms)
        x -= float(center_of_mass(character, q)[0]) - over
    return q


def reference_of(character, q, stands):
    """The possible motion nearest to poses, whose feet stand where `stands` (nf, 2) says of the left and the right."""
    points = contact_points(character)
    side = np.array([0 if point.name.startswith("left") else 1 for point in points])
    active = stands[:, side] & np.array([point.foot for point in points])
    seen, place = point_places(character, q, points), np.zeros((len(q), len(points), 3))
    for p in range(len(points)):
        for start, stop in runs(active[:, p]):
            place[start:stop, p, :2] = np.median(seen[start:stop, p, :2], axis=0)
    trajectory = Trajectory(RATE, q, velocities(character, q, RATE))
    made = build_reference(character, *held(trajectory, ContactSchedule(points, active, place)))
    return without_rest(made, len(q))


@cache
def jump(rise: float) -> Reference:
    """Down, up, a flight in which the hips rise that far, a landing, and rest."""
    character = Character.preset("simbicon2d")
    speed, low, top = np.sqrt(2.0 * GRAVITY * rise), 0.22, STANDING
    before, down, push, land, rest = (round(seconds * RATE) for seconds in (0.2, 0.4, 0.25, 0.45, 0.5))
    flight = round(2.0 * speed / GRAVITY * RATE)
    z, lift = [top] * before, []
    z += [top - low * smooth(k / down) for k in range(down)]
    a, b = 3.0 * low - speed * push / RATE, speed * push / RATE - 2.0 * low
    z += [top - low + a * (k / push) ** 2 + b * (k / push) ** 3 for k in range(push)]
    first = len(z)
    z += [top + 4.0 * rise * (k / flight) * (1.0 - k / flight) for k in range(flight + 1)]
    z += [top - speed * land / RATE * (k / land) * (1.0 - k / land) ** 2 for k in range(1, land)]
    z += [top] * rest
    lift = np.zeros(len(z))
    lift[first : first + flight + 1] = np.array(z[first : first + flight + 1]) - top
    q = []
    for height, up in zip(z, lift, strict=True):
        bend = (top - height + up) / low
        q.append(balanced(character, height, up, 0.5 * bend, 0.6 * bend, OVER))
    stands = np.ones((len(z), 2), dtype=bool)
    stands[first + 1 : first + flight] = False
    return reference_of(character, np.array(q), stands)


@cache
def catch(step: float) -> Reference:
    """Standing, then a step of that length, ahead or back, by which a push that way would be caught."""
    character = Character.preset("simbicon2d")
    q, stands = [], []
    for k in range(round(1.6 * RATE)):
        t = k / RATE
        swing, shift = smooth((t - 0.3) / 0.3), smooth((t - 0.2) / 0.5)
        flying = 0.3 < t < 0.6
        left = (step * swing, ANKLE_HEIGHT + (0.05 * np.sin(np.pi * (t - 0.3) / 0.3) ** 2 if flying else 0.0))
        hips = (OVER + 0.5 * step * shift, STANDING - 0.03 * shift)
        q.append(pose(character, hips, (left, (0.0, ANKLE_HEIGHT)), 0.0, 0.0))
        stands.append((not flying, True))
    return reference_of(character, np.array(q), np.array(stands))


def run(motion, law=None, noise=0.0, push=None):
    """Heights of the centre of mass, shares of the first motion, and whether it stands at the end.

    `push` is a force along x, N, from PUSHED_AT on for PUSHED; or a function of time.
    """
    motion.start_at()
    world = World(motion.character, rate=RATE)
    q, v = motion.reference_state()
    world.reset(q, v + noise)
    start, heights, shares = float(center_of_mass(motion.character, q)[2]), [], []
    while world.time < motion.controllers[0].steps / RATE + AFTER:
        force = 0.0 if push is None else push(world.time)
        if force != 0.0:
            world.apply_impulse("torso", np.array([force * world.dt, 0.0, 0.0]), (0.0, 0.0, 0.3))
        try:
            world.step(law or motion)
        except (DivergedError, NoLawError):
            break
        heights.append(float(center_of_mass(motion.character, world.q)[2]) - start)
        shares.append(motion.shares.copy())
        if heights[-1] < -FALLEN:
            break
    else:
        return Outcome(np.array(heights), np.array(shares), bool(np.abs(world.v).max() < CALM))
    return Outcome(np.array(heights), np.array(shares), False)


JUMPS = """## Jumps of any height between two

SIMBICON's planar body, 51 kg, stands, bends its knees, jumps and lands under look-ahead control at 120 Hz. {made} jumps
are combined, all but two of which were made between the two. Height is how far the centre of mass rises over where it
is at first. What each jump attains is measured by itself: {attained} cm,
where its reference has {rises} cm. Five heights are asked between the least and the
greatest, with five starts each, every velocity nudged by 0.05 m/s and rad/s.
"""

JUMPED = """
What holds: any height between two jumps is jumped, {error:.1f} cm off on average, and landed from every start; from the
two alone, with none made between them, it is four times as far off. What does not: "a weighted average fails to land".
Fixed weights on the feedback laws do as well; the jumps' torques alone, averaged by the same weights, never leave the
ground. And jumps are higher than their references have them, by a fifth.
"""

PUSHES = """## Figure 6-11: pushed forwards or backwards

The same body stands, and steps 30 cm ahead or back 0.1 s later; 25 pushes of its torso for 0.1 s, evenly from -360 N to
360 N. A push is survived if it stands still in the end. The mean has fixed weights; the choice has equal weights, and
lambda as a share of the values' typical difference.
"""

PUSHED = """
![Who has the say](combination_6_11.svg)

What holds: the weights choose the step that goes with the push, within 0.3 s, and at a tenth of the values' typical
difference or less more pushes are survived than by either step alone or their mean. Tugged ahead and then back, the
weight goes ahead, and then settles on the step back (figure 6-11). What does not: at the whole of the difference the
choice is hardly better than the mean, which is worse than either step.
"""

HEIGHTS, STARTS, NUDGE = 5, 5, 0.05
FORCES = np.linspace(-360.0, 360.0, 25)
PUSHED_AT, PUSHED_FOR = 0.2, 0.1  # s
EQUAL = 1e12  # a temperature at which values no longer count


class TorquesAlone:
    """The jumps' own torques by the motion's weights, without feedback."""

    def __init__(self, motion):
        self.motion = motion

    def law(self, state, contacts):
        torque = sum(
            weight * one.track.torque[one.place.frame]
            for weight, one in zip(self.motion.weights, self.motion.controllers, strict=True)
        )
        self.motion.law(state, contacts)  # for its count of frames
        return AffineLaw(torque)


def jumps() -> list[str]:
    """The text, a row for each control, and what holds."""
    given = [jump(0.1), jump(0.3)]
    line = filled(given)
    many, two = CombinedMotion(line.references, places=line.places), CombinedMotion(given)
    attained = {motion: alone_each(motion) for motion in (many, two)}
    own, rng = many.temperature, np.random.default_rng(5)
    nudges = NUDGE * rng.standard_normal((HEIGHTS, STARTS, many.character.nv)) * in_plane(many.character)
    asked = np.linspace(attained[many][0], attained[many][-1], HEIGHTS)
    page = [
        "| control | mean error of height, cm | worst | mean rise at each height asked, cm | land |",
        "|---|---|---|---|---|",
    ]
    rules = {
        "by value": (many, own, False),
        "fixed weights": (many, EQUAL, False),
        "the two given alone, by value": (two, two.temperature, False),
        "torques alone": (many, own, True),
    }
    errors = []
    for label, (motion, temperature, bare) in rules.items():
        motion.temperature = temperature
        rises, landed = np.zeros((HEIGHTS, STARTS)), 0
        for h, height in enumerate(asked):
            span = attained[motion]
            motion.ask(motion.place_of(span, float(np.clip(height, span.min(), span.max()))))
            for s in range(STARTS):
                found = run(motion, TorquesAlone(motion) if bare else None, nudges[h, s])
                rises[h, s] = found.heights.max()
                landed += found.stands
        error = np.abs(rises - asked[:, None])
        errors.append(100.0 * error.mean())
        page.append(
            f"| {label} | {errors[-1]:.1f} | {100.0 * error.max():.1f} | {centimetres(rises.mean(axis=1))} | "
            f"{landed} of {rises.size} |"
        )
    page.append(f"| asked | | | {centimetres(asked)} | |")
    text = {"attained": centimetres(attained[many]), "rises": centimetres(many.rises)}
    return [JUMPS.format(made=len(line.places), **text), *page, JUMPED.format(error=errors[0])]


def alone_each(motion) -> np.ndarray:
    """What each of the combined motions attains by itself, m: asked for its own place, it is alone."""
    found = []
    for place in motion.places:
        motion.ask(place)
        found.append(run(motion).heights.max())
    return np.array(found)


def centimetres(lengths) -> str:
    """In a row."""
    return ", ".join(f"{100.0 * length:.1f}" for length in lengths)


def in_plane(character) -> np.ndarray:
    """(nv,) 1 for velocities that leave a planar body in its plane."""
    kept = np.ones(character.nv)
    kept[[1, 3, 5]] = 0.0
    return kept


def pushes(folder) -> list[str]:
    """The text, a row for each control, a picture, and what holds."""
    steps = [catch(0.3), catch(-0.3)]
    fixed, choosing = CombinedMotion(steps, temperature=EQUAL), CombinedMotion(steps, by_value=True, softness=1.0)
    whole = choosing.temperature
    page = [PUSHES, "| control | survive | from, N | to, N |", "|---|---|---|---|"]
    rules = {"the step ahead": (fixed, 0.0, EQUAL), "the step back": (fixed, 1.0, EQUAL)}
    rules["their mean"] = (fixed, 0.5, EQUAL)
    rules |= {f"the choice, {share:g}": (choosing, 0.5, share * whole) for share in (5.0, 1.0, 0.3, 0.1, 0.03)}
    for label, (motion, place, temperature) in rules.items():
        motion.temperature = temperature
        motion.ask(place)
        good = np.array([run(motion, push=partial(one_push, force)).stands for force in FORCES])
        held_out = FORCES[good]
        ends = f"{held_out.min():.0f} | {held_out.max():.0f}" if good.any() else "- | -"
        page.append(f"| {label} | {good.sum()} of {len(FORCES)} | {ends} |")
    choosing.temperature = 0.1 * whole
    lines, count = {}, round(1.6 * RATE)
    for label, push in (
        ("pushed ahead", partial(one_push, 200.0)),
        ("pushed back", partial(one_push, -200.0)),
        ("tugged ahead, back, back", tugs),
    ):
        choosing.ask(0.5)
        shares = run(choosing, push=push).shares[:count, 0]
        lines[label] = np.pad(shares, (0, count - len(shares)), constant_values=np.nan)
    time = np.arange(count) / RATE
    chart = line_chart("Figure 6-11: share of the step ahead", time, lines, "seconds", "share")
    (folder / "combination_6_11.svg").write_text(alone(chart), encoding="utf-8")
    return [*page, PUSHED]


def one_push(force, time):
    """A push, N."""
    return force if PUSHED_AT <= time < PUSHED_AT + PUSHED_FOR else 0.0


def tugs(time):
    """Ahead, back, and back again, N."""
    return sum(
        force for start, force in ((0.1, 150.0), (0.25, -300.0), (0.45, -150.0)) if start <= time < start + PUSHED_FOR
    )
