# SPDX-License-Identifier: GPL-3.0-or-later
"""`run`: a job in, a result out, by the stages fit, reference, policy, simulate, measure."""

import json
import math
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..dynamics import body_poses, center_of_mass
from ..motion.quaternions import Array
from ..motion.spacetime.help import WORTH_A_WORD, is_of_help, told_of_help
from ..report import metrics, source
from ..report.explanation import explain
from ..report.failure import first_trouble
from ..report.frames import Fall, Forces, Support, diagnose
from ..report.simulation import Simulation
from ..sentences import say, to_data, told
from ..simulation import Frames
from .cache import Cache
from .course import make_course
from .job import BakeJob, dressed
from .methods import METHODS
from .preparing import Motion, played, reference_settings, scene_terrain, shifted
from .progress import NO_POSES, Callback, CancelledError, Clock, Teller
from .result import BakeResult
from .several import make_motions
from .showing import between, bone_poses, carried_lines, moment, prop_poses, source_poses
from .stage import Method, Stage

TELL_AFTER = 0.05  # s, in which finished frames are gathered before they are shown


def run(job: BakeJob, progress: Callback | None = None, cache: str | Path | None = None) -> BakeResult:
    """Simulate a job.

    `progress` is called often, with a `Progress`; the run stops where it returns False or raises CancelledError, and
    the frames so far are kept. `cache` is a folder of references and policies, which are computed only once; whatever
    is wrong with it, the run goes on. ValueError says in a sentence what makes a job impossible.
    """
    method, tell, kept, clock = _method(job), Teller(progress), Cache(cache), Clock()
    try:
        motion, policy = prepared(job, tell, kept, clock)
    except CancelledError:
        return _nothing(job, clock, kept)
    late = (motion.first_frame - job.frames[0]) / job.fps  # by as much as the clip's first frames were lost
    playback = job.playback.shifted(late)
    asked = job.duration - (job.playback.played(late) if job.seconds is None else 0.0)
    character = dressed(motion.plan.character, job.scene, unplanned=True)
    stage = Stage(
        character=character,
        terrain=scene_terrain(job, motion),
        scene=played(shifted(job.scene, late), playback),
        playback=playback,
        helped=method.helps and job.help != "none",
        rate=job.rate,
        # whole steps, so that the last frame lies within the last of them
        seconds=math.ceil(asked * job.rate - 1e-6) / job.rate,
        lift=motion.lift,
        noise=np.random.default_rng(job.seed).normal(scale=job.noise, size=character.nv) if job.noise else None,
        rehearsing=lambda share: tell("rehearse", share),
    )
    watch, begun = _Watch(job, motion, stage, tell), time.perf_counter()
    try:
        simulation = method.simulate(policy, stage, watch)
    except CancelledError:
        return _nothing(job, clock, kept)
    clock.seconds["rehearse"] = watch.begun - begun
    clock.seconds["simulate"] = time.perf_counter() - watch.begun
    return _result(job, motion, stage, simulation, kept, clock)


def check(job: BakeJob) -> None:
    """ValueError, in a sentence, where the method or a setting makes no sense: what can be told before a run."""
    _method(job).check(job.settings)
    reference_settings(job)


def prepare(job: BakeJob, progress: Callback | None = None, cache: str | Path | None = None) -> Motion:
    """The stages before the simulation, for a later run to find in the cache; raises CancelledError when stopped."""
    motion, _ = prepared(job, Teller(progress), Cache(cache), Clock())
    return motion


def _method(job: BakeJob) -> Method:
    if job.method not in METHODS:
        raise ValueError(f"There is no method '{job.method}'; there are {', '.join(METHODS)}.")
    method = METHODS[job.method]
    if not job.optimise and not method.plans_forces:
        raise ValueError(
            f"{method.label} control cannot follow a motion as it is keyed: let it be optimised, or choose Replanning."
        )
    if job.help == "as_keyed" and not method.helps:
        raise ValueError(
            f"{method.label} control cannot be helped to follow a motion as it is keyed: choose Look-ahead, or no help."
        )
    if job.playback.changes and not method.edits:
        raise ValueError(
            f"{method.label} control plays a motion as it is keyed: let its speed be 1, without transitions, or choose "
            "Replanning."
        )
    if method.combine is None and job.others and not method.goes_between:
        raise ValueError(f"{method.label} control follows one motion, not {1 + len(job.others)}.")
    if method.combine is not None and not job.others:
        raise ValueError("It takes two motions at least to combine them: name another beside the job's own.")
    return method


