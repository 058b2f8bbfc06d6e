# SPDX-License-Identifier: GPL-3.0-or-later
"""Several motions of one character, switched between as they are chosen: all in a row, in the place of a reference.

Each motion is fitted by itself and made a cycle: a gait, or standing as it ends. Bridges between those that are chosen
one after the other are found by the method, which tries them out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from .. import archive
from ..cache import Cache, code_version
from ..control.methods import method_named
from ..motion import quaternions
from ..motion.cycles import find_cycles, planar_step
from ..motion.labels import label
from ..motion.prepare import Performance
from ..motion.quaternions import Array
from ..motion.reference import Reference
from ..motion.residuals import Residuals
from ..motion.rest import CALM, SLOW
from ..motion.sequence import Choice, Piece, concatenate, row_of, standing
from ..simulation.scene import Scene
from .carried import loaded
from .fitting import first_frame_of, performance_of, samples_of
from .job import BakeJob
from .keeping import keep
from .motion import Motion, residuals_of
from .preparing import find_reference, reference_settings
from .progress import Clock, ProgressReporter
from .several import Part, of_one_character
from .surroundings.floor import lift_of

STANDING = 0.5  # s, of standing as a cycle


@dataclass(frozen=True, eq=False)
class FoundRow:
    """What is kept of motions in a row."""

    reference: Reference
    residuals: Residuals
    lines: tuple[str, ...]


def make_row(job: BakeJob, reporter: ProgressReporter, cache: Cache, clock: Clock) -> Motion:
    """What `make_motion` gives of one motion; what is in the cache is not made again."""
    reference_settings(job)
    if not job.loop:
        raise ValueError("Switching between actions needs Extend Cycle: switch it on.")
    if job.scene.grabs:
        raise ValueError("Switching between actions does not work with grabs: remove the grabs or the other actions.")
    parts = of_one_character(job, reporter, cache, clock)
    reporter("reference", 0.0)
    with clock.stage("reference"):
        performances = [performance_of(part, cache)[0] for part in parts]
        own = performances[0]
        late = (first_frame_of(parts[0], own) - job.frames[0]) / job.fps
        found = keep(cache, _key(job), FoundRow, lambda: _row(job, parts, performances, late, reporter))
    reporter("reference", 1.0)
    return Motion(
        own.plan,
        found.reference,
        found.reference.q,
        found.residuals,
        first_frame_of(parts[0], own),
        lift_of(job, own.floor, found.reference),
        (),
        (),
        own.lines + found.lines,
        own.repairs,
    )


def _key(job: BakeJob) -> str:
    """A name for all that the row depends on."""
    scene = Scene(loads=job.scene.loads, gravity=job.scene.gravity)
    needed = replace(job, name="row", settings={}, scene=scene, noise=0.0, seed=0)
    return archive.digest(needed, BakeJob, "row", code_version())


def _row(
    job: BakeJob, parts: Sequence[BakeJob], performances: Sequence[Performance], late: float, reporter: ProgressReporter
) -> FoundRow:
    """Cycles, bridges, and what is chosen in a row; time begins `late` seconds after the job's first frame."""
    names = [f"motion {number}" for number in range(len(parts))]
    motions, residuals = {}, {}
    for number, (name, part, performance) in enumerate(zip(names, parts, performances, strict=True)):
        try:
            motions[name], residuals[name] = _cycle(part, performance, Part(reporter, number, 2 * len(parts)))
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error
    # the first choice may come late; until then it is the clip's own motion
    choices = [Choice(names[0], 0.0), *(Choice(names[motion], max(start - late, 0.0)) for start, motion in job.choices)]
    wanted = dict.fromkeys((a.motion, b.motion) for a, b in pairwise(choices) if a.motion != b.motion)
    transitions = method_named(job.method).transitions
    assert transitions is not None
    pieces = transitions(motions, wanted, lambda: reporter("reference", 0.5)).sequence(choices, job.duration)
    row = concatenate(pieces)
    carried = _carried(pieces, motions, residuals, row, performances[0].plan.body < 0)
    return FoundRow(row, carried, tuple(_lines(job, late, pieces, row.rate)))


def _cycle(job: BakeJob, performance: Performance, reporter: ProgressReporter) -> tuple[Reference, Residuals]:
    """A motion as a cycle, with what it lacks in each of its frames."""
    trajectory, _ = samples_of(job, performance)
    character = loaded(performance.plan.character, job.scene, unplanned=False)
    if find_cycles(character, trajectory, label(character, trajectory)):
        found = find_reference(job, performance, None, reporter)
        return found.reference, residuals_of(job, performance, found)
    once = replace(job, loop=False, seconds=None)
    found = find_reference(once, performance, None, reporter)
    last = np.abs(found.reference.v[-1])
    if last[:3].max() > SLOW or last.max() > CALM:
        raise ValueError(
            "It neither repeats nor ends standing still: use a walk of at least two steps, or let it end at rest."
        )
    frames = round(STANDING * job.rate)
    rest = residuals_of(once, performance, found).at(np.full(frames + 1, len(found.reference.q) - 1.0))
    return standing(found.reference, frames), rest


def _carried(
    pieces: Sequence[Piece],
    motions: Mapping[str, Reference],
    residuals: Mapping[str, Residuals],
    whole: Reference,
    loose: NDArray[np.bool_],
) -> Residuals:
    """What each frame of the row lacks: that of its motion, over a bridge from the one motion's to the other's."""
    place: list[Array] = []
    turn: list[Array] = []
    for before, piece, after in zip([None, *pieces], pieces, [*pieces[1:], None], strict=False):
        for frame in piece.frames:
            q = whole.q[len(place)]
            if piece.name in motions:
                found = _moved(motions[piece.name], residuals[piece.name], frame, q, loose)
            else:
                assert before is not None
                share = frame / piece.reference.steps
                ends = [_moved(motions[before.name], residuals[before.name], before.frames.stop, q, loose)]
                if after is not None:
                    ends.append(_moved(motions[after.name], residuals[after.name], after.frames.start, q, loose))
                found = Residuals(
                    np.concatenate([end.place for end in ends]), np.concatenate([end.turn for end in ends])
                ).at(np.array([share]))
            place.append(found.place[0])
            turn.append(found.turn[0])
    return Residuals(np.array(place), quaternions.continuous(np.array(turn)))


def _moved(motion: Reference, residuals: Residuals, frame: int, q: Array, loose: NDArray[np.bool_]) -> Residuals:
    """Those of one frame; bones that no body carries keep to the root, as seen from above."""
    row = row_of(motion, frame)
    found = residuals.at(np.array([float(row)]))
    if loose.any():
        way = planar_step(motion.q[row], q)
        found.place[:, loose] = way.move_points(found.place[:, loose])
        spin = quaternions.exp(np.array([0.0, 0.0, way.turn]))
        found.turn[:, loose] = quaternions.multiply(spin, found.turn[:, loose])
    return found


def _lines(job: BakeJob, late: float, pieces: Sequence[Piece], rate: float) -> list[str]:
    """When it goes from which motion to which, for the report."""
    lines, gone = [], round(late * rate)
    for piece in pieces:
        if " to " in piece.name:
            first, last = (job.frames[0] + (gone + k) / rate * job.fps for k in (0, len(piece.frames)))
            lines.append(f"From {piece.name} in frames {first:.0f} to {last:.0f}")
        gone += len(piece.frames)
    return lines
