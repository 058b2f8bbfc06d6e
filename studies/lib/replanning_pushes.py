# SPDX-License-Identifier: GPL-3.0-or-later
"""Pushes on motions under replanning control: a part of `run.py study replanning`."""

from collections.abc import Callable, Sequence

import numpy as np
from heft.core.character import Character
from heft.core.contact.terrain import Plane, make_terrain
from heft.core.control.replanning import Replanning, Settings
from heft.core.control.stage import Stage
from heft.core.control.track import Track
from heft.core.job import Scene
from heft.core.job.job import RECOVERY_EFFORT
from heft.core.simulation import DivergedError, Push
from heft.studies.lib.laid import Laid
from heft.studies.lib.replanning_follow import FALLEN, follow, seeded, table, walk, walk_reference
from heft.studies.lib.replanning_motions import DT, Motion, chin_up, squat

REPLICAS = 5
DIRECTIONS = {"front": (-1.0, 0.0, 0.0), "back": (1.0, 0.0, 0.0), "left": (0.0, -1.0, 0.0), "right": (0.0, 1.0, 0.0)}
DELAYED = Settings(delay=0.2)
PARTS = ("pelvis", "head", "left_arm", "left_thigh")
AFTER_SLOWING = 5.0  # s, by when a walk that it throws over has fallen
SPREAD = 1.1  # s over which the replicas' pushes are spread: a cycle of the walk


class AtOnce(Replanning):
    """Back to its speed from one step to the next, a second after a push."""

    def _slowed(self, since: float) -> float:
        return 1.0 - self.settings.slowing if since < 1.0 else 1.0


def push_of(name: str, force: float, start: float, frames: int, body: str = "thorax") -> Push:
    """On a body, from a side."""
    ahead, aside, up = (force * x for x in DIRECTIONS[name])
    return Push.constant(body, (ahead, aside, up), start, frames * DT)


def starts(first: float) -> list[float]:
    """When the replicas are pushed, s."""
    return [first + SPREAD * i / REPLICAS for i in range(REPLICAS)]


def standing(
    motion: Motion,
    name: str,
    force: float,
    frames: int,
    first: float,
    after: float = 3.0,
    body: str = "thorax",
    **more,
) -> str:
    """How many of the replicas stand some seconds after their push."""
    stood = []
    for seed, start in enumerate(starts(first)):
        push = push_of(name, force, start, frames, body)
        stood.append(not follow(motion, pushes=[push], seconds=start + after, seed=seed, **more).why)
    return f"{sum(stood)} of {REPLICAS}"


def pushed(motion: Motion, forces: Sequence[float], frames: int, first: float, settings: Settings) -> list:
    """Rows: how many stand, by force and side."""
    return [
        (f"{force:.0f}", *(standing(motion, name, force, frames, first, settings=settings) for name in DIRECTIONS))
        for force in forces
    ]


def pushes() -> list[str]:
    """Walk, squat, hang, with and without delay."""
    note = (
        f"Replicas that stand three seconds later, of {REPLICAS}, pushed from the side named: each at another "
        f"time, over\n{SPREAD:g} s, which is a cycle of the walk, and with noise on the first velocities."
    )
    page = ["## Pushes on the thorax", "", note, ""]
    for title, motion, forces, frames, first in (
        ("Walk, 10 frames", walk(), (100.0, 125.0, 150.0, 175.0), 10, 1.5),
        ("Squat, 20 frames", squat(), (75.0, 125.0, 175.0, 200.0, 250.0), 20, 0.5),
        ("Chin-up, 20 frames", chin_up(), (75.0, 125.0, 175.0), 20, 0.5),
    ):
        for delay in (0.0, 0.2):
            name = f"### {title}, felt at once" if delay == 0.0 else f"### {title}, felt after 200 ms"
            page += [name, "", *table(("N", *DIRECTIONS), pushed(motion, forces, frames, first, Settings(delay=delay)))]
    return page


def more_pushes() -> dict[str, Callable[[], list[str]]]:
    """Sections by their names."""
    return {
        "pushes on parts": on_parts,
        "pushes with steps": with_steps,
        "pushes unfelt": unfelt,
        "pushes slowed": slowed,
    }


