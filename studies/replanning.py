# SPDX-License-Identifier: GPL-3.0-or-later
"""Replanning control on key poses, captured clips and edits."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from heft.core import BakeJob, run
from heft.core.character import Character
from heft.core.contact.detection import Contacts
from heft.core.contact.terrain import Plane
from heft.core.control.law import AffineLaw, State
from heft.core.control.replanning import Replanning, Settings, transition
from heft.core.control.replanning.contact_plan import plan_contacts
from heft.core.control.track import Track
from heft.core.dynamics import center_of_mass, difference, integrate
from heft.core.job import Scene
from heft.core.job.running import precompute
from heft.core.motion.bvh import read_bvh
from heft.core.motion.fit import Trajectory
from heft.core.motion.make_reference import make_reference
from heft.core.motion.variants import at_speed, with_stride
from heft.core.simulation import DivergedError, World
from heft.studies.lib.captured_walks import WALKS
from heft.studies.lib.chart import curves
from heft.studies.lib.journal import Journal
from heft.studies.lib.replanning_analytic import analytic
from heft.studies.lib.replanning_follow import FALLEN, Outcome, follow, outcome_words, table, walk, walk_reference
from heft.studies.lib.replanning_lifted import lifted
from heft.studies.lib.replanning_motions import DT, PALM, Motion, chin_up, flight, lift, squat
from heft.studies.lib.replanning_pushes import more_pushes, pushes
from heft.studies.lib.replanning_receding import receding

from tests.core.motion.skeletons import CMU_ROLES, CMU_UNIT, GOOD
from tests.core.motion.spacetime import motions

SPEED_TO_BAR = 1.2  # m/s
GRIP = -PALM[2]  # m from the wrist
NOT_KEPT = ("which modes", "speed")  # for a picture, and for times
INTRODUCTION = f"""# Replanning control

