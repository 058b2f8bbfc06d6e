# SPDX-License-Identifier: GPL-3.0-or-later
"""How far each foot slides in each stance of a bake, beside what its source and its plan do meanwhile.

A stance lasts as long as a foot bears a twentieth of the weight, and the way of a corner of its sole adds up while that
corner presses, as in `report/metrics.py`. Whether a foot glides or turns under load is asked of the source alone: that
of none that stands, however it was baked, is to slide.
"""

from dataclasses import asdict, dataclass
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from heft.core.character.parts import Corner
from heft.core.contact.terrain import make_terrain
from heft.core.job import BakeJob, BakeResult, run
from heft.core.job.preparing import Motion
from heft.core.job.running import precompute
from heft.core.job.showing import source_poses
from heft.core.job.simulated_scene import scene_surfaces
from heft.core.motion.schedule import ContactPoint, contact_points, runs
from heft.core.motion.tracks import ground_under, point_places, velocities
from heft.core.report.dynamics import Dynamics
from heft.core.report.metrics import LANDED, PRESSING, STANCE_GAP, STANDING, feet
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

STILL = 0.005  # m, up to which a foot stands
GLIDES = 0.04  # m: in the source no end of the sole stays as near as this to one place
TURNS = np.radians(25.0)  # by which the source turns the foot under load
LOW = 0.026  # m over where an end usually is in a stance: higher, it does not touch
SLOW = 0.05  # m/s: slower than this, all samples count alike for an end's place
NEAR = 0.002  # m from a corner, of a contact that is that corner's


@dataclass(frozen=True)
class Stance:
    """A foot from where it comes to bear weight to where it no longer does, by the source's frames."""

    foot: str
    first_frame: float
    last_frame: float
    slide: float  # m, the farthest that a corner went while it pressed
    frame: float  # when it was as far as that
    corner: str
    planned: float  # m, by the reference, of the same corners in the same steps
    source: float  # m, by which the steadier end of the sole strays in the source
    source_turn: float  # rad

    @property
    def glides(self) -> bool:
        """Whether the source slides or turns that foot under load."""
        return self.source > GLIDES or self.source_turn > TURNS

    @property
    def phase(self) -> float:
        """When it was farthest: 0 where it came down, 1 where it left."""
        return (self.frame - self.first_frame) / max(self.last_frame - self.first_frame, 1e-9)


def bake(job: BakeJob) -> tuple[Motion, BakeResult] | str:
    """The motion and the result of a job that is neither looped nor played otherwise, or why it is refused."""
    with TemporaryDirectory() as cache:
        try:
            return precompute(job, cache=cache), run(job, cache=cache)
        except ValueError as refusal:
            return str(refusal)


def stances(job: BakeJob, motion: Motion, result: BakeResult) -> list[Stance]:
    """All of them, in the order of feet and time."""
    dynamics, fps = result.dynamics, result.fps
    assert dynamics is not None
    character, steps = dynamics.character, dynamics.steps
    sample = np.minimum(np.arange(steps + 1, dtype=np.float64), len(motion.source) - 1)
    source = source_poses(motion, sample, np.zeros(steps + 1, dtype=np.int64))
    planned = motion.reference.q[np.minimum(sample.astype(np.int64), motion.reference.steps)]
    weight = character.total_mass * float(np.linalg.norm(character.gravity))
    load = np.linalg.norm(dynamics.forces(), axis=2)
    ends = contact_points(character)
    terrain = make_terrain(scene_surfaces(job, motion))
    found = []
    for body in feet(character):
        name = character.bodies[body].name
        corners = [
            ContactPoint(shape.name, body, shape.position)
            for shape in character.contacts
            if isinstance(shape, Corner) and shape.body == name
        ]
        own = [point for point in ends if point.foot and point.body == body]
        places = point_places(character, dynamics.q, corners)
        wanted = point_places(character, planned, corners)
        tracks = point_places(character, source, own)
        pressing = _pressing(dynamics, body, places)
        heights = ground_under(terrain, places, np.zeros(len(corners)), dynamics.rate).height
        pressing &= heights[1:] < LANDED
        for start, stop in _bearing(load[:, body] > STANDING * weight, round(STANCE_GAP * dynamics.rate)):
            ways = _ways(places, pressing, start, stop)
            far, corner = np.unravel_index(int(ways.argmax()), ways.shape)
            strays, turn = _of_source(tracks[start + 1 : stop + 1], dynamics.rate)
            frames = [motion.first_frame + step / dynamics.rate * fps for step in (start, stop, start + int(far))]
            found.append(
                Stance(
                    foot=name,
                    first_frame=round(frames[0], 1),
                    last_frame=round(frames[1], 1),
                    slide=float(ways.max()),
                    frame=round(frames[2], 1),
                    corner=corners[int(corner)].name,
                    planned=float(_ways(wanted, pressing, start, stop).max()),
                    source=strays,
                    source_turn=turn,
                )
            )
    return found


def to_data(stance: Stance) -> dict[str, Any]:
    """For a journal."""
    return asdict(stance)


def _bearing(loaded: Mask, gap: int) -> list[tuple[int, int]]:
    """Stances as runs of steps, over gaps of so many at most."""
    closed = loaded.copy()
    for start, stop in runs(~loaded):
        if start > 0 and stop < len(loaded) and stop - start < gap:
            closed[start:stop] = True
    return runs(closed)


def _pressing(dynamics: Dynamics, body: int, places: Array) -> Mask:
    """Which corners (steps, corners) of a foot press in which step; forces of step k act at state k + 1."""
    result = np.zeros((dynamics.steps, places.shape[1]), dtype=np.bool_)
    step = dynamics.contact_step
    presses = (dynamics.contact_body == body) & (np.linalg.norm(dynamics.contact_force, axis=1) > PRESSING)
    for row in np.flatnonzero(presses):
        away = np.linalg.norm(places[step[row] + 1] - dynamics.contact_point[row], axis=1)
        corner = int(np.argmin(away))
        result[step[row], corner] |= bool(away[corner] < NEAR)
    return result


def _ways(places: Array, pressing: Mask, start: int, stop: int) -> Array:
    """How far (steps, corners) each corner is, step by step, from where it began, counting steps in which it presses.

    What presses does not leave the ground, so all of its way is along it.
    """
    moves = np.diff(places[start + 1 : stop + 1], axis=0)
    ways = np.cumsum(np.where(pressing[start : stop - 1, :, None], moves, 0.0), axis=0)
    result: Array = np.linalg.norm(ways, axis=2)
    return result if len(result) else np.zeros((1, places.shape[1]))


def _of_source(tracks: Array, rate: float) -> tuple[float, float]:
    """How far the steadier end (n, ends, 3) of a sole strays while it is down, and by how much the sole turns, flat."""
    speed = np.linalg.norm(velocities(tracks, rate), axis=2)
    down = tracks[..., 2] < np.median(tracks[..., 2], axis=0) + LOW
    weight = np.where(down, 1.0 / (speed + SLOW) ** 2, 0.0)
    mean = np.einsum("tk,tki->ki", weight, tracks) / weight.sum(axis=0)[:, None]
    strays = np.where(down, np.linalg.norm((tracks - mean)[..., :2], axis=2), 0.0).max(axis=0)
    flat = down.all(axis=1)
    turn = 0.0
    if tracks.shape[1] > 1 and flat.any():
        along = tracks[:, -1] - tracks[:, 0]
        yaw = np.unwrap(np.arctan2(along[:, 1], along[:, 0]))[flat]
        turn = float(np.ptp(yaw))
    return float(strays.min()), turn
