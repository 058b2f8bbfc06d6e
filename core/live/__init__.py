# SPDX-License-Identifier: GPL-3.0-or-later
"""The live stage: a character acts in real time, somebody pulls, shoves and throws, and what was done can be baked.

`inputs` is what may be done, `forces` writes it into the pushes of a running world, `playing` steps the one loop at a
clock's pace, `take` is what comes of it: pushes and thrown balls, with which the same job bakes to the same bits.
"""
