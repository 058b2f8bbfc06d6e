# SPDX-License-Identifier: GPL-3.0-or-later
"""Help: a force and a moment on the root that nothing gives, so that every motion has an answer.

Its price is far above all else. In frames that could do without it, the price grows with the help itself,

    C (sqrt(f^2 + eps^2) - eps),        f = what the helpers give, over the character's weight,

which is zero where there is none and leaves none where a little leaning saves it (a price by the square would spread a
little of it everywhere). The optimiser sees a square whose weight C / sqrt(f^2 + eps^2) is that of the iterate before:
the same slope, and a curvature that lies above. Where something is missing that the body rests on, the price is by the
square, or bodies would leap to save it.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter1d

from ...character import Character
from ...dynamics import body_poses
from ...sentences import Sentence, say
from ..schedule import ContactPoint, runs

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

# Three points of the root, not in line: forces on them add up to any force and moment. A moment of one newton metre
# costs about as much as a force of one newton.
HELPERS = tuple(
    ContactPoint(f"help_{i}", 0, place, grab=True, help=True)
    for i, place in enumerate(((1.0, 0.0, 0.0), (-0.5, 0.75**0.5, 0.0), (-0.5, -(0.75**0.5), 0.0)))
)
ROUNDING = 1e-3  # [eps]
NOTICED = 0.002  # of the weight: less help is left out
AROUND = 0.05  # s
WORTH_A_WORD = 0.02  # of the weight
SITTING = 0.15  # of the body's height: hips that are no higher than this over the knees sit
STEADYING = 0.5  # of the weight: less than this only keeps a motion near what was keyed
SLIPPERY = 0.2  # friction: about as much as a walk on level ground uses
LARGE = 1.0  # of the weight: where something is missing, help beyond this grows dear, or it would come in jerks
AT_ENDS = 1.0 / 300.0  # of its price that help costs where a motion begins or ends with something missing
FASTEST = 10.0  # times by which a weight changes in an iteration, at most


class Price(NamedTuple):
    """What help costs, per frame; f is its share of the character's weight."""

    square: float  # times f^2 / 2, at first
    missing: float  # times f^2 / 2, in steps where something is missing
    slope: float = 0.0  # [C] then times f; 0: it stays with the square


def shares_of_price(missing: Mask) -> Array:
    """Shares (N,) of its price that help costs where something is missing; none where nothing is.

    Small where a motion begins or ends so: a body would fall in from above and leap out at the end, to save it.
    """
    result = np.where(missing, 1.0, 0.0)
    for one in (result, result[::-1]):
        one[np.logical_and.accumulate(one > 0.0)] = AT_ENDS
    return result


def first_weights(price: Price, missing: Array, weight: float) -> Array:
    """Per squared newton (N,), of a character of that weight; `missing` are the shares of its price above."""
    result: Array = np.where(missing > 0.0, price.missing * missing, price.square) / weight**2
    return result


def next_weights(price: Price, missing: Array, weight: float, last: Array, force: Array) -> Array:
    """The same after an iterate with these forces (N, helpers, 3)."""
    share = np.linalg.norm(force.reshape(len(force), -1), axis=1) / weight
    large = np.maximum(share / LARGE, 1.0)
    spread = price.square if price.slope == 0.0 else price.slope * large / np.sqrt(share**2 + ROUNDING**2)
    wanted = np.where(missing > 0.0, price.missing * missing * large**4, spread) / weight**2
    result: Array = np.clip(wanted, last / FASTEST, last * FASTEST)
    return result


def weight_of(character: Character) -> float:
    """N."""
    return character.total_mass * float(np.linalg.norm(character.gravity))


def helping(points: Sequence[ContactPoint]) -> Mask:
    """Which (np,) of the points are helpers."""
    return np.array([point.help for point in points], dtype=np.bool_)


def shares(force: Array, weight: float) -> Array:
    """The helpers' forces (N, helpers, 3) as a share of a weight: of the net force, or of what they turn by if more."""
    if force.shape[1] == 0:
        return np.zeros(len(force))
    net = force.sum(axis=1)
    turning = np.linalg.norm(force - net[:, None] / force.shape[1], axis=2).sum(axis=1)
    found: Array = np.maximum(np.linalg.norm(net, axis=1), turning) / weight
    return found


