# SPDX-License-Identifier: GPL-3.0-or-later
"""`BakeJob`: all that is needed to turn a clip into simulated motion. Plain data: saved, loaded, compared, sent."""

import pathlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from .. import archive
from ..character import Character, JointKind, check
from ..character.anthropometry import Sex
from ..control.method import DEFAULT
from ..motion.clip import LONGEST_DISTANCE, Clip
from ..motion.flights import Flights
from ..motion.floor import Floor, Levelling
from ..motion.led import Meeting
from ..motion.parts import Detail
from ..motion.path import Path
from ..motion.playback import Playback
from ..motion.quaternions import Array
from ..motion.roles import Roles
from ..motion.spacetime import Help
from ..motion.travel import Travel
from ..simulation import looseness
from ..simulation.looseness import Region, natural
from ..simulation.scene import Scene

FORMAT = "heft.job"
VERSION = 18
LONGEST = 3600.0  # s
FASTEST, SLOWEST = 2000.0, 30.0  # steps per second

RECOVERY_EFFORT, MOST_RECOVERY_EFFORT = 6, 10
STRENGTH = 3.0
EFFORT, MOST_EFFORT = 1.0, 10.0

AUTO = "auto"  # the method of a job that leaves it open

Plain = bool | int | float | str | None
Ground = Literal["auto", "level", "terrain"]


@dataclass(frozen=True, eq=False)
class BodySettings:
    """What kind of character is made of the skeleton; see `motion.body_plan.make_body_plan`."""

    detail: Detail = "simple"
    sex: Sex = "male"
    total_mass: float | None = None  # kg
    joints: Mapping[str, JointKind] = field(default_factory=dict)  # kinds chosen by hand, by the joints' names
    vertices: Mapping[str, Array] = field(
        default_factory=dict
    )  # (n, 3) of the mesh at rest, by the bone that moves them
    masses_from_mesh: bool = False
    on_floor: bool | None = None  # whether the rest pose stands on z = 0
    motions: tuple[Clip, ...] = ()  # of the skeleton, from all of which the character is made; none: from the job's own

    def __post_init__(self) -> None:
        object.__setattr__(self, "joints", dict(sorted(self.joints.items())))
        object.__setattr__(self, "vertices", dict(sorted(self.vertices.items())))
        object.__setattr__(self, "motions", tuple(self.motions))
        for bone, places in self.vertices.items():
            if np.shape(places)[1:] != (3,) or not (np.abs(places) < LONGEST_DISTANCE).all():
                raise ValueError(f"The vertices of bone '{bone}' must be finite positions of shape (n, 3).")


class ContactInterval(NamedTuple):
    """A stretch of the source's frames in which a contact point touches, as an animator edits it, ends included."""

    point: str
    start: float
    end: float


class MotionChoice(NamedTuple):
    """Which motion is wanted from a time on."""

    start: float  # s from the job's first frame on
    motion: int  # 0: the clip's own, 1: the first of the others


