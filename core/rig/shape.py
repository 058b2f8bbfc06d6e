# SPDX-License-Identifier: GPL-3.0-or-later
"""What the rest pose says: which bones carry the body, how they hang together, and where its mirror plane stands."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..motion.clip import Skeleton

Array = NDArray[np.float64]
UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class Body:
    """The bones that carry the body, as one tree of indices into the skeleton."""

    skeleton: Skeleton
    kept: tuple[int, ...]  # parents before children
    parent: dict[int, int]  # nearest bone of the body above, -1 for the root
    children: dict[int, list[int]] = field(default_factory=dict)
    reach: dict[int, float] = field(default_factory=dict)  # length of the longest path down from the bone's head, m

    @property
    def size(self) -> float:
        """Diagonal of the box around the body, m."""
        points = np.concatenate([self.skeleton.head[list(self.kept)], self.skeleton.tail[list(self.kept)]])
        return float(np.linalg.norm(np.ptp(points, axis=0)))

    @property
    def floor(self) -> float:
        """Height of the lowest joint, m."""
        return float(self.skeleton.head[list(self.kept), 2].min())

    def ancestors(self, bone: int) -> list[int]:
        """The bone and all above it, from the root."""
        path = []
        while bone >= 0:
            path.append(bone)
            bone = self.parent[bone]
        return path[::-1]

    def common_ancestor(self, bones: Sequence[int]) -> int:
        """The lowest bone that all of these hang from (or are), -1 where there is none."""
        paths = [self.ancestors(bone) for bone in bones]
        common = -1
        for level in zip(*paths, strict=False):
            if len(set(level)) > 1:
                break
            common = level[0]
        return common

    def chain(self, bone: int) -> list[int]:
        """The bone and its longest way down."""
        chain = [bone]
        while self.children[chain[-1]]:
            chain.append(self.longest_child(chain[-1], self.children[chain[-1]]))
        return chain

    def longest_child(self, bone: int, among: Sequence[int]) -> int:
        """The child that the longest way down from the bone leads through."""
        head = self.skeleton.head
        return max(among, key=lambda child: float(np.linalg.norm(head[child] - head[bone])) + self.reach[child])


def make_body(skeleton: Skeleton, keep: NDArray[np.bool_], hang: Mapping[int, int] | None = None) -> Body:
    """Return the tree of the kept bones; what a dropped bone carried hangs from the next kept one above.

    Of a rig whose deforming bones hang from dropped ones (Rigify's hang from its ORG- bones), a bone that lies in a
    dropped ancestor's place stands in for it. A loose part hangs from the bone that it touches. `hang` gives bones
    other parents than they have.
    """
    head, tail = skeleton.head, skeleton.tail
    kept = [int(b) for b in np.flatnonzero(keep)]
    parent: dict[int, int] = {}
    scale = float(np.linalg.norm(np.ptp(head[kept], axis=0))) if kept else 0.0
    axis = tail - head
    axis /= np.maximum(np.linalg.norm(axis, axis=1, keepdims=True), 1e-12)

    def stand_in(dropped: int, below: int) -> int:
        near = np.linalg.norm(head[kept] - head[dropped], axis=1) < 1e-4 * scale
        along = axis[kept] @ axis[dropped] > 0.99
        places = [kept[i] for i in np.flatnonzero(near & along)]
        return next((b for b in places if b != below and not is_above(below, b)), -1)

    def is_above(upper: int, lower: int) -> bool:
        while lower >= 0:
            if lower == upper:
                return True
            lower = parent.get(lower, -1) if lower in parent else int(skeleton.parent[lower])
        return False

    for bone in kept:
        above = int(skeleton.parent[bone])
        while above >= 0 and not keep[above]:
            other = stand_in(above, bone)
            above = other if other >= 0 else int(skeleton.parent[above])
        parent[bone] = above
    parent.update(hang or {})
    _join_loose_parts(parent, head, tail, 0.03 * scale)

    order = _parents_first(parent)
    children: dict[int, list[int]] = {bone: [] for bone in order}
    for bone in order:
        if parent[bone] >= 0:
            children[parent[bone]].append(bone)
    reach: dict[int, float] = {}
    for bone in reversed(order):
        below = [float(np.linalg.norm(head[c] - head[bone])) + reach[c] for c in children[bone]]
        # The tail of a bone with children is the display's business; many importers draw it in any direction.
        reach[bone] = max(below, default=float(np.linalg.norm(tail[bone] - head[bone])))
    return Body(skeleton, tuple(order), parent, children, reach)


def _join_loose_parts(parent: dict[int, int], head: Array, tail: Array, within: float) -> None:
    """Hang each root but the largest part's from the bone of another part that it touches, if there is one."""

    def root_of(bone: int) -> int:
        while parent[bone] >= 0:
            bone = parent[bone]
        return bone

    part = {bone: root_of(bone) for bone in parent}
    sizes = {root: sum(r == root for r in part.values()) for root in set(part.values())}
    for root in sorted(sizes, key=lambda r: (sizes[r], -r)):
        others = [b for b in parent if root_of(b) != root]
        if not others or len({root_of(b) for b in parent}) == 1:
            return
        start, end = head[others], tail[others]
        along = np.einsum("ij,ij->i", head[root] - start, end - start)
        along /= np.maximum(np.einsum("ij,ij->i", end - start, end - start), 1e-12)
        nearest = start + np.clip(along, 0.0, 1.0)[:, None] * (end - start)
        distance = np.linalg.norm(nearest - head[root], axis=1)
        if distance.min() < within:
            parent[root] = others[int(distance.argmin())]


def _parents_first(parent: dict[int, int]) -> list[int]:
    """The bones by depth, in the given order among equals."""

    def depth(bone: int) -> int:
        levels = 0
        while (bone := parent[bone]) >= 0:
            levels += 1
        return levels

    return sorted(parent, key=depth)


@dataclass(frozen=True)
class Plane:
    """The vertical plane that mirrors the body: points with normal . p = offset."""

    normal: Array  # (3,) horizontal, unit
    offset: float

    def side(self, point: Array) -> float:
        """Signed distance, m."""
        return float(self.normal @ point) - self.offset

    def mirror(self, points: Array) -> Array:
        """Points on the other side."""
        distance = points @ self.normal - self.offset
        mirrored: Array = points - 2.0 * distance[..., None] * self.normal
        return mirrored


def mirror_plane(body: Body) -> tuple[Plane, float]:
    """Return the best mirror plane and its error: the mean distance of mirrored joints to joints over body size.

    Tried are the planes across the world's axes and those midway between siblings of equal reach.
    """
    points = body.skeleton.head[list(body.kept)]
    size = max(body.size, 1e-9)
    candidates = [np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])]
    longest = max(body.reach.values())
    for below in body.children.values():
        for i, a in enumerate(below):
            for b in below[i + 1 :]:
                if min(body.reach[a], body.reach[b]) > 0.15 * longest:
                    across = body.skeleton.head[body.chain(a)[-1]] - body.skeleton.head[body.chain(b)[-1]]
                    across = across - across[2] * UP
                    length = float(np.linalg.norm(across))
                    if length > 0.02 * size:
                        candidates.append(across / length)
    best: tuple[Plane, float] | None = None
    for normal in candidates:
        along = points @ normal
        # A joint on the plane is the commonest: the trunk's. Else the middle of the whole.
        for offset in {round(float(np.median(along)), 9), round(float(along.min() + along.max()) / 2, 9)}:
            plane = Plane(normal, offset)
            mirrored = plane.mirror(points)
            gaps = np.linalg.norm(mirrored[:, None] - points[None], axis=2).min(axis=1)
            # A flat figure mirrors onto itself across its own plane: what lies off the plane must be worth mirroring.
            spread = float(np.abs(along - offset).mean())
            error = (float(gaps.mean()) + 0.002 * size) / (spread + 0.01 * size)
            if best is None or error < best[1] - 1e-9:
                best = plane, error
    assert best is not None
    return best


