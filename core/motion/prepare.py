# SPDX-License-Identifier: GPL-3.0-or-later
"""From a clip of any skeleton to a character and its trajectory, in one call."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..character import Character, JointKind
from ..character.anthropometry import Sex
from ..sentences import say
from .body_plan import BodyPlan, make_body_plan
from .clip import Clip
from .damage import Repair, repair
from .fit import FitError, Trajectory, fit
from .floor import EVERYTHING, Floor, Levelling, estimate_floor, level
from .limits import widened
from .parts import Detail
from .quaternions import Array
from .resample import resample
from .residuals import Residuals, take_residuals
from .rest_pose import find_rest_pose, moved_vertices
from .roles import Roles
from .standing_soles import with_standing_soles
from .stepped import filled_in
from .travel import Travel, carry_along

RATE = 120.0  # samples per second


@dataclass(frozen=True)
class Performance:
    """A character, what it does, and all that led there."""

    plan: BodyPlan
    clip: Clip  # repaired, on its floor, at the trajectory's rate
    trajectory: Trajectory
    residuals: Residuals
    error: FitError
    floor: Floor
    repairs: tuple[Repair, ...]
    rest: str = ""  # what was done about the rest pose
    way: Array = field(default_factory=lambda: np.zeros((0, 2)))  # (nf, 2) by which it is carried along, if it is
    stepped: str = ""  # what was done about keys in steps

    @property
    def lines(self) -> tuple[str, ...]:
        """What was done to the clip, for the report."""
        lines = [one.text for one in self.repairs] + [line for line in (self.rest, self.stepped) if line]
        if len(self.way):
            speed = float(np.median(np.linalg.norm(np.diff(self.way, axis=0), axis=1))) * self.clip.rate
            lines.append(
                str(say("in place: moved along at {speed:.2f} m/s for the simulation, and brought back", speed=speed))
            )
        lines += self.floor.lines
        lines.append(
            f"The character fits the action: joints to {math.degrees(self.error.turn_rms):.2f}° RMS, hands and feet to "
            f"{100.0 * self.error.ends_rms:.2f} cm RMS."
        )
        return tuple(lines)


def prepare(
    clip: Clip,
    roles: Roles,
    *,
    rate: float = RATE,
    detail: Detail = "simple",
    sex: Sex = "male",
    total_mass: float | None = None,
    joints: Mapping[str, JointKind] | None = None,
    vertices: Mapping[str, Array] | None = None,
    masses_from_mesh: bool = False,
    on_floor: bool | None = None,
    motions: Sequence[Clip] = (),
    levelling: Levelling = EVERYTHING,
    floor: Floor | None = None,
    character: Character | None = None,
    travel: Travel = "auto",
    name: str = "character",
) -> Performance:
    """Repair the clip, make its character, put the clip on its floor, and fit the character to it at `rate`.

    What `levelling` leaves alone of the floor is taken to be as it should: the clip stands on z = 0. A `floor` that is
    known is not looked for. `character` takes
    the place of the one that is made: one with the same joints, but other masses, limits or shapes. It is made from all
    of `motions`, if there are such, so that one character can do them all. `travel` says whether the clip is in place
    and to be carried along. The other settings are those of `make_body_plan`. Raises
    ValueError, DamagedClip where the clip is broken.
    """
    flowing, stepped = filled_in(clip)
    whole, repairs = repair(flowing, roles)
    carried = carry_along(whole, roles, travel)
    whole = whole if carried is None else carried.clip
    posing = joined([_moving(repair(each, roles)[0], roles, travel) for each in motions], whole) if motions else whole
    rest = find_rest_pose(posing, roles, made=bool(on_floor or vertices))
    if rest is not None:
        vertices = moved_vertices(vertices or {}, clip.skeleton, rest.skeleton)
        whole, posing = (replace(each, skeleton=rest.skeleton) for each in (whole, posing))
        on_floor = False if on_floor is None else on_floor
    plan = make_body_plan(
        whole.skeleton,
        roles,
        clip=posing,
        detail=detail,
        sex=sex,
        total_mass=total_mass,
        joints=joints,
        vertices=vertices,
        masses_from_mesh=masses_from_mesh,
        on_floor=on_floor,
        name=name,
    )
    if character is not None:
        plan = replace(plan, character=_fitting(character, plan.character))
    floor = estimate_floor(plan, whole, levelling) if floor is None else floor
    if character is None and not (on_floor or vertices or motions):
        plan = replace(plan, character=with_standing_soles(plan, whole, floor))
    sampled = resample(whole if floor == Floor() else level(whole, floor), rate)
    trajectory, error = fit(plan, sampled)
    plan = replace(plan, character=widened(plan.character, trajectory.q))
    residuals = take_residuals(plan, sampled, trajectory)
    told = "" if rest is None else rest.line
    way = np.zeros((0, 2)) if carried is None else _at_samples(carried.way, whole, sampled)
    return Performance(plan, sampled, trajectory, residuals, error, floor, tuple(repairs), told, way, stepped)


def _moving(clip: Clip, roles: Roles, travel: Travel) -> Clip:
    """The clip carried along, if it is in place."""
    carried = carry_along(clip, roles, travel)
    return clip if carried is None else carried.clip


def _at_samples(way: Array, clip: Clip, sampled: Clip) -> Array:
    """A way (nf, 2) of a clip at the samples of the same clip at another rate."""
    frames = [each.first_frame + np.arange(len(each.position)) * each.frames_per_sample for each in (clip, sampled)]
    return np.column_stack([np.interp(frames[1], frames[0], way[:, k]) for k in range(2)])


def joined(clips: Sequence[Clip], like: Clip) -> Clip:
    """All samples in a row, as one clip of the other's skeleton: for what looks at poses, not at how they follow."""
    return replace(
        like,
        position=np.concatenate([clip.position for clip in clips]),
        orientation=np.concatenate([clip.orientation for clip in clips]),
    )


def _fitting(character: Character, made: Character) -> Character:
    """The given character, if it can take the place of the one that was made."""
    for own, other in zip(character.bodies, made.bodies, strict=False):
        if (own.name, own.parent, own.joint.kind) != (other.name, other.parent, other.joint.kind):
            raise ValueError(
                f"The given character does not fit the skeleton: it has '{own.name}' on a {own.joint.kind} joint where "
                f"the skeleton makes '{other.name}' on a {other.joint.kind} joint."
            )
    if len(character.bodies) != len(made.bodies):
        raise ValueError(
            f"The given character has {len(character.bodies)} bodies, but the skeleton makes {len(made.bodies)}."
        )
    return character
