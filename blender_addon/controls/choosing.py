# SPDX-License-Identifier: GPL-3.0-or-later
"""Which control moves which bone, in a rig of no known family: from what each bone moves, and what animators would use.

A bone's control is the one that turns it as it is turned itself and touches little else. Where what carries it
goes along with the bone above, to turn it is enough; else it is moved too. What inverse kinematics or a constraint
points is led by its target, its pole, and its own rotation. Pure data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from .drives import Does, Drive, Map
from .responses import Responses
from .traits import Chain, Trait

MOST_OTHERS = 3
SAME = 1e-4  # of the rig's size, between points that are one
NEAR = 0.02  # of the rig's size, between heads of bones that are one in two shapes

Aims = Sequence[tuple[str, str]]
"""The bones to be brought somewhere, each with the one that it hangs from, those above first."""


def chosen_map(aims: Aims, found: Responses, traits: Mapping[str, Trait], chains: Sequence[Chain]) -> Map:
    """Return the drives of one state of a rig's switches."""
    choice = Choice(dict(aims), found, traits, chains)
    for bone, _ in aims:
        choice.choose(bone)
    for chain in chains:
        choice.lead(chain)
    return Map(tuple(choice.drives), (), tuple(bone for bone, _ in aims), tuple(choice.others()))


