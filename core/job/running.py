# SPDX-License-Identifier: GPL-3.0-or-later
"""`run`: a job in, a result out, by the stages fit, reference, policy, simulate, measure."""

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import rounding, trace
from ..cache import Cache, code_version
from ..contact.terrain import Mesh
from ..control.loop import act
from ..control.method import Method
from ..control.methods import method_named, others
from ..control.stage import Stage
from ..dynamics import body_poses, center_of_mass
from ..motion.pace import times_too_fast
from ..motion.quaternions import Array
from ..motion.spacetime.help import WORTH_A_WORD, is_of_help, sentences_of_help
from ..report import metrics, source, supports
from ..report.dynamics import dynamics_of
from ..report.explanation import explain
from ..report.failure import first_trouble
from ..report.frames import Fall, Forces, Support, diagnose, flying
from ..sentences import join, say, to_data
from ..simulation import Frames
from ..simulation.outcome import Simulation
from ..simulation.recording import SAME_PLACE, between
from .as_planned import as_planned
from .choosing import resolved
from .job import BakeJob
from .motion import Motion
from .preparing import make_motion, reference_settings
from .progress import NOTHING, Callback, CancelledError, Clock, Finished, ProgressReporter
from .result import BakeResult
from .several import make_motions
from .showing import (
    bone_poses,
    carried_lines,
    in_names_of_rig,
    names_in_rig,
    prop_poses,
    source_poses,
    waiting,
)
from .simulated_scene import scene_surfaces
from .staging import asked_for, rehearsal_key, stage_of
from .switching import make_row

REPORT_AFTER = 0.05  # s, in which finished frames are gathered before they are shown


class Prepared(NamedTuple):
    """A job that only has to be simulated."""

    job: BakeJob
    chosen: Sequence[str]  # what was chosen for it, in sentences
    method: Method
    plan: Any
    motion: Motion
    stage: Stage
    asked: float  # s of simulation
    clock: Clock
    cache: Cache

    @property
    def begins(self) -> float:
        """When it does, in s of the scene."""
        return self.motion.first_frame / self.job.fps


def run(
    job: BakeJob,
    progress: Callback | None = None,
    cache: str | Path | Cache | None = None,
    enough: Callable[[], bool] = lambda: False,
) -> BakeResult:
    """Simulate a job.

    `progress` is called often, with a `Progress`; the run stops where it returns False or raises CancelledError, and
    the frames so far are kept. `cache` is a folder of references and policies, which are computed only once; whatever
    is wrong with it, the run goes on. Once `enough` says so, nothing more is rehearsed, and the best so far is taken.
    ValueError says in a sentence what makes a job impossible.
    """
    reporter, kept, clock = ProgressReporter(progress), Cache(cache), Clock()
    try:
        ready = prepared(job, reporter, kept, clock, enough)
    except CancelledError:
        return nothing(job, clock, kept)
    return simulated(ready, reporter)


def simulated(ready: Prepared, reporter: ProgressReporter) -> BakeResult:
    """The result of a job that is prepared."""
    shown, begun = Shown(ready, reporter), ready.clock.begin("simulate")
    try:
        if ready.job.simulate:
            simulation = act(ready.method, ready.plan, ready.stage, shown)
        else:
            simulation = as_planned(ready.motion.reference, ready.stage, shown)
    except CancelledError:
        return nothing(ready.job, ready.clock, ready.cache)
    return result_of(ready, shown, simulation, begun)


def prepared(
    job: BakeJob,
    reporter: ProgressReporter,
    cache: Cache,
    clock: Clock,
    enough: Callable[[], bool] = lambda: False,
) -> Prepared:
    """All that comes before the simulation; raises CancelledError when stopped, ValueError if a job is impossible."""
    first = resolved(job)[0]
    trace.note("run", job=first.name, key=first.key(), method=first.method, code=code_version()[:16])
    job, chosen, motion, plan = planned_as_chosen(job, reporter, cache, clock)
    method = _method(job)

    def rehearsing(fraction: float) -> bool:
        reporter("rehearse", fraction)
        return not enough()

    stage = stage_of(job, motion, method, rehearsing, cache.shelf(rehearsal_key(job)))
    return Prepared(job, chosen, method, plan, motion, stage, asked_for(job, motion), clock, cache)


def check(job: BakeJob) -> None:
    """ValueError, in a sentence, where the method or a setting makes no sense: what can be told before a run."""
    job, _ = resolved(job)
    _method(job).choose(job.settings)
    reference_settings(job)


