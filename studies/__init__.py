# SPDX-License-Identifier: GPL-3.0-or-later
"""Long experiments, each a module with `study(folder)`: `run.py study` lists them. The product imports none."""
