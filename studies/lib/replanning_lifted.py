# SPDX-License-Identifier: GPL-3.0-or-later
"""A captured squat that carries weights: a part of the study of replanning control."""

import json

from heft.core import BakeJob, run
from heft.core.job import BodySettings, Scene
from heft.core.motion.bvh import read_bvh
from heft.core.simulation.scene import Load
from heft.studies.lib.replanning_follow import table

from tests.core.motion.skeletons import CMU_ROLES, CMU_UNIT, GOOD

SIDES = ("left", "right")
WEIGHTS = (0.0, 10.0, 20.0, 30.0)  # kg


def lifted() -> list[str]:
    """A captured squat with weights in its hands: section 7.3's edit of a squat to a lift."""
    page = ["## A captured squat with weights in its hands", ""]
    if not GOOD:
        return [*page, "The clips are not beside the checkout.", ""]
    clip, rows = read_bvh(next(path for path in GOOD if path.name.startswith("22_14")), CMU_UNIT), []
    for mass in WEIGHTS:
        for planned in (True, False) if mass else (True,):
            loads = tuple(Load(side, f"{side}_hand", 0.5 * mass, planned=planned) for side in SIDES) if mass else ()
            job = BakeJob(clip, CMU_ROLES, method="replanning", body=BodySettings("full"), scene=Scene(loads=loads))
            report = json.loads(run(job).report_text)
            known = "" if not mass else "known" if planned else "not known"
            error, slide = f"{report['joint_rms_deg']:.2f}", f"{1e3 * report['max_foot_slide_m']:.0f}"
            rows.append((f"{mass:g} kg", known, report["outcome"], f"{report['upright_seconds']:.1f}", error, slide))
    return [*page, *table(("in both hands", "to the plan", "outcome", "upright s", "joints °", "slide mm"), rows)]
