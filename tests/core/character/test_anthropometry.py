# SPDX-License-Identifier: GPL-3.0-or-later
"""De Leva's table 4, and bodies made from it."""

import numpy as np
import pytest
from heft.core.character.anthropometry import COUNTS, DE_LEVA, segment_inertia, segment_length, segment_mass
from heft.core.character.mass import Mass, box, combine, cylinder

SEXES = ("female", "male")


@pytest.mark.parametrize("sex", SEXES)
def test_de_leva_table_4_fractions_sum_to_one(sex):
    # printed to four decimals: 0.9999 for women, 1.0000 for men
    assert sum(count * DE_LEVA[sex][name].mass for name, count in COUNTS.items()) == pytest.approx(1.0, abs=1.1e-4)


@pytest.mark.parametrize("sex", SEXES)
def test_de_leva_table_4_trunk_is_the_sum_of_its_three_parts(sex):
    """The table agrees with itself: men's centres differ by 3 mm, women's by less than 1, and moments by 2 %."""
    parts, top = [], 0.0
    for name in ("upper_trunk", "middle_trunk", "lower_trunk"):
        length = DE_LEVA[sex][name].length
        parts.append(segment_mass(name, (0, 0, -top), (0, 0, -top - length), 70.0, sex))
        top += length
    whole = segment_mass("trunk", (0, 0, 0), (0, 0, -DE_LEVA[sex]["trunk"].length), 70.0, sex)
    together = combine(parts)
    assert top == pytest.approx(DE_LEVA[sex]["trunk"].length, abs=2e-4)
    assert together.mass == pytest.approx(whole.mass, rel=3e-4)
    assert together.center == pytest.approx(whole.center, abs=3.1e-3)
    assert np.diag(together.inertia) == pytest.approx(np.diag(whole.inertia), rel=0.02)


@pytest.mark.parametrize("sex", SEXES)
def test_de_leva_segments_of_a_body_weigh_the_body(sex):
    total = sum(count * segment_inertia(name, 0.3, 61.9, sex).mass for name, count in COUNTS.items())
    assert total == pytest.approx(61.9, rel=1e-14)


def test_de_leva_table_4_male_thigh():
    thigh = segment_inertia("thigh", 0.4222, 73.0, "male")
    assert thigh.mass == pytest.approx(10.3368, rel=1e-12)
    assert thigh.center == pytest.approx(0.4095 * 0.4222, rel=1e-12)
    assert thigh.sagittal == pytest.approx(10.3368 * (0.329 * 0.4222) ** 2, rel=1e-12)
    assert thigh.longitudinal == pytest.approx(10.3368 * (0.149 * 0.4222) ** 2, rel=1e-12)


@pytest.mark.parametrize("sex", SEXES)
@pytest.mark.parametrize("segment", [*COUNTS, "trunk"])
def test_de_leva_inertias_are_those_of_real_bodies(segment, sex):
    values = segment_inertia(segment, 0.37, 70.0, sex)
    moments = sorted((values.sagittal, values.transverse, values.longitudinal))
    assert moments[0] > 0.0
    assert moments[0] + moments[1] >= moments[2]
    assert 0.0 < values.center < 0.37


def test_inertia_grows_with_mass_and_with_the_square_of_length():
    one = segment_inertia("shank", 0.4, 60.0, "female")
    two = segment_inertia("shank", 0.8, 120.0, "female")
    assert two.mass == pytest.approx(2.0 * one.mass)
    assert two.transverse == pytest.approx(8.0 * one.transverse)


def test_segment_mass_turns_with_its_bone():
    """A bone along any direction has its principal moments about its own axes."""
    rng = np.random.default_rng(4)
    for _ in range(20):
        start, end, lateral = rng.normal(size=(3, 3))
        values = segment_inertia("forearm", np.linalg.norm(end - start), 70.0, "female")
        mass = segment_mass("forearm", start, end, 70.0, "female", lateral)
        along = (end - start) / np.linalg.norm(end - start)
        forward = np.cross(lateral, along)
        forward /= np.linalg.norm(forward)
        assert mass.center == pytest.approx(start + values.center * along)
        assert mass.inertia @ along == pytest.approx(values.longitudinal * along)
        assert mass.inertia @ forward == pytest.approx(values.sagittal * forward)
        assert np.trace(mass.inertia) == pytest.approx(sum(values[2:]))
        # which of the two sides is meant makes no difference
        assert segment_mass("forearm", start, end, 70.0, "female", -lateral).inertia == pytest.approx(mass.inertia)


@pytest.mark.parametrize(("length", "mass"), [(0.0, 70.0), (-0.4, 70.0), (float("nan"), 70.0), (0.4, 0.0)])
def test_impossible_lengths_and_masses_are_refused(length, mass):
    with pytest.raises(ValueError, match="The thigh needs a positive length"):
        segment_inertia("thigh", length, mass, "male")


def test_bone_along_the_lateral_direction_is_refused():
    with pytest.raises(ValueError, match="The upper_arm points sideways"):
        segment_mass("upper_arm", (0, 0, 0), (0, 0.3, 0), 70.0, "male")


def test_mean_lengths_scale_with_stature():
    assert segment_length("thigh", 1.741, "male") == pytest.approx(0.4222)
    assert segment_length("thigh", 2.0 * 1.735, "female") == pytest.approx(2.0 * 0.3685)


def test_two_half_boxes_make_a_box():
    """The parallel-axis theorem against the closed form."""
    half = box(2.0, (0.3, 0.2, 0.1))
    whole = combine([half.moved((0.15, 0.0, 0.0)), half.moved((-0.15, 0.0, 0.0))])
    expected = box(4.0, (0.6, 0.2, 0.1))
    assert whole.mass == 4.0
    assert whole.center == pytest.approx(np.zeros(3), abs=1e-16)
    assert whole.inertia == pytest.approx(expected.inertia, abs=1e-16)


def test_taking_a_part_away_leaves_the_rest():
    part, rest = box(1.0, (0.1, 0.2, 0.3)).moved((0.5, 0.1, 0.0)), box(3.0, (0.4, 0.1, 0.1))
    whole = combine([part, rest])
    left = combine([whole, Mass(-part.mass, part.center, -part.inertia)])
    assert left.mass == pytest.approx(3.0)
    assert left.center == pytest.approx(rest.center, abs=1e-15)
    assert left.inertia == pytest.approx(rest.inertia, abs=1e-15)


def test_cylinder_moments_textbook():
    mass = cylinder(2.0, (0.0, 0.0, 0.0), (0.0, 0.6, 0.0), 0.1)
    assert mass.center == pytest.approx([0.0, 0.3, 0.0])
    assert np.diag(mass.inertia) == pytest.approx(
        [2.0 * (3 * 0.01 + 0.36) / 12, 0.5 * 2.0 * 0.01, 2.0 * (3 * 0.01 + 0.36) / 12]
    )
