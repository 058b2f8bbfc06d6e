# SPDX-License-Identifier: GPL-3.0-or-later
"""The live stage in Blender: what the worker plays is shown, and what mouse and keys do is told to it."""
