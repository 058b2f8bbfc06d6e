# SPDX-License-Identifier: GPL-3.0-or-later
"""How the ground's force lies under the standing sole: Carensac et al., eq. 1 to 3.

Sides are those of the whole sole, toes included: what a rigid sole's corners do to it together is one, while each one's
share is not. Where they differ, this is the authors' own program rather than the print: quality counts a thousand times
the square of what a side lacks (as printed, no sample with any force would ever be refused), and the limits that a step
without correction is held to are narrower.
"""

import math

from ...maths.kernel import kernel

LIMIT = 0.15  # share of the force that each side is to bear at least [l_cor, l_sag], as the paper has it
SLACKER = 0.75  # of the limit, to which a step without correction is held
# Force below which the sole counts as lifted, of the weight: the paper's 100 N, of its character's.
LIFTED = 100.0 / (89.6 * 9.81)
UNBALANCED = 0.1  # quality from which a step is
ACCEPTED = 1.0  # cost below which a correction is

# left, right, front, back: of all; and all, of the weight
Shares = tuple[float, float, float, float, float]


@kernel
def quality(shares: Shares, limit: float) -> float:
    """What the sides lack [f_quality]; more than anything else where the sole is lifted."""
    if not shares[4] >= LIFTED:
        return math.pow(10.0, 14.0 - 10.0 * max(shares[4], 0.0) / LIFTED)
    total = 0.0
    for k in range(4):
        total += 1000.0 * max(limit - shares[k], 0.0) ** 2
    return total


@kernel
def cost(shares: Shares, initial: Shares, limit: float) -> float:
    """What a correction costs [f_eval]: quality, then distance from what was there without it [f_distance]."""
    distance = 0.0
    for k in range(4):
        distance += max(max(limit, initial[k]) - shares[k], 0.0) ** 2
    return 10.0 * quality(shares, limit) + distance
