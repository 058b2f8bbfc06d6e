# SPDX-License-Identifier: GPL-3.0-or-later
"""Charts as SVG text: lines over an axis, a plan seen from above. Nothing but strings.

Colours come from the page's style (`--line-0` and so on), so that one chart serves light and dark pages.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

WIDTH, HEIGHT = 760, 240
LEFT, RIGHT, TOP, BOTTOM = 62, 150, 30, 36  # margins; names of lines stand on the right
COLORS = 8
TICKS = 6
MOST_POINTS = 2000  # of a line: more than there are pixels show nothing more
ROW = 15  # pixels between names


@dataclass(frozen=True)
class Frame:
    """Where the values of a chart lie on its picture."""

    x: tuple[float, float]
    y: tuple[float, float]
    width: float = WIDTH
    height: float = HEIGHT

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Pixels of a value; y upwards."""
        across = (x - self.x[0]) / (self.x[1] - self.x[0])
        up = (y - self.y[0]) / (self.y[1] - self.y[0])
        inner = self.width - LEFT - RIGHT, self.height - TOP - BOTTOM
        return LEFT + across * inner[0], TOP + (1.0 - up) * inner[1]


def line_chart(
    title: str,
    x: Array,
    lines: Mapping[str, Array],
    x_label: str,
    y_label: str,
    mark: tuple[float, str] | None = None,
) -> str:
    """Lines (n,) over x (n,), broken where they are NaN; `mark` is a vertical line with its name."""
    frame = Frame(span(x), span(np.concatenate([np.zeros(1), *lines.values()])))
    parts = [_axes(frame, title, x_label, y_label)]
    if mark is not None:
        (at, bottom), (_, top) = frame.place(mark[0], frame.y[0]), frame.place(mark[0], frame.y[1])
        parts.append(f'<path class="mark" d="M{at:.1f} {bottom:.1f}V{top:.1f}"/>')
        parts.append(f'<text class="name" x="{at + 4:.1f}" y="{top + 10:.1f}">{escape(mark[1])}</text>')
    for number, (name, values) in enumerate(lines.items()):
        parts.append(f'<path class="line line-{number % COLORS}" d="{path(frame, x, values)}"/>')
        parts.append(_legend(frame, number, name))
    return _svg(frame, parts)


def plan_chart(
    title: str, outlines: Sequence[Array], ways: Mapping[str, Array], mark: tuple[float, float, str] | None = None
) -> str:
    """Ways (n, 2) over outlines (m, 2) on the ground, both axes at one scale; the longer side lies across."""
    points = np.concatenate([np.zeros((0, 2)), *(rows[:, :2] for rows in (*outlines, *ways.values()))])
    if len(points) == 0:
        points = np.zeros((1, 2))
    turned = bool(np.ptp(points[:, 1]) > np.ptp(points[:, 0]))

    def seen(rows: Array) -> Array:
        return rows[:, [1, 0]] * (1.0, -1.0) if turned else rows[:, :2]

    shown = seen(points)
    low, high = shown.min(axis=0) - 0.1, shown.max(axis=0) + 0.1
    scale = (WIDTH - LEFT - RIGHT) / (high[0] - low[0])
    height = float(np.clip(scale * (high[1] - low[1]), 60.0, 400.0)) + TOP + BOTTOM
    middle, half = 0.5 * (low[1] + high[1]), 0.5 * (height - TOP - BOTTOM) / scale
    frame = Frame((float(low[0]), float(high[0])), (float(middle - half), float(middle + half)), height=height)
    names = ("y (m)", "-x (m)") if turned else ("x (m)", "y (m)")
    parts = [_axes(frame, title, *names)]
    for outline in outlines:
        if len(outline) > 2:
            rows = seen(outline)
            parts.append(f'<path class="outline" d="{path(frame, rows[:, 0], rows[:, 1])}Z"/>')
    for number, (name, way) in enumerate(ways.items()):
        rows = seen(way)
        parts.append(f'<path class="line line-{number % COLORS}" d="{path(frame, rows[:, 0], rows[:, 1])}"/>')
        parts.append(_legend(frame, number, name))
    if mark is not None:
        (x, y) = frame.place(*seen(np.array([mark[:2]]))[0].tolist())
        parts.append(f'<path class="mark" d="M{x - 6:.1f} {y - 6:.1f}l12 12m0 -12l-12 12"/>')
        parts.append(f'<text class="name" x="{x + 9:.1f}" y="{y + 4:.1f}">{escape(mark[2])}</text>')
    return _svg(frame, parts)


