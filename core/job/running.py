# SPDX-License-Identifier: GPL-3.0-or-later
"""`run`: a job in, a result out, by the stages fit, reference, policy, simulate, measure."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .. import trace
from ..cache import Cache, code_version
from ..control.loop import act
from ..control.method import Method
from ..control.methods import method_named, others
from .as_planned import as_planned
from .choosing import resolved
from .job import BakeJob
from .measuring import nothing, result_of
from .motion import Motion
from .preparing import make_motion, reference_settings
from .progress import Callback, CancelledError, Clock, ProgressReporter
from .ready import Prepared
from .result import BakeResult
from .several import make_motions
from .shown import Shown
from .staging import asked_for, rehearsal_key, stage_of
from .switching import make_row


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