def mean_share(force: Array, weight: float) -> float:
    """The mean of `shares`."""
    return float(shares(force, weight).mean()) if force.size else 0.0


def given(force: Array, character: Character, rate: float) -> Mask:
    """Steps (N,) in which help is given: where it is worth a word, and for a moment before and after."""
    noticed = shares(force, weight_of(character)) > NOTICED
    result: Mask = maximum_filter1d(noticed, 2 * round(AROUND * rate) + 1)
    return result


def sentences_of_help(
    share: Array,
    character: Character,
    q: Array,
    frame: Callable[[int], float],
    *,
    hit: bool = False,
    friction: float = 1.0,
    too_fast: float | None = None,
) -> list[Sentence]:
    """How much help (N,) is given where, and what is missing there in poses (N or more, nq); nothing of too little.

    `frame` gives the source's own number of a row. Where it was `hit` nothing is missing: something is in the way. With
    little `friction` on the ground it is that, and where it plays `too_fast` for gravity, or too slowly, its pace.
    """
    if share.max(initial=0.0) < WORTH_A_WORD:
        return []
    found: list[tuple[int, int]] = []
    for start, stop in runs(share > WORTH_A_WORD):
        if found and start - found[-1][1] < len(share) // 10:
            found[-1] = (found[-1][0], stop)
        else:
            found.append((start, stop))
    start, stop = max(found, key=lambda one: float(share[one[0] : one[1]].sum()))
    most = start + int(share[start:stop].argmax())
    lacking = _lacking(character, np.ascontiguousarray(q[most]))
    if hit:
        lacking = "way"
    elif lacking == "support" and friction < SLIPPERY:
        lacking = "grip"
    elif too_fast is not None:
        lacking = "slowness" if too_fast > 1.0 else "speed"
    elif lacking == "support" and share[most] < STEADYING:
        lacking = "nothing"
    paced = {} if too_fast is None else {"times": max(too_fast, 1.0 / too_fast)}
    return [
        say(
            LACKING[lacking],
            percent=100.0 * float(share[start:stop].max()),
            first=float(round(frame(start))),
            last=float(round(frame(stop))),
            **paced,
        )
    ]


LACKING = {
    "seat": "It takes up to {percent:.0f} % of its weight from nowhere in frames {first:.5g} to {last:.5g}: a seat is "
    "missing.",
    "hold": "It takes up to {percent:.0f} % of its weight from nowhere in frames {first:.5g} to {last:.5g}: a hold for "
    "the hands is missing.",
    "support": "It takes up to {percent:.0f} % of its weight from nowhere in frames {first:.5g} to {last:.5g}: "
    "something that holds it is missing.",
    "grip": "It takes up to {percent:.0f} % of its weight from nowhere in frames {first:.5g} to {last:.5g}, because "
    "the ground is slippery: raise its friction.",
    "way": "It takes up to {percent:.0f} % of its weight from nowhere in frames {first:.5g} to {last:.5g}, "
    "against what it hit.",
    "slowness": "It takes up to {percent:.0f} % of its weight from nowhere in frames {first:.5g} to {last:.5g}, "
    "because it plays about {times:.1f} times too fast for gravity: slow it down.",
    "speed": "It takes up to {percent:.0f} % of its weight from nowhere in frames {first:.5g} to {last:.5g}, "
    "because it plays about {times:.1f} times too slowly for gravity: speed it up.",
    "nothing": "It takes up to {percent:.0f} % of its weight from nowhere in frames {first:.5g} to {last:.5g} to stay "
    "near the action.",
}


def is_of_help(sentence: Sentence) -> bool:
    """Whether it is one of `sentences_of_help`."""
    return sentence.template in LACKING.values()


def _lacking(character: Character, q: Array) -> str:
    """What is missing in a pose: by the thighs, and by the hands."""
    names = [body.name for body in character.bodies]
    position, _ = body_poses(character, q)

    def height(name: str) -> Array:
        return np.array([position[names.index(side + name), 2] for side in ("left_", "right_") if side + name in names])

    hips, knees, shoulders, hands = (height(name) for name in ("thigh", "shank", "arm", "forearm"))
    length = float(np.ptp(position[:, 2]))
    if len(hips) == len(knees) == 2 and (hips - knees).max() < SITTING * length:
        return "seat"
    if len(hands) == len(shoulders) == 2 and (hands > shoulders).all():
        return "hold"
    return "support"
