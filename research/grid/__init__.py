# SPDX-License-Identifier: GPL-3.0-or-later
"""The linear Bellman equation on grids of one to three dimensions: da Silva 2010, chapter 5."""