def span(values: Array) -> tuple[float, float]:
    """Least and greatest of the finite values, never the same."""
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
    if high - low < 1e-9 * max(1.0, abs(high)):
        return low - 0.5, high + 0.5
    room = 0.04 * (high - low)
    return (low if low == 0.0 else low - room), high + room


def ticks(low: float, high: float) -> list[float]:
    """Round numbers between two, about TICKS of them."""
    rough = (high - low) / TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = min((m * power for m in (1.0, 2.0, 5.0, 10.0) if m * power >= rough), default=10.0 * power)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [step * k for k in range(first, last + 1)]


def path(frame: Frame, x: Array, y: Array) -> str:
    """The d of a path through finite points; a new piece begins after those that are not."""
    every = max(1, math.ceil(len(x) / MOST_POINTS))
    words, drawing = [], False
    for a, b in zip(x[::every].tolist(), y[::every].tolist(), strict=True):
        if not (math.isfinite(a) and math.isfinite(b)):
            drawing = False
            continue
        across, down = frame.place(a, b)
        words.append(f"{'L' if drawing else 'M'}{across:.1f} {down:.1f}")
        drawing = True
    return "".join(words)


def _axes(frame: Frame, title: str, x_label: str, y_label: str) -> str:
    left, bottom = frame.place(frame.x[0], frame.y[0])
    right, top = frame.place(frame.x[1], frame.y[1])
    parts = [f'<text class="title" x="{left:.0f}" y="16">{escape(title)}</text>']
    for value in ticks(*frame.y):
        _, y = frame.place(frame.x[0], value)
        parts.append(f'<path class="grid" d="M{left:.1f} {y:.1f}H{right:.1f}"/>')
        parts.append(f'<text class="tick" text-anchor="end" x="{left - 6:.1f}" y="{y + 4:.1f}">{value:g}</text>')
    for value in ticks(*frame.x):
        x, _ = frame.place(value, frame.y[0])
        parts.append(f'<path class="grid" d="M{x:.1f} {bottom:.1f}V{bottom + 4:.1f}"/>')
        parts.append(f'<text class="tick" text-anchor="middle" x="{x:.1f}" y="{bottom + 16:.1f}">{value:g}</text>')
    parts.append(f'<path class="axis" d="M{left:.1f} {top:.1f}V{bottom:.1f}H{right:.1f}"/>')
    parts.append(f'<text class="tick" text-anchor="end" x="{right:.1f}" y="{bottom + 31:.1f}">{escape(x_label)}</text>')
    parts.append(f'<text class="tick" text-anchor="end" x="{left - 6:.1f}" y="{top - 6:.1f}">{escape(y_label)}</text>')
    return "".join(parts)


def _legend(frame: Frame, number: int, name: str) -> str:
    x, y = frame.width - RIGHT + 10, TOP + 6 + ROW * number
    return (
        f'<path class="line line-{number % COLORS}" d="M{x:.0f} {y - 4:.0f}h14"/>'
        f'<text class="name" x="{x + 19:.0f}" y="{y:.0f}">{escape(name)}</text>'
    )


def _svg(frame: Frame, parts: Sequence[str]) -> str:
    size = f'viewBox="0 0 {frame.width:.0f} {frame.height:.0f}" width="{frame.width:.0f}" height="{frame.height:.0f}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size}>{"".join(parts)}</svg>'
