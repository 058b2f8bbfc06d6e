# SPDX-License-Identifier: GPL-3.0-or-later
"""Masses, centres and inertias of human segments from their lengths and the total mass.

The figures are those of P. de Leva, "Adjustments to Zatsiorsky-Seluyanov's segment inertia parameters", Journal of
Biomechanics 29(9), 1996, table 4: 115 young adults measured by gamma scanning, with segments cut at joint centres.
A segment reaches from its `start` to its `end`; its length is the distance between the two:

    segment      start                           end
    head         vertex                          cervicale (C7): head and neck
    upper_trunk  cervicale                       xiphion
    middle_trunk xiphion                         omphalion
    lower_trunk  omphalion                       midpoint of the hip joints
    trunk        cervicale                       midpoint of the hip joints: the three above as one
    upper_arm    shoulder                        elbow
    forearm      elbow                           wrist
    hand         wrist                           tip of the middle finger (dactylion)
    thigh        hip                             knee
    shank        knee                            ankle
    foot         heel                            tip of the longest toe

Radii of gyration are about axes through the centre of mass: the longitudinal from start to end, the transverse to the
person's side, the sagittal across both (for upright segments it points forward).
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .mass import Mass

Sex = Literal["female", "male"]
Segment = Literal[
    "head",
    "upper_trunk",
    "middle_trunk",
    "lower_trunk",
    "trunk",
    "upper_arm",
    "forearm",
    "hand",
    "thigh",
    "shank",
    "foot",
]

# Segments that make up a body, and how many of each there are.
COUNTS: Mapping[Segment, int] = {
    "head": 1,
    "upper_trunk": 1,
    "middle_trunk": 1,
    "lower_trunk": 1,
    "upper_arm": 2,
    "forearm": 2,
    "hand": 2,
    "thigh": 2,
    "shank": 2,
    "foot": 2,
}


class Parameters(NamedTuple):
    """One line of de Leva's table 4 for one sex."""

    length: float  # mean length of the subjects' segments, m
    mass: float  # fraction of the body's mass
    center: float  # distance of the centre of mass from the start, fraction of the segment's length
    sagittal: float  # radii of gyration, fractions of the segment's length
    transverse: float
    longitudinal: float


MEAN_STATURE: Mapping[Sex, float] = {"female": 1.735, "male": 1.741}  # of the subjects, m

DE_LEVA: Mapping[Sex, Mapping[Segment, Parameters]] = {
    "female": {
        "head": Parameters(0.2437, 0.0668, 0.4841, 0.271, 0.295, 0.261),
        "upper_trunk": Parameters(0.2280, 0.1545, 0.5050, 0.466, 0.314, 0.449),
        "middle_trunk": Parameters(0.2053, 0.1465, 0.4512, 0.433, 0.354, 0.415),
        "lower_trunk": Parameters(0.1815, 0.1247, 0.4920, 0.433, 0.402, 0.444),
        "trunk": Parameters(0.6148, 0.4257, 0.4964, 0.307, 0.292, 0.147),
        "upper_arm": Parameters(0.2751, 0.0255, 0.5754, 0.278, 0.260, 0.148),
        "forearm": Parameters(0.2643, 0.0138, 0.4559, 0.261, 0.257, 0.094),
        "hand": Parameters(0.1701, 0.0056, 0.3427, 0.244, 0.208, 0.154),
        "thigh": Parameters(0.3685, 0.1478, 0.3612, 0.369, 0.364, 0.162),
        "shank": Parameters(0.4386, 0.0481, 0.4352, 0.267, 0.263, 0.092),
        "foot": Parameters(0.2283, 0.0129, 0.4014, 0.299, 0.279, 0.139),
    },
    "male": {
        "head": Parameters(0.2429, 0.0694, 0.5002, 0.303, 0.315, 0.261),
        "upper_trunk": Parameters(0.2421, 0.1596, 0.5066, 0.505, 0.320, 0.465),
        "middle_trunk": Parameters(0.2155, 0.1633, 0.4502, 0.482, 0.383, 0.468),
        "lower_trunk": Parameters(0.1457, 0.1117, 0.6115, 0.615, 0.551, 0.587),
        "trunk": Parameters(0.6033, 0.4346, 0.5138, 0.328, 0.306, 0.169),
        "upper_arm": Parameters(0.2817, 0.0271, 0.5772, 0.285, 0.269, 0.158),
        "forearm": Parameters(0.2689, 0.0162, 0.4574, 0.276, 0.265, 0.121),
        "hand": Parameters(0.1879, 0.0061, 0.3624, 0.288, 0.235, 0.184),
        "thigh": Parameters(0.4222, 0.1416, 0.4095, 0.329, 0.329, 0.149),
        "shank": Parameters(0.4403, 0.0433, 0.4395, 0.251, 0.246, 0.102),
        "foot": Parameters(0.2581, 0.0137, 0.4415, 0.257, 0.245, 0.124),
    },
}


class SegmentInertia(NamedTuple):
    """A segment's mass, its centre's distance from the start, and its principal moments about that centre."""

    mass: float  # kg
    center: float  # m
    sagittal: float  # kg m²
    transverse: float
    longitudinal: float


def segment_inertia(segment: Segment, length: float, total_mass: float, sex: Sex) -> SegmentInertia:
    """De Leva's figures for a segment of that length in a body of that mass.

    The printed fractions of a body's segments sum to 0.9999 for women; they are divided by their sum, so that a
    body's segments weigh the total mass exactly.
    """
    if not (0.0 < length < np.inf and 0.0 < total_mass < np.inf):
        raise ValueError(f"The {segment} needs a positive length and body mass, not {length} m and {total_mass} kg.")
    line = DE_LEVA[sex][segment]
    mass = line.mass * total_mass / sum(count * DE_LEVA[sex][name].mass for name, count in COUNTS.items())
    return SegmentInertia(
        mass=mass,
        center=line.center * length,
        sagittal=mass * (line.sagittal * length) ** 2,
        transverse=mass * (line.transverse * length) ** 2,
        longitudinal=mass * (line.longitudinal * length) ** 2,
    )


def segment_mass(
    segment: Segment,
    start: ArrayLike,
    end: ArrayLike,
    total_mass: float,
    sex: Sex,
    lateral: ArrayLike = (0.0, 1.0, 0.0),
) -> Mass:
    """The segment between two points of some frame; `lateral` points to the person's side (either one)."""
    start, end = np.asarray(start, dtype=np.float64), np.asarray(end, dtype=np.float64)
    length = float(np.linalg.norm(end - start))
    values = segment_inertia(segment, length, total_mass, sex)
    longitudinal = (end - start) / length
    sagittal = np.cross(np.asarray(lateral, dtype=np.float64), longitudinal)
    across = float(np.linalg.norm(sagittal))
    if across < 1e-6:
        raise ValueError(
            f"The {segment} points sideways, along the lateral direction: choose another lateral direction."
        )
    sagittal /= across
    axes = np.column_stack([sagittal, np.cross(longitudinal, sagittal), longitudinal])
    moments = np.array([values.sagittal, values.transverse, values.longitudinal])
    return Mass(values.mass, start + values.center * longitudinal, axes * moments @ axes.T)


def segment_length(segment: Segment, stature: float, sex: Sex) -> float:
    """Mean length of a segment for a stature: what to use where a skeleton does not say."""
    return DE_LEVA[sex][segment].length * stature / MEAN_STATURE[sex]
