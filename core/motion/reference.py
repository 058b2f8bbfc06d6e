# SPDX-License-Identifier: GPL-3.0-or-later
"""A reference: a motion with the torques and contact forces that make it happen, step by step; and its file.

Frames are 0 to N and steps 0 to N - 1; step k leads from frame k to frame k + 1 by the one integrator
(dynamics/stepping.py), with forces acting at the positions of frame k + 1.

A file is a zip of arrays (numpy's npz, nothing pickled), one of which, `header`, is JSON text: format, version, the
character, the contact points and all single numbers. Reading trusts nothing and checks everything.
"""

import io
import json
import zipfile
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..character import Character, storage
from ..files import write_whole
from ..sentences import Sentence, from_data, to_data, told
from .cycle import Cycle
from .schedule import ContactPoint, ContactSchedule

Array = NDArray[np.float64]

FORMAT = "heft.reference"
VERSION = 3
LARGEST_FILE = 2**30  # bytes, unpacked


@dataclass(frozen=True, eq=False)
class Quality:
    """How good a reference is, in units that people know, and what became of the clip."""

    residual_newtons: float  # greatest force that the motion lacks, over all steps
    residual_newton_metres: float  # greatest torque that it lacks
    slip_millimetres: float  # greatest distance of a held point from its place
    penetration_millimetres: float  # greatest depth of a point under the ground
    friction_use: float  # greatest tangential force as a share of what Coulomb's cone allows
    end_error: float  # the last state's greatest distance from where it is bound, rad, m and per second
    joint_rms_degrees: float  # change of the joints' rotations, over all joints and frames
    root_rms_metres: float  # change of the root's place
    root_max_metres: float
    peak_force_newtons: float  # of the ground on one point
    peak_torque_newton_metres: float  # of one motor
    iterations: int
    last_step: float  # greatest change of a pose in the last iteration, rad and m
    seconds: float  # of computation
    fit_for_control: bool
    sentences: tuple[Sentence, ...]  # how good it is, or what is doubtful
    joint_change: Array = field(repr=False)  # (N + 1, bodies) angle between the reference's joint and the clip's, rad
    root_change: Array = field(repr=False)  # (N + 1, 3) of the root's place, m

    @property
    def why(self) -> str:
        """The sentences in English."""
        return told(self.sentences)


@dataclass(frozen=True, eq=False)
class Reference:
    """A physically consistent motion of a character."""

    character: Character
    rate: float  # steps per second
    q: Array  # (N + 1, nq)
    v: Array  # (N + 1, nv)
    torque: Array  # (N, motors) of every velocity after a free root's six
    schedule: ContactSchedule  # over N + 1 frames and np points, as it was asked for
    normal: Array  # (N + 1, np, 3) of the ground at each point
    carrying: NDArray[np.bool_]  # (N, np) the point may carry force in this step
    force: Array  # (N, np, 3) on the points, in the world's axes, N
    friction: float  # coefficient to which the forces keep
    cycle: Cycle | None  # how the motion moves on in one period; None where it does not repeat
    quality: Quality
    first_frame: float = 0.0  # the source's own number of frame 0
    frames_per_sample: float = 1.0

    def __post_init__(self) -> None:
        frames, points = len(self.q), len(self.schedule.points)
        first = 6 if self.character.bodies[0].joint.kind == "free" else 0
        shapes = {
            "q": (frames, self.character.nq),
            "v": (frames, self.character.nv),
            "torque": (frames - 1, self.character.nv - first),
            "normal": (frames, points, 3),
            "carrying": (frames - 1, points),
            "force": (frames - 1, points, 3),
        }
        if frames < 2:
            raise ValueError(f"A reference has at least 2 frames, not {frames}.")
        for name, shape in shapes.items():
            array = getattr(self, name)
            if array.shape != shape:
                raise ValueError(f"The shape of {name} must be {shape}, not {array.shape}.")
            if array.dtype != (np.bool_ if name == "carrying" else np.float64):
                raise ValueError(f"The numbers in {name} cannot be {array.dtype}.")
            if not np.isfinite(array).all():
                raise ValueError(f"All numbers in {name} must be finite.")
        if self.schedule.active.shape[0] != frames:
            raise ValueError(f"The contacts of {frames} frames cannot be {self.schedule.active.shape[0]}.")
        if any(not 0 <= point.body < len(self.character.bodies) for point in self.schedule.points):
            raise ValueError("A contact point belongs to no body of the character.")
        if not (np.isfinite(self.rate) and self.rate > 0.0 and np.isfinite(self.friction) and self.friction >= 0.0):
            raise ValueError(f"A rate of {self.rate} or a friction of {self.friction} makes no sense.")

    @property
    def steps(self) -> int:
        """N: one less than frames."""
        return len(self.torque)

    def save(self, path: str | Path) -> None:
        """Write the file, whole or not at all."""
        write_whole(path, _pack(self))

    @classmethod
    def load(cls, path: str | Path) -> "Reference":
        """Read a file that `save` wrote; ValueError says in one line what is wrong with it."""
        source = Path(path)
        try:
            return _unpack(source)
        except (ValueError, TypeError, KeyError, EOFError, RecursionError, zipfile.BadZipFile) as error:
            raise ValueError(f"{source.name} is not a reference: {' '.join(str(error).split())}") from error


