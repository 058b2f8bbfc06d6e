# SPDX-License-Identifier: GPL-3.0-or-later
"""Ground and supports: what a motion was made for, what of it the scene has, and what it lacks."""
