# SPDX-License-Identifier: GPL-3.0-or-later
"""Balance control as a method: its regulators take no longer than to look for them in a cache."""

from collections.abc import Sequence

from ...cache import Cache
from ...motion.reference import Reference
from ..method import Method, Needs, Tell
from ..stage import Stage
from ..track import Track
from .balance import Balance
from .graph import make_graph
from .settings import Settings


def plan(motions: Sequence[Reference], settings: Settings, cache: Cache, tell: Tell) -> Balance:
    """A controller for the motion, with regulators for its single supports."""
    del cache, tell
    return Balance(motions[0].character, Track.of(motions[0]), settings)


def start(controller: Balance, stage: Stage) -> Balance:
    """Follow the track from its first frame on."""
    controller.seek(lift=stage.lift)
    return controller


METHOD = Method(
    name="balance",
    number=3,
    label="Style and Balance",
    description="Follows every joint and weighs it against balance: level walks, marches, squats",
    paper="da Silva 2010",
    settings=Settings,
    plan=plan,
    start=start,
    needs=Needs(switches=True),
    transitions=make_graph,
    kernels=5,
)
