# SPDX-License-Identifier: GPL-3.0-or-later
"""Charts as SVG text, for pages of studies."""

import math
from collections.abc import Mapping, Sequence
from colorsys import hls_to_rgb
from html import escape
from typing import NamedTuple

import numpy as np
from heft.core.dynamics import body_poses
from heft.core.motion.quaternions import rotate
from heft.core.report.page import STYLE

WIDTH, HEIGHT = 420, 260
LEFT, RIGHT, TOP, BOTTOM = 60, 16, 28, 40
OPENING = (
    f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
    'font-size="11"><rect width="100%" height="100%" fill="#fff"/>'
)
COLORS = {"NQR": "#2a6fdb", "NQR, any forces": "#3a9a4a", "LQR": "#d43b2f"}


def one_of(number: int, many: int) -> str:
    """A colour that differs from the others, as every reader of SVG understands it."""
    return "#" + "".join(f"{round(255 * part):02x}" for part in hls_to_rgb(number / (1.2 * many), 0.42, 0.65))


class Line(NamedTuple):
    name: str
    points: list[tuple[float, float, bool]]  # x, y, and whether it counts


def log_chart(title: str, lines: list[Line], x_label: str, y_label: str, y_range: tuple[float, float]) -> str:
    """Solid where points count, dashed elsewhere; values outside the range are drawn at its edge."""
    low_x = math.log10(min(x for line in lines for x, _, _ in line.points))
    high_x = math.log10(max(x for line in lines for x, _, _ in line.points))
    low_y, high_y = (math.log10(y) for y in y_range)

    def place(x: float, y: float) -> tuple[float, float]:
        across = (math.log10(x) - low_x) / (high_x - low_x)
        up = (min(max(math.log10(y), low_y), high_y) - low_y) / (high_y - low_y)
        return LEFT + across * (WIDTH - LEFT - RIGHT), TOP + (1.0 - up) * (HEIGHT - TOP - BOTTOM)

    parts = _opening(title, x_label, y_label)
    for exponent in range(math.ceil(low_y), math.floor(high_y) + 1):
        _, y = place(10.0**low_x, 10.0**exponent)
        parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 5}" y="{y + 4:.1f}" text-anchor="end">1e{exponent}</text>')
    for value, _, _ in lines[0].points:
        x, _ = place(value, 10.0**low_y)
        parts.append(f'<path d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#eee"/>')
        parts.append(f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 13}" text-anchor="middle">{value:g}</text>')
    for number, line in enumerate(lines):
        color = COLORS[line.name]
        parts.append(f'<text x="{WIDTH - RIGHT - 34}" y="{TOP + 14 + 14 * number}" fill="{color}">{line.name}</text>')
        for (x0, y0, counts0), (x1, y1, counts1) in zip(line.points, line.points[1:], strict=False):
            (a, b), (c, d) = place(x0, y0), place(x1, y1)
            dashes = "" if counts0 and counts1 else ' stroke-dasharray="4 4"'
            parts.append(f'<path d="M{a:.1f} {b:.1f}L{c:.1f} {d:.1f}" stroke="{color}" stroke-width="2"{dashes}/>')
        for x0, y0, counts in line.points:
            a, b = place(x0, y0)
            parts.append(
                f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" stroke="{color}" fill="{color if counts else "#fff"}"/>'
            )
    return "\n".join([*parts, "</svg>"]) + "\n"


def alone(svg: str) -> str:
    """A chart of `core.report.svg` as a file of its own, with the colours that its page would give it."""
    return svg.replace(">", f"><style>{STYLE}svg {{ background: var(--ground); }}</style>", 1) + "\n"


