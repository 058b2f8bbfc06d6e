# SPDX-License-Identifier: GPL-3.0-or-later
"""A structure holds what it was made of, and a kernel reads the same there."""

import copy

import numpy as np
import pytest
from heft.core.maths.kernel import kernel
from heft.core.maths.structure import Structure


class Leaf(Structure):
    """Arrays and numbers."""

    values: np.ndarray
    factor: float
    count: int
    on: bool


class Branch(Structure):
    """Structures in a structure, and an array after them."""

    left: Leaf
    right: Leaf
    matrix: np.ndarray
    flags: np.ndarray


@kernel
def weighted_sum(leaf):
    total = 0.0
    for i in range(leaf.count):
        total += leaf.factor * leaf.values[i]
    return total if leaf.on else -total


@kernel
def swap_into_matrix(branch):
    matrix = branch.matrix
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            matrix[i, j] = weighted_sum(branch.left) * i + weighted_sum(branch.right) * j
    branch.flags[0] = branch.left.on and not branch.right.on


@kernel
def first_entry(leaf):
    return leaf.values.flat[0]


@kernel
def scale_twice(leaf, factor):
    """The address of the array is loaded once, whatever is stored in between."""
    for i in range(leaf.values.shape[0]):
        leaf.values[i] *= factor
    for i in range(leaf.values.shape[0]):
        leaf.values[i] *= leaf.factor


def leaf(*values, factor=2.0, on=True):
    return Leaf(np.array(values, dtype=np.float64), factor, len(values), on)


class TestInPython:
    def test_fields_are_given_in_order_or_by_name(self):
        values = np.ones(2)
        for made in (Leaf(values, 0.5, 2, on=True), Leaf(on=True, count=2, factor=0.5, values=values)):
            assert made.values is values
            assert (made.factor, made.count, made.on) == (0.5, 2, True)

    @pytest.mark.parametrize("values", [(1.0,), (1.0, 2.0, 3, True, 5.0)])
    def test_each_is_given_once(self, values):
        with pytest.raises(TypeError, match="Leaf needs each of values, factor, count, on"):
            Leaf(*values)
        with pytest.raises(TypeError, match="exactly once"):
            Leaf(1.0, 2.0, 3, values=1.0)

    def test_it_does_not_change(self):
        with pytest.raises(AttributeError, match="immutable"):
            leaf(1.0).factor = 3.0
        with pytest.raises(AttributeError, match="Leaf has no weight"):
            leaf(1.0).weight  # noqa: B018

    def test_another_that_differs_in_some_fields(self):
        one = leaf(1.0, 2.0)
        other = one._replace(factor=5.0)
        assert other.values is one.values
        assert (one.factor, other.factor) == (2.0, 5.0)
        assert list(other._asdict()) == ["values", "factor", "count", "on"]

    @pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
    def test_a_copy_has_words_of_its_own(self, copied):
        one = leaf(1.0, 2.0)
        assert weighted_sum(one) == 6.0
        other = copied(one)
        assert weighted_sum(other) == 6.0
        assert other._words is not one._words


class TestInKernels:
    def test_numbers_flags_and_entries(self):
        assert weighted_sum(leaf(1.0, 2.0, 3.0)) == 12.0
        assert weighted_sum(leaf(1.0, 2.0, 3.0, factor=-1.0, on=False)) == 6.0

    def test_what_a_kernel_writes_is_seen(self):
        branch = Branch(leaf(1.0), leaf(10.0, on=False), np.zeros((2, 3)), np.zeros(1, dtype=np.bool_))
        swap_into_matrix(branch)
        np.testing.assert_array_equal(branch.matrix, [[0.0, -20.0, -40.0], [2.0, -18.0, -38.0]])
        assert branch.flags[0]

    def test_structures_in_a_structure_are_those_that_were_given(self):
        shared = leaf(1.0)
        branch = Branch(shared, shared, np.zeros((1, 1)), np.zeros(1, dtype=np.bool_))
        shared.values[0] = 4.0
        assert weighted_sum(branch.left) == weighted_sum(shared) == 8.0

    def test_one_class_holds_arrays_of_several_kinds(self):
        for values in (
            np.array([3.0]),
            np.array([[3.0, 1.0]]),
            np.array([3, 4]),
            np.asfortranarray(np.full((2, 2), 3.0)),
        ):
            fixed = values.copy(order="K")
            fixed.flags.writeable = False
            for array in (values, fixed):
                assert first_entry(Leaf(array, 1.0, 1, on=True)) == 3.0

    def test_strides_are_those_of_the_array(self):
        every_second = np.arange(10.0)[::2]
        assert weighted_sum(Leaf(every_second, 1.0, 5, on=True)) == 20.0

    def test_stores_do_not_move_the_array(self):
        one = leaf(1.0, 2.0, factor=10.0)
        scale_twice(one, 3.0)
        np.testing.assert_array_equal(one.values, [30.0, 60.0])

    def test_what_a_kernel_cannot_read_is_named(self):
        with pytest.raises(TypeError, match="cannot read factor of Leaf, which is a str"):
            Leaf(np.ones(1), "two", 1, on=True)._address  # noqa: B018

    def test_words_are_laid_out_once(self):
        one = leaf(1.0, 2.0)
        weighted_sum(one)
        words, address = one._words, one._address
        weighted_sum(one)
        assert one._words is words
        assert one._address == address
