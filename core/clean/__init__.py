# SPDX-License-Identifier: GPL-3.0-or-later
"""A folder of captured clips made possible: each written back in its own format, with forces, a table and a page."""
