# SPDX-License-Identifier: GPL-3.0-or-later
"""The border between Blender and the physics: everything that turns bpy data into arrays and back."""
