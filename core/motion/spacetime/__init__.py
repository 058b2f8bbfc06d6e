# SPDX-License-Identifier: GPL-3.0-or-later
"""Spacetime optimisation: the motion closest to a clip for which torques and contact forces exist."""
