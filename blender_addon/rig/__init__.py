# SPDX-License-Identifier: GPL-3.0-or-later
"""Armatures: which bones play which role, their poses as arrays, and a proxy to bake on."""
