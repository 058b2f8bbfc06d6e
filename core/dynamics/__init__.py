# SPDX-License-Identifier: GPL-3.0-or-later
"""Dynamics of a character: kinematics, mass matrix, bias force, Jacobians, momentum, energy, and the discrete step."""
