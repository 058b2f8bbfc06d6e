# SPDX-License-Identifier: GPL-3.0-or-later
"""Ways to answer a disturbance, in the order in which they are tried."""

from collections.abc import Iterator

from .added import stands, ways_to_step
from .footholds import FARTHEST, Choice
from .hurried import ways_to_hurry
from .plan import Question

CHOICES = (
    Choice(0.9),
    Choice(0.9, speed=1.35),
    Choice(0.9, speed=1.35, apart=False),
    Choice(0.9, speed=1.5),
    Choice(0.9, speed=1.5, apart=False),
    Choice(0.6, speed=1.35),
    Choice(0.9, apart=False),
    Choice(0.6),
    Choice(0.6, speed=1.35, apart=False),
    Choice(1.1, speed=1.35, apart=False),
)


def in_order(question: Question) -> Iterator[Choice]:
    """Choices that differ, first those that ask for no longer steps than there can be, then those in other times.

    Where the motion stands: staying, then steps that it does not have. What takes long to find is found when it is
    asked for.
    """
    found: dict[tuple[float, ...], tuple[bool, int, Choice]] = {}
    for number, choice in enumerate(CHOICES):
        _, steps = question.steps(choice) or (None, [])
        key = (choice.speed, *(round(float(x), 3) for step in steps for x in step.shift))
        found.setdefault(key, (any(step.wanted > FARTHEST for step in steps), number, choice))
    choices = [choice for _, _, choice in sorted(found.values(), key=lambda entry: entry[:2])]
    standing = stands(question.ahead, question.reference)
    first = 1 if standing else sum(not far for far, _, _ in found.values())
    yield from choices[:first]
    if standing:
        yield from (Choice(1.0, added=one) for one in ways_to_step(question.known))
    for way in ways_to_hurry(question.known, question.controller):
        yield Choice(1.0, apart=not way.crosses, hurry=way)
    yield from choices[first:]