@dataclass(frozen=True, eq=False)
class BakeJob:
    """One character's motion to simulate. Two jobs are equal if all that they say is.

    Frames are the scene's, as the clip counts them. The clip may be longer than the range that is simulated: the
    character is made from all of it.
    """

    clip: Clip
    roles: Roles  # bones of the clip's skeleton by role, see motion/roles.py
    name: str = "bake"
    body: BodySettings = field(default_factory=BodySettings)
    character: Character | None = (
        None  # instead of the one that the clip makes: the same joints, other masses or shapes
    )
    others: tuple[Clip, ...] = ()  # more motions of the skeleton, all of each, for methods that take several
    contacts: tuple[ContactInterval, ...] | None = None  # edited by hand; None: as they are found
    scene: Scene = field(default_factory=Scene)
    ground: Ground = "auto"  # whether the clip was made for level ground or for the scene's surfaces
    travel: Travel = "auto"  # whether it is in place: carried along to be simulated, and brought back
    levelling: Levelling = field(default_factory=Levelling)  # what of a floor askew is mended
    floor: Floor | None = None  # under the clip, where that is known; None: it is looked for
    meetings: tuple[Meeting, ...] = ()  # with others, by whom points of the body are led and pulled
    method: str = DEFAULT  # a name in control.methods.METHODS, or "auto": what suits the motion and the scene
    settings: Mapping[str, Plain] = field(default_factory=dict)  # the method's, by name; its defaults for the rest
    reference: Mapping[str, Plain] = field(default_factory=dict)  # motion.spacetime.Settings, by name
    optimise: bool = True  # make the motion possible first; only methods that plan forces themselves can do without
    simulate: bool = True  # False: the motion is made possible, with its forces and torques, and no more
    help: Help = "as_needed"  # what carries a motion that nothing possible is near; "none" refuses it
    flights: Flights = "auto"  # what becomes of those that gravity does not allow; "as_keyed": help carries them
    rate: float = 120.0  # simulation steps per second
    frame_start: float | None = None  # the clip's first frame unless given
    frame_end: float | None = None
    loop: bool = False  # find the gait cycle in the range and repeat it
    path: Path | None = None  # along which the gait cycle in the range is walked, from its first place to its last
    choices: tuple[MotionChoice, ...] = ()  # for methods that go from one motion to another; the clip's comes first
    seconds: float | None = None  # of simulation; unless given the range's length, or as long as the path takes
    ends: float | None = None  # s, after which it is over: of a take, which was prepared for more
    playback: Playback = field(default_factory=Playback)  # from the range's start on; only methods that can change it
    recovery: bool = True  # after a push steps are taken that the motion does not have, by methods that can
    recovery_effort: int = RECOVERY_EFFORT  # plans that are tried for each at most
    return_to_path: bool = False  # then, step by step, to where the motion would have been
    get_up: bool = False  # after a fall it gets up, and goes on with the motion from there, by methods that recover
    get_up_clip: Clip | None = None  # of the skeleton, by which it does, all of it, on level ground; None: its own way
    looseness: Mapping[Region, float] = field(default_factory=natural)  # 0 to 1 by region, how far it gives way then
    strength: float = STRENGTH  # times the torques that people's joints give on average; inf: any torque
    effort: float = EFFORT  # how far the body leans and bends to carry loads with less: 0 keeps its poses
    noise: float = 0.0  # standard deviation of what is added to every velocity at the start, m/s and rad/s
    seed: int = 0  # of that noise

    def __post_init__(self) -> None:
        check.name(self.name, "job")
        for name in (one.name for one in fields(self) if one.type is bool):
            object.__setattr__(self, name, check.switch(getattr(self, name), name, "a job"))
        object.__setattr__(self, "roles", {role: tuple(bones) for role, bones in sorted(self.roles.items())})
        object.__setattr__(self, "settings", dict(sorted(self.settings.items())))
        object.__setattr__(self, "reference", dict(sorted(self.reference.items())))
        object.__setattr__(self, "looseness", looseness.checked(self.looseness))
        for name, kind in (("ground", Ground), ("travel", Travel), ("help", Help), ("flights", Flights)):
            if getattr(self, name) not in get_args(kind):
                known = ", ".join(get_args(kind))
                raise ValueError(f"There is no {name} {getattr(self, name)!r}; choose from {known}.")
        if not 1 <= self.recovery_effort <= MOST_RECOVERY_EFFORT:
            raise ValueError(
                f"The recovery effort must be 1 to {MOST_RECOVERY_EFFORT} plans, not {self.recovery_effort}."
            )
        if not self.strength >= 0.0:
            raise ValueError(f"The strength must be at least 0, not {self.strength}.")
        if not 0.0 <= self.effort <= MOST_EFFORT:
            raise ValueError(f"The effort must be 0 to {MOST_EFFORT:g}, not {self.effort}.")
        if self.contacts is not None:
            object.__setattr__(self, "contacts", tuple(ContactInterval(*contact) for contact in self.contacts))
        object.__setattr__(self, "others", tuple(self.others))
        object.__setattr__(self, "meetings", tuple(self.meetings))
        if self.path is not None and not isinstance(self.path, Path):
            object.__setattr__(self, "path", Path(self.path))
        if self.path is not None and (self.others or self.scene.grabs or self.playback.changes):
            raise ValueError(
                "A path is followed with one motion, free hands and its own timing: remove other actions, grabs and "
                "changes of speed, or the path."
            )
        for number, other in enumerate(self.others, 2):
            if other.skeleton.names != self.clip.skeleton.names:
                raise ValueError(f"Motion {number} has another skeleton: all motions of a job need the same one.")
        if self.get_up_clip is not None and self.get_up_clip.skeleton.names != self.clip.skeleton.names:
            raise ValueError("The motion to get up by has another skeleton: choose one of the same skeleton.")
        if not SLOWEST <= self.rate <= FASTEST:
            raise ValueError(
                f"The simulation rate must be {SLOWEST:g} to {FASTEST:g} steps per second, not {self.rate}."
            )
        check.not_negative(self.noise, "noise", "the start")
        if self.ends is not None:
            check.positive(self.ends, "end", "the take")
        if self.seed < 0:
            raise ValueError(f"The seed must be a whole number of at least 0, not {self.seed}.")
        first, last = self.frames
        if not (np.isfinite([first, last]).all() and first < last):
            raise ValueError(f"The range {first:g} to {last:g} is empty: the last frame must come after the first.")
        whole = self.clip.first_frame, self.clip.frame(len(self.clip.position) - 1)
        if first < whole[0] - 1e-6 or last > whole[1] + 1e-6:
            raise ValueError(
                f"The range {first:g} to {last:g} reaches beyond the motion, which has frames {whole[0]:g} to "
                f"{whole[1]:g}."
            )
        self._check_choices()
        self._check_planned()
        if not 0.0 < self.duration <= LONGEST:
            raise ValueError(f"A bake can last at most {LONGEST:g} s, not {self.duration:g} s: shorten the range.")

    def _check_choices(self) -> None:
        object.__setattr__(self, "choices", tuple(MotionChoice(*choice) for choice in self.choices))
        for start, motion in self.choices:
            if not (np.isfinite(start) and 0 <= motion <= len(self.others)):
                raise ValueError(
                    f"There is no motion {motion} to go to at {start:g} s: choose from 0 to {len(self.others)}."
                )
        if any(b.start < a.start for a, b in pairwise(self.choices)):
            raise ValueError("The choices of motions must be in order of time.")

    def _check_planned(self) -> None:
        if self.simulate:
            return
        asked = {
            "loop": self.loop,
            "follow a path": self.path is not None,
            "switch between motions": bool(self.others),
            "be pushed": bool(self.scene.pushes),
            "carry props": bool(self.scene.props),
            "change its timing": self.playback.changes,
        }
        for what, there in asked.items():
            if there:
                raise ValueError(f"A motion that is not simulated cannot {what}: simulate it.")
        if not self.optimise:
            raise ValueError("A motion that is neither made possible nor simulated stays as it is: do one of them.")

    @property
    def fps(self) -> float:
        """The scene's frames per second."""
        return self.clip.rate * self.clip.frames_per_sample

    @property
    def frames(self) -> tuple[float, float]:
        """First and last frame of the range."""
        first = self.clip.first_frame if self.frame_start is None else self.frame_start
        last = self.clip.frame(len(self.clip.position) - 1) if self.frame_end is None else self.frame_end
        return first, last

    @property
    def cyclic(self) -> bool:
        """Whether it goes on in gait cycles."""
        return self.loop or self.path is not None

    @property
    def duration(self) -> float:
        """Seconds to simulate; along a path about as many, which the walk itself decides."""
        first, last = self.frames
        if self.path is not None and self.seconds is None:
            return self.path.seconds()
        return self.playback.played((last - first) / self.fps) if self.seconds is None else self.seconds

    @cached_property
    def _digest(self) -> str:
        return archive.digest(self, BakeJob)

    def key(self) -> str:
        """A name for all that the job says: equal keys mean equal jobs."""
        return self._digest

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BakeJob) and self.key() == other.key()

    def __hash__(self) -> int:
        return hash(self.key())

    def save(self, path: str | pathlib.Path) -> None:
        """Write the file, whole or not at all."""
        archive.save(self, BakeJob, path, FORMAT, VERSION)

    @classmethod
    def load(cls, path: str | pathlib.Path) -> "BakeJob":
        """Read a file that `save` wrote, now or then; ValueError says in one line what is wrong with it."""
        return archive.load(cls, path, FORMAT, VERSION, "a bake job", OLDER)


