# SPDX-License-Identifier: GPL-3.0-or-later
"""The result of a simulation: figures, an explanation, curves over frames, and a page with plots."""
