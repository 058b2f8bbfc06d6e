# SPDX-License-Identifier: GPL-3.0-or-later
"""The bodies that a skeleton's roles make, and which of the parts' masses each of them bears."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

import numpy as np

from ..character import JointKind
from . import masses
from .landmarks import SIDES, Chains
from .quaternions import Array

Detail = Literal["simple", "full"]
X, Y, Z = np.eye(3)


class Part(NamedTuple):
    """A body to be: where it hangs, which bone leads it, what kind of joint it may have."""

    name: str
    parent: str | None
    joint: str
    leader: int
    kinds: tuple[JointKind, ...]  # in order of preference; the last holds any motion
    axes: tuple[Array, ...]  # the joint's where the motion does not say, in the frame of a person standing at attention
    prior: Array | None  # where a functional centre is looked for, at rest; None: the joint is at the leader's head


def make_parts(chains: Chains, marks: Mapping[str, Array], quadruped: bool, detail: Detail) -> list[Part]:
    """The bodies to make, parents first.

    An ankle is a ball whatever the clip does with it: captures' ankles often pitch and yaw but never roll, and a foot
    that cannot roll cannot lay its sole flat.
    """
    full = detail == "full"
    hips, cervicale = marks["hips"], marks["cervicale"]
    waist, back = (hips + part * (cervicale - hips) for part in (masses.OMPHALION, masses.XIPHION))
    parts = [Part("pelvis", None, "root", chains["pelvis"][0], ("free",), (), None)]
    spine = chains.get("spine", ()) + chains.get("chest", ())
    trunk = "pelvis"
    if full and len(spine) > 1:
        trunk = "thorax"
        parts.append(Part("abdomen", "pelvis", "lower_back", spine[(len(spine) - 1) // 2], ("ball",), (), waist))
        parts.append(Part("thorax", "abdomen", "upper_back", spine[-1], ("ball",), (), back))
    elif spine:
        trunk = "torso"
        parts.append(Part("torso", "pelvis", "trunk", spine[-1], ("ball",), (), waist))
    if "head" in chains:
        kinds: tuple[JointKind, ...] = ("ball",) if full else ("fixed",)
        parts.append(Part("head", trunk, "neck", chains["head"][0], kinds, (), cervicale))
    if "tail" in chains and quadruped:  # there are no tables of tails on two legs: one rides along with the pelvis
        kinds = ("ball",) if full else ("fixed",)
        parts.append(Part("tail", "pelvis", "tail", chains["tail"][0], kinds, (), None))
    for side, letter in SIDES.items():
        above = trunk
        if full and f"{side}_clavicle" in marks:
            kinds, above = ("universal", "ball"), f"{side}_clavicle"
            parts.append(Part(above, trunk, above, chains[f"clavicle.{letter}"][0], kinds, (X, Z), None))
        wrist: tuple[JointKind, ...] = ("universal", "ball") if full or quadruped else ("fixed",)
        fingers, toes = (
            joint if f"{upper}.{letter}" in chains else usual
            for upper, joint, usual in (("metacarpus", "fingers", "wrist"), ("metatarsus", "toes", "ankle"))
        )
        for name, joint, role, kinds, axes in (
            ("arm", "shoulder", "upper_arm", ("ball",), ()),
            ("forearm", "elbow", "forearm", ("hinge", "ball"), (Y,)),
            ("metacarpus", "wrist", "metacarpus", ("ball",), ()),
            ("hand", fingers, "hand", wrist, (X, Y)),
            ("thigh", "hip", "thigh", ("ball",), ()),
            ("shank", "knee", "shin", ("hinge", "ball"), (Y,)),
            ("metatarsus", "ankle", "metatarsus", ("ball",), (Y, X)),
            ("foot", toes, "foot", ("ball",), (Y, X)),
        ):
            if f"{role}.{letter}" not in chains:
                continue
            parent = "pelvis" if name == "thigh" else above
            leader = chains[f"{role}.{letter}"][0]
            parts.append(Part(f"{side}_{name}", parent, f"{side}_{joint}", leader, kinds, axes, None))
            above = f"{side}_{name}"
    return parts


def gather_masses(weights: masses.Masses, parts: list[Part]) -> masses.Masses:
    """The masses of the bodies to be; those of parts that have no body of their own go to the one they hang from."""
    made = {part.name for part in parts}
    trunk = "thorax" if "thorax" in made else "torso" if "torso" in made else "pelvis"
    heirs = {"abdomen": trunk, "thorax": trunk, "head": trunk, "tail": "pelvis"}
    for side in SIDES:
        limb = trunk
        heirs[f"{side}_clavicle"] = trunk
        for name in ("arm", "forearm", "metacarpus", "hand"):
            heirs[f"{side}_{name}"] = limb
            limb = f"{side}_{name}" if f"{side}_{name}" in made else limb
    result: masses.Masses = {name: [] for name in made}
    for name, some in weights.items():
        result[name if name in made else heirs[name]] += some
    return result


def check_kinds(joints: Mapping[str, JointKind], parts: list[Part]) -> Mapping[str, JointKind]:
    """The kinds chosen for joints, or a ValueError where there is no such joint or it cannot be of that kind."""
    names = [part.joint for part in parts if part.parent is not None]
    for name, kind in joints.items():
        if name not in names:
            raise ValueError(f"The character has no joint '{name}'.")
        if kind not in {"ball", "universal", "hinge", "fixed"}:
            raise ValueError(f"Joint '{name}' can be a ball, universal, hinge or fixed, not '{kind}'.")
    return joints
