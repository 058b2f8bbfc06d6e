# SPDX-License-Identifier: GPL-3.0-or-later
"""Physics and control. Plain numpy, scipy, osqp and numba; never bpy, never mathutils."""
