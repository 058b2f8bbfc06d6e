# SPDX-License-Identifier: GPL-3.0-or-later
"""How far the three-link model and the whole character may lean and come back: a part of the study of balance."""

import numpy as np
from heft.core.character import Character
from heft.core.control.balance import Balance, Settings
from heft.core.control.balance.regulator import HIPS, KEPT, VELOCITIES, linearise, standing_gain
from heft.core.dynamics import body_poses, center_of_mass, difference, integrate, inverse_dynamics, step
from heft.core.motion.quaternions import rotate
from heft.core.simulation import World

from tests.core.control.balance.poses import leaning, one_leg
from tests.core.control.replanning.tracks import held, soles

DT = 1.0 / 120.0
LEANS = (0.5, 1.0, 1.5, 2.0, 3.0, 5.0)  # degrees, of the model
CHOSEN = {
    "as it comes": {},
    "balance 0": {"balance": 0.0},
    "balance 0.6": {"balance": 0.6},
    **{
        f"hips {stiffness:g}, balance {share:g}": {"root_stiffness": stiffness, "balance": share}
        for stiffness in (1200.0, 50.0)
        for share in (0.0, 0.1, 0.6, 0.9)
    },
}
BACK = 0.03  # m, from where it is to stand
LASTS = 6.0  # s
STEP = 0.5  # degrees, of the character
MOST = 30.0
# name, of one foot or both, axis of the world and sign
WAYS = {
    "two feet, forwards": (False, 1, 1.0),
    "two feet, backwards": (False, 1, -1.0),
    "one foot, forwards": (True, 1, 1.0),
    "one foot, backwards": (True, 1, -1.0),
    "one foot, outwards": (True, 0, -1.0),
    "one foot, inwards": (True, 0, 1.0),
}

TITLE = """
## How far it may lean

The three-link model with its infinite-horizon regulator, at rest but for the lean. The thesis reports 20°, 36 cm.
"""
WHOLE = f"""
The whole character (muico29) leans at rest about its ankles, rigid and with flat soles. Shown is the largest lean, in
steps of {STEP:g}°, from which it recovers to within {100 * BACK:.0f} cm after {LASTS:.0f} s. "Static" is where the
centre of mass reaches the edge of the sole: beyond it only momentum of trunk and limbs can bring it back. "Hips" is
the stiffness of the spring to the root's place, {Settings().root_stiffness:g} by default: a stiff one uses up all that
the toes can give, and the heels are too close to stop the rebound. The style term holds the root by contact forces that
the program already keeps within soles and friction, which leaves the balance term little to add.
"""


def recovers(model: Character, direction: tuple[float, float, float], degrees: float) -> float | None:
    """The farthest that trunk or leg goes, rad, while the leaning model comes back; None where it falls."""
    rest = model.neutral()
    torque = inverse_dynamics(model, rest, np.zeros(VELOCITIES), np.zeros(VELOCITIES))
    gain = standing_gain(*linearise(model, rest, np.zeros(VELOCITIES), torque, DT))
    lean = np.concatenate((np.radians(degrees) * np.array(direction), np.zeros(6)))
    q, v, farthest = integrate(model, rest, lean, 1.0), np.zeros(VELOCITIES), 0.0
    for _ in range(round(LASTS / DT)):
        x = np.concatenate((difference(model, rest, q), v))
        farthest = max(farthest, float(np.abs(x[:VELOCITIES][HIPS]).max()))
        if not np.abs(x).max() < 100.0:
            return None
        u = np.concatenate((np.zeros(3), torque[HIPS] - gain @ x[KEPT]))
        u[2] = -50.0 * x[2] - 2.0 * x[11]  # a foot's friction holds the turn about the vertical
        q, v = step(model, q, v, u, DT)
    return farthest if np.abs(difference(model, rest, q)[:2]).max() < np.radians(0.5) else None


def of_the_model() -> list[str]:
    model = Character.preset("balance3")
    height = float(center_of_mass(model, model.neutral())[2])
    rows = ["| lean | centre of mass off by | forwards: trunk or leg goes | to the left |", "|---|---|---|---|"]
    for degrees in LEANS:
        found = [recovers(model, way, degrees) for way in ((0.0, 1.0, 0.0), (-1.0, 0.0, 0.0))]
        words = ["falls" if far is None else f"{far:.2f} rad" for far in found]
        rows.append(f"| {degrees:g}° | {100.0 * height * np.sin(np.radians(degrees)):.1f} cm | {' | '.join(words)} |")
    return rows


def stands(controller: Balance, start: np.ndarray) -> bool:
    """Whether who leans is back at the end."""
    world = World(controller.character)
    controller.seek()
    world.reset(start, np.zeros(controller.character.nv))
    for _ in range(round(LASTS / DT)):
        world.step(controller)
        if world.q[2] < 0.5 * start[2]:
            return False
    return bool(np.linalg.norm(world.q[:3] - controller.reference_state()[0][:3]) < BACK)


def of_the_character() -> list[str]:
    character = Character.preset("muico29")
    both = [(corner.body, corner.position) for corner in soles(character)]
    rows = [
        f"| stands on, leans | static | {' | '.join(CHOSEN)} |",
        f"|---|---|{'---|' * len(CHOSEN)}",
    ]
    for name, (single, axis, sign) in WAYS.items():
        q, points = one_leg(character) if single else (character.neutral(), both)
        feet = ["left_foot"] if single else ["left_foot", "right_foot"]
        found = []
        for chosen in CHOSEN.values():
            controller = Balance(character, held(character, [q] * 10, points), Settings(**chosen))
            most = 0.0
            while most < MOST and stands(controller, leaning(character, q, feet, axis, sign * np.radians(most + STEP))):
                most += STEP
            found.append(f"{most:g}°")
        rows.append(f"| {name} | {static(character, q, feet, axis, sign):.1f}° | {' | '.join(found)} |")
    return rows


def static(character: Character, q: np.ndarray, feet: list[str], axis: int, sign: float) -> float:
    """The lean, in degrees, at which the centre of mass stands over the soles' edge, found by halving."""
    along, way = 1 - axis, sign if axis == 1 else -sign
    position, turn = body_poses(character, q)
    bodies = [(character.index(c.body), c.position) for c in soles(character) if c.body in feet]
    edge = max(way * (position[b] + rotate(turn[b], np.array(place)))[along] for b, place in bodies)
    low, high = 0.0, 45.0
    while high - low > 0.01:
        middle = 0.5 * (low + high)
        center = center_of_mass(character, leaning(character, q, feet, axis, sign * np.radians(middle)))
        low, high = (middle, high) if way * center[along] < edge else (low, middle)
    return low


def sections() -> list[str]:
    """The page's part."""
    return [TITLE, *of_the_model(), WHOLE, *of_the_character()]
