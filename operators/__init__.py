# SPDX-License-Identifier: GPL-3.0-or-later
"""One file per verb. An operator gathers what Blender knows and hands it on; it computes nothing itself."""
