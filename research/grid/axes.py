# SPDX-License-Identifier: GPL-3.0-or-later
"""Regular grids: nodes of an axis, states at the nodes of several, interpolation between them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Array = NDArray[np.float64]

LINEAR, CUBIC = 2, 4  # nodes of an axis that an interpolated value is made of


@dataclass(frozen=True)
class Axis:
    """One coordinate of the state. A periodic axis has no node at `high`, which is the same as `low`."""

    low: float
    high: float
    count: int
    periodic: bool = False

    @property
    def spacing(self) -> float:
        """Distance of two nodes."""
        return (self.high - self.low) / (self.count if self.periodic else self.count - 1)

    @property
    def nodes(self) -> Array:
        """(count,)."""
        return np.asarray(self.low + self.spacing * np.arange(self.count), dtype=np.float64)


def states(axes: Sequence[Axis]) -> Array:
    """The state at each node, (*counts, n)."""
    return np.stack(np.meshgrid(*(axis.nodes for axis in axes), indexing="ij"), axis=-1)


def gradient(axes: Sequence[Axis], values: Array) -> Array:
    """Central differences of values (*counts), one-sided at edges: (*counts, n)."""
    slopes = []
    for k, axis in enumerate(axes):
        if axis.periodic:
            slopes.append((np.roll(values, -1, k) - np.roll(values, 1, k)) / (2.0 * axis.spacing))
        else:
            slopes.append(np.gradient(values, axis.spacing, axis=k, edge_order=2))
    return np.stack(slopes, axis=-1)


def interpolation(axes: Sequence[Axis], points: Array, width: int = LINEAR) -> sp.csr_array:
    """The matrix that takes values at nodes (flat) to values at points (p, n), by Lagrange's polynomials.

    A point beyond an edge has the edge's value.
    """
    counts = [axis.count for axis in axes]
    placed = [_weights(axis, points[:, k], width) for k, axis in enumerate(axes)]
    rows, columns, weights = [], [], []
    for corner in product(range(width), repeat=len(axes)):
        indices = tuple(nodes[:, c] for (nodes, _), c in zip(placed, corner, strict=True))
        rows.append(np.arange(len(points)))
        columns.append(np.ravel_multi_index(indices, counts))
        weights.append(reduce(np.multiply, (each[:, c] for (_, each), c in zip(placed, corner, strict=True))))
    entries = np.concatenate(weights), (np.concatenate(rows), np.concatenate(columns))
    return sp.csr_array(entries, shape=(len(points), int(np.prod(counts))))


def _weights(axis: Axis, x: Array, width: int) -> tuple[NDArray[np.int64], Array]:
    """The nodes about each coordinate (p, width), and their shares."""
    at = (x - axis.low) / axis.spacing
    first = np.floor(at).astype(np.int64) - (width // 2 - 1)
    if not axis.periodic:
        at = np.clip(at, 0.0, axis.count - 1.0)
        first = np.clip(first, 0, axis.count - width)
    offset = at - first
    shares = np.ones((len(x), width))
    for j in range(width):
        for k in range(width):
            if k != j:
                shares[:, j] *= (offset - k) / (j - k)
    nodes = first[:, None] + np.arange(width)
    return (nodes % axis.count if axis.periodic else nodes), shares
