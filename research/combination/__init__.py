# SPDX-License-Identifier: GPL-3.0-or-later
"""Trajectory optimisation, and controllers of planar bodies combined by their values (da Silva 2010, chapter 6)."""