@dataclass(frozen=True)
class Pair:
    """Two limbs that mirror each other; `first` lies on the plane's positive side."""

    first: tuple[int, ...]  # chain of bones, root to tip
    second: tuple[int, ...]
    parent: int  # bone that both hang from, -1 where none

    @property
    def both(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The two chains."""
        return self.first, self.second


def limb_pairs(body: Body, plane: Plane, stems: Sequence[tuple[str, str]]) -> list[Pair]:
    """Return the pairs of siblings that are large and mirror each other, by rest pose or by name.

    `stems` holds each bone's (name without side, side).
    """
    longest = max(body.reach.values())
    head = body.skeleton.head
    pairs = []
    for above, below in body.children.items():
        taken: set[int] = set()
        options = []
        for i, a in enumerate(below):
            for b in below[i + 1 :]:
                size = max(body.reach[a], body.reach[b])
                if size < 0.12 * longest or min(body.reach[a], body.reach[b]) < 0.6 * size:
                    continue
                named = stems[a][0] == stems[b][0] and {stems[a][1], stems[b][1]} == {"L", "R"}
                tips = head[[body.chain(a)[-1], body.chain(b)[-1]]]
                roots = head[[a, b]]
                gap = float(np.linalg.norm(plane.mirror(tips[:1])[0] - tips[1]))
                gap = max(gap, float(np.linalg.norm(plane.mirror(roots[:1])[0] - roots[1])))
                off = max(abs(plane.side(tips[0])), abs(plane.side(tips[1])))
                if off < 0.02 * size and not named:
                    continue
                if gap < 0.2 * size or named:
                    options.append((gap / size - 0.5 * named, a, b))
        for _, a, b in sorted(options):
            if a in taken or b in taken:
                continue
            taken |= {a, b}
            first, second = body.chain(a), body.chain(b)
            lean = [np.mean([plane.side(head[x]) for x in chain]) for chain in (first, second)]
            if lean[0] < lean[1]:
                first, second = second, first
            pairs.append(Pair(tuple(first), tuple(second), above))
    return pairs


def angle_between(a: Array, b: Array) -> float:
    """Angle between two vectors, rad; 0 where one has no length."""
    lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(np.arccos(np.clip(a @ b / lengths, -1.0, 1.0))) if lengths > 1e-12 else 0.0
