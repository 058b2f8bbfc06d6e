# SPDX-License-Identifier: GPL-3.0-or-later
"""What surrounds a character in Blender's scene, as the core's plain data: ground, pushes, grabs, props, weights.

Each module says what its things look like in Blender. `reading.py` gathers them all in the one pass over the frames
in which the poses are read. What is hidden in the viewport is not there.
"""
