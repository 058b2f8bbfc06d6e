# SPDX-License-Identifier: GPL-3.0-or-later
"""A row of the table for every clip: its figures before and after, in the order and the words of all that show them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ..job import BakeResult
from ..job.result import TIMES

Row = Mapping[str, Any]
"""A clip's `file`, `take`, `outcome`, `why`, and its figures by the names of `COLUMNS`; None where there is none."""

CLEANED, FAILED = "cleaned", "failed"
BEFORE, AFTER = "_before_", "_after_"
NOTICED = 0.05  # mm


class Column(NamedTuple):
    """A figure of a clip."""

    name: str
    title: str
    unit: str
    digits: int
    tip: str
    value: Callable[[Mapping[str, Any]], float]  # out of the bake's report
    worst: float = 0.0  # a figure of so much is as bad as any other column's; 0: it tells nothing of how good a clip is


def _figure(name: str, factor: float = 1.0) -> Callable[[Mapping[str, Any]], float]:
    return lambda report: factor * float(report[name])


COLUMNS = (
    Column("seconds", "Length", "s", 2, "how long the motion is", _figure("simulated_seconds")),
    Column(
        "skate_before_mm",
        "Skate before",
        "mm a frame",
        2,
        "how far points that touch the ground move along it from frame to frame",
        _figure("source_skate_mm_per_frame"),
    ),
    Column(
        "skate_after_mm", "after", "mm a frame", 2, "the same of what was written", _figure("skate_mm_per_frame"), 0.5
    ),
    Column(
        "float_before_mm",
        "Float before",
        "mm",
        1,
        "how high the lowest point is over the ground, mean over all frames, jumps included",
        _figure("source_float_mm"),
    ),
    Column("float_after_mm", "after", "mm", 1, "the same of what was written", _figure("float_mm")),
    Column(
        "float_outside_flights_before_mm",
        "Outside flights before",
        "mm",
        1,
        "the same, mean over the frames in which what was written does not fly",
        _figure("source_float_outside_flights_mm"),
    ),
    Column(
        "float_outside_flights_after_mm",
        "after",
        "mm",
        1,
        "the same of what was written",
        _figure("float_outside_flights_mm"),
        2.6,
    ),
    Column(
        "penetration_before_mm",
        "Penetration before",
        "mm",
        2,
        "how deep the lowest point is in the ground, mean over all frames",
        _figure("source_penetration_mm"),
    ),
    Column("penetration_after_mm", "after", "mm", 2, "the same of what was written", _figure("penetration_mm"), 1.0),
    Column(
        "acceleration_error",
        "Acceleration error",
        "m/s²",
        2,
        "mean distance of the joints' accelerations from the source's",
        _figure("acceleration_error"),
    ),
    Column(
        "distance_mm",
        "Distance",
        "mm",
        1,
        "mean distance of the joints from where the source has them",
        _figure("source_error_mm"),
        30.0,
    ),
    Column(
        "help_mean_percent",
        "Help mean",
        "% of weight",
        2,
        "force or moment from nowhere without which it cannot be, mean over all steps",
        _figure("help_mean", 100.0),
    ),
    Column(
        "help_max_percent",
        "Help most",
        "% of weight",
        1,
        "the greatest such force or moment",
        _figure("help_max", 100.0),
        20.0,
    ),
    Column(
        "mended",
        "Mended",
        "",
        0,
        "kinds of damage that were mended: poses that are none, flips, jumps, gaps",
        lambda report: len(report["repairs"]),
    ),
    Column(
        "torque_max_nm",
        "Torque most",
        "N m",
        0,
        "the greatest torque of a joint",
        _figure("peak_torque_nm"),
    ),
)


def row_of(file: str, take: str, result: BakeResult) -> Row:
    """What is told of a clip that was cleaned."""
    report = result.report
    return {
        "file": file,
        "take": take,
        "outcome": CLEANED if result.outcome == "completed" else result.outcome,
        "good": bool(report["good"]),
        "why": result.why,
        "frames": len(result.frames),
        "frames_per_second": result.fps,
        **{column.name: round(column.value(report), 6) for column in COLUMNS},
        "repairs": [repair["what"] for repair in report["repairs"]],
    }


def failed_row(file: str, take: str, why: str) -> Row:
    """What is told of one that could not be."""
    nothing = dict.fromkeys(("frames", "frames_per_second", *(column.name for column in COLUMNS)))
    return {"file": file, "take": take, "outcome": FAILED, "good": False, "why": why, **nothing, "repairs": []}


def badness(row: Row) -> float:
    """How bad the worst figure of a clip is: 1 is what is just acceptable."""
    return max(float(row[column.name]) / column.worst for column in COLUMNS if column.worst > 0.0)


def is_worse(row: Row, name: str) -> bool:
    """Whether a figure after is worse than it was before, by more than a twentieth of a millimetre."""
    before = row.get(name.replace(AFTER, BEFORE)) if AFTER in name else None
    return before is not None and float(row[name]) > float(before) + NOTICED


def is_fine(row: Row) -> bool:
    """Whether a clip was cleaned, none of its figures is worse than acceptable, and none worse than before."""
    worse = any(is_worse(row, column.name) for column in COLUMNS)
    return row["outcome"] == CLEANED and bool(row["good"]) and badness(row) <= 1.0 and not worse


def worst_of(rows: Sequence[Row], count: int) -> list[Row]:
    """The clips with the worst figures, worst first; those without figures are told of by themselves."""
    judged = [row for row in rows if row["outcome"] != FAILED]
    return sorted(judged, key=lambda row: (-badness(row), row["file"], row["take"]))[:count]


def lasting(report: Mapping[str, Any]) -> dict[str, Any]:
    """A report without what differs from run to run."""
    return {name: value for name, value in report.items() if name not in TIMES}
