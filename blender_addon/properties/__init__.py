# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties that Heft adds to Blender's data; saved with the file, undone and overridden like Blender's own."""