def _from_3(job: dict[str, Any], keep: archive.Keep) -> dict[str, Any]:
    """A job of version 3, as version 4 says the same: played as it was keyed."""
    return {**job, "playback": keep(Playback, Playback())}


def _from_4(job: dict[str, Any], keep: archive.Keep) -> dict[str, Any]:
    """A job of version 4, as version 5 says the same: it combined nothing."""
    del keep
    body, scene = {**job["body"], "motions": []}, {**job["scene"], "slider": None}
    return {**job, "others": [], "body": body, "scene": scene}


def _from_5(job: dict[str, Any], keep: archive.Keep) -> dict[str, Any]:
    """A job of version 5, as version 6 says the same: it went from no motion to another."""
    del keep
    return {**job, "choices": []}


def _from_6(job: dict[str, Any], keep: archive.Keep) -> dict[str, Any]:
    """A job of version 6, as version 7 says the same.

    Motions travelled as they were, stiff and without recovery, what could not be was refused, and balance moved a body
    as readily as it bent it.
    """
    del keep
    far = {"place": 0.0, "pose_least": 5.0, "pose_most": 30.0, "root_of_clip": False}
    far |= {"root_place": 1.0, "root_turn": 1.0, "clearance_ramp": 0.1, "clearance_way": 0.0}
    new = {"travel": "travelling", "recovery": False, "recovery_effort": RECOVERY_EFFORT, "looseness": {}}
    return {**job, **new, "reference": {**far, **job["reference"]}, "help": "none"}


