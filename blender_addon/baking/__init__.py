# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake, from the armature as it stands to the new action: what is read, what is shown meanwhile, what is written."""
