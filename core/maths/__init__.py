# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotations, spatial vectors and small dense kernels: the mathematics every other room stands on."""
