# SPDX-License-Identifier: GPL-3.0-or-later
"""The controls of a rig that Rigify generated from its human metarigs, basic or advanced."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from .drives import Drive, Limb, Map

ARM, LEG = ("upper_arm", "forearm", "hand"), ("thigh", "shin", "foot")
OF_PAWS = {
    "DEF-foot.L.001",
    "DEF-foot.R.001",
    "DEF-hand.L.001",
    "DEF-hand.R.001",
}  # animals' feet are limbs of their own


def map_of(names: Collection[str]) -> Map | None:
    """Return the map of a rig with bones of these names; None where it is no such rig."""
    if not {"torso", "spine_fk", "spine_fk.001", "DEF-spine", "DEF-spine.001"} <= set(names) or OF_PAWS & set(names):
        return None

    def there(drives: Iterator[Drive]) -> tuple[Drive, ...]:
        return tuple(drive for drive in drives if {drive.control, drive.bone} <= set(names))

    limbs = tuple(
        Limb(
            (f"{chain[0]}_parent.{side}", "IK_FK"),
            (f"{chain[0]}_parent.{side}", "pole_vector"),
            there(_ik(chain, side)),
            there(_fk(chain, side)),
        )
        for side in "LR"
        for chain in (ARM, LEG)
        if f"{chain[0]}_parent.{side}" in names
    )
    return Map(there(_trunk()), limbs)


def _trunk() -> Iterator[Drive]:
    """From torso to head; hips and chest, that bend several bones alike, stay as they are keyed."""
    yield Drive("torso", "DEF-spine", "PLACE")
    yield Drive("spine_fk.001", "DEF-spine.001", "TURN", ("torso",))
    yield Drive("spine_fk", "DEF-spine", "TURN", ("spine_fk.001",))
    yield Drive("spine_fk.002", "DEF-spine.002", "TURN", ("torso",))
    yield Drive("spine_fk.003", "DEF-spine.003", "TURN", ("spine_fk.002",))
    yield Drive("neck", "DEF-spine.004", "TURN", ("spine_fk.003",))
    yield Drive("head", "DEF-spine.006", "TURN", ("neck",))
    yield Drive("tweak_spine", "DEF-spine", "TWEAK", ("spine_fk",), after=3)
    for number in range(1, 4):
        name = f"spine.00{number}"
        yield Drive(f"tweak_{name}", f"DEF-{name}", "TWEAK", (f"spine_fk.00{number}",), after=3)
    yield Drive("tweak_spine.004", "DEF-spine.004", "TWEAK", ("neck",), after=3)
    yield Drive("tweak_spine.005", "DEF-spine.005", "TWEAK", ("neck", "head"), after=3)
    yield Drive("head", "DEF-spine.006", "PLACE", ("neck",), after=3)
    for side in "LR":
        name = f"shoulder.{side}"
        yield Drive(name, f"DEF-{name}", "TURN", ("spine_fk.003",))
        yield Drive(name, f"DEF-{name}", "PLACE", ("spine_fk.003",), after=3)


def _carrier(chain: tuple[str, ...], side: str) -> tuple[str, ...]:
    return (f"shoulder.{side}",) if chain is ARM else ("spine_fk",)


def _fk(chain: tuple[str, ...], side: str) -> Iterator[Drive]:
    upper, lower, end = (f"{part}_fk.{side}" for part in chain)
    bones = [f"DEF-{part}.{side}" for part in chain]
    yield Drive(upper, bones[0], "SWING", _carrier(chain, side), below=bones[1])
    yield Drive(lower, bones[1], "TURN", (upper,))
    yield Drive(end, bones[2], "TURN", (lower,))
    if chain is LEG:
        toe = f"toe_fk.{side}"
        yield Drive(toe, f"DEF-toe.{side}", "TURN", (end,))
        yield Drive(toe, f"DEF-toe.{side}", "PLACE", (end,), after=1)
    yield from _tweaks(chain, side, 1, (lower,), (end,))


def _ik(chain: tuple[str, ...], side: str) -> Iterator[Drive]:
    upper, lower, end = (f"DEF-{part}.{side}" for part in chain)
    hold = f"{chain[2]}_ik.{side}"
    yield Drive(hold, end, "PLACE")
    if chain is LEG:
        toe = f"toe_ik.{side}"
        yield Drive(toe, f"DEF-toe.{side}", "TURN", (hold,))
        yield Drive(toe, f"DEF-toe.{side}", "PLACE", (hold,), after=1)
    yield Drive(f"{chain[0]}_ik.{side}", lower, "ROLL", _carrier(chain, side), below=end, root=upper)
    yield Drive(f"{chain[0]}_ik_target.{side}", lower, "POLE", _carrier(chain, side), below=end, root=upper)
    yield from _tweaks(chain, side, 2, (), (hold,))


def _tweaks(
    chain: tuple[str, ...], side: str, after: int, lower: tuple[str, ...], end: tuple[str, ...]
) -> Iterator[Drive]:
    """Every deforming bone of a limb begins at a tweak and points to the next."""
    tweaks = [f"{part}_tweak.{side}" for part in chain]
    bones = [f"DEF-{part}.{side}" for part in chain]
    for tweak, bone, carriers in zip(tweaks, bones, (_carrier(chain, side), lower, end), strict=True):
        yield Drive(tweak, bone, "TWEAK", carriers, after=after)
    for place in (0, 1):
        halves = (tweaks[place], tweaks[place + 1])
        yield Drive(f"{tweaks[place]}.001", f"{bones[place]}.001", "TWEAK", halves, after=after)