def on_parts() -> list[str]:
    """The walk pushed on other parts of its body."""
    note = "100 N for 10 frames, felt at once, each at its body's own origin."
    rows = [(body, *(standing(walk(), name, 100.0, 10, 1.5, body=body) for name in DIRECTIONS)) for body in PARTS]
    return ["### Walk, pushed on other parts", "", note, "", *table(("part", *DIRECTIONS), rows)]


def with_steps() -> list[str]:
    """The walk whose steps are planned anew after a push."""
    note = (
        "In the paper, and above, feet go only where the body goes. Here the planner of look-ahead control chooses "
        "footholds\nafter the push by where the extrapolated centre of mass is, and replanning control follows the "
        "motion onto them\n(`studies/lib/laid.py`); 10 frames, felt at once."
    )
    rows = [(f"{force:.0f}", *(stepped(name, force) for name in DIRECTIONS)) for force in (100.0, 125.0, 150.0, 175.0)]
    return ["### Walk, with steps planned anew", "", note, "", *table(("N", *DIRECTIONS), rows)]


def stepped(name: str, force: float) -> str:
    """How many replicas stand."""
    return f"{sum(steps_and_stands(name, force, at, seed) for seed, at in enumerate(starts(1.5)))} of {REPLICAS}"


def steps_and_stands(name: str, force: float, start: float, seed: int, frames: int = 10, after: float = 3.0) -> bool:
    """Whether a replica stands some seconds after its push."""
    reference = walk_reference()
    character, seconds = reference.character, start + after
    scene = Scene(pushes=(push_of(name, force, start, frames),))
    terrain = make_terrain([Plane()])
    stage = Stage(character, terrain, scene, reference.rate, seconds, 0.0, recovery=RECOVERY_EFFORT)
    follower, world = Laid(reference, stage, _replanning), stage.world()
    q, v = follower.reference_state()
    world.reset(q, v + seeded(character, seed))
    for _ in range(round(seconds * reference.rate)):
        follower.between_steps(world, lambda: True)
        try:
            world.step(follower)
        except DivergedError:
            return False
        if np.linalg.norm(world.q[:3] - follower.reference_state()[0][:3]) > FALLEN:
            return False
    return True


def _replanning(character: Character, track: Track) -> Replanning:
    controller = Replanning(character, track, Settings())
    controller.seek()
    return controller


def unfelt() -> list[str]:
    """The walk with the delay as section 6 has it, and as it is here."""
    rows = [
        (
            f"{force:.0f}",
            *(standing(walk(), "front", force, 10, 1.5, settings=DELAYED, aware=each) for each in (False, True)),
        )
        for force in (0.0, 50.0, 100.0)
    ]
    note = (
        "Pushed from the front and felt after 200 ms, until when the walk takes itself to be where the reference is, "
        "as\nsection 6 has it, or where it would be without the push. With the reference's state it falls without any "
        "push:\n"
        "what plans lack where forces change within their window shows in the millimetres beside the reference."
    )
    head = ("N", "where the reference is", "where it would be")
    return ["### Walk, what it takes its state to be", "", note, "", *table(head, rows)]


def slowed() -> list[str]:
    """The walk pushed back, and slowed for a second (section 7.3)."""
    kinds = (
        ("as fast as before", Settings(), Replanning),
        ("at once back to its speed", Settings(slowing=0.25), AtOnce),
        ("back within a second", Settings(slowing=0.25), Replanning),
    )
    rows = [
        (
            f"{force:.0f}",
            *(
                standing(walk(), "front", force, 10, 1.5, AFTER_SLOWING, settings=each, kind=kind)
                for _, each, kind in kinds
            ),
        )
        for force in (0.0, 150.0, 200.0, 250.0, 300.0, 350.0)
    ]
    note = (
        "Pushed from the front for 10 frames, and slowed by 25 % for the second after it; who stands 5 s later. "
        "A push back\nleaves it behind. What threw it over was the end of that: a walk that is a quarter faster from "
        "one step\nto the next falls without any push. The time in which it comes back was chosen on pushes at other "
        "phases."
    )
    return ["### Walk, slowed down after the push", "", note, "", *table(("N", *(name for name, _, _ in kinds)), rows)]
