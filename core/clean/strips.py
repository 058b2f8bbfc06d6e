# SPDX-License-Identifier: GPL-3.0-or-later
"""Film strips out of files of arrays."""

from pathlib import Path

import numpy as np

from ..report.frames import FAINTEST, Forces
from ..report.strip import strip


def strip_of(path: Path) -> str:
    """The cleaned motion over its source, as SVG text."""
    with np.load(path, allow_pickle=False) as arrays:
        frames, rate, fps = arrays["frames"], float(arrays["rate"]), float(arrays["fps"])
        forces, centers = arrays["contact_forces"], arrays["centers_of_pressure"]
        step = np.clip(np.rint((frames - frames[0]) / fps * rate).astype(np.int64) - 1, 0, len(forces) - 1)
        shown = np.linalg.norm(forces[step], axis=2) > FAINTEST
        shown &= np.isfinite(centers[step]).all(axis=2)
        row, body = np.nonzero(shown)
        names = arrays["body_names"].tolist()
        return strip(
            frames,
            arrays["figure"],
            arrays["joint_positions"],
            arrays["source_joint_positions"],
            arrays["center_of_mass"],
            Forces(
                np.concatenate([[0], np.cumsum(shown.sum(axis=1))]).astype(np.int64),
                tuple(names[b] for b in body),
                centers[step[row], body],
                forces[step[row], body],
            ),
        )
