# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a clip and its scene belong together, said in words: what a clean-up alone cannot mend.

A clip that climbs stairs on a plane is not flattened in silence: where nothing touches and yet the body does not fall,
or where its weight is over nothing, something is missing from the scene. Those who move a clip by more than a few
degrees or centimetres are told where.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..character import Character
from ..sentences import in_frames
from .clean_up import CleanMotion
from .fit import Trajectory
from .labels import LabelSettings, distance_from_support, upward_push, zero_moment_point
from .quaternions import Array
from .schedule import ContactPoint, ContactSchedule, Mask, runs
from .tracks import center_of_mass_path, point_places, velocities

MOST_TURNED = np.radians(2.0)  # RMS over joint coordinates
MOST_MOVED = 0.05  # m, RMS of the root
MOST_SHIFT = 0.12  # m: range of the whole body's vertical shift
SHORTEST = 0.1  # s, of a lack of support
SHORTEST_OFF_BALANCE = 0.25  # s: a body that swings its limbs, or falls into a step, may be off balance for less
OFF_BALANCE = 0.15  # m of the zero moment point outside the support
STILL = 0.15  # m/s: a foot in the air slower than this stands on something

PARABOLA = 0.01  # m, RMS, to which a body in flight keeps to one
AGREE = 1.5  # times the slowest flight's, that the fastest's may tell
SLOW = 1.3  # times too slowly, from which on a fall is called slow
FAST = 1.3  # times too fast: what falls so is pulled down

Kind = Literal["no support", "rushed", "off balance", "raised", "turned", "moved", "shifted"]


@dataclass(frozen=True)
class Concern:
    """One thing to know about a reference before it is trusted."""

    kind: Kind
    frames: tuple[float, float]  # first and last, by the source's numbers
    text: str


@dataclass(frozen=True)
class Foothold:
    """Where a foot stands on something that the scene does not have."""

    point: str
    frames: tuple[float, float]
    place: tuple[float, float, float]  # m


def slowness(heights: Iterable[Array], rate: float, gravity: float) -> float | None:
    """How many times too slowly a body falls in its flights, z'' = -g / n^2; None where that is not what is wrong.

    `heights` are those of the centre of mass in each flight. A motion that is played at another frame rate than it was
    made at still flies along parabolas, and all of them tell the same; a single one may be anything.
    """
    found = []
    for height in heights:
        time = np.arange(len(height)) / rate
        powers = np.vander(time, 3)
        coefficients = np.linalg.lstsq(powers, height, rcond=None)[0]
        error = np.sqrt(np.mean((powers @ coefficients - height) ** 2))
        if len(height) <= len(coefficients) or error > PARABOLA or coefficients[0] >= 0.0:
            return None
        found.append(float(np.sqrt(gravity / (-2.0 * coefficients[0]))))
    if len(found) < 2 or min(found) < SLOW or max(found) > AGREE * min(found):
        return None
    return float(np.median(found))


