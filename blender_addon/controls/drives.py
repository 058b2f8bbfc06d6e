# SPDX-License-Identifier: GPL-3.0-or-later
"""What a map of a family says: which control moves which deforming bone, and how."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

Does = Literal["PLACE", "MOVE", "TURN", "SWING", "ROLL", "POLE", "TWEAK"]


@dataclass(frozen=True)
class Drive:
    """A control, and what it does for a deforming bone.

    `PLACE`: the bone goes along wherever the control is put. `MOVE`: it points at the control, which goes along
    unturned. `TURN`: the control turns about its own head. `SWING`: so
    too, where the control leaves the bone's twist alone: it takes what the bone `below` is turned by, and the bone's
    own direction. `ROLL`: the control turns about its own Y only, the line from the root of a chain to its end, and
    takes the head of the bone along. `POLE`: the control is put in the plane in which the chain from `root` by the bone
    to `below` is bent. `TWEAK`: the bone begins at the control and takes its twist.
    """

    control: str
    bone: str
    does: Does
    carriers: tuple[str, ...] = ()  # controls that take this one along: one, or two that share
    below: str = ""
    root: str = ""
    point: str = ""  # what goes along with the control, and is to be where the bone begins: out of reach it is not
    after: int = 0  # rounds of corrections in which others do not reach the bone; 0 is for what an animator keys first


@dataclass(frozen=True)
class Limb:
    """The two ways to move a limb, and the properties that say which: 0 the first, 1 the second."""

    switch: tuple[str, str]  # bone and property: inverse kinematics, or forward
    pole_switch: tuple[str, str]  # the chain's plane is turned by a control, or a pole
    ik: tuple[Drive, ...]
    fk: tuple[Drive, ...]


@dataclass(frozen=True)
class Map:
    """A family's controls, those that carry others first."""

    trunk: tuple[Drive, ...]
    limbs: tuple[Limb, ...]
    aims: tuple[str, ...] = ()  # all bones that are to be brought somewhere, also what no control is known for
    others: tuple[Drive, ...] = ()  # that may help where those do not reach

    def moved_by(self, chosen: Collection[str]) -> set[str]:
        """Return the deforming bones that chosen controls move; one of inverse kinematics moves its limb."""
        found = {drive.bone for drive in self.drives() if drive.control in chosen}
        for limb in self.limbs:
            if any(drive.control in chosen and not drive.after for drive in limb.ik):
                found |= {drive.bone for drive in limb.fk}
        return found

    def carrier(self) -> dict[str, str]:
        """Return which deforming bone each hangs from, as an animator's controls do."""
        by_control: dict[str, str] = {}
        result: dict[str, str] = {}
        for drive in (*self.trunk, *(drive for limb in self.limbs for drive in limb.fk)):
            by_control.setdefault(drive.control, drive.bone)
            if drive.bone not in result:
                result[drive.bone] = by_control[drive.carriers[0]] if drive.carriers else ""
        return result

    def drives(self) -> tuple[Drive, ...]:
        """All of them."""
        return (*self.trunk, *(drive for limb in self.limbs for drive in (*limb.ik, *limb.fk)))
