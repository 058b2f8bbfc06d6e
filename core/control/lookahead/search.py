# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings that hold, found by rehearsing: the defaults first, then others in an order that experience gave.

Each candidate is rehearsed by a few replicas, the first started on the reference and the others off it. The first
candidate of which none falls is taken; if there is none, that which stays up longest. The order, the noise and the
number of rehearsals are fixed, so that the same motion is given the same settings, unless a limit in seconds cuts the
search short.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from typing import NamedTuple

import numpy as np

from ...character import Character
from ...dynamics import difference
from ...simulation import DivergedError, World
from .lookahead import LookAhead
from .settings import Settings
from .track import Track

REPLICAS = 3
MOST_REHEARSALS = 60
NOISE = 0.05  # standard deviation of start velocities, m/s and rad/s
LOST = 0.25  # m that the root may be above or below its reference
TIPPED = np.radians(60.0)  # and how far it may be turned from it
ADAPTATIONS = (0.005, 0.001, 0.0005, 0.02, 0.05)


class Rehearsal(NamedTuple):
    """What became of one replica."""

    seconds: float  # that it stayed up
    survived: bool
    degrees: float  # RMS of the joints' errors
    away: float = 0.0  # m, RMS of the root's distance from its reference


@dataclass(frozen=True)
class Trial:
    """A candidate, and its rehearsals as far as they were needed."""

    settings: Settings
    rehearsals: tuple[Rehearsal, ...]

    @property
    def survived(self) -> bool:
        """Whether none fell."""
        return all(rehearsal.survived for rehearsal in self.rehearsals)

    @property
    def seconds(self) -> float:
        """The shortest that one stayed up."""
        return min(rehearsal.seconds for rehearsal in self.rehearsals)


@dataclass(frozen=True)
class Choice:
    """What was chosen, and all that was tried before."""

    settings: Settings
    trials: tuple[Trial, ...]
    skipped: bool = False  # somebody did not want any more

    @property
    def held(self) -> bool:
        """Whether all rehearsals of what was chosen stayed up."""
        return any(trial.settings == self.settings and trial.survived for trial in self.trials)

    @property
    def text(self) -> str:
        """What was found, for the report; empty where the first settings held."""
        first = self.trials[0].settings
        if self.held and self.settings == first:
            return ""
        count = sum(len(trial.rehearsals) for trial in self.trials)
        if self.skipped:
            kept = "with these settings" if self.settings == first else f"with {self._changes(first)}"
            return f"The character fell in {count} rehearsals; the others were skipped, and it is simulated {kept}."
        if self.settings == first:
            return f"The character falls with these settings, and {count} rehearsals with others found none better."
        end = "it stays up" if self.held else "it stays up longest"
        return f"The character fell with the given settings; in {count} rehearsals {end} with {self._changes(first)}."

    def _changes(self, first: Settings) -> str:
        return ", ".join(
            f"{entry.name} {_plain(getattr(self.settings, entry.name))}"
            for entry in fields(Settings)
            if getattr(self.settings, entry.name) != getattr(first, entry.name)
        )


def candidates(settings: Settings) -> Iterator[Settings]:
    """The settings, then others: adaptation, the phase by contacts, softer contact forces, and these together."""
    adaptations = (settings.adaptation, *(a for a in ADAPTATIONS if a != settings.adaptation))
    for force in (settings.force, 0.1 * settings.force):
        for reset_phase in (settings.reset_phase, not settings.reset_phase):
            for adaptation in adaptations:
                yield replace(settings, adaptation=adaptation, reset_phase=reset_phase, force=force)


def choose_settings(
    character: Character,
    track: Track,
    settings: Settings | None = None,
    *,
    world: World | None = None,
    duration: float | None = None,
    lift: float = 0.0,
    replicas: int = REPLICAS,
    most: int = MOST_REHEARSALS,
    seconds: float | None = None,
    controller: LookAhead | None = None,
    progress: Callable[[int], bool] | None = None,
) -> Choice:
    """Rehearse in `world` (level ground unless given) for `duration` (once through, or 10 s of a cycle).

    At most `most` rehearsals, and none begins after `seconds` of computation. `lift` is the ground's height at the
    start. `controller` is one with these settings, if there is one already. `progress` is called with the
    number of rehearsals before each: where it says False after the first, the best so far is taken. It may raise an
    exception of its own to end the search.
    """
    first = (settings or Settings()).checked()
    stage = World(character, rate=1.0 / track.dt) if world is None else world
    steps = _steps(track, duration)
    begun = time.perf_counter()
    trials: list[Trial] = []
    used, skipped = 0, False
    terrain = None if controller is None else controller.terrain
    for candidate in candidates(first):
        given = controller if not trials else None
        actor = given or LookAhead(character, track, candidate, terrain=terrain)
        rehearsals: list[Rehearsal] = []
        for seed in range(replicas):
            if used >= most or (used > 0 and seconds is not None and time.perf_counter() - begun > seconds):
                break
            if progress is not None and not progress(used) and used > 0:
                skipped = True
                break
            rehearsals.append(rehearse(actor, stage, steps, seed, lift))
            used += 1
            if not rehearsals[-1].survived:
                break
        if rehearsals:
            trials.append(Trial(candidate, tuple(rehearsals)))
        if len(rehearsals) == replicas and trials[-1].survived:
            return Choice(candidate, tuple(trials))
        if not rehearsals or used >= most or skipped:
            break
    best = max(trials, key=lambda trial: (len(trial.rehearsals), trial.seconds))
    return Choice(best.settings, tuple(trials), skipped)


def rehearse(controller: LookAhead, world: World, steps: int, seed: int, lift: float = 0.0) -> Rehearsal:
    """One replica: seed 0 starts on the reference, others off it."""
    character, track = controller.character, controller.track
    controller.seek(0, (0.0, 0.0, lift, 0.0))
    q, v = controller.reference_state()
    if seed > 0:
        v = v + np.random.default_rng(seed).normal(scale=NOISE, size=character.nv)
    world.reset(q, v)
    squares = away = 0.0
    for step in range(steps):
        try:
            world.step(controller)
        except DivergedError:
            return _ended(step, False, squares, away, track.dt)
        error = difference(character, controller.reference_state()[0], world.q)
        if abs(error[2]) > LOST or np.linalg.norm(error[3:6]) > TIPPED:
            return _ended(step, False, squares, away, track.dt)
        squares += float(np.mean(error[6:] ** 2))
        away += float(np.sum(error[:3] ** 2))
    return _ended(steps, True, squares, away, track.dt)


def _plain(value: float | str) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _ended(steps: int, survived: bool, squares: float, away: float, dt: float) -> Rehearsal:
    count = max(steps, 1)
    return Rehearsal(steps * dt, survived, float(np.degrees(np.sqrt(squares / count))), float(np.sqrt(away / count)))


def _steps(track: Track, duration: float | None) -> int:
    if duration is not None:
        return round(duration / track.dt)
    return round(10.0 / track.dt) if track.cycle is not None else len(track.q) - track.stance - 1