@dataclass
class Choice:
    """The drives so far."""

    above: Mapping[str, str]
    found: Responses
    traits: Mapping[str, Trait]
    chains: Sequence[Chain]
    drives: list[Drive] = field(default_factory=list)

    @cached_property
    def solved(self) -> set[str]:
        """Bones that are pointed at something."""
        return {bone for chain in self.chains for bone in chain.bones}

    @cached_property
    def bent(self) -> set[str]:
        """Of the bones to be brought somewhere those that lie on them."""
        return {self._aim_at(bone) for bone in self.solved}

    def choose(self, bone: str) -> None:
        """Find the control that turns a bone, and moves it if need be."""
        found, used = self.found, {drive.control for drive in self.drives}
        below = {name for name in self.above if self._hangs_from(name, bone)}
        able = [
            name
            for name, trait in self.traits.items()
            if trait.turns
            and name not in self.solved
            and name not in used
            and found.of(found.swings, name, bone)
            and found.touched(name, self.above) <= (below | self.bent if self._pulls(name, bone) else below)
        ]
        if not able:
            return
        over = self._owner_above(bone)
        held = [name for name in able if over and found.of(found.carries, over, name)]
        placing = [
            name
            for name in able
            if self.traits[name].moves
            and found.of(found.turns, name, bone)
            and (found.of(found.moves, name, bone) or self._pulls(name, bone))
        ]
        if held or not placing:
            control = min(held or able, key=self._unlikely)
            self._add(control, bone, "TURN")
            if control in placing:
                self.drives.append(replace(self.drives[-1], does="PLACE", after=3))
        else:
            self._add(min(placing, key=self._unlikely if over else self._unlikely_root), bone, "PLACE")

    def lead(self, chain: Chain) -> None:
        """Find what leads bones that are pointed at something."""
        bones = [self._aim_at(name) for name in chain.bones]
        driven = {drive.bone for drive in self.drives if not drive.after}
        tip = bones[-1]
        if not tip or (len(bones) == 1 and tip in driven):
            return
        used = {drive.control for drive in self.drives}
        led = {drive.control for drive in self.drives if self._hangs_from(drive.bone, tip)}
        target = self._mover(chain.target)
        if target and target not in used and not led & self._holders(chain.target):
            self._add(target, tip, "MOVE")
        pole = self._mover(chain.pole) if chain.pole else ""
        end = next((bone for bone, above in self.above.items() if above == tip), "")
        if pole and pole not in used and bones[0] and end and bones[0] != tip:
            self._add(pole, bones[1] or tip, "POLE", below=end, root=bones[0])
        carrier: tuple[str, ...] | None = None
        for name, bone in zip(chain.bones, bones, strict=True):
            if bone and bone not in driven and name in self.traits and self.traits[name].turns:
                carriers = self._carriers(name) if carrier is None else carrier
                late = 1 if chain.pole or len(bones) == 1 else 0
                self.drives.append(Drive(name, bone, "TURN", carriers, after=late))
                carrier = (name,)

    def others(self) -> Iterator[Drive]:
        """What moves a bone in part that no control moves as a whole: those that touch the least."""
        driven = {drive.bone for drive in self.drives}
        for bone in self.above:
            if bone in driven:
                continue
            able = [name for name in self.traits if self.found.of(self.found.touches, name, bone)]
            able = [name for name in able if name not in self.solved and not self.traits[name].hidden]
            able.sort(key=lambda name: (len(self.found.touched(name, self.above)), self._unlikely(name)))
            for name in able[:MOST_OTHERS]:
                yield Drive(name, bone, "TURN" if self.traits[name].turns else "MOVE")

    def _add(self, control: str, bone: str, does: Does, *, below: str = "", root: str = "") -> None:
        if does == "TURN" and not self.found.of(self.found.turns, control, bone):
            below = next((name for name, above in self.above.items() if above == bone), "")
            does = "SWING" if below else "TURN"
        point = self._point(control, bone) if does in {"PLACE", "MOVE"} else ""
        self.drives.append(Drive(control, bone, does, self._carriers(control), below=below, root=root, point=point))

    def _owner_above(self, bone: str) -> str:
        above = self.above[bone]
        while above:
            for drive in self.drives:
                if drive.bone == above:
                    return drive.control
            above = self.above[above]
        return ""

    def _carriers(self, control: str) -> tuple[str, ...]:
        """What takes a control along: the one of those used that is nearest."""
        found = self.found
        names = [
            drive.control
            for drive in self.drives
            if drive.control != control
            and found.of(found.turns, drive.control, control)
            and found.of(found.carries, drive.control, control)
        ]
        if not names:
            return ()
        return (min(names, key=lambda name: int(found.touches[found.place[name]].sum())),)

    def _hangs_from(self, name: str, bone: str) -> bool:
        while name and name != bone:
            name = self.above[name]
        return name == bone

    def _unlikely(self, name: str) -> tuple[bool, bool, bool, int]:
        """What animators take hold of last is greatest: it is hidden, has no keys, deforms, or hangs from others."""
        trait = self.traits[name]
        return (trait.hidden, not trait.keyed, trait.deforms, trait.depth)

    def _unlikely_root(self, name: str) -> tuple[bool, bool, bool, int]:
        """The same of what moves the whole body: what moves the least beside it comes before what moves all."""
        found = self.found
        return (*self._unlikely(name)[:3], int(found.touches[found.place[name]].sum()))

    def _point(self, control: str, bone: str) -> str:
        """What goes along with a control and is to be where a bone begins: the bones above it point there."""
        found = self.found
        rest = {name: found.rest[found.place[name]] for name in found.place}
        for chain in self.chains:
            near = np.linalg.norm(rest[chain.target][:3, 3] - rest[bone][:3, 3]) < SAME * found.size
            if near and self._pulls(control, bone) and control in self._holders(chain.target):
                return chain.target
        return ""

    def _pulls(self, name: str, bone: str) -> bool:
        """Whether a control moves what the bones above a bone point at, though they may be stretched out."""
        return any(
            self._aim_at(chain.bones[-1]) == self.above[bone] and name in self._holders(chain.target)
            for chain in self.chains
        )

    def _holders(self, point: str) -> set[str]:
        found = self.found
        return {name for name in self.traits if found.of(found.moves, name, point)}

    def _mover(self, point: str) -> str:
        """The control that a bone is moved by that something points at."""
        found = self.found
        able = [
            name
            for name in self._holders(point)
            if self.traits[name].moves and found.touched(name, self.above) == found.touched(point, self.above)
        ]
        return min(sorted(able), key=self._unlikely) if able else ""

    def _aim_at(self, name: str) -> str:
        """The bone to be brought somewhere that another one is, or lies on."""
        if name in self.above:
            return name
        found = self.found
        here = found.pose[found.place[name]]
        best, least = "", NEAR * found.size
        for bone in self.above:
            pose = found.pose[found.place[bone]]
            off = float(np.linalg.norm(pose[:3, 3] - here[:3, 3]))
            if off < least and pose[:3, 1] @ here[:3, 1] > 0.9 * np.linalg.norm(pose[:3, 1]) * np.linalg.norm(
                here[:3, 1]
            ):
                best, least = bone, off
        return best


def united(maps: Sequence[Map]) -> Map:
    """All drives of several states in one; what is in more than one stays as in the first."""
    drives: dict[tuple[str, str, str], Drive] = {}
    for chart in maps:
        for drive in chart.trunk:
            drives.setdefault((drive.control, drive.bone, drive.does), drive)
    others = dict.fromkeys(drive for chart in maps for drive in chart.others)
    return Map(tuple(drives.values()), (), maps[0].aims, tuple(others))
