# SPDX-License-Identifier: GPL-3.0-or-later
"""A captured or keyed walk that is steered: transitions of its own, chosen by a planner, under look-ahead control."""
