# SPDX-License-Identifier: GPL-3.0-or-later
"""What became of a simulation: figures, a sentence, curves over frames, and a page with plots."""
