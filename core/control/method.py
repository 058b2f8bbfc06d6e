# SPDX-License-Identifier: GPL-3.0-or-later
"""What a method of control is: one folder beside this file, whose `method.py` holds a `METHOD` and is its one door.

A run plans by motions and settings, starts on a stage, and steps what the method acts in (loop.py). All that others
want to know of a method stands in its `Method`: nobody outside asks for its name.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..cache import Cache
from ..contact.detection import Contacts
from ..motion.reference import Reference
from ..motion.sequence import Choice, Piece
from ..settings import Described, make_settings
from ..simulation.law import AffineLaw, NoLawError, State
from ..simulation.outcome import Recovery, Simulation
from ..simulation.recording import Stepper
from .stage import Stage

Array = NDArray[np.float64]

DEFAULT = "lookahead"  # the method of those who choose none


# told which share of a plan is made, before each part of it; it may raise
Tell = Callable[[float], object]


class Follower(Protocol):
    """A controller that knows where it is in its motion. Those that derive from it have to say only what differs."""

    @property
    def row(self) -> int:
        """The motion's frame in which the character is to be now."""
        ...

    @property
    def lap(self) -> int:
        """How many times a cycle has repeated; 0 of other motions."""
        ...

    def reference_state(self) -> tuple[Array, Array]:
        """Positions (nq,) and velocities (nv,) where the character is to be now; at first, where it begins."""
        ...

    def law(self, state: State, contacts: Contacts) -> AffineLaw:
        """The law for one step of a world."""
        del state, contacts
        raise NoLawError("This controller simulates its own model and has no law for a world.")

    def seconds(self, asked: float) -> float:
        """How long the simulation may take where so much is asked for."""
        return asked

    @property
    def over(self) -> bool:
        """Whether there is nothing left to follow: that ends the simulation, before its time."""
        return False

    @property
    def lost(self) -> bool:
        """Whether it gives the character up, whatever that looks like."""
        return False

    @property
    def carried(self) -> bool:
        """Whether help carries the character, who cannot fall then, wherever the ground keeps it."""
        return False

    def between_steps(self, stepper: Stepper, goes_on: Callable[[], bool]) -> None:
        """Think about what comes next, before the next law is asked for: for as long as it takes while `goes_on`."""
        del stepper, goes_on

    def get_up(self, stepper: Stepper, goes_on: Callable[[], bool]) -> bool:
        """Whether it goes on from where the character has fallen and lies still; if so, its next law leads up."""
        del stepper, goes_on
        return False

    def begin_anew(self) -> None:
        """Forget what it was about to do: its character was led back into the motion by somebody else."""
        return

    def give_up(self) -> None:
        """Leave what it plans for the motion, where that is now: somebody else leads its character from here on."""
        return

    @property
    def recoveries(self) -> Sequence[Recovery]:
        """How it answered disturbances."""
        return ()

    def notes(self, simulation: Simulation) -> Sequence[str]:
        """What it did on its own account and what it does not promise, in sentences, once the simulation is over."""
        del simulation
        return ()


class Transitions(Protocol):
    """Motions with the ways from one to another."""

    def sequence(self, choices: Sequence[Choice], seconds: float) -> list[Piece]:
        """Frames of motions and of what leads from one to the next, in a row, for so long; ValueError without a way."""
        ...


@dataclass(frozen=True)
class Needs:
    """What a method takes from a job, and what it can do with it."""

    follows_keys: bool = False  # as they are, however rough; and plays them at other speeds, with transitions
    no_motion: bool = False  # but a pose to begin with
    blends: bool = False  # several motions at once, by a slider
    switches: bool = False  # from one motion to another, as they are chosen; its `transitions` say how
    places_feet: bool = False  # by itself, on whatever ground there is, and on footholds
    recovers: bool = False  # takes steps of its own after a push
    helps: bool = False  # gives the help that a reference takes
    props: bool = True  # may be in the scene
    strength: bool = True  # its torques go through a world's step, which holds joints to their limits
    cycle: bool = False  # no more than a gait cycle, which is found in the motion
    led: bool = False  # along a course of speeds and headings
    fastest: float = 0.0  # m/s, that a course usually asks for
    slowest: float = 0.0
    directed: bool = False  # may be played on the stage: what it does hangs on nothing that is still to come
    least_rate: float = 0.0  # steps of simulation a second

    @property
    def optimised(self) -> bool:
        """Whether it takes no other motion than a possible one."""
        return not (self.follows_keys or self.no_motion)


@dataclass(frozen=True)
class Preset:
    """Settings under a name, for the panel's menu; of those that are not named here, the defaults."""

    name: str
    description: str  # what they are good for
    settings: Mapping[str, Any]
    rate: int = 120  # steps of simulation a second
    optimise: bool = True


def world_of(follower: Follower, stage: Stage) -> Stepper:
    """What most methods act in."""
    del follower
    return stage.world()


@dataclass(frozen=True)
class Method:
    """A method of control."""

    name: str  # in jobs and scripts
    number: int  # by which files of Blender know it, so that it never changes
    label: str
    description: str  # what it does and is good for, in a panel's line or two, without the last full stop
    paper: str  # authors and year
    settings: type[Described]
    # of motions, the job's own first, and settings: whatever `start` needs; what takes long is kept in the cache
    plan: Callable[[Sequence[Reference], Any, Cache, Tell], Any]
    start: Callable[[Any, Stage], Follower]
    needs: Needs = Needs()
    stepper: Callable[[Any, Stage], Stepper] = world_of  # what the controller acts in
    # of cycles by name, for those pairs that are wanted; told before each trial, which may raise
    transitions: Callable[[Mapping[str, Reference], Iterable[tuple[str, str]], Callable[[], object]], Transitions] | (
        None
    ) = None
    presets: tuple[Preset, ...] = ()
    variants: tuple[Mapping[str, Any], ...] = ()  # settings that reach kernels which the defaults do not
    kernels: int = 0  # that it alone calls from Python: what a bar goes by while they are compiled

    @property
    def in_words(self) -> str:
        """What it is called in a sentence: "look-ahead control"."""
        return self.settings.owner

    @property
    def title(self) -> str:
        """The same at the beginning of a sentence."""
        return self.in_words[0].upper() + self.in_words[1:]

    def choose(self, chosen: Mapping[str, Any]) -> Described:
        """The defaults but for what was chosen; ValueError where that makes no sense."""
        return make_settings(self.settings, chosen, self.in_words).checked()
