# SPDX-License-Identifier: GPL-3.0-or-later
"""References of the captured clips, with defaults only."""

import resource
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from heft.core.contact.terrain import Mesh, Plane, Surface, make_terrain
from heft.core.control.lookahead import LookAhead, Track
from heft.core.control.lookahead import Settings as LookAheadSettings
from heft.core.dynamics import difference
from heft.core.motion.bvh import read_bvh
from heft.core.motion.fit import Trajectory
from heft.core.motion.ground import estimate_ground
from heft.core.motion.labels import Grab, contacts_of, label
from heft.core.motion.make_reference import MadeReference, make_reference
from heft.core.motion.prepare import Performance, prepare
from heft.core.motion.reference import Reference
from heft.core.motion.schedule import ContactPoint
from heft.core.simulation import DivergedError, World

from tests.core.motion.skeletons import CMU_ROLES, CMU_UNIT, DAMAGED, GOOD

NOTHING_THERE = ("36_01", "43_02", "83_10", "83_28", "111_09")  # whose support is not in the data
LENGTHS = (1.0, 2.0, 5.0, 10.0, 20.0)  # s
LONG_CLIP = "120_08"
NOISE = 0.02  # standard deviation of every start velocity, m/s and rad/s
ASKED_DEGREES, ASKED_METRES = 3.0, 0.03
FALLEN = 0.25  # m that the root may be above or below its reference
INTRODUCTION = """# References of captured clips

Every clip on its own character, from file to reference, with default settings. Written by `run.py study references`.

- fit: RMS angle between body and bone in the clip, before anything is changed
- residual: largest force missing in a step, as a fraction of the character's weight (asked: at most 1e-6)
- friction: largest use of Coulomb's cone (at most 1)
- slip, deep: largest slip of a contact, deepest point of a sole below the ground, mm (at most 1)
- all joints, but ankles, root: RMS change from the clip of all joints, of those but the ankles, and of the root's place
  (asked of walks: joints within 3°, root within 3 cm). Ankles lay flat what a capture, whose ankles do not roll, holds askew
- s/s: processor seconds per second of motion, from labels to reference
- fit for control: the physics holds, the iteration has converged, and the motion is within 10° (ankles left out) and 10 cm
  of the clip. That limit is to catch clips whose support is missing; how near a reference is, its columns say
- followed: RMS of the joints' errors when look-ahead control follows it once, from a start with noise of 0.02 on every
  velocity; or when it fell

| clip | s | fit ° | residual | friction | slip | deep | all joints ° | but ankles ° | root cm | iterations | s/s | fit for control | followed ° |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
"""  # noqa: E501
SUPPORTED = """
## With their support placed

Ground by `estimate_ground`, level around each of the clip's footsteps; a seat of 0.33 m under the sitter, which goes with him,
since he shuffles forward on it; hands on a bar that moves as the clip's hands do, since it swings too.

| clip | s | fit ° | residual | friction | slip | deep | all joints ° | but ankles ° | root cm | iterations | s/s | fit for control | followed ° |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
"""  # noqa: E501


class Row(NamedTuple):
    """What became of one clip."""

    name: str
    performance: Performance
    made: MadeReference
    spent: float  # s
    followed: str

    def __str__(self) -> str:
        """The table's line."""
        character, quality = self.performance.plan.character, self.made.reference.quality
        weight = character.total_mass * 9.81
        ankles = np.array([body.name.endswith("_foot") for body in character.bodies])
        jointed = np.array([joint.kind not in {"free", "fixed"} for joint in character.joints])
        others = np.degrees(np.sqrt(np.mean(quality.joint_change[:, jointed & ~ankles] ** 2)))
        seconds = (len(self.made.reference.q) - 1) / self.made.reference.rate
        return (
            f"| {self.name} | {seconds:.1f} | {np.degrees(self.performance.error.turn_rms):.2f} |"
            f" {quality.residual_newtons / weight:.0e} | {quality.friction_use:.2f} | {quality.slip_millimetres:.2f} |"
            f" {quality.penetration_millimetres:.2f} | {quality.joint_rms_degrees:.1f} | {others:.1f} |"
            f" {100.0 * quality.root_rms_metres:.1f} | {quality.iterations} | {self.spent / seconds:.2f} |"
            f" {'yes' if quality.fit_for_control else quality.why} | {self.followed} |"
        )


def study(folder: Path) -> str:
    """The page; this study leaves no pictures."""
    del folder
    if not GOOD:
        return "# References of captured clips\n\nThe clips are not beside the checkout.\n"
    performances = {path.stem: prepare(read_bvh(path, CMU_UNIT), CMU_ROLES) for path in GOOD}
    first = next(iter(performances.values()))
    make_reference(first.plan.character, first.trajectory.cut(0, 30))  # compiles
    lines, supported, beyond = [], [], []
    for name, performance in performances.items():
        character, trajectory = performance.plan.character, performance.trajectory
        try:
            start = time.process_time()
            made = make_reference(character, trajectory)
            spent = time.process_time() - start
            lines.append(str(Row(name, performance, made, spent, followed(made.reference))))
            quality = made.reference.quality
            if quality.joint_rms_degrees > ASKED_DEGREES or quality.root_rms_metres > ASKED_METRES:
                beyond.append(name)
        except ValueError as refusal:
            lines.append(f"| {name} | refused: {refusal} |" + " |" * 12)
        if name.startswith(NOTHING_THERE):
            start = time.process_time()
            made, ground = placed(name, performance)
            spent = time.process_time() - start
            control = followed(made.reference, ground) if ground else "not simulated"
            supported.append(str(Row(name, performance, made, spent, control)))
    lines += ["", f"Beyond 3° of all joints or 3 cm of the root: {', '.join(beyond)}."]
    page = [
        INTRODUCTION + "\n".join(lines),
        SUPPORTED.lstrip("\n") + "\n".join(supported),
        damaged(),
        growth(performances),
    ]
    return "\n\n".join(page) + "\n"