def precompute(job: BakeJob, progress: Callback | None = None, cache: str | Path | None = None) -> Motion:
    """The stages before the simulation, for a later run to find in the cache; raises CancelledError when stopped."""
    return planned_as_chosen(job, ProgressReporter(progress), Cache(cache), Clock())[2]


def _method(job: BakeJob) -> Method:
    """The job's method; ValueError where what it needs and what the job has do not go together."""
    method = method_named(job.method)
    needs = method.needs
    if needs.optimised and not job.optimise:
        raise ValueError(
            f"{method.title} cannot follow the keys as they are: switch Correct Physics First on, or choose "
            f"{others(lambda other: other.follows_keys)}."
        )
    if job.help == "as_keyed" and not needs.helps:
        raise ValueError(
            f"{method.title} cannot be helped to follow the keys as they are: choose "
            f"{others(lambda other: other.helps)}, or set Help to None."
        )
    if job.playback.changes and not needs.follows_keys:
        raise ValueError(
            f"{method.title} cannot change a motion's timing: set its speed to 1 without transitions, or choose "
            f"{others(lambda other: other.follows_keys)}."
        )
    if job.others and not (needs.blends or needs.switches):
        raise ValueError(f"{method.title} follows one motion, not {1 + len(job.others)}: remove the others.")
    if job.path is not None and (needs.no_motion or not job.optimise):
        raise ValueError(
            f"{method.title} cannot follow a path here: choose {others(lambda other: other.helps)}, with Correct "
            "Physics First switched on, or remove the path."
        )
    if job.path is not None and job.path.waits and not needs.led:
        raise ValueError(
            f"{method.title} cannot wait on its way: choose {others(lambda other: other.led and other.cycle)}, or set "
            "Wait to 0."
        )
    if needs.blends and not job.others:
        raise ValueError("Combining needs at least two actions: add another.")
    return method


def _check_surroundings(job: BakeJob, method: Method) -> None:
    """ValueError where the method cannot act in the job's scene or at its rate."""
    needs = method.needs
    if job.scene.props and not needs.props:
        raise ValueError(
            f"{method.title} does not support props: remove them, or choose {others(lambda other: other.props)}."
        )
    if job.rate < needs.least_rate:
        raise ValueError(
            f"{method.title} needs at least {needs.least_rate:g} steps per second, not {job.rate:g}: raise the rate."
        )


def planned_as_chosen(
    job: BakeJob, reporter: ProgressReporter, cache: Cache, clock: Clock
) -> tuple[BakeJob, tuple[str, ...], Motion, Any]:
    """The job with the method that suits it, what is told of that, its motion and plan.

    Who is to follow a target, but cannot be led, goes where it is to be found without waiting for it.
    """
    found, chosen = resolved(job)
    try:
        return found, chosen, *planned(found, reporter, cache, clock)
    except ValueError as error:
        path = found.path
        if job.method == found.method or path is None or not path.follows or path.waits:
            raise
        path = replace(path, target_time=np.zeros(0), target=np.zeros((0, 2)))
        found, chosen = resolved(replace(job, path=path))
        told = (*chosen, f"It goes to its target without waiting for it: {error}")
        return found, told, *planned(found, reporter, cache, clock)


def planned(job: BakeJob, reporter: ProgressReporter, cache: Cache, clock: Clock) -> tuple[Motion, Any]:
    """The job's motion and its method's plan; none where nothing is to be simulated."""
    method = _method(job)
    if not method.needs.helps:
        job = replace(job, help="none")
    if job.path is not None and method.needs.led:
        job = replace(job, path=None, loop=True)  # it finds its way as it goes
    _check_surroundings(job, method)
    settings = method.choose(job.settings)
    if not job.simulate:
        return make_motion(job, reporter, cache, clock), None
    if job.others and method.needs.switches:
        motions = [make_row(job, reporter, cache, clock)]
    else:
        motions = make_motions(job, reporter, cache, clock)
    reporter("policy", 0.0)
    with clock.stage("policy"):
        references = [motion.reference for motion in motions]
        plan = method.plan(references, settings, cache, lambda share: reporter("policy", share))
    reporter("policy", 1.0)
    return motions[0], plan


Frame = tuple[Array, float, int]  # positions, the reference's sample, the lap


class _Frames:
    """Finished frames, as poses on demand."""

    def __init__(self, motion: Motion, frames: Sequence[Frame]) -> None:
        self._motion, self._frames = motion, frames

    def __len__(self) -> int:
        return len(self._frames)

    def poses(self, rows: slice) -> Array:
        q, sample, lap = zip(*self._frames[rows], strict=True)
        return bone_poses(self._motion, np.array(q), np.array(sample), np.array(lap, dtype=np.int64))


