# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything about touching: terrain, contact shapes, detection, friction pyramids and the complementarity problem."""