def curves(
    title: str, named: Mapping[str, Sequence[float]], step: float, seconds: float, y_range: tuple[float, float]
) -> str:
    """Values over time, a step apart, on a logarithmic axis; those outside the range are drawn at its edge."""
    low, high = (math.log10(y) for y in y_range)

    def place(time: float, value: float) -> tuple[float, float]:
        up = (min(max(math.log10(max(value, y_range[0])), low), high) - low) / (high - low)
        return LEFT + time / seconds * (WIDTH - LEFT - RIGHT - 70), TOP + (1.0 - up) * (HEIGHT - TOP - BOTTOM)

    right = place(seconds, y_range[0])[0]
    parts = [
        OPENING,
        f'<text x="{LEFT}" y="17" font-size="13">{escape(title)}</text>',
        f'<text x="{0.5 * (LEFT + right):.0f}" y="{HEIGHT - 6}" text-anchor="middle">seconds</text>',
    ]
    for exponent in range(math.ceil(low), math.floor(high) + 1):
        x, y = place(0.0, 10.0**exponent)
        parts.append(f'<path d="M{x} {y:.1f}H{right:.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{x - 5}" y="{y + 4:.1f}" text-anchor="end">{10.0**exponent:g}</text>')
    for time in range(math.floor(seconds) + 1):
        x, y = place(time, y_range[0])
        parts.append(f'<text x="{x:.1f}" y="{y + 13:.1f}" text-anchor="middle">{time}</text>')
    for number, (name, values) in enumerate(named.items()):
        color = one_of(number, len(named))
        way = "L".join("{:.1f} {:.1f}".format(*place(k * step, value)) for k, value in enumerate(values))
        parts.append(f'<path d="M{way}" fill="none" stroke="{color}" stroke-width="1.5"/>')
        parts.append(f'<text x="{right + 6:.1f}" y="{TOP + 8 + 14 * number}" fill="{color}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def orbit_chart(title: str, lines: dict[str, list[tuple[float, float]]], x_label: str, y_label: str) -> str:
    """Ways in a plane, both axes to the same scale."""
    x, y = zip(*(point for points in lines.values() for point in points), strict=True)
    scale = min((WIDTH - LEFT - RIGHT) / (max(x) - min(x)), (HEIGHT - TOP - BOTTOM) / (max(y) - min(y)))
    across, up = 0.5 * (LEFT + WIDTH - RIGHT), 0.5 * (TOP + HEIGHT - BOTTOM)

    def place(at: tuple[float, float]) -> tuple[float, float]:
        return across + scale * (at[0] - 0.5 * (max(x) + min(x))), up - scale * (at[1] - 0.5 * (max(y) + min(y)))

    parts = _opening(title, x_label, y_label)
    for axis in (0, 1):
        unit = 10.0 ** math.floor(math.log10(max(max(x) - min(x), max(y) - min(y))))
        low, high = ((min(x), max(x)), (min(y), max(y)))[axis]
        for k in range(math.ceil(low / unit), math.floor(high / unit) + 1):
            if axis == 0:
                at = place((k * unit, 0.0))[0]
                parts.append(f'<path d="M{at:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#ddd"/>')
                parts.append(f'<text x="{at:.1f}" y="{HEIGHT - BOTTOM + 13}" text-anchor="middle">{k * unit:g}</text>')
            else:
                at = place((0.0, k * unit))[1]
                parts.append(f'<path d="M{LEFT} {at:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
                parts.append(f'<text x="{LEFT - 5}" y="{at + 4:.1f}" text-anchor="end">{k * unit:g}</text>')
    for number, (name, points) in enumerate(lines.items()):
        color = list(COLORS.values())[number % len(COLORS)]
        way = "L".join(f"{a:.1f} {b:.1f}" for a, b in map(place, points))
        parts.append(f'<path d="M{way}" fill="none" stroke="{color}" stroke-width="1.5"/>')
        parts.append(f'<text x="{LEFT + 6}" y="{TOP + 12 + 14 * number}" fill="{color}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def ranges(title: str, ends: Mapping[float, tuple[float, float]], x_label: str) -> str:
    """From the lower to the upper end, one upright bar for each x, from zero."""
    highest = max(high for _, high in ends.values())
    across, up = (WIDTH - LEFT - RIGHT) / len(ends), (HEIGHT - TOP - BOTTOM) / highest
    parts = [*_opening(title, x_label, ""), *_zero_up(highest)]
    for k, (x, (low, high)) in enumerate(sorted(ends.items())):
        left, bottom = LEFT + (k + 0.3) * across, HEIGHT - BOTTOM
        parts.append(
            f'<rect x="{left:.1f}" y="{bottom - up * high:.1f}" width="{0.4 * across:.1f}" '
            f'height="{max(up * (high - low), 1.0):.1f}" fill="{COLORS["NQR"]}"/>'
        )
        parts.append(f'<text x="{left + 0.2 * across:.1f}" y="{bottom + 13}" text-anchor="middle">{x:g}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def bars(title: str, named: Mapping[str, Sequence[float]], series: Sequence[float]) -> str:
    """For each name one bar for each of the series."""
    highest = max(max(values) for values in named.values())
    across, up = (WIDTH - LEFT - RIGHT) / len(named), (HEIGHT - TOP - BOTTOM) / highest
    parts = [*_opening(title, "", ""), *_zero_up(highest)]
    for k, (name, values) in enumerate(named.items()):
        left, bottom, thick = LEFT + k * across, HEIGHT - BOTTOM, 0.8 * across / len(series)
        for j, value in enumerate(values):
            color = one_of(j, len(series))
            parts.append(
                f'<rect x="{left + j * thick:.1f}" y="{bottom - up * value:.1f}" width="{thick:.1f}" '
                f'height="{up * value:.1f}" fill="{color}"/>'
            )
        parts.append(f'<text x="{left + 0.4 * across:.1f}" y="{bottom + 13}" text-anchor="middle">{name}</text>')
    for j, one in enumerate(series):
        color = one_of(j, len(series))
        parts.append(f'<text x="{LEFT + 62 * j}" y="{HEIGHT - 6}" fill="{color}">{one:g} Hz</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _zero_up(highest: float) -> list[str]:
    """Lines across at round values from zero."""
    unit = 10.0 ** math.floor(math.log10(highest))
    unit *= 1.0 if highest > 3.0 * unit else 0.5
    parts = []
    for k in range(math.floor(highest / unit) + 1):
        y = HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * k * unit / highest
        parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 5}" y="{y + 4:.1f}" text-anchor="end">{k * unit:g}</text>')
    return parts


def _opening(title: str, x_label: str, y_label: str) -> list[str]:
    return [
        OPENING,
        f'<text x="{LEFT}" y="17" font-size="13">{escape(title)}</text>',
        f'<text x="{WIDTH / 2:.0f}" y="{HEIGHT - 6}" text-anchor="middle">{escape(x_label)}</text>',
        f'<text transform="translate(13 {HEIGHT / 2:.0f}) rotate(-90)" text-anchor="middle">{escape(y_label)}</text>',
    ]


def figures_chart(title: str, figures: Mapping[str, Sequence[np.ndarray]], level: float | None = None) -> str:
    """Figures of rods side by side, each of segments (n, 2, 2) along x and z, several over one another fading in.

    A line is drawn at the height of `level`.
    """
    every = np.concatenate([rods for rows in figures.values() for rods in rows]).reshape(-1, 2)
    low, high = every.min(axis=0), every.max(axis=0)
    wide = (WIDTH - LEFT - RIGHT) / len(figures)
    scale = min(wide / (high[0] - low[0] + 0.2), (HEIGHT - TOP - BOTTOM) / (high[1] - low[1] + 0.1))
    middle = 0.5 * (low[0] + high[0])
    parts = [OPENING, f'<text x="12" y="17" font-size="13">{escape(title)}</text>']

    def place(number: int, at: np.ndarray) -> str:
        x = LEFT + wide * (number + 0.5) + scale * (at[0] - middle)
        return f"{x:.1f} {HEIGHT - BOTTOM - scale * (at[1] - low[1]):.1f}"

    if level is not None:
        y = HEIGHT - BOTTOM - scale * (level - low[1])
        parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#bbb"/>')
    for number, (name, rows) in enumerate(figures.items()):
        for k, rods in enumerate(rows):
            way = "".join(f"M{place(number, a)}L{place(number, b)}" for a, b in rods)
            share = (k + 1.0) / len(rows)
            parts.append(
                f'<path d="{way}" stroke="#2a6fdb" stroke-width="2" stroke-opacity="{0.25 + 0.75 * share:.2f}"/>'
            )
        parts.append(
            f'<text x="{LEFT + wide * (number + 0.5):.0f}" y="{HEIGHT - 14}" text-anchor="middle" '
            f'font-size="10">{escape(name)}</text>'
        )
    return "\n".join([*parts, "</svg>"]) + "\n"


def rods_of(character, q: np.ndarray) -> np.ndarray:
    """Each body of a planar character as a rod (n, 2, 2) from its joint through its centre of mass, in x and z."""
    place, turn = body_poses(character, q)
    tips = place + rotate(turn, 2.0 * np.array([body.center_of_mass for body in character.bodies]))
    rods: np.ndarray = np.stack([place, tips], axis=1)[:, :, [0, 2]]
    return rods