class Shown:
    """Shows finished frames while the simulation runs."""

    def __init__(self, ready: Prepared, reporter: ProgressReporter) -> None:
        self._job, self._motion, self._reporter = ready.job, ready.motion, reporter
        self._tree = ready.stage.character.tree
        self._last = max(_steps(ready.stage), 1)
        self._done = 0  # frames finished
        self._shown = 0  # frames reported
        self._waiting: list[Frame] = []
        self._before: tuple[Array, int, int] | None = None
        self.begun = self._reported_at = time.perf_counter()  # when the first state was seen

    def __call__(self, state: int, q: Array, frame: int, lap: int) -> bool:
        """A new state."""
        if state == 0:
            self.begun = time.perf_counter()
        own = np.ascontiguousarray(q[: len(self._tree.rest)])
        while self._done / self._job.fps * self._job.rate <= state + SAME_PLACE:
            self._finish(state, own, frame, lap)
        self._before = (own, frame, lap)
        due = time.perf_counter() - self._reported_at > REPORT_AFTER
        return self._report(state) if due or state in {0, self._last} else True

    def _finish(self, state: int, q: Array, frame: int, lap: int) -> None:
        """The next frame lies at this state or on the way to it."""
        share = self._done / self._job.fps * self._job.rate - (state - 1)
        if self._before is None or share > 1.0 - SAME_PLACE:
            self._waiting.append((q, float(frame), lap))
        else:
            before, sample, lap = self._before
            self._waiting.append((between(self._tree, before, q, share), sample + share, lap))
        self._done += 1

    def _report(self, state: int) -> bool:
        fraction, first = min(state / self._last, 1.0), self._shown
        finished: Finished = _Frames(self._motion, self._waiting) if self._waiting else NOTHING
        self._shown += len(finished)
        self._waiting = []
        try:
            self._reporter("simulate", fraction, first, finished)
        except CancelledError:
            return False
        self._reported_at = time.perf_counter()
        return True


def _steps(stage: Stage) -> int:
    return round(min(stage.seconds, stage.ends) * stage.rate)


def result_of(ready: Prepared, shown: Shown, simulation: Simulation, begun: float) -> BakeResult:
    """The result of a simulation that was shown, and whose rehearsals began then."""
    ready.clock.spent("rehearse", shown.begun - begun)
    ready.clock.spent("simulate", time.perf_counter() - shown.begun)
    result = _result(ready, simulation)
    trace.note("end", outcome=result.outcome, why=result.why)
    return result


def _result(ready: Prepared, simulation: Simulation) -> BakeResult:
    """Everything that is shown and told of a simulation."""
    job, motion, stage, asked = ready.job, ready.motion, ready.stage, ready.asked
    clock, cache, chosen = ready.clock, ready.cache, ready.chosen
    begun = clock.begin("measure")
    recording, followed, character = simulation.recording, simulation.followed, stage.character
    whole = recording.steps == _steps(stage)
    frames = recording.resample(job.fps, math.floor(asked * job.fps + 1e-6) + 1 if whole else None)
    wanted = recording.moments(job.fps, len(frames.time))
    sample = np.array([followed.frame[at.state] + at.share for at in wanted])
    lap = np.array([followed.lap[at.state] for at in wanted], dtype=np.int64)
    after = np.append(followed.q[1:], followed.q[-1:], axis=0)
    ghost = np.array([between(character.tree, followed.q[k], after[k], share) for k, share in wanted])
    bodies = (*(body.name for body in character.bodies), *(prop.name for prop in job.scene.props))
    shown = diagnose(simulation, frames, bodies)
    poses = bone_poses(motion, frames.q[:, : character.nq], sample, lap)
    reference = bone_poses(motion, ghost, sample, lap)
    props = prop_poses(recording.tree, len(character.bodies), frames.q)
    props = waiting(stage.scene.props, frames.time, props, 1.0 / recording.rate)
    figures = metrics.measure(simulation)
    figures |= _from_source(motion, stage, simulation, frames, sample, lap, poses, job.fps, figures["worst"])
    figures["simulated"] = job.simulate
    figures["follows"] = not method_named(job.method).needs.led
    figures["help_frames"] = int(np.sum(shown.curves["help_share"] > WORTH_A_WORD))
    figures["good"] = source.is_good(figures)

    def frame_at(seconds: float) -> float:
        return motion.first_frame + seconds * job.fps

    quality = motion.reference.quality
    doubts = () if quality.fit_for_control else tuple(one for one in quality.sentences if not is_of_help(one))
    obstacles = [surface.name if isinstance(surface, Mesh) else "" for surface in job.scene.surfaces]
    trouble = first_trouble(simulation, motion.reference, obstacles, [prop.name for prop in job.scene.props])
    called = names_in_rig(motion.plan)
    share = metrics.help_shares(simulation)
    for rising in metrics.risings(simulation):
        share[rising] = 0.0  # which has a sentence of its own
    too_fast = _too_fast(job, motion, float(figures["help_mean"]))
    helped = sentences_of_help(
        share,
        character,
        recording.q[:, : character.nq],
        lambda step: round(frame_at(step / recording.rate)),
        hit=trouble is not None and trouble.kind == "hit",
        friction=min((surface.friction for surface in scene_surfaces(job, motion)), default=1.0),
        too_fast=too_fast,
    )
    saturated = metrics.saturated_joints(simulation)
    sentences = [
        *explain(simulation, figures, stage.scene.pushes, frame_at, doubts, trouble, called, saturated),
        *helped,
    ]
    clock.spent("measure", time.perf_counter() - begun)
    report = figures | {
        "recoveries": [
            {"frame": frame_at(time), "what": what, "distance_m": distance, "added": added}
            for time, what, distance, added in simulation.recoveries
        ],
        "worst": {
            name: {"frame": round(frame_at(one.time)), "what": called.get(one.what, one.what)}
            for name, one in figures["worst"].items()
        },
        "saturated": [
            {"joint": called.get(one.joint, one.joint), "frame": frame_at(one.start), "seconds": one.seconds}
            for one in saturated
        ],
        "why": join(sentences),
        "sentences": to_data(sentences),
        "supports": supports.to_data(motion.supports, character, called),
        "too_fast": too_fast,
        "method": job.method,
        "repairs": [{"frames": one.frames, "bones": one.bones, "what": one.text} for one in motion.repairs],
        "reference": quality.why,
        "notes": [*chosen, *in_names_of_rig(motion.lines, called), *simulation.notes, *cache.notes, *rounding.NOTES],
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
        dynamics=dynamics_of(simulation),
    )


