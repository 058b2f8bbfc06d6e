# SPDX-License-Identifier: GPL-3.0-or-later
"""The two-link gymnast of da Silva 2010, chapter 6 (the acrobot): hangs from a bar by a hinge and has one at its hip.

"A point-mass model with unit masses and unit length limbs": 1 kg at the far end of each link of 1 m. A point has no
inertia and a body must have some: 1e-9 kg m² changes nothing that double precision would show in a swing. Angles turn
about +Y; at zero the gymnast hangs straight down.
"""

import numpy as np

from ..character import Character
from ..mass import Mass
from ..parts import Joint
from . import person

BAR_HEIGHT = 2.5
POINT = Mass(1.0, np.array([0.0, 0.0, -1.0]), 1e-9 * np.eye(3))


def make() -> Character:
    """The gymnast: 2 bodies, 2 hinges without limits."""
    bar = Joint("bar", "hinge", axes=(person.PITCH,))
    hip = Joint("hip", "hinge", axes=(person.PITCH,))
    return Character(
        "gymnast2",
        (
            person.body("upper", None, bar, POINT, (0.0, 0.0, BAR_HEIGHT)),
            person.body("lower", "upper", hip, POINT, (0.0, 0.0, -1.0)),
        ),
    )