Jain and Liu 2011 in the nonlinear simulator at 120 Hz, on `jain42` unless stated otherwise: motions of a few key
poses, not optimised; an optimised walk; and captured clips. A body has fallen if its root is {100 * FALLEN:.0f} cm
from where it should be. Written by `run.py study replanning`, which goes on where it was stopped.
"""


def modes() -> list[str]:
    """How many modes are low."""
    page = ["## Modes", "", "Of 36 modes besides the six rigid ones; the paper counts 14 low and 22 high.", ""]
    rows = []
    for name, motion in (("walk", walk()), ("squat", squat()), ("chin-up", chin_up())):
        counts = []
        controller, world = Replanning(motion.character, motion.track), World(motion.character)
        for frame in range(0, len(motion.track.q), 12):
            world.reset(motion.track.q[frame])
            contacts = world.begin_step()
            controller.seek(frame)
            controller.law(world.state(), contacts)
            counts.append(int((controller.squares[6:] < controller.settings.threshold).sum()))
        rows.append((name, f"{min(counts)} to {max(counts)}", f"{36 - max(counts)} to {36 - min(counts)}"))
    return page + table(("motion", "low", "high"), rows)


def windows(
    title: str, note: str, motion: Motion, steps: Sequence[int], more: Callable[[Outcome], object]
) -> list[str]:
    """One motion with windows of so many frames."""
    rows = []
    for n in steps:
        outcome = follow(motion, Settings(window=n * DT))
        rows.append((n, outcome_words(outcome), f"{outcome.degrees:.1f}", f"{100 * outcome.root:.1f}", more(outcome)))
    return [f"## {title}", "", note, "", *table(("window", "outcome", "joints °", "root cm", "also"), rows)]


def key_poses() -> list[str]:
    """Squat, chin-up, barbell."""
    up = chin_up()
    rise = float(up.track.q[:, 2].max())
    steps = (8, 12, 16, 24, 30, 36)
    return [
        *windows(
            "Squat from three key poses",
            "Stand, squat, stand, joined by inverse kinematics of the feet; not optimised.",
            squat(),
            steps,
            lambda found: f"lean {np.degrees(found.error[-1, 4]):.1f}° at the end",
        ),
        *windows(
            "Chin-up from two key poses",
            f"Hanging and up, the pelvis at {up.track.q[0, 2]:.2f} m and {rise:.2f} m; not optimised.",
            up,
            steps,
            lambda found: f"pelvis reaches {found.q[:, 2].max():.3f} m",
        ),
        *windows(
            "Barbell of 30 kg",
            "The squat with hands that take a barbell in its middle pose. The plan knows of no weight. The paper's "
            "window of 12 topples and of 36 stands.",
            lift(30.0),
            steps,
            lambda found: f"root {100 * found.error[-1, 0]:.1f} cm ahead at the end",
        ),
    ]


def captured() -> list[str]:
    """Clips once through."""
    page = ["## Captured clips once through", ""]
    if not GOOD:
        return [*page, "The clips are not beside the checkout.", ""]
    rows, walks, seconds = [], [], []
    for path in GOOD:
        for optimise in (True, False):
            try:
                job = BakeJob(read_bvh(path, CMU_UNIT), CMU_ROLES, method="replanning", optimise=optimise)
                report = json.loads(run(job).report_text)
            except ValueError as refusal:
                rows.append((path.stem, "optimised" if optimise else "as it is", f"refused: {refusal}", "", "", "", ""))
                continue
            done = report["outcome"] == "completed"
            if path.stem.startswith(WALKS):
                walks.append((optimise, done))
                if optimise:
                    seconds.append(report["seconds"]["reference"])
            rows.append(
                (
                    path.stem,
                    "optimised" if optimise else "as it is",
                    report["outcome"],
                    f"{report['upright_seconds']:.1f}",
                    f"{report['joint_rms_deg']:.2f}",
                    f"{100 * report['root_rms_m']:.1f}",
                    f"{1000 * report['max_foot_slide_m']:.0f}",
                )
            )
    for optimise, name in ((True, "optimised first"), (False, "followed as they are")):
        found = [done for kind, done in walks if kind is optimise]
        page.append(f"Of {len(found)} walks {sum(found)} complete {name}.")
    page.append(f"Optimising a walk takes {np.median(seconds):.1f} s, the median, and {max(seconds):.1f} s at most.")
    head = ("clip", "reference", "outcome", "seconds", "joints °", "root cm", "slide mm")
    return [*page, "", *table(head, rows)]


def strides(change: Callable[[Character, Trajectory], Trajectory]) -> tuple[Character, Trajectory]:
    """Three strides of the walk, changed by kinematics."""
    reference = walk_reference()
    track, character = Track.of(reference), reference.character
    q = np.array([track.pose(character, k) for k in range(3 * len(track.q))])
    return character, change(character, Trajectory(reference.rate, q, np.zeros((len(q), character.nv))))


def edits() -> list[str]:
    """Stride and speed, with and without optimisation after the edit; slopes."""
    page = [
        "## Edits of the walk",
        "",
        "Three strides, edited by kinematics, then followed as they are or optimised.",
        "",
    ]
    step = 0.5 * motions.walk().cycle.shift[0]
    rows = []
    for name, change in (
        ("none", lambda _, t: t),
        ("steps 10 cm longer", lambda c, t: with_stride(c, t, 1.0 + 0.10 / step)),
        ("steps 15 cm shorter", lambda c, t: with_stride(c, t, 1.0 - 0.15 / step)),
        ("10 % faster", lambda c, t: at_speed(c, t, 1.1)),
        ("10 % faster, steps 15 cm longer", lambda c, t: with_stride(c, at_speed(c, t, 1.1), 1.0 + 0.15 / step)),
        ("25 % slower", lambda c, t: at_speed(c, t, 0.75)),
    ):
        character, trajectory = strides(change)
        for optimise in (False, True):
            try:
                reference = make_reference(character, trajectory, optimise=optimise).reference
            except ValueError as refusal:
                rows.append((name, "optimised" if optimise else "as it is", f"refused: {refusal}", "", ""))
                continue
            outcome = follow(Motion(character, Track.of(reference)))
            found = (outcome_words(outcome), f"{outcome.degrees:.1f}", f"{100 * outcome.root:.1f}")
            rows.append((name, "optimised" if optimise else "as it is", *found))
    return [*page, *table(("edit", "reference", "outcome", "joints °", "root cm"), rows), *slopes()]


def slopes() -> list[str]:
    """A captured walk on planes that rise and fall along its way."""
    page = ["### Slopes", "", "A captured walk put on a plane.", ""]
    if not GOOD:
        return [*page, "The clips are not beside the checkout.", ""]
    clip = read_bvh(next(path for path in GOOD if path.name.startswith("02_01")), CMU_UNIT)
    way = clip.position[-1, 0, :2] - clip.position[10, 0, :2]
    way = way / np.linalg.norm(way)
    x, y = clip.position[10, 0, :2].tolist()
    rows = []
    for degrees in (3.0, 2.0, -2.0, -3.0, -5.0):
        rise = np.tan(np.radians(degrees))
        plane = Plane(point=(x, y, 0.0), normal=(-rise * way[0], -rise * way[1], 1.0))
        for ground in ("auto", "level"):
            scene = Scene(surfaces=(plane,))
            try:
                job = BakeJob(clip, CMU_ROLES, method="replanning", scene=scene, ground=ground)
                report = json.loads(run(job).report_text)
            except ValueError as refusal:
                rows.append((f"{degrees:+.0f}°", ground, f"refused: {refusal}", "", ""))
                continue
            figures = (f"{report['upright_seconds']:.1f}", f"{report['joint_rms_deg']:.1f}")
            rows.append((f"{degrees:+.0f}°", ground, report["outcome"], *figures))
    return page + table(("slope", "ground", "outcome", "seconds", "joints °"), rows)


def caught() -> list[str]:
    """From flight to hanging by a transition; what jumps when the hands take the bar."""
    note = (
        "Through the air with raised arms at 1.2 m/s, hands take the bar at 0.3 s, and the motion becomes hanging.\n"
        "The largest change is the wrists' when the bar stops them, the next when they come to the end of their range."
    )
    head = ("transition s", "largest change of a velocity in a step", "next", "swing °", "joints ° at the end")
    page = ["## From flight to a bar", "", note, ""]
    page += table(head, [(f"{blend:g}", *catch(blend, SPEED_TO_BAR)) for blend in (0.25, 0.5, 1.0)])
    note = (
        f"It is the hand that jumps: its palm, {100 * GRIP:.0f} cm from the wrist, stops while the arm goes on, so it "
        "turns by up to the\nspeed over that distance. Slower flights, with a transition of half a second:"
    )
    rows = [(f"{speed:g}", f"{speed / GRIP:.1f}", *catch(0.5, speed)) for speed in (0.0, 0.3, 0.6, 0.9, SPEED_TO_BAR)]
    return [*page, note, "", *table(("m/s", "over the distance", *head[1:]), rows)]


def catch(blend: float, speed: float, start: float = 0.3, seconds: float = 3.0) -> tuple[str, ...]:
    """The largest changes, the swing, and how far off the joints are at the end."""
    motion, hang = flight(speed=speed, caught=start), chin_up(bar=2.9)
    still = replace(hang.track, q=np.repeat(hang.track.q[:1], round(seconds / DT), axis=0), **held_all(hang.track))
    controller = Replanning(motion.character, motion.track)
    world = World(motion.character, grabs=motion.grabs)
    world.reset(*controller.reference_state())
    jumps, swing = [], []
    for k in range(round(seconds / DT)):
        if k == round(start / DT):
            state = world.q, world.v
            controller.track = transition(motion.character, motion.track, round(controller.frame), state, still, blend)
        before = world.v
        world.step(controller)
        jumps.append(np.abs(world.v - before).max())
        swing.append(np.degrees(difference(motion.character, still.q[0], world.q)[4]))
    at = int(np.argmax(jumps))
    others = np.array(jumps)
    others[at] = 0.0
    error = difference(motion.character, controller.reference_state()[0], world.q)
    return (
        f"{jumps[at]:.1f} at {at * DT:.2f} s",
        f"{others.max():.1f} at {int(np.argmax(others)) * DT:.2f} s",
        f"{np.ptp(swing[round(start / DT) :]):.0f}",
        f"{np.degrees(np.sqrt(np.mean(error[6:] ** 2))):.1f}",
    )


def held_all(track: Track) -> dict[str, np.ndarray]:
    """Both hands hold on in every frame of the three seconds."""
    frames = round(3.0 / DT)
    return {
        "loaded": np.ones((frames, len(track.grip)), dtype=bool),
        "normal": np.repeat(track.normal[:1], frames, axis=0),
    }


class Selected:
    """Replanning with chosen modes planned over the window and all others a step ahead, whatever their frequencies.

    One controller has no mode above its threshold and one has all of them there; from each come the actuations of some.
    Contact forces, and what joints answer to unplanned ones, are those of a third, with the usual threshold.
    """

    def __init__(self, motion: Motion, chosen: Sequence[int], window: float) -> None:
        self.usual, self.ahead, self.next_step = (
            Replanning(motion.character, motion.track, Settings(window=window, threshold=threshold))
            for threshold in (Settings().threshold, 1e8, 1e-6)
        )
        self._chosen = list(chosen)

    def law(self, state: State, contacts: Contacts) -> AffineLaw:
        law = self.usual.law(state, contacts)
        self.ahead.law(state, contacts)
        self.next_step.law(state, contacts)
        work = self.usual._scratch
        change = self.next_step._scratch.actuation - work.actuation
        change[self._chosen] = (self.ahead._scratch.actuation - work.actuation)[self._chosen]
        law.torque[:] += work.effect[6:].T @ change[6:] / state.dt
        return law


def which_modes(folder: Path) -> list[str]:
    """Figure 5: thirteen modes in a row are planned over the window, from mode 6 + k on; and some at random."""
    motion, window, seconds = walk(), 8 * DT, 4.0
    nv = motion.character.nv
    rng = np.random.default_rng(0)
    choices = {f"{6 + k} to {18 + k}": range(6 + k, 19 + k) for k in (0, 4, 8, 12, 16, 20, nv - 19)}
    choices |= {f"random {i + 1}": sorted(6 + rng.permutation(nv - 6)[:13]) for i in range(3)}
    rows, errors = [], {}
    for name, chosen in choices.items():
        controller, world = Selected(motion, chosen, window), World(motion.character)
        world.reset(*controller.usual.reference_state())
        error, why = [], "stands"
        for _ in range(round(seconds / DT)):
            try:
                world.step(controller)
            except DivergedError:
                why = "breaks off"
                break
            away = difference(motion.character, controller.usual.reference_state()[0], world.q)
            error.append(float(np.degrees(np.linalg.norm(away[3:6]))))
            if np.linalg.norm(away[:3]) > FALLEN:
                why = "falls"
                break
        at = len(error) * DT
        half, one = (f"{error[round(t / DT)]:.1f}" if at > t + DT else "" for t in (0.5, 1.0))
        rows.append((name, why if why == "stands" else f"{why} at {at:.1f} s", half, one, f"{max(error):.1f}"))
        errors[name] = error
    picture = curves("Error of the root's orientation, degrees", errors, DT, seconds, (0.01, 100.0))
    (folder / "replanning_modes.svg").write_text(picture, encoding="utf-8")
    note = (
        "The walk with thirteen modes planned over a window of 8 steps, those from 6 + k to 18 + k as in figure 5, or "
        "thirteen\nat random; all others are led to the next frame. The error is that of the root's orientation."
    )
    head = ("modes", "outcome", "° at 0.5 s", "° at 1 s", "° at most")
    return ["## Which modes", "", note, "", *table(head, rows), "![Figure 5](replanning_modes.svg)", ""]


def halfway() -> list[str]:
    """Walks on their way from what was captured to what is possible."""
    page = ["## Why captured walks fall as they are", ""]
    if not GOOD:
        return [*page, "The clips are not beside the checkout.", ""]
    pairs = []
    for path in GOOD:
        if path.stem.startswith(WALKS):
            job = BakeJob(read_bvh(path, CMU_UNIT), CMU_ROLES, method="replanning")
            made = [precompute(replace(job, optimise=optimise)).reference for optimise in (False, True)]
            pairs.append(made)
    rows = []
    for share in (0.0, 0.5, 0.75, 0.9, 1.0):
        stood, away = np.zeros(2, dtype=int), 0.0
        for pair in pairs:
            character = pair[0].character
            q = np.array(
                [
                    integrate(character, a, difference(character, a, b), share)
                    for a, b in zip(*(r.q for r in pair), strict=True)
                ]
            )
            away = max(
                away,
                *(
                    np.linalg.norm(center_of_mass(character, a) - center_of_mass(character, b))
                    for a, b in zip(q, pair[1].q, strict=True)
                ),
            )
            stood += [not follow(Motion(character, replace(Track.of(r), q=q))).why for r in pair]
        rows.append((f"{100 * share:.0f} %", f"{1000 * away:.0f}", *(f"{n} of {len(pairs)}" for n in stood)))
    note = (
        "Poses that lie a share of the way from the captured walk, its feet held still, to the possible one that\n"
        "optimisation finds; with the contacts of either, which makes no difference. Derivatives, signs and steps are\n"
        "those of tests. What decides is where the centre of mass is over the feet, to within millimetres: it falls\n"
        "away like an inverted pendulum, and this method takes no other steps than those of the motion."
    )
    head = ("share", "centre of mass off by mm", "with captured contacts", "with the possible ones")
    return [*page, note, "", *table(head, rows)]


def thresholds() -> list[str]:
    """How many modes are planned over the window."""
    page = ["## Threshold", "", "The walk for 10 s with other thresholds between low and high modes, (rad/s)².", ""]
    rows = []
    for threshold in (5.0, 20.0, 60.0, 100.0, 130.0, 160.0, 250.0, 500.0):
        for n in (8, 12):
            outcome = follow(walk(), Settings(threshold=threshold, window=n * DT), seconds=10.0)
            rows.append(
                (f"{threshold:.0f}", n, outcome_words(outcome), f"{outcome.degrees:.2f}", f"{100 * outcome.root:.1f}")
            )
    return page + table(("threshold", "window", "outcome", "joints °", "root cm"), rows)


def speed() -> list[str]:
    """Steps a second of control and simulation; and the contact plan."""
    rows = []
    for name, motion, n in (("walk", walk(), 12), ("squat", squat(), 16), ("chin-up", chin_up(), 24)):
        controller = Replanning(motion.character, motion.track, Settings(window=n * DT))
        world = World(motion.character, grabs=motion.grabs)
        best, plans, pivots = np.full(240, np.inf), np.full(240, np.inf), []
        for _ in range(3):
            controller.seek()
            world.reset(*controller.reference_state())
            for k in range(len(best)):
                begun = time.perf_counter()
                world.step(controller)
                best[k] = min(best[k], time.perf_counter() - begun)
                plans[k] = min(plans[k], plan_time(controller, len(world.contacts.key)))
                pivots.append(controller.iterations)
        rate = 1.0 / np.median(best)
        micro = [f"{1e6 * np.median(times):.0f}" for times in (best, plans)]
        rows.append((name, n, micro[0], f"{rate:.0f}", micro[1], f"{np.mean(pivots):.1f}, at most {max(pivots)}"))
    head = ("motion", "window", "µs a step", "steps a second", "µs of the contact plan", "its iterations")
    note = "Medians of control and simulation, and of the contact plan alone; the fastest of three runs of each step."
    return ["## Speed", "", note, "", *table(head, rows)]


def plan_time(controller: Replanning, candidates: int) -> float:
    """Seconds that the last contact plan takes once more."""
    work, dt = controller._scratch, controller.track.dt
    points = candidates + len(controller.track.point_body)
    effort = controller.settings.force / (1000.0 * dt) ** 2
    begun = time.perf_counter()
    plan_contacts(work.problem, points, controller.window, dt, effort, work.contacts)
    return time.perf_counter() - begun


def study(folder: Path) -> str:
    """The page."""
    journal = Journal.of("replanning")
    sections: dict[str, Callable[[], list[str]]] = {
        "modes": modes,
        "which modes": lambda: which_modes(folder),
        "key poses": key_poses,
        "caught": caught,
        "captured": captured,
        "lifted": lifted,
        "halfway": halfway,
        "pushes on the thorax": pushes,
        **more_pushes(),
        "the paper's stepping": analytic,
        "edits": edits,
        "thresholds": thresholds,
        "speed": speed,
    }
    page = [INTRODUCTION]
    for name, find in sections.items():
        if journal.wants(name):
            page += find() if name in NOT_KEPT else journal.find(name, find)
    page += receding(journal) if GOOD else []
    return "\n".join(page)
