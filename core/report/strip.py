# SPDX-License-Identifier: GPL-3.0-or-later
"""A film strip of stick figures, seen from the side on which they travel from left to right, as SVG text."""

from html import escape

import numpy as np
from numpy.typing import NDArray

from .frames import FAINTEST, Forces

Array = NDArray[np.float64]
Pairs = NDArray[np.int64]

FIGURES = 9
WIDTH, HEIGHT = 980, 230
FOOT = 34  # pixels under the ground, for the captions
LEAST_TRAVEL = 0.5  # m: a shorter path has no direction
LEAST_SWAY = 0.02  # m, RMS: nor has a lesser sway
NEWTONS = 2000.0  # as long as a figure is high


def strip(
    frames: Array,
    figure: Pairs,
    places: Array,
    reference: Array,
    center_of_mass: Array,
    forces: Forces,
    help_given: Array | None = None,
) -> str:
    """Figures at even times: bones' heads (nf, nb, 3) joined by `figure` (n, 2), over those of the reference.

    Help (nf, 3), N, is an arrow of its own from the centre of mass.
    """
    shown = np.unique(np.linspace(0, len(frames) - 1, FIGURES).round().astype(np.int64))
    along = direction(center_of_mass)
    used = np.unique(figure)
    ground = float(places[:, used, 2].min())
    height = max(float(places[shown][:, used, 2].max()) - ground, 0.1)
    scale = (HEIGHT - FOOT - 10) / height
    parts = [f'<path class="grid" d="M0 {HEIGHT - FOOT}H{WIDTH}"/>']
    for number, f in enumerate(shown):
        middle = (number + 0.5) * WIDTH / len(shown)

        def place(points: Array, middle: float = middle, f: int = int(f)) -> Array:
            """Pixels of points of the world."""
            across = middle + scale * ((points - center_of_mass[f])[..., :2] @ along)
            return np.stack([across, HEIGHT - FOOT - scale * (points[..., 2] - ground)], axis=-1)

        for heads, style in ((reference[f], "ghost"), (places[f], "figure")):
            parts.append(f'<path class="{style}" d="{_segments(place(heads)[figure])}"/>')
        rows = slice(forces.start[f], forces.start[f + 1])
        ends = forces.point[rows] + forces.force[rows] * (height / NEWTONS)
        arrows = np.stack([place(forces.point[rows]), place(ends)], axis=1)
        if len(arrows):
            parts.append(f'<path class="force" d="{_segments(arrows)}"/>')
        if help_given is not None and np.linalg.norm(help_given[f]) > FAINTEST:
            lifted = np.stack([center_of_mass[f], center_of_mass[f] + help_given[f] * (height / NEWTONS)])
            parts.append(f'<path class="help" d="{_segments(place(lifted)[None])}"/>')
        caption = escape(f"{frames[f]:g}")
        parts.append(f'<text class="tick" text-anchor="middle" x="{middle:.0f}" y="{HEIGHT - 12}">{caption}</text>')
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size}>{"".join(parts)}</svg>'


def direction(way: Array) -> Array:
    """The direction (2,) along the ground in which a way (nf, 3) leads, or else sways; X where it does neither."""
    travel = way[-1, :2] - way[0, :2]
    length = float(np.linalg.norm(travel))
    if length >= LEAST_TRAVEL:
        return np.asarray(travel / length)
    _, sway, axes = np.linalg.svd(way[:, :2] - way[:, :2].mean(axis=0), full_matrices=False)
    if len(sway) < 2 or sway[0] < LEAST_SWAY * np.sqrt(len(way)):
        return np.array([1.0, 0.0])
    return np.asarray(axes[0] * (1.0 if axes[0].sum() > 0.0 else -1.0))


def _segments(ends: Array) -> str:
    """The d of a path of separate segments (n, 2, 2)."""
    return "".join(f"M{a:.1f} {b:.1f}L{c:.1f} {d:.1f}" for (a, b), (c, d) in ends.tolist())
