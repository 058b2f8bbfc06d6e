# SPDX-License-Identifier: GPL-3.0-or-later
"""The controls of a rig that Rigify generated from its metarigs of people, cats and wolves."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator
from typing import NamedTuple

from .drives import Drive, Limb, Map


class Chain(NamedTuple):
    """A limb's bones, the toe's names in the one or the other metarig, and what carries it."""

    upper: str
    lower: str
    end: str
    toes: tuple[str, ...]
    on_shoulder: bool

    def parts(self) -> tuple[str, str, str]:
        """The three that bend."""
        return self.upper, self.lower, self.end

    def carrier(self, side: str, spine: str) -> tuple[str, ...]:
        """What it hangs from."""
        return (f"shoulder.{side}",) if self.on_shoulder else (spine,)


CHAINS = (
    Chain("upper_arm", "forearm", "hand", ("f_toe",), on_shoulder=True),
    Chain("thigh", "shin", "foot", ("toe", "r_toe"), on_shoulder=False),
    Chain("front_thigh", "front_shin", "front_foot", ("front_toe",), on_shoulder=True),
)


def map_of(names: Collection[str]) -> Map | None:
    """Return the map of a rig with bones of these names, a person's or an animal's; None where it is no such rig."""
    spine = [number for number in range(20) if numbered("spine_fk", number) in names]
    if len(spine) < 3 or not {"torso", numbered("DEF-spine", spine[0])} <= set(names):
        return None

    def there(drives: Iterator[Drive]) -> tuple[Drive, ...]:
        return tuple(drive for drive in drives if {drive.control, drive.bone} <= set(names))

    limbs = []
    for side in "LR":
        for chain in CHAINS:
            parent = f"{chain.upper}_parent.{side}"
            if parent not in names:
                continue
            carrier = chain.carrier(side, numbered("spine_fk", spine[0]))
            toe = next((toe for toe in chain.toes if f"DEF-{toe}.{side}" in names), "")
            if f"DEF-{chain.end}.{side}.001" in names:
                ways = _paw_ik(chain, side, toe, carrier), _paw_fk(chain, side, toe, carrier)
            else:
                ways = _ik(chain, side, toe, carrier), _fk(chain, side, toe, carrier)
            limbs.append(Limb((parent, "IK_FK"), (parent, "pole_vector"), there(ways[0]), there(ways[1])))
    top = max(number for number in range(30) if numbered("DEF-spine", number) in names)
    tail = max((number for number in range(1, 20) if numbered("tail", number) in names), default=0)
    return Map(there(itertools.chain(_trunk(spine[0], spine[-1], top), _tail(tail))), tuple(limbs))


def numbered(name: str, number: int) -> str:
    """The name as Blender numbers it."""
    return f"{name}.{number:03d}" if number else name


def _trunk(first: int, last: int, top: int) -> Iterator[Drive]:
    """From torso to head, the bone at the top; hips and chest, that bend several bones alike, stay as they are keyed.

    The spine turns about the joint above its first bone, which hangs from the second one's control.
    """

    def fk(number: int) -> str:
        return numbered("spine_fk", number)

    def bone(number: int) -> str:
        return numbered("DEF-spine", number)

    yield Drive("torso", bone(first), "PLACE")
    yield Drive(fk(first + 1), bone(first + 1), "TURN", ("torso",))
    yield Drive(fk(first), bone(first), "TURN", (fk(first + 1),))
    for number in range(first + 2, last + 1):
        yield Drive(fk(number), bone(number), "TURN", (fk(number - 1) if number > first + 2 else "torso",))
    yield Drive("neck", bone(last + 1), "TURN", (fk(last),))
    yield Drive("head", bone(top), "TURN", ("neck",))
    for number in range(first, last + 1):
        yield Drive(numbered("tweak_spine", number), bone(number), "TWEAK", (fk(number),), after=3)
    for number in range(last + 1, top):
        carriers = ("neck",) if number == last + 1 else ("neck", "head")
        yield Drive(numbered("tweak_spine", number), bone(number), "TWEAK", carriers, after=3)
    yield Drive("head", bone(top), "PLACE", ("neck",), after=3)
    for side in "LR":
        name = f"shoulder.{side}"
        yield Drive(name, f"DEF-{name}", "TURN", (fk(last),))
        yield Drive(name, f"DEF-{name}", "PLACE", (fk(last),), after=3)


def _tail(tip: int) -> Iterator[Drive]:
    """The tip, from which the bones of a tail hang that go to the body: what of it is simulated."""
    yield Drive(numbered("tail", tip), numbered("DEF-tail", tip), "PLACE", ("torso",))


def _fk(chain: Chain, side: str, toe: str, carrier: tuple[str, ...]) -> Iterator[Drive]:
    _, lower, end = (f"{part}_fk.{side}" for part in chain.parts())
    yield from _turned(chain, side, carrier)
    if toe:
        control = f"{toe}_fk.{side}"
        yield Drive(control, f"DEF-{toe}.{side}", "TURN", (end,))
        yield Drive(control, f"DEF-{toe}.{side}", "PLACE", (end,), after=1)
    yield from _tweaks(chain, side, 1, carrier, (lower,), (end,))


def _turned(chain: Chain, side: str, carrier: tuple[str, ...]) -> Iterator[Drive]:
    upper, lower, end = (f"{part}_fk.{side}" for part in chain.parts())
    bones = [f"DEF-{part}.{side}" for part in chain.parts()]
    yield Drive(upper, bones[0], "SWING", carrier, below=bones[1])
    yield Drive(lower, bones[1], "TURN", (upper,))
    yield Drive(end, bones[2], "TURN", (lower,))


def _ik(chain: Chain, side: str, toe: str, carrier: tuple[str, ...]) -> Iterator[Drive]:
    hold = f"{chain.end}_ik.{side}"
    yield Drive(hold, f"DEF-{chain.end}.{side}", "PLACE")
    if toe:
        control = f"{toe}_ik.{side}"
        yield Drive(control, f"DEF-{toe}.{side}", "TURN", (hold,))
        yield Drive(control, f"DEF-{toe}.{side}", "PLACE", (hold,), after=1)
    yield from _bent(chain, side, carrier)
    yield from _tweaks(chain, side, 2, carrier, (), (hold,))


def _bent(chain: Chain, side: str, carrier: tuple[str, ...]) -> Iterator[Drive]:
    upper, lower, end = (f"DEF-{part}.{side}" for part in chain.parts())
    yield Drive(f"{chain.upper}_ik.{side}", lower, "ROLL", carrier, below=end, root=upper)
    yield Drive(f"{chain.upper}_ik_target.{side}", lower, "POLE", carrier, below=end, root=upper)


def _paw_fk(chain: Chain, side: str, toe: str, carrier: tuple[str, ...]) -> Iterator[Drive]:
    """An animal's foot is a limb's third bone; its toe has one control for both ways, which takes its tweak along."""
    yield from _turned(chain, side, carrier)
    end = f"{chain.end}_fk.{side}"
    yield Drive(f"{toe}.{side}", f"DEF-{toe}.{side}", "TURN", (end,))
    yield from _tweaks(chain, side, 2, carrier, (f"{chain.lower}_fk.{side}",), (end,))
    yield Drive(f"{toe}.{side}", f"DEF-{toe}.{side}", "PLACE", (end,), after=1)
    yield _paw_tweak(chain, side, f"{toe}.{side}")


def _paw_ik(chain: Chain, side: str, toe: str, carrier: tuple[str, ...]) -> Iterator[Drive]:
    hold, heel = f"{chain.end}_ik.{side}", f"{chain.end}_heel_ik.{side}"
    yield Drive(hold, f"DEF-{toe}.{side}", "PLACE")
    yield Drive(heel, f"DEF-{chain.end}.{side}", "TURN", (hold,))
    yield from _bent(chain, side, carrier)
    yield from _tweaks(chain, side, 2, carrier, (), (heel,))
    tip = f"{toe}_tweak.{side}"
    yield Drive(tip, f"DEF-{toe}.{side}", "TWEAK", (heel,), after=2)
    yield _paw_tweak(chain, side, tip)


def _paw_tweak(chain: Chain, side: str, tip: str) -> Drive:
    foot = f"{chain.end}_tweak.{side}"
    return Drive(f"{foot}.001", f"DEF-{chain.end}.{side}.001", "TWEAK", (foot, tip), after=2)


def _tweaks(
    chain: Chain, side: str, after: int, first: tuple[str, ...], lower: tuple[str, ...], end: tuple[str, ...]
) -> Iterator[Drive]:
    """Every deforming bone of a limb begins at a tweak and points to the next."""
    tweaks = [f"{part}_tweak.{side}" for part in chain.parts()]
    bones = [f"DEF-{part}.{side}" for part in chain.parts()]
    for tweak, bone, carriers in zip(tweaks, bones, (first, lower, end), strict=True):
        yield Drive(tweak, bone, "TWEAK", carriers, after=after)
    for place in (0, 1):
        halves = (tweaks[place], tweaks[place + 1])
        yield Drive(f"{tweaks[place]}.001", f"{bones[place]}.001", "TWEAK", halves, after=after)
