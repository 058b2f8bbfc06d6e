# SPDX-License-Identifier: GPL-3.0-or-later
"""`BakeResult`: what a bake gave, frame by frame. Plain data: saved, loaded, compared, sent."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from .. import archive
from ..motion.quaternions import Array
from ..report.dynamics import Dynamics
from ..report.frames import Fall, Forces, Support
from ..report.metrics import Outcome
from ..report.page import page, write_page
from ..report.strip import strip

FORMAT = "heft.result"
VERSION = 2

# Keys of a report that tell how fast the machine was, and so differ from run to run.
TIMES = ("real_time_factor", "step_us_median", "step_us_p99", "seconds")


@dataclass(frozen=True, eq=False)
class BakeResult:
    """nf frames of the scene that were simulated, of nb bones and np props; everything in the world, in metres.

    Two results are equal if everything in them is, but for the time that the run took.
    """

    name: str
    fps: float  # of the frames
    frames: Array  # (nf,) the scene's numbers
    bones: tuple[str, ...]  # (nb,) of the source's skeleton
    figure: NDArray[np.int64]  # (n, 2) pairs of bones between whose heads a stick figure has lines
    poses: Array  # (nf, nb, 4, 4) of every bone's frame, no scale
    reference: Array  # (nf, nb, 4, 4) the same of the reference at that moment
    props: tuple[str, ...]
    prop_poses: Array  # (nf, np, 4, 4)
    curves: Mapping[str, Array]  # (nf,) each, by name; NaN where there is nothing to tell, as balance in flight
    torques: Mapping[str, Array]  # (nf,) of each joint's motors, about whichever axis, N m
    center_of_mass: Array  # (nf, 3)
    support: Support
    forces: Forces
    fall: Fall | None
    report_text: str = field(repr=False)  # the report as JSON
    dynamics: Dynamics | None = None  # at the simulation's rate; results of older versions have none

    def __post_init__(self) -> None:
        count, bones, props = len(self.frames), len(self.bones), len(self.props)
        shapes = {
            "frames": (count,),
            "figure": (len(self.figure), 2),
            "poses": (count, bones, 4, 4),
            "reference": (count, bones, 4, 4),
            "prop_poses": (count, props, 4, 4),
            "center_of_mass": (count, 3),
        }
        for name, shape in shapes.items():
            array = getattr(self, name)
            if array.shape != shape or not np.isfinite(array).all():
                raise ValueError(f"The {name} of a result must be finite and of shape {shape}, not {array.shape}.")
        if ((self.figure < 0) | (self.figure >= bones)).any():
            raise ValueError("The figure of a result has lines between bones that do not exist.")
        for curve in (*self.curves.values(), *self.torques.values()):
            if curve.shape != (count,):
                raise ValueError(f"A curve over {count} frames cannot have shape {curve.shape}.")
        for ragged, rows in ((self.support, self.support.point), (self.forces, self.forces.point)):
            start = ragged.start
            if start.shape != (count + 1,) or (np.diff(start) < 0).any() or start[0] != 0 or start[-1] != len(rows):
                raise ValueError("The frames of contact forces or of the support are out of order or range.")
        if len(self.forces.body) != len(self.forces.point) or self.forces.force.shape != self.forces.point.shape:
            raise ValueError("Every contact force needs one body and one point.")
        if not isinstance(self.report, dict) or self.report.get("outcome") not in get_args(Outcome):
            raise ValueError("The report has no outcome.")

    @cached_property
    def report(self) -> dict[str, Any]:
        """What happened, under the keys of `report.metrics.Report`."""
        found: dict[str, Any] = json.loads(self.report_text, parse_constant=_refuse)
        return found

    @property
    def outcome(self) -> Outcome:
        """How it ended."""
        found: Outcome = self.report["outcome"]
        return found

    @property
    def why(self) -> str:
        """The same in a sentence."""
        return str(self.report["why"])

    @property
    def help_given(self) -> Array:
        """The force from nowhere (nf, 3), N."""
        none = np.zeros(len(self.frames))
        return np.stack([self.curves.get(f"help_{axis}_n", none) for axis in "xyz"], axis=-1)

    def write_page(self, folder: str | Path, pictures: Sequence[str] = ()) -> Path:
        """Write a page with a film strip, figures and plots; `pictures` are names of other files in the folder."""
        film_strip = ""
        if len(self.frames) and len(self.figure):
            heads = self.poses[..., :3, 3], self.reference[..., :3, 3]
            film_strip = strip(self.frames, self.figure, *heads, self.center_of_mass, self.forces, self.help_given)
        text = page(
            self.name,
            self.report,
            self.frames,
            self.curves,
            self.torques,
            self.center_of_mass,
            self.support,
            self.fall,
            pictures,
            film_strip,
        )
        return write_page(folder, text)

    @cached_property
    def _digest(self) -> str:
        lasting = {name: value for name, value in self.report.items() if name not in TIMES}
        values = dict(self.__dict__, report_text=json.dumps(lasting, sort_keys=True))
        bare = object.__new__(BakeResult)
        bare.__dict__.update(values)
        return archive.digest(bare, BakeResult)

    def key(self) -> str:
        """A name for all that happened: equal keys mean equal results."""
        return self._digest

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BakeResult) and self.key() == other.key()

    def __hash__(self) -> int:
        return hash(self.key())

    def save(self, path: str | Path) -> None:
        """Write the file, whole or not at all."""
        archive.save(self, BakeResult, path, FORMAT, VERSION)

    @classmethod
    def load(cls, path: str | Path) -> "BakeResult":
        """Read a file that `save` wrote; ValueError says in one line what is wrong with it."""
        return archive.load(cls, path, FORMAT, VERSION, "a bake result", OLDER)


def _from_1(result: dict[str, Any], keep: archive.Keep) -> dict[str, Any]:
    """A result of version 1, as version 2 says the same: without states and forces at the simulation's rate."""
    del keep
    return {**result, "dynamics": None}


OLDER = {1: _from_1}


def _refuse(constant: str) -> None:
    raise ValueError(f"The report holds {constant}, which is not a number.")
