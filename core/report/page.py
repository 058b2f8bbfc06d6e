# SPDX-License-Identifier: GPL-3.0-or-later
"""A report page on one bake: explanation, figures and plots. One HTML file, with only pictures beside it."""

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..files import write_whole
from . import svg
from .frames import Fall, Support

Array = NDArray[np.float64]

NAME = "index.html"
STRONGEST = 8  # joints whose torques are shown
OUTLINES = 60  # supports shown, spread over the time

STYLE = """
:root { color-scheme: light dark; --ground: #fff; --ink: #222; --faint: #8884; --soft: #666;
  --line-0: #0b6bb5; --line-1: #c8500a; --line-2: #2a8a3e; --line-3: #8a3fb0; --line-4: #b0892a; --line-5: #c02f63;
  --line-6: #167f83; --line-7: #555; --fill: #0b6bb518; }
@media (prefers-color-scheme: dark) { :root { --ground: #1d1f21; --ink: #ddd; --soft: #aaa;
  --line-0: #5fb4f2; --line-1: #f0924e; --line-2: #6cc97f; --line-3: #c58ae6; --line-4: #dcb95c; --line-5: #f07ba2;
  --line-6: #5cc6ca; --line-7: #bbb; --fill: #5fb4f222; } }
body { background: var(--ground); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; max-width: 60rem;
  margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; margin-bottom: 0; } .why { font-size: 1.1rem; margin-top: .3rem; }
table { border-collapse: collapse; margin: 1rem 0; } td { padding: .1rem 1.2rem .1rem 0; }
td:last-child { text-align: right; font-variant-numeric: tabular-nums; }
ul { padding-left: 1.2rem; color: var(--soft); }
svg, img { max-width: 100%; height: auto; display: block; margin: 1rem 0; } text { font: 12px system-ui, sans-serif;
  fill: var(--ink); } .tick { fill: var(--soft); font-size: 11px; } .title { font-weight: 600; font-size: 13px; }
.grid { stroke: var(--faint); } .axis { stroke: var(--soft); fill: none; } .line { fill: none; stroke-width: 1.6; }
.mark { stroke: var(--line-5); stroke-width: 1.5; stroke-dasharray: 4 3; fill: none; }
.figure { fill: none; stroke: var(--ink); stroke-width: 2; stroke-linecap: round; }
.help { fill: none; stroke: var(--line-5); stroke-width: 3; stroke-dasharray: 5 2; }
.ghost { fill: none; stroke: var(--line-2); stroke-width: 1.2; } .force { fill: none; stroke: var(--line-1);
  stroke-width: 2; }
.outline { fill: var(--fill); stroke: var(--faint); }
""" + "".join(f".line-{k} {{ stroke: var(--line-{k}); }} " for k in range(svg.COLORS))

# key of the report, label, factor, format
FIGURES = (
    ("upright_seconds", "upright", 1.0, "{:.2f} s"),
    ("simulated_seconds", "simulated", 1.0, "{:.2f} s"),
    ("joint_rms_deg", "joint error (RMS)", 1.0, "{:.2f}°"),
    ("root_rms_m", "root error (RMS)", 100.0, "{:.1f} cm"),
    ("max_foot_slide_m", "greatest foot slide", 1000.0, "{:.1f} mm"),
    ("max_penetration_m", "greatest penetration", 1000.0, "{:.2f} mm"),
    ("peak_torque_nm", "greatest joint torque", 1.0, "{:.0f} N m"),
    ("real_time_factor", "speed", 1.0, "{:.1f} times real time"),
    ("step_us_median", "time per step (median)", 1.0, "{:.0f} µs"),
    ("step_us_p99", "time per step (99 %)", 1.0, "{:.0f} µs"),
)


def page(
    title: str,
    report: Mapping[str, Any],
    frames: Array,
    curves: Mapping[str, Array],
    torques: Mapping[str, Array],
    center_of_mass: Array,
    support: Support,
    fall: Fall | None,
    pictures: Sequence[str] = (),
    film_strip: str = "",
) -> str:
    """The HTML; `pictures` are names of files beside it, `film_strip` is SVG text."""
    parts = [f"<h1>{escape(title)}</h1>", f'<p class="why">{escape(str(report["why"]))}</p>']
    parts += [f'<img src="{escape(name, quote=True)}" alt="film strip">' for name in pictures]
    parts += [film_strip, _figures(report)]
    if len(frames) > 1:
        parts += _charts(frames, curves, torques, center_of_mass, support, fall)
    notes = [str(note) for note in report.get("notes", ())]
    if notes:
        parts.append(f"<ul>{''.join(f'<li>{escape(note)}</li>' for note in notes)}</ul>")
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{STYLE}</style>'
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{"".join(parts)}</body></html>\n'


def write_page(folder: str | Path, text: str) -> Path:
    """Write a page into a folder, which is created if needed."""
    target = Path(folder) / NAME
    target.parent.mkdir(parents=True, exist_ok=True)
    write_whole(target, text.encode())
    return target


def _figures(report: Mapping[str, Any]) -> str:
    rows = [(words, form.format(factor * report[key])) for key, words, factor, form in FIGURES if key in report]
    rows += [(f"time for {stage}", f"{seconds:.2f} s") for stage, seconds in report.get("seconds", {}).items()]
    return f"<table>{''.join(f'<tr><td>{escape(a)}</td><td>{escape(b)}</td></tr>' for a, b in rows)}</table>"


def _charts(
    frames: Array,
    curves: Mapping[str, Array],
    torques: Mapping[str, Array],
    center_of_mass: Array,
    support: Support,
    fall: Fall | None,
) -> list[str]:
    mark = None if fall is None else (fall.frame, "fell")
    forces = {
        name.removeprefix("contact_force_").removesuffix("_n").replace("_", " "): values
        for name, values in curves.items()
        if name.startswith("contact_force_")
    }
    strongest = sorted(torques, key=lambda name: -float(torques[name].max(initial=0.0)))[:STRONGEST]
    pulls = {name.replace("_", " "): torques[name] for name in strongest}
    every = max(1, len(frames) // OUTLINES)
    outlines = [support.point[support.start[k] : support.start[k + 1]] for k in range(0, len(frames), every)]
    place = None if fall is None else (fall.place[0], fall.place[1], f"fell at frame {fall.frame:.0f}")
    tracking = {"joints": curves["tracking_error_deg"]}
    margin = {"margin": 100.0 * curves["balance_margin_m"]}
    ways = {"centre of mass": center_of_mass[:, :2]}
    return [
        svg.line_chart("Joint errors", frames, tracking, "frame", "degrees", mark),
        svg.line_chart("Contact forces", frames, forces, "frame", "N", mark),
        svg.line_chart("Balance: extrapolated centre of mass inside the support", frames, margin, "frame", "cm", mark),
        svg.plan_chart("Centre of mass and support, from above", outlines, ways, place),
        svg.line_chart("Greatest joint torques", frames, pulls, "frame", "N m", mark),
    ]
