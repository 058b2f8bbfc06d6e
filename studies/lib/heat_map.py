# SPDX-License-Identifier: GPL-3.0-or-later
"""A table of shades as SVG text."""

import math
from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

LEFT, TOP, BOTTOM = 62, 30, 36  # margins
CELL = (52, 28)  # pixels
DARK = 0.55  # of the deepest shade: darker ones have their number in white


def heat_map(title: str, values: Array, columns: Sequence[str], rows: Sequence[str], x_label: str, y_label: str) -> str:
    """Values (rows, columns) as shades with their numbers, the darker the greater; NaN stays empty.

    It stands by itself: its colours need no page.
    """
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
    across, down = CELL
    width, height = LEFT + across * len(columns) + 20, TOP + down * len(rows) + BOTTOM
    parts = ['<rect width="100%" height="100%" fill="#fff"/>', f'<text x="{LEFT}" y="17">{escape(title)}</text>']
    for r, row in enumerate(rows):
        y = TOP + down * r
        parts.append(f'<text text-anchor="end" x="{LEFT - 6}" y="{y + 19}">{escape(row)}</text>')
        for c, value in enumerate(values[r].tolist()):
            if not math.isfinite(value):
                continue
            share = (value - low) / (high - low) if high > low else 1.0
            x, ink = LEFT + across * c, "#fff" if share > DARK else "#222"
            parts.append(f'<rect x="{x}" y="{y}" width="{across - 1}" height="{down - 1}" fill="{_shade(share)}"/>')
            middle = f'text-anchor="middle" x="{x + across // 2}" y="{y + 19}"'
            parts.append(f'<text {middle} fill="{ink}">{value:g}</text>')
    for c, column in enumerate(columns):
        place = f'x="{LEFT + across * c + across // 2}" y="{TOP + down * len(rows) + 14}"'
        parts.append(f'<text text-anchor="middle" {place}>{escape(column)}</text>')
    parts.append(f'<text text-anchor="end" x="{width - 20}" y="{height - 6}">{escape(x_label)}</text>')
    turned = f'transform="translate(12 {TOP + down * len(rows) // 2}) rotate(-90)"'
    parts.append(f'<text {turned} text-anchor="middle">{escape(y_label)}</text>')
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    style = 'font-family="sans-serif" font-size="12"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size} {style}>{"".join(parts)}</svg>'


def _shade(share: float) -> str:
    """From a pale to a deep blue."""
    pale, deep = (236, 243, 250), (8, 69, 148)
    return "#" + "".join(f"{round(a + share * (b - a)):02x}" for a, b in zip(pale, deep, strict=True))