def prepared(job: BakeJob, tell: Teller, cache: Cache, clock: Clock) -> tuple[Motion, Any]:
    """The job's motion and its method's policy."""
    method = _method(job)
    if not method.helps:
        job = replace(job, help="none")
    if job.others and method.goes_between:
        motions = [make_course(job, tell, cache, clock)]
    else:
        motions = make_motions(job, tell, cache, clock)
    tell("policy", 0.0)
    with clock.stage("policy"):
        if method.combine is None:
            policy = method.prepare(motions[0].reference, job.settings, cache)
        else:
            policy = method.combine([motion.reference for motion in motions], job.settings, cache)
    tell("policy", 1.0)
    return motions[0], policy


class _Watch:
    """Shows finished frames while the simulation runs."""

    def __init__(self, job: BakeJob, motion: Motion, stage: Stage, tell: Teller) -> None:
        self._job, self._motion, self._tell = job, motion, tell
        self._tree = stage.character.tree
        self._last = max(_steps(stage), 1)
        self._done = 0  # frames finished
        self._shown = 0  # frames told
        self._waiting: list[tuple[Array, float, int]] = []  # positions, the reference's sample, the lap
        self._before: tuple[Array, int, int] | None = None
        self.begun = self._told_at = time.perf_counter()  # when the first state was seen

    def __call__(self, state: int, q: Array, frame: int, lap: int) -> bool:
        """A new state."""
        if state == 0:
            self.begun = time.perf_counter()
        own = np.ascontiguousarray(q[: len(self._tree.rest)])
        while self._done / self._job.fps * self._job.rate <= state + 1e-9:
            self._finish(state, own, frame, lap)
        self._before = (own, frame, lap)
        due = time.perf_counter() - self._told_at > TELL_AFTER
        return self._told(state) if due or state in {0, self._last} else True

    def _finish(self, state: int, q: Array, frame: int, lap: int) -> None:
        """The next frame lies at this state or on the way to it."""
        share = self._done / self._job.fps * self._job.rate - (state - 1)
        if self._before is None or share > 1.0 - 1e-9:
            self._waiting.append((q, float(frame), lap))
        else:
            before, sample, lap = self._before
            self._waiting.append((between(self._tree, before, q, share), sample + share, lap))
        self._done += 1

    def _told(self, state: int) -> bool:
        share, first, poses = min(state / self._last, 1.0), self._shown, NO_POSES
        if self._waiting:
            q, sample, lap = zip(*self._waiting, strict=True)
            poses = bone_poses(self._motion, np.array(q), np.array(sample), np.array(lap, dtype=np.int64))
            self._shown += len(poses)
            self._waiting.clear()
        try:
            self._tell("simulate", share, first, poses)
        except CancelledError:
            return False
        self._told_at = time.perf_counter()
        return True


def _steps(stage: Stage) -> int:
    return round(stage.seconds * stage.rate)


