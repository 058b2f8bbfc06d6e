# SPDX-License-Identifier: GPL-3.0-or-later
"""One file per panel of the sidebar's Heft tab, from top to bottom as an animator works."""
