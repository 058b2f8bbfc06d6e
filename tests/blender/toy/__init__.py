# SPDX-License-Identifier: GPL-3.0-or-later
"""A method of control, as small as one can be: springs pull every joint to where the motion has it."""
