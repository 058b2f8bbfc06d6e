# SPDX-License-Identifier: GPL-3.0-or-later
"""Which captured clips walk, turn, march, sneak or step aside, and what counts as a good bake of one."""

WALKS = ("02_01", "07_04", "08_05", "113_01", "120_08", "132_20", "16_11", "16_18", "20_06", "39_11", "83_55")
DEGREES, METRES, SLIDE = 2.0, 0.05, 0.005  # RMS of joints and of the root in m, and what a foot may slide, m
