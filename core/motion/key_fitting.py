# SPDX-License-Identifier: GPL-3.0-or-later
"""Few keys for sampled curves: cubics between keys, smooth at them, within a tolerance of every sample.

Between two keys the curve is Hermite's cubic, which is a Bezier whose handles reach a third of the way. Keys have the
samples' own values; their slopes are those of least squares over all samples. Where a piece strays too far, its
worst sample becomes a key, and all slopes are found anew. In the end keys that nothing needs any more are taken away.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from .quaternions import Array

Rows = NDArray[np.intp]

WORST_FIRST = 0.4  # of the worst: what strays by more is parted in the same round
NEIGHBOURS = 2  # keys on each side whose slopes follow when one between is taken away
SOFT = 1e-9  # weight of a slope that no sample says anything of, against those of its neighbours


@dataclass(frozen=True)
class Keys:
    """Keys of curves that share their frames."""

    rows: Rows  # (nk,) of the samples
    slopes: Array  # (nk, k) per frame

    def at(self, frames: Array, values: Array) -> Array:
        """Return the curves (nf, k) at all samples' frames (nf,), whose values (nf, k) the keys have."""
        basis, ends = hermite(frames, self.rows)
        left = np.clip(np.searchsorted(self.rows, np.arange(len(frames)), side="right") - 1, 0, len(self.rows) - 2)
        pair = np.stack([left, left + 1], axis=1)
        result: Array = np.einsum("fi,fik->fk", ends, values[self.rows][pair])
        result += np.einsum("fi,fik->fk", basis, self.slopes[pair])
        return result


def fit_keys(frames: Array, values: Array, tolerance: Array, wanted: Rows, *, repeats: bool = False) -> Keys:
    """Return keys of curves (nf, k) at frames (nf,), within tolerances (k,); rows that are `wanted` become keys.

    What `repeats` is as steep at its end as at its beginning.
    """
    last = len(frames) - 1
    rows = np.unique(np.concatenate([[0, last], wanted])).astype(np.intp)
    while True:
        keys = Keys(rows, slopes_of(frames, values, rows, repeats=repeats))
        off = np.abs(keys.at(frames, values) - values) / tolerance
        worst = off.max(axis=1)
        pieces = list(pairwise(rows))
        strays = np.array([worst[first:end].max() for first, end in pieces])
        enough = max(1.0, WORST_FIRST * float(strays.max()))
        more = [
            first + int(np.clip(np.argmax(worst[first:end]), (end - first) // 3, -(-2 * (end - first) // 3)))
            for (first, end), stray in zip(pieces, strays, strict=True)
            if stray > enough
        ]
        if not more:
            return thinned(frames, values, tolerance, keys, np.union1d([0, last], wanted), repeats=repeats)
        rows = np.unique(np.concatenate([rows, more])).astype(np.intp)


def thinned(frames: Array, values: Array, tolerance: Array, keys: Keys, kept: Rows, *, repeats: bool) -> Keys:
    """Return keys without those that are not needed, but with the rows to be `kept`.

    Of keys side by side the one goes that is missed the least; then all slopes are found anew, and looked at.
    """
    while True:
        missed = np.array(
            [np.inf if row in kept else _missed(frames, values, tolerance, keys, i) for i, row in enumerate(keys.rows)]
        )
        out: list[int] = []
        for i in np.argsort(missed):
            if missed[i] > 1.0:
                break
            if all(abs(int(i) - other) > NEIGHBOURS for other in out):
                out.append(int(i))
        while out:
            rows = np.delete(keys.rows, out)
            fewer = Keys(rows, slopes_of(frames, values, rows, repeats=repeats))
            if float((np.abs(fewer.at(frames, values) - values) / tolerance).max()) <= 1.0:
                keys = fewer
                break
            out = out[: len(out) // 2]
        if not out:
            return keys


def _missed(frames: Array, values: Array, tolerance: Array, keys: Keys, at: int) -> float:
    """How far the curves stray without a key, in tolerances, if only its neighbours' slopes follow."""
    first, end = max(at - NEIGHBOURS - 1, 0), min(at + NEIGHBOURS + 1, len(keys.rows) - 1)
    near = np.delete(np.arange(first, end + 1), at - first)
    part = slice(keys.rows[first], keys.rows[end] + 1)
    rows, here = keys.rows[near] - keys.rows[first], values[part]
    design, wanted = _design(frames[part], here, rows)
    is_free = (near > first) | (first == 0)
    is_free &= (near < end) | (end == len(keys.rows) - 1)
    wanted = wanted - design[:, ~is_free] @ keys.slopes[near[~is_free]]
    design = design[:, is_free]
    normal = design.T @ design
    normal += SOFT * max(float(normal.diagonal().max(initial=0.0)), 1.0) * np.eye(len(normal))
    off = design @ np.linalg.solve(normal, design.T @ wanted) - wanted
    return float((np.abs(off) / tolerance).max())


def _design(frames: Array, values: Array, rows: Rows) -> tuple[Array, Array]:
    """What the slopes at keys weigh at all samples (nf, nk), and what is left for them (nf, k)."""
    basis, ends = hermite(frames, rows)
    left = np.clip(np.searchsorted(rows, np.arange(len(frames)), side="right") - 1, 0, len(rows) - 2)
    pair = np.stack([left, left + 1], axis=1)
    design = np.zeros((len(frames), len(rows)))
    np.put_along_axis(design, pair, basis, axis=1)
    return design, values - np.einsum("fi,fik->fk", ends, values[rows][pair])


def slopes_of(frames: Array, values: Array, rows: Rows, *, repeats: bool = False) -> Array:
    """Return the slopes (nk, k) at keys by which the cubics are nearest to the samples."""
    design, wanted = _design(frames, values, rows)
    chord = np.gradient(values[rows], frames[rows], axis=0) if len(rows) > 1 else np.zeros_like(values[rows])
    if repeats:
        design[:, 0] += design[:, -1]
        design, chord = design[:, :-1], chord[:-1]
    normal = design.T @ design
    soft = SOFT * max(float(normal.diagonal().max()), 1.0)
    slopes = np.linalg.solve(normal + soft * np.eye(len(normal)), design.T @ wanted + soft * chord)
    return np.asarray(np.concatenate([slopes, slopes[:1]]) if repeats else slopes)


def hermite(frames: Array, rows: Rows) -> tuple[Array, Array]:
    """Return what slopes and values at both ends of its piece weigh at every sample: (nf, 2) and (nf, 2)."""
    left = np.clip(np.searchsorted(rows, np.arange(len(frames)), side="right") - 1, 0, len(rows) - 2)
    start, length = frames[rows[left]], frames[rows[left + 1]] - frames[rows[left]]
    s = (frames - start) / length
    slopes = np.stack([s * (1.0 - s) ** 2, s * s * (s - 1.0)], axis=1) * length[:, None]
    values = np.stack([(1.0 + 2.0 * s) * (1.0 - s) ** 2, s * s * (3.0 - 2.0 * s)], axis=1)
    return slopes, values


def extremes(values: Array, least: Array) -> Rows:
    """Return the rows at which curves (nf, k) turn back, between ways of more than the `least` (k,)."""
    found = []
    for curve, away in zip(values.T, least, strict=True):
        turn, going = 0, 0.0
        for row in range(1, len(curve)):
            step = curve[row] - curve[turn]
            if going * step > 0.0 or (going == 0.0 and abs(step) > away):
                turn, going = row, np.sign(step)
            elif going != 0.0 and abs(step) > away:
                found.append(turn)
                turn, going = row, -going
    return np.unique(np.array(found, dtype=np.intp))