ARRAYS = ("q", "v", "torque", "normal", "carrying", "force")
SCHEDULE_ARRAYS = ("active", "place")
QUALITY_ARRAYS = ("joint_change", "root_change")
NUMBERS = ("rate", "friction", "first_frame", "frames_per_sample")


def _pack(reference: Reference) -> bytes:
    quality = {
        entry.name: getattr(reference.quality, entry.name)
        for entry in fields(Quality)
        if entry.name not in QUALITY_ARRAYS
    } | {"sentences": to_data(reference.quality.sentences)}
    header = {
        "format": FORMAT,
        "version": VERSION,
        "character": storage.to_data(reference.character),
        "points": [point._asdict() for point in reference.schedule.points],
        "cycle": None if reference.cycle is None else asdict(reference.cycle),
        "quality": quality,
        **{name: getattr(reference, name) for name in NUMBERS},
    }
    text = json.dumps(header, allow_nan=False)
    arrays: dict[str, Any] = {name: getattr(reference, name) for name in ARRAYS}
    arrays |= {name: getattr(reference.schedule, name) for name in SCHEDULE_ARRAYS}
    arrays |= {name: getattr(reference.quality, name) for name in QUALITY_ARRAYS}
    buffer = io.BytesIO()
    np.savez(buffer, header=np.frombuffer(text.encode(), np.uint8), **arrays)
    return buffer.getvalue()


def _unpack(path: Path) -> Reference:
    names = {"header", *ARRAYS, *SCHEDULE_ARRAYS, *QUALITY_ARRAYS}
    with zipfile.ZipFile(path) as archive:
        size = sum(entry.file_size for entry in archive.infolist())
        if size > LARGEST_FILE:
            raise ValueError(f"it unpacks to more than {LARGEST_FILE} bytes.")
        found = {entry.filename.removesuffix(".npy") for entry in archive.infolist()}
    if found != names:
        raise ValueError(f"it holds {', '.join(sorted(found))[:200]} instead of {', '.join(sorted(names))}.")
    with np.load(path, allow_pickle=False) as file:
        data: dict[str, Any] = {name: np.ascontiguousarray(file[name]) for name in names}
    header = json.loads(data["header"].tobytes().decode())
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ValueError(f'it does not say "format": "{FORMAT}".')
    if header.get("version") != VERSION:
        raise ValueError(f"its version is {str(header.get('version'))[:40]!r}, but this Heft reads version {VERSION}.")
    points = tuple(_point(entry) for entry in header["points"])
    schedule = ContactSchedule(points, *(data[name] for name in SCHEDULE_ARRAYS))
    cycle = header["cycle"]
    if cycle is not None:
        x, y = cycle["shift"]
        cycle = Cycle((float(x), float(y)), float(cycle["turn"]))
    numbers: dict[str, Any] = {name: float(header[name]) for name in NUMBERS}
    return Reference(
        character=storage.from_data(header["character"]),
        schedule=schedule,
        cycle=cycle,
        quality=_quality(header["quality"], data, len(data["q"])),
        **_chosen(data, ARRAYS),
        **numbers,
    )


def _chosen(values: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: values[name] for name in names}


def _point(entry: dict[str, Any]) -> ContactPoint:
    x, y, z = (float(value) for value in entry["position"])
    if not np.isfinite((x, y, z)).all() or not isinstance(entry["body"], int):
        raise ValueError(f"contact point {str(entry['name'])[:40]!r} makes no sense.")
    return ContactPoint(
        str(entry["name"]),
        entry["body"],
        (x, y, z),
        float(entry["radius"]),
        foot=bool(entry["foot"]),
        grab=bool(entry["grab"]),
        moves=bool(entry["moves"]),
        help=bool(entry.get("help", False)),
    )


def _quality(entry: dict[str, Any], data: dict[str, Any], frames: int) -> Quality:
    numbers = {item.name for item in fields(Quality)} - {"fit_for_control", "sentences", *QUALITY_ARRAYS}
    if set(entry) != numbers | {"fit_for_control", "sentences"}:
        raise ValueError(f"its quality says {', '.join(sorted(entry))[:200]}.")
    finite = all(isinstance(entry[name], int | float) and np.isfinite(entry[name]) for name in numbers)
    if not (finite and isinstance(entry["fit_for_control"], bool)):
        raise ValueError("its quality holds what cannot be.")
    for name in QUALITY_ARRAYS:
        if data[name].ndim != 2 or len(data[name]) != frames or not np.isfinite(data[name]).all():
            raise ValueError(f"its {name} does not have one finite row per frame.")
    entry = entry | {"sentences": from_data(entry["sentences"])}
    return Quality(**entry, **_chosen(data, QUALITY_ARRAYS))
