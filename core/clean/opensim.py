# SPDX-License-Identifier: GPL-3.0-or-later
"""A clip for OpenSim, which has Y up: ground forces (.mot), joint torques (.sto) and joints as markers (.trc).

The files are as OpenSim's documentation describes them: a name, lines of `key=value`, `endheader`, a line of labels,
and rows with the time first, all parted by tabs. A marker file has two lines of numbers and two of names instead.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Arrays = Mapping[str, NDArray[Any]]
"""As `arrays.arrays_of` gives them."""

AXES = "xyz"
DIGITS = 6  # after the decimal point: micrometres, micronewtons


def ground_forces(arrays: Arrays) -> str:
    """Force, where it acts, and what moment is left about that, of the ground on each body that touches it."""
    start, bodies = arrays["contact_start"], arrays["contact_bodies"]
    step = np.repeat(np.arange(len(start) - 1), np.diff(start))
    labels: list[str] = []
    columns: list[Array] = []
    for b in np.unique(bodies).tolist():
        force = arrays["contact_forces"][:, b]
        center = np.nan_to_num(arrays["centers_of_pressure"][:, b])
        own = bodies == b
        arm = arrays["contact_points"][own] - center[step[own]]
        moment = np.zeros_like(force)
        np.add.at(moment, step[own], np.cross(arm, arrays["contact_point_forces"][own]))
        name = _label(str(arrays["body_names"][b]))
        labels += [f"ground_force_{name}_{kind}{axis}" for kind in "vp" for axis in AXES]
        labels += [f"ground_torque_{name}_{axis}" for axis in AXES]
        columns += [y_up(force), y_up(center), y_up(moment)]
    return _storage("ground_forces", _step_times(arrays), labels, columns)


def joint_torques(arrays: Arrays) -> str:
    """What joints exert, in newton metres, as the arrays name them."""
    labels = [_label(str(name)) for name in arrays["torque_names"]]
    return _storage("joint_torques", _step_times(arrays), labels, [arrays["torques"]])


def markers(arrays: Arrays, name: str) -> str:
    """The joints' places as a marker file: for OpenSim to find the angles of a model of its own."""
    fps, places = float(arrays["fps"]), y_up(arrays["joint_positions"])
    count, joints = places.shape[:2]
    first = float(arrays["frames"][0])
    head = [
        f"PathFileType\t4\t(X/Y/Z)\t{name}",
        "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames",
        f"{fps:g}\t{fps:g}\t{count}\t{joints}\tm\t{fps:g}\t1\t{count}",
        "Frame#\tTime\t" + "\t\t\t".join(_label(str(joint)) for joint in arrays["joint_names"]),
        "\t\t" + "\t".join(f"{axis}{number}" for number in range(1, joints + 1) for axis in "XYZ"),
        "",
    ]
    rows = np.column_stack(((arrays["frames"] - first) / fps, places.reshape(count, -1)))
    lines = [f"{number}\t{line}" for number, line in enumerate(_lines(rows), 1)]
    return "\n".join([*head, *lines, ""])


def y_up(vectors: Array) -> Array:
    """Vectors (..., 3) with Z up as those with Y up: X stays."""
    turned: Array = np.stack((vectors[..., 0], vectors[..., 2], -vectors[..., 1]), axis=-1)
    return turned


def _step_times(arrays: Arrays) -> Array:
    """Forces of a step act where it leads to, s."""
    times: Array = np.linspace(1.0, len(arrays["torques"]), len(arrays["torques"])) / float(arrays["rate"])
    return times


def _storage(name: str, times: Array, labels: Sequence[str], columns: Sequence[Array]) -> str:
    rows = np.column_stack((times, *columns))
    head = [name, "version=1", f"nRows={len(rows)}", f"nColumns={rows.shape[1]}", "inDegrees=no", "endheader"]
    return "\n".join([*head, "\t".join(("time", *labels)), *_lines(rows), ""])


def _lines(rows: Array) -> list[str]:
    """Rows as text; zero has no sign."""
    rounded = np.round(rows, DIGITS) + 0.0
    form = "\t".join([f"%.{DIGITS}f"] * rows.shape[1])
    return [form % tuple(row) for row in rounded.tolist()]


def _label(name: str) -> str:
    """A name as a column may have it: without spaces and tabs."""
    return "_".join(name.split())
