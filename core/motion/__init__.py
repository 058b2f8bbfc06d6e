# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion as plain data: clips of a skeleton, their fit to a character, and what is made of them."""