def _too_fast(job: BakeJob, motion: Motion, helped: float) -> float | None:
    """How many times too fast the motion plays, where that is why it takes so much help; of one motion alone."""
    if helped < WORTH_A_WORD or job.others or len(motion.source) != len(motion.reference.q):
        return None
    return times_too_fast(motion.reference, motion.source)


def _from_source(
    motion: Motion,
    stage: Stage,
    simulation: Simulation,
    frames: Frames,
    sample: Array,
    lap: NDArray[np.int64],
    poses: Array,
    fps: float,
    worst: Mapping[str, metrics.Worst],
) -> dict[str, float]:
    """How far it is from the source's own poses at the same moments, while it was upright."""
    upright = int(np.searchsorted(frames.time, simulation.upright / simulation.recording.rate, side="right"))
    wanted = source_poses(motion, sample, lap)
    carried = motion.plan.own
    own = bone_poses(motion, wanted, sample, lap)
    found = source.compare(
        stage.character,
        np.ascontiguousarray(frames.q[:upright, : stage.character.nq]),
        wanted[:upright],
        (poses[:upright, carried, :3, 3], own[:upright, carried, :3, 3]),
        stage.terrain,
        flying(simulation, frames.time[:upright]),
        fps,
    )
    slide = worst.get("max_foot_slide_m")
    if slide is not None and upright:
        first, last = (round(time * fps) for time in (slide.since, slide.time))
        foot = stage.character.index(slide.what)
        found["source_foot_slide_m"] = source.foot_way(stage.character, wanted[:upright], foot, first, last)
    return found


def _fall(simulation: Simulation, frame_at: Callable[[float], float]) -> Fall | None:
    if simulation.lost is None:
        return None
    seconds = simulation.lost / simulation.recording.rate
    q = simulation.recording.q[simulation.lost, : simulation.character.nq]
    x, y, _ = center_of_mass(simulation.character, q).tolist()
    lowest = float(body_poses(simulation.character, q)[0][:, 2].min())
    return Fall(frame_at(seconds), seconds, (x, y, lowest))


def nothing(job: BakeJob, clock: Clock, cache: Cache) -> BakeResult:
    """The result of a run that was stopped before it simulated anything."""
    bones, props = job.clip.skeleton.names, tuple(prop.name for prop in job.scene.props)
    sentences = [say("Cancelled before the simulation began.")]
    report = (
        metrics.nothing()
        | source.nothing()
        | {
            "recoveries": [],
            "saturated": [],
            "repairs": [],
            "why": join(sentences),
            "sentences": to_data(sentences),
            "supports": [],
            "too_fast": None,
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
