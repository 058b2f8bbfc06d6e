# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's one worker process, kept from bake to bake, and the folders in which it keeps what it made."""