def placed(name: str, performance: Performance) -> tuple[MadeReference, list[Surface]]:
    """The reference of a clip on what it was made on, and the ground to simulate it on, if it can be."""
    character, trajectory = performance.plan.character, performance.trajectory

    def points(name: str, body: str, z: float) -> list[ContactPoint]:
        indices = {side: character.index(f"{side}_{body}") for side in ("left", "right")}
        return [ContactPoint(f"{side}_{name}", index, (0.0, 0.0, z), moves=True) for side, index in indices.items()]

    if name.startswith("43_02"):
        return make_reference(
            character, trajectory, grabs=[Grab(one, 2.0, 730.0) for one in points("grip", "hand", 0.0)]
        ), []
    if name.startswith("111_09"):
        sits = [Grab(one, 2.0, 365.0, pulls=False) for one in points("seat", "thigh", -0.08)]
        terrain = make_terrain([Plane(), seat_under(trajectory)])
        feet = contacts_of(trajectory, label(character, trajectory))
        return make_reference(character, trajectory, terrain=terrain, contacts=feet, grabs=sits), []
    ground: list[Surface] = [estimate_ground(character, trajectory)]
    return make_reference(character, trajectory, terrain=make_terrain(ground)), ground


def followed(reference: Reference, ground: Sequence[Surface] = (Plane(),)) -> str:
    """How look-ahead control follows a reference, once through."""
    character = reference.character
    track = Track.of(reference)
    controller = LookAhead(character, track, LookAheadSettings())
    world = World(character, list(ground))
    noise = np.random.default_rng(0).normal(scale=NOISE, size=character.nv)
    world.reset(track.q[0], track.v[0] + noise)
    squares = []
    for step in range(reference.steps - 1):
        try:
            world.step(controller)
        except DivergedError as error:
            return f"stopped after {step / reference.rate:.1f} s: {error}"
        error = difference(character, controller.reference_state()[0], world.q)
        if abs(error[2]) > FALLEN:
            return f"fell after {step / reference.rate:.1f} s"
        squares.append(np.mean(error[6:] ** 2))
    return f"{np.degrees(np.sqrt(np.mean(squares))):.2f}"


def seat_under(trajectory: Trajectory, height: float = 0.33) -> Mesh:
    """A box under where the root begins."""
    x, y = trajectory.q[0, :2].tolist()
    corners = np.array([(a, b, c) for a in (-0.2, 0.2) for b in (-0.35, 0.1) for c in (0.0, 1.0)])
    triangles = [
        (0, 1, 3),
        (0, 3, 2),
        (4, 6, 7),
        (4, 7, 5),
        (0, 4, 5),
        (0, 5, 1),
        (2, 3, 7),
        (2, 7, 6),
        (0, 2, 6),
        (0, 6, 4),
    ]
    triangles += [(1, 5, 7), (1, 7, 3)]
    return Mesh(corners * (1.0, 1.0, height) + (x, y, 0.0), np.array(triangles, dtype=np.int64), name="seat")


def damaged() -> str:
    """What is said of clips that are broken on purpose."""
    lines = ["## Damaged clips", ""]
    for path in sorted(DAMAGED.glob("*.bvh")):
        try:
            performance = prepare(read_bvh(path, CMU_UNIT), CMU_ROLES)
            made = make_reference(performance.plan.character, performance.trajectory)
            lines.append(f"- **{path.stem}**: {performance.repairs[0].text}; then: {made.reference.quality.why}")
        except ValueError as refusal:
            lines.append(f"- **{path.stem}**: refused: {refusal}")
    return "\n".join(lines)


def growth(performances: dict[str, Performance]) -> str:
    """Time against the length of the motion: a walk, repeated to and fro."""
    lines = [
        "## Growth with length",
        "",
        f"The clip {LONG_CLIP}, played to and fro for as long as it takes, on two characters.",
        "",
        "| seconds of motion | degrees of freedom | seconds | s/s | iterations |",
        "|---|---|---|---|---|",
    ]
    path = next(path for path in GOOD if path.name.startswith(LONG_CLIP))
    full = prepare(read_bvh(path, CMU_UNIT), CMU_ROLES, detail="full")
    for performance in (performances[path.stem], full):
        character, trajectory = performance.plan.character, performance.trajectory
        make_reference(character, trajectory.cut(0, 120))
        for seconds in LENGTHS:
            count = round(seconds * trajectory.rate) + 1
            frames = np.concatenate([np.arange(len(trajectory.q)), np.arange(len(trajectory.q) - 2, 0, -1)])
            chosen = np.resize(frames, count)
            sign = np.where(np.diff(chosen, append=chosen[-1] + 1) > 0, 1.0, -1.0)[:, None]
            longer = Trajectory(trajectory.rate, trajectory.q[chosen], sign * trajectory.v[chosen])
            start = time.process_time()
            quality = make_reference(character, longer).reference.quality
            spent = time.process_time() - start
            lines.append(
                f"| {seconds:g} | {character.nv} | {spent:.1f} | {spent / seconds:.2f} | {quality.iterations} |"
            )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    lines += ["", f"Most memory that the whole study took, gains of look-ahead control included: {peak:.0f} MB."]
    return "\n".join(lines)