def _result(
    job: BakeJob, motion: Motion, stage: Stage, simulation: Simulation, cache: Cache, clock: Clock
) -> BakeResult:
    """Everything that is shown and told."""
    begun = time.perf_counter()
    recording, followed, character = simulation.recording, simulation.followed, stage.character
    frames = recording.resample(job.fps)
    wanted = [moment(f, job.fps, job.rate, recording.steps) for f in range(len(frames.time))]
    sample = np.array([followed.frame[at.state] + at.share for at in wanted])
    lap = np.array([followed.lap[at.state] for at in wanted], dtype=np.int64)
    after = np.append(followed.q[1:], followed.q[-1:], axis=0)
    ghost = np.array([between(character.tree, followed.q[k], after[k], share) for k, share in wanted])
    bodies = (*(body.name for body in character.bodies), *(prop.name for prop in job.scene.props))
    shown = diagnose(simulation, frames, bodies)
    poses = bone_poses(motion, frames.q[:, : character.nq], sample, lap)
    reference = bone_poses(motion, ghost, sample, lap)
    props = prop_poses(recording.tree, len(character.bodies), frames.q)
    figures = metrics.measure(simulation)
    figures |= _from_source(motion, stage, simulation, frames, sample, lap, poses, job.fps)
    figures["help_frames"] = int(np.sum(shown.curves["help_share"] > WORTH_A_WORD))
    figures["good"] = source.is_good(figures)

    def frame_at(seconds: float) -> float:
        return motion.first_frame + seconds * job.fps

    quality = motion.reference.quality
    doubts = () if quality.fit_for_control else tuple(s for s in quality.sentences if not is_of_help(s))
    trouble = first_trouble(simulation, motion.reference)
    helped = told_of_help(
        metrics.help_shares(simulation),
        character,
        recording.q[:, : character.nq],
        lambda step: round(frame_at(step / recording.rate)),
    )
    sentences = [*explain(simulation, figures, stage.scene.pushes, frame_at, doubts, trouble), *helped]
    clock.seconds["measure"] = time.perf_counter() - begun
    report = figures | {
        "why": told(sentences),
        "sentences": to_data(sentences),
        "method": job.method,
        "reference": quality.why,
        "notes": [*motion.lines, *simulation.notes, *cache.notes],
        "seconds": clock.seconds,
    }
    return BakeResult(
        name=job.name,
        fps=job.fps,
        frames=motion.first_frame + np.arange(len(poses), dtype=np.float64),
        bones=motion.plan.skeleton.names,
        figure=carried_lines(motion.plan),
        poses=poses,
        reference=reference,
        props=tuple(prop.name for prop in job.scene.props),
        prop_poses=props,
        curves=shown.curves,
        torques=shown.torques,
        center_of_mass=shown.center_of_mass,
        support=shown.support,
        forces=shown.forces,
        fall=_fall(simulation, frame_at),
        report_text=json.dumps(report, allow_nan=False),
    )


def _from_source(
    motion: Motion,
    stage: Stage,
    simulation: Simulation,
    frames: Frames,
    sample: Array,
    lap: NDArray[np.int64],
    poses: Array,
    fps: float,
) -> dict[str, float]:
    """How far it is from the source's own poses at the same moments, while it was upright."""
    upright = int(np.searchsorted(frames.time, simulation.upright / simulation.recording.rate, side="right"))
    wanted = source_poses(motion, sample, lap)
    carried = motion.plan.body >= 0
    own = bone_poses(motion, wanted, sample, lap)
    return source.compare(
        stage.character,
        np.ascontiguousarray(frames.q[:upright, : stage.character.nq]),
        wanted[:upright],
        (poses[:upright, carried, :3, 3], own[:upright, carried, :3, 3]),
        stage.terrain,
        fps,
    )


def _fall(simulation: Simulation, frame_at: Callable[[float], float]) -> Fall | None:
    if simulation.lost is None:
        return None
    seconds = simulation.lost / simulation.recording.rate
    q = simulation.recording.q[simulation.lost, : simulation.character.nq]
    x, y, _ = center_of_mass(simulation.character, q).tolist()
    lowest = float(body_poses(simulation.character, q)[0][:, 2].min())
    return Fall(frame_at(seconds), seconds, (x, y, lowest))


def _nothing(job: BakeJob, clock: Clock, cache: Cache) -> BakeResult:
    """The result of a run that was stopped before it simulated anything."""
    bones, props = job.clip.skeleton.names, tuple(prop.name for prop in job.scene.props)
    sentences = [say("Cancelled before the simulation began.")]
    report = (
        metrics.nothing()
        | source.nothing()
        | {
            "why": told(sentences),
            "sentences": to_data(sentences),
            "method": job.method,
            "reference": "",
            "notes": cache.notes,
            "seconds": clock.seconds,
        }
    )
    none = np.zeros(1, dtype=np.int64)
    return BakeResult(
        name=job.name,
        fps=job.fps,
        frames=np.zeros(0),
        bones=bones,
        figure=np.zeros((0, 2), dtype=np.int64),
        poses=np.zeros((0, len(bones), 4, 4)),
        reference=np.zeros((0, len(bones), 4, 4)),
        props=props,
        prop_poses=np.zeros((0, len(props), 4, 4)),
        curves={},
        torques={},
        center_of_mass=np.zeros((0, 3)),
        support=Support(none, np.zeros((0, 3))),
        forces=Forces(none, (), np.zeros((0, 3)), np.zeros((0, 3))),
        fall=None,
        report_text=json.dumps(report, allow_nan=False),
    )
