# SPDX-License-Identifier: GPL-3.0-or-later
"""Of studies that take long, a few quick pieces of the page, found anew: by them one sees whether the page still holds.

Choose what hangs on all that the page hangs on, and says much of it: a run of seconds with its errors, not that
somebody stood. Times say nothing. What is found is a beginning of a line; all that a study asks of itself, its module
has, which is passed. No study imports this, so that none is older by it.

Where a page only counts, nothing on it says so much. There a case's numbers are told by their bits, in a line that
`run.py study` adds to the page (BITS).
"""

from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from heft.studies.lib.journal import Journal

from tests.core.motion.skeletons import GOOD

Witness = Callable[[Any], list[str]]
GAIT_SECONDS = 30.0


def clip(number: str) -> Path:
    """A captured clip, by the beginning of its name."""
    return next(path for path in GOOD if path.name.startswith(number))


def real_bakes(study: Any) -> list[str]:
    return [study.row(path.stem, study.bake(path, False))[0] for path in map(clip, ("02_01", "16_18", "22_14"))]


def motions_of_clips(study: Any) -> list[str]:
    """Times are last."""
    found = []
    for path in map(clip, ("02_01", "83_55")):
        character, trajectory = study.captured(path.name)
        schedule = study.label(character, trajectory)
        clean = study.clean_up(character, trajectory, schedule)
        found.append(study._row(path.stem, character, clean, schedule, 0.0).removesuffix(" 0.00 |"))
        found.append(study._cycle(path.stem, character, trajectory, schedule))
    return found


def strides_as_given(study: Any) -> list[str]:
    """Of the first pair of made walks, whose laws are added, and with others made between them."""
    name = "made, 0.9 and 1.3 m"
    return study.strides_rows(name, [study.made(0.9), study.made(1.3)])


def other_grounds(study: Any) -> list[str]:
    """Put on it, and met as it is."""
    grounds, walk = study.grounds()[0], study.motions.walk(strides=2)
    motion = walk.character, study.Trajectory(walk.rate, walk.q, walk.v)
    found = [
        study.put_row(name, motion, grounds[name], study.WALK)
        for name in ("walk, slope of -5°", "walk, stairs down, 6 cm a step")
    ]
    name = "walk, stairs down, 4 cm a step"
    return [*found, study.met_row(name, study.walking(lifted=True), study.PHASES[""], grounds[name], study.WALK)]


def squats(study: Any) -> list[str]:
    return study.windows("", "", study.squat(), (16, 36), _lean)[-2:]


def _lean(found: Any) -> str:
    return f"lean {np.degrees(found.error[-1, 4]):.1f}° at the end"


def references_of_clips(study: Any) -> list[str]:
    """Without the time, and what control does."""
    found = []
    for path in map(clip, ("02_01", "120_08", "22_14")):
        performance = study.prepare(study.read_bvh(path, study.CMU_UNIT), study.CMU_ROLES)
        made = study.make_reference(performance.plan.character, performance.trajectory)
        found.append(str(study.Row(path.stem, performance, made, 0.0, "")).partition(" | 0.00 |")[0])
    return found


def fits(study: Any) -> list[str]:
    """What is far from rounding: the first figures of the first clips."""
    found = list(islice(study.rows("simple"), 4))
    return [f"| {row.clip} | {' | '.join(f'{value:.3g}' for value in row[1:6])} |" for row in found]


def hills(study: Any) -> list[str]:
    """The first two values of each gait."""
    study.SLOPES = study.SLOPES[:2]
    gaits = {"level ground": study.gait(), "hills": study.gait(0.1, 0.2, 0.05)}
    rng = np.random.default_rng(9)
    nudges = study.NUDGE * rng.standard_normal((study.NUDGES, gaits["hills"].character.nv))
    return [
        f"| value of the gait for {name} | {' | '.join(f'{one:.2f}' for one in study.measured(gait, nudges))} |"
        for name, gait in gaits.items()
    ]


def unbalanced_steps(study: Any) -> list[str]:
    """Straight on, without the stabiliser."""
    walks = [study.watched(study.STRAIGHT, seed, study.Settings()) for seed in study.SEEDS[:2]]
    return ["|".join(study.line("without", walks).split("|")[:3])]


WITNESSES: Mapping[str, Witness] = {
    "balance": lambda study: [study._limit(0), study.lines(Journal("none", []))[2]],
    "combination": lambda study: [line for line in study.jumps() if line.startswith(("| by value", "| torques"))],
    "combination_hills": hills,
    "combination_walks": strides_as_given,
    "fit": fits,
    "gait_people": lambda study: [study.straight_row("mannequin", study.jobs()["mannequin"])],
    "gait_stabiliser": unbalanced_steps,
    "labels": motions_of_clips,
    "linear_bellman": lambda study: study.checks(),
    "lookahead": lambda study: [
        study.endured("walk, 1.0 m/s", study.walking()),
        study.endured("turn of 180° a stride", study.walking(np.pi)),
        study.endured("run (captured, 35_17)", study.running()),
        study.at_sixty_hertz("straight walk, LQR", "lqr", 0.0),
    ],
    "lookahead_ground": other_grounds,
    "momentum": lambda study: [*study.timing()[2:], *study.terrain()[2:4]],
    "momentum_changes": lambda study: [*study.timing()[2:4], *study.repeated()[2:5]],
    "real_clips": real_bakes,
    "references": references_of_clips,
    "replanning": squats,
}

BITS: Mapping[str, Callable[[Any], Iterable[Any]]] = {
    "falls": lambda study: study.fallen("flat", 0)[1].recording.q[-1],
    "gait": lambda study: study.walk(study.styled("normal", study.SEEDS[0])._replace(seconds=GAIT_SECONDS)),
    "gait_steps": lambda study: study.walk(study.Case(study.Course.straight(0.7), GAIT_SECONDS, study.SEEDS[0])),
    "rag_doll": lambda study: [value for seed in range(3) for value in study.drop(seed)],
    "robust_clips": lambda study: [
        report[name]
        for _, job in islice(study.variants("02_01"), 3)
        for report in [study.bake(job)]
        for name in ("joint_rms_deg", "root_rms_m", "max_foot_slide_m")
    ],
}


def bits(numbers: Iterable[Any]) -> str:
    """The line that tells the bits of numbers and arrays; words among them are left out."""
    told = sha256()
    for one in numbers:
        if not isinstance(one, str):
            told.update(np.asarray(one, dtype=np.float64).tobytes())
    return f"*Bits of its witness: {told.hexdigest()[:16]}.*"


def told_by_bits(name: str, study: Any) -> list[str]:
    """The line of a study that has one."""
    return [bits(BITS[name](study))] if name in BITS else []


def witness(name: str, study: Any) -> list[str]:
    """All lines that are to stand in the page of a study, or begin lines of it; none where nothing tells quickly."""
    return [*(WITNESSES[name](study) if name in WITNESSES else []), *told_by_bits(name, study)]
