# SPDX-License-Identifier: GPL-3.0-or-later
"""The other process: the same Python without bpy, where physics runs and may crash alone.

`messages` is what passes between the two, `process` and `tasks` run over there, `worker` over here.
"""