def _from_7(job: dict[str, Any], keep: archive.Keep) -> dict[str, Any]:
    """A job of version 7, as version 8 says the same: what sank or glided did so, joints gave whatever was asked."""
    levelling = keep(Levelling, Levelling(drift=False))
    return {**job, "levelling": levelling, "scene": {**job["scene"], "strength": None}, "strength": "inf"}


def _from_8(job: dict[str, Any], keep: archive.Keep) -> dict[str, Any]:
    """A job of version 8, as version 9 says the same.

    It was simulated, and went where it was keyed to go; who carried something kept the pose, who was pushed the way.
    """
    del keep
    return {**job, "path": None, "effort": 0.0, "return_to_path": False, "simulate": True}


def _from_9(job: dict[str, Any], keep: archive.Keep) -> dict[str, Any]:
    """A job of version 9, as version 10 says the same: nothing was thrown, or done to it on the stage."""
    del keep
    scene = job["scene"]
    pushes = [{**push, "foreseen": True} for push in scene["pushes"]]
    props = [{**prop, "thrown": None} for prop in scene["props"]]
    return {**job, "scene": {**scene, "pushes": pushes, "props": props}, "ends": None}


def _from_10(job: dict[str, Any], keep: archive.Keep) -> dict[str, Any]:
    """A job of version 10, as version 11 says the same: flights were as they were keyed."""
    del keep
    return {**job, "flights": "as_keyed"}


def _from_11(job: dict[str, Any], keep: archive.Keep) -> dict[str, Any]:
    """A job of version 11, as version 12 says the same: momentum took half of its weight on angular momentum."""
    del keep
    settings = job["settings"]
    if job["method"] == "momentum" and isinstance(settings.get("damping"), float | int):
        settings = {**settings, "damping": 0.5 * settings["damping"]}
    return {**job, "settings": settings}


def _from_12(job: dict[str, Any], keep: archive.Keep) -> dict[str, Any]:
    """A job of version 12, as version 13 says the same: it met nobody, and its floor was looked for."""
    del keep
    return {**job, "floor": None, "meetings": []}


def _from_13(job: dict[str, Any], keep: archive.Keep) -> dict[str, Any]:
    """A job of version 13, as version 14 says the same: on a path nobody waited."""
    path = job["path"]
    if path is not None:
        none = keep(Array, np.zeros(0)), keep(Array, np.zeros((0, 2)))
        path = {**path, "stops": [], "wait": 0.0, "target_time": none[0], "target": none[1]}
    return {**job, "path": path}


def _from_14(job: dict[str, Any], keep: archive.Keep) -> dict[str, Any]:
    """A job of version 14, as version 15 says the same: who fell stayed down."""
    del keep
    return {**job, "get_up": False}


def _from_15(job: dict[str, Any], keep: archive.Keep) -> dict[str, Any]:
    """A job of version 15, as version 16 says the same: no prop was tied to anything."""
    del keep
    scene = job["scene"]
    return {**job, "scene": {**scene, "props": [{**prop, "ties": []} for prop in scene["props"]]}}


def _from_16(job: dict[str, Any], keep: archive.Keep) -> dict[str, Any]:
    """A job of version 16, as version 17 says the same: props had the friction of what they touched, and none slid."""
    del keep

    def along(grabs: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{**grab, "axis": [1.0, 0.0, 0.0]} for grab in grabs]

    scene = job["scene"]
    props = [{**prop, "friction": 1.0, "ties": along(prop["ties"])} for prop in scene["props"]]
    return {**job, "scene": {**scene, "props": props, "grabs": along(scene["grabs"])}}


def _from_17(job: dict[str, Any], keep: archive.Keep) -> dict[str, Any]:
    """A job of version 17, as version 18 says the same: nobody saw a way to rise, held what moved, or missed a prop."""
    del keep

    def still(grabs: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{**grab, "motion": None} for grab in grabs]

    scene = job["scene"]
    props = [{**prop, "ties": still(prop["ties"]), "groups": [0]} for prop in scene["props"]]
    scene = {**scene, "props": props, "grabs": still(scene["grabs"])}
    return {**job, "get_up_clip": None, "scene": scene}


OLDER = {
    3: _from_3,
    4: _from_4,
    5: _from_5,
    6: _from_6,
    7: _from_7,
    8: _from_8,
    9: _from_9,
    10: _from_10,
    11: _from_11,
    12: _from_12,
    13: _from_13,
    14: _from_14,
    15: _from_15,
    16: _from_16,
    17: _from_17,
}
