# SPDX-License-Identifier: GPL-3.0-or-later
"""The page: well-formed, nothing foreign in it, and lines where the values are."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from heft.core.report import svg
from heft.core.report.frames import Fall, Forces, Support
from heft.core.report.page import page, write_page
from heft.core.report.strip import strip
from hypothesis import given
from hypothesis import strategies as st

UP = np.array([[0.0, 0.0, 1.0]])
FRAMES = np.arange(1.0, 31.0)
CURVES = {
    "tracking_error_deg": np.linspace(0.0, 3.0, 30),
    "balance_margin_m": np.where(FRAMES < 10, 0.05, np.nan),
    "contact_force_left_foot_n": 400.0 + FRAMES,
}
SQUARE = np.array([[0.0, 0.0, 0.0], [0.2, 0.0, 0.0], [0.2, 0.1, 0.0], [0.0, 0.1, 0.0]])
SUPPORT = Support(4 * np.arange(31), np.tile(SQUARE, (30, 1)))
WAY = np.column_stack([np.linspace(0.0, 1.0, 30), np.zeros(30), np.ones(30)])


def made(title="walk", fall=None, **changes):
    report = {"why": "Stayed up.", "joint_rms_deg": 0.5, "seconds": {"fit": 1.0}, "notes": ["a <note>"]} | changes
    return page(
        title, report, FRAMES, CURVES, {"knee": CURVES["tracking_error_deg"]}, WAY, SUPPORT, fall, ["strip.png"]
    )


def drawings(text):
    return [ET.fromstring(found) for found in re.findall(r"<svg.*?</svg>", text, re.DOTALL)]  # noqa: S314  our own


def test_charts_are_well_formed():
    found = drawings(made(fall=Fall(20.0, 0.8, (0.6, 0.0, 0.0))))
    assert len(found) == 5
    texts = [[text.text for text in chart if text.tag.endswith("text")] for chart in found]
    assert "left foot" in texts[1]
    assert "knee" in texts[4]
    assert all("fell" in " ".join(words) for words in texts)
    assert not any("nan" in (part.get("d") or "") for chart in found for part in chart)


def test_nothing_in_a_name_becomes_part_of_the_page():
    text = made(title="<script>alert(1)</script>", why='"><b>no</b>')
    assert "<script" not in text
    assert "<b>" not in text
    assert "a &lt;note&gt;" in text


def test_a_film_strip_of_stick_figures():
    """Two bones that travel along Y are seen from their right, one figure's forces as they are."""
    heads = np.zeros((20, 2, 3))
    heads[:, :, 1] = np.linspace(0.0, 3.0, 20)[:, None]
    heads[:, 1, 2] = 1.8
    center = heads[:, 1] * (1.0, 1.0, 0.5)
    forces = Forces(np.append(np.zeros(20, dtype=np.int64), 1), ("foot",), 3.0 * UP[:, [1, 2, 0]], 700.0 * UP)
    chart = ET.fromstring(strip(np.arange(20.0), np.array([[0, 1]]), heads, heads, center, forces))  # noqa: S314
    kinds = [part.get("class") for part in chart]
    assert kinds.count("figure") == kinds.count("ghost") == 9
    assert kinds.count("force") == 1
    upright = [part.get("d") for part in chart if part.get("class") == "figure"]
    ends = [[float(number) for number in re.findall(r"[\d.]+", d)] for d in upright]
    assert all(x0 == x1 and y1 < y0 for x0, y0, x1, y1 in ends)
    assert [end[0] for end in ends] == sorted(end[0] for end in ends)


def test_page_is_written_whole(tmp_path):
    path = write_page(tmp_path / "new" / "folder", made())
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert [entry.name for entry in path.parent.iterdir()] == ["index.html"]


def test_a_page_of_nothing():
    none = Support(np.zeros(1, dtype=np.int64), np.zeros((0, 3)))
    text = page("nothing", {"why": "Cancelled."}, np.zeros(0), {}, {}, np.zeros((0, 3)), none, None)
    assert "Cancelled." in text
    assert drawings(text) == []


def test_lines_break_where_there_is_nothing():
    frame = svg.Frame((0.0, 4.0), (0.0, 1.0))
    found = svg.path(frame, np.arange(5.0), np.array([0.0, 1.0, np.nan, 1.0, 0.0]))
    assert found.count("M") == 2
    assert found.count("L") == 2


def test_places_are_linear():
    frame = svg.Frame((10.0, 20.0), (-1.0, 1.0))
    low, high, middle = frame.place(10.0, -1.0), frame.place(20.0, 1.0), frame.place(15.0, 0.0)
    assert middle == pytest.approx((0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1])))
    assert low[1] > high[1]


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_ticks_are_round_and_inside(low, width):
    found = svg.ticks(low, low + width)
    assert 2 <= len(found) <= 2 * svg.TICKS
    assert all(low - 1e-6 * width - 1e-9 <= tick <= low + width * (1.0 + 1e-6) + 1e-9 for tick in found)


def test_span_of_what_does_not_change():
    low, high = svg.span(np.full(3, 7.0))
    assert low < 7.0 < high
    assert svg.span(np.full(3, np.nan)) == (pytest.approx(0.0), pytest.approx(1.04))
