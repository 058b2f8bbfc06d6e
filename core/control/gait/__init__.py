# SPDX-License-Identifier: GPL-3.0-or-later
"""Low-frequency SIMBICON after Carensac et al.: a walk without a clip, made of key poses and feedback."""

from .gains import Feedback, Gains, load_gains
from .gait import Gait
from .settings import Settings
from .style import STYLES

__all__ = ["STYLES", "Feedback", "Gains", "Gait", "Settings", "load_gains"]
