# SPDX-License-Identifier: GPL-3.0-or-later
"""A simulation measured: the result of a bake, with all that is shown and told of it."""

import json
import math
import time
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from .. import rounding, trace
from ..cache import Cache
from ..contact.terrain import Mesh
from ..control.methods import method_named
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
from ..simulation.recording import between
from .job import BakeJob
from .motion import Motion
from .progress import Clock
from .ready import Prepared
from .result import BakeResult
from .showing import bone_poses, carried_lines, in_names_of_rig, names_in_rig, prop_poses, source_poses, waiting
from .shown import Shown
from .simulated_scene import scene_surfaces


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
    whole = recording.steps == ready.steps
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