def concerns(character: Character, clip: Trajectory, clean: CleanMotion) -> list[Concern]:
    """What is doubtful about a cleaned-up clip; empty if nothing is."""
    found: list[Concern] = []
    schedule, rate = clean.schedule, clip.rate
    whole = _named(clip, 0, len(clip.q))
    places = point_places(character, clip.q, schedule.points)
    path = center_of_mass_path(character, clip.q)
    push = upward_push(path, rate, float(character.gravity[2]))
    held = push[:, 2] > LabelSettings().held_up
    nothing: Mask = held & ~schedule.active.any(axis=1)
    for start, stop in _long_runs(nothing, rate):
        frames = _named(clip, start, stop)
        found.append(
            Concern(
                "no support",
                frames,
                f"Nothing holds the body up in {in_frames(*frames)}, yet it does not fall: add the ground, seat or bar "
                "that carries it.",
            )
        )
    gravity = -float(character.gravity[2])
    rushed: Mask = (push[:, 2] < (1.0 - FAST**2) * gravity) & ~schedule.active.any(axis=1)
    for start, stop in _long_runs(rushed, rate):
        frames = _named(clip, start, stop)
        times = float(np.sqrt(np.median(1.0 - push[start:stop, 2] / gravity)))
        found.append(
            Concern(
                "rushed",
                frames,
                f"The body falls {times:.1f} times too fast in {in_frames(*frames)}: slow it down, or set the frame "
                "rate that the motion was made at.",
            )
        )
    grabbed = np.array([point.grab for point in schedule.points], dtype=np.bool_)
    pushed = schedule.active & ~grabbed
    away = distance_from_support(places, pushed, zero_moment_point(path, push, places, pushed))
    alone = held & pushed.any(axis=1) & ~(schedule.active & grabbed).any(axis=1)
    for start, stop in _long_runs(alone & (away > OFF_BALANCE), rate, SHORTEST_OFF_BALANCE):
        frames = _named(clip, start, stop)
        found.append(
            Concern(
                "off balance",
                frames,
                f"The body is up to {100.0 * away[start:stop].max():.0f} cm out of balance in {in_frames(*frames)}: "
                "add what else holds it, or move its weight over the feet.",
            )
        )
    for i in (i for i, point in enumerate(schedule.points) if point.foot):
        for start, stop in _long_runs(schedule.active[:, i], rate):
            above = float(np.median((places - schedule.place)[start:stop, i, 2]))
            if above > LabelSettings().off_height:
                frames = _named(clip, start, stop)
                found.append(
                    Concern(
                        "raised",
                        frames,
                        f"'{character.bodies[schedule.points[i].body].name}' was {100.0 * above:.0f} cm above the "
                        f"ground in {in_frames(*frames)}, and was set down.",
                    )
                )
    moved = clean.moved
    worst = [body.name for body in character.bodies][int(np.argmax(np.mean(moved.joints**2, axis=0)))]
    if moved.joint_rms > MOST_TURNED:
        text = (
            f"The joints were turned by {np.degrees(moved.joint_rms):.1f}° RMS, most at '{worst}': check the contacts."
        )
        found.append(Concern("turned", whole, text))
    if moved.root_rms > MOST_MOVED:
        found.append(
            Concern("moved", whole, f"The root was moved by {100.0 * moved.root_rms:.0f} cm RMS: check the contacts.")
        )
    if np.ptp(moved.shift[:, 2]) > MOST_SHIFT:
        text = (
            f"The body was shifted up and down by {100.0 * np.ptp(moved.shift[:, 2]):.0f} cm to stand on the ground: "
            "add the stairs or box that it is on."
        )
        found.append(Concern("shifted", whole, text))
    return found


def lacking_support(character: Character, clip: Trajectory, schedule: ContactSchedule) -> Mask:
    """Frames (nf,) in which nothing touches and yet the body does not fall, or in which it is off balance."""
    held_up, away = beyond_support(character, clip, schedule)
    grabbed = np.array([point.grab for point in schedule.points], dtype=np.bool_)
    result: Mask = np.asarray(held_up & (away > OFF_BALANCE) & ~schedule.active[:, grabbed].any(axis=1))
    return result


def beyond_support(character: Character, clip: Trajectory, schedule: ContactSchedule) -> tuple[Mask, Array]:
    """Whether something holds the body up, in each frame, and how far beyond its support the weight is, m."""
    places = point_places(character, clip.q, schedule.points)
    path = center_of_mass_path(character, clip.q)
    push = upward_push(path, clip.rate, float(character.gravity[2]))
    away = distance_from_support(places, schedule.active, zero_moment_point(path, push, places, schedule.active))
    return np.asarray(push[:, 2] > LabelSettings().held_up), away


def missing_footholds(character: Character, clip: Trajectory, clean: CleanMotion) -> list[Foothold]:
    """Where feet stand still in the air: places for the steps or boxes that the scene lacks."""
    schedule = clean.schedule
    feet = [i for i, point in enumerate(schedule.points) if point.foot]
    points: list[ContactPoint] = [schedule.points[i] for i in feet]
    places = point_places(character, clip.q, points)
    speed = np.linalg.norm(velocities(places, clip.rate), axis=2)
    found = []
    for k, point in enumerate(points):
        still: Mask = (speed[:, k] < STILL) & ~schedule.active[:, feet[k]]
        for start, stop in _long_runs(still, clip.rate):
            if float(places[start:stop, k, 2].min()) > LabelSettings().off_height:
                x, y, z = np.median(places[start:stop, k], axis=0).tolist()
                found.append(Foothold(point.name, (clip.frame(start), clip.frame(stop - 1)), (x, y, z)))
    return found


def _named(clip: Trajectory, start: int, stop: int) -> tuple[float, float]:
    """The frames of an animator in which samples from `start` to before `stop` lie: whole ones, as they are keyed."""
    return float(round(clip.frame(start))), float(round(clip.frame(stop - 1)))


def _long_runs(mask: Mask, rate: float, shortest: float = SHORTEST) -> list[tuple[int, int]]:
    return [(start, stop) for start, stop in runs(mask) if stop - start >= shortest * rate]
