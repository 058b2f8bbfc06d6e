# SPDX-License-Identifier: GPL-3.0-or-later
"""What is told of bakes: each report belongs to one, with its action and time, and a bake that failed has one too.

An action keeps the report of the bake that made it; an armature keeps that of the last bake, whatever came of it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from typing import Any

import bpy

from ...core.job import BakeResult
from ..typed import notes_on, settings_on

FAILED = "failed"
HELPED, CARRIED = 0.02, 0.2  # of the weight, on average
FIGURES = {"upright_seconds", "simulated_seconds", "joint_rms_deg", "root_rms_m", "max_foot_slide_m", "peak_torque_nm"}


def stamped(report_text: str, action: str, armature: str, notes: Sequence[str] = ()) -> str:
    """Return a result's report with the action and the armature that it was written to, the time, and more notes."""
    report = json.loads(report_text)
    told = {"action": action, "armature": armature, "when": now(), "notes": [*report.get("notes", ()), *notes]}
    return json.dumps(report | told)


def with_note(result: BakeResult, note: str) -> BakeResult:
    """Return a result whose report has one more note, before the others; the same where there is none."""
    if not note:
        return result
    report = json.loads(result.report_text)
    return replace(result, report_text=json.dumps(report | {"notes": [note, *report["notes"]]}))


def note_failure(armature: bpy.types.Object, why: str) -> None:
    """Keep on the armature that its last bake failed: what an earlier one was like is its own action's affair."""
    if armature.library is None:
        told = {"outcome": FAILED, "why": why, "good": False, "action": "", "when": now()}
        settings_on(armature).report = json.dumps(told)


def note_done(armature: bpy.types.Object, report: dict[str, Any], what: str) -> None:
    """Keep with a report that what it offered has been done: its button goes."""
    text = json.dumps(report | {what: True})
    kept: bpy.types.Action | None = bpy.data.actions.get(report.get("action", ""))
    if kept is not None and notes_on(kept).report:
        notes_on(kept).report = text
    settings_on(armature).report = text


def now() -> str:
    """The time by the clock on the wall, to the minute."""
    return datetime.now().astimezone().strftime("%Y-%m-%d %H:%M")


def shown(armature: bpy.types.Object) -> dict[str, Any]:
    """Return the report to show: of the action that plays if a bake made it, unless a later bake failed."""
    last = read(settings_on(armature).report)
    animation = armature.animation_data
    action = animation.action if animation is not None else None
    of_action = read(notes_on(action).report) if action is not None else {}
    if not of_action or (last.get("outcome") == FAILED and last["when"] >= of_action.get("when", "")):
        return last
    return of_action | {"action": action.name}


@lru_cache(maxsize=8)
def read(text: str) -> dict[str, Any]:
    """Return a report's content; nothing where the text is none."""
    try:
        report = json.loads(text or "{}")
    except ValueError:
        return {}
    if not isinstance(report, dict) or not {"why", "outcome"} <= set(report):
        return {}
    needed = {"when"} if report["outcome"] == FAILED else FIGURES
    return report if needed <= set(report) else {}


def is_helped(report: dict[str, Any]) -> bool:
    """Return whether help from nowhere is worth a word."""
    return float(report.get("help_mean", 0.0)) > HELPED


def is_carried(report: dict[str, Any]) -> bool:
    """Return whether help bears so much of the weight that no tick can stand for physics."""
    return float(report.get("help_mean", 0.0)) > CARRIED


def is_good(report: dict[str, Any]) -> bool:
    """Return whether a report gets the tick; one of an older version, that does not say, does not."""
    return report["outcome"] == "completed" and bool(report.get("good", False))
