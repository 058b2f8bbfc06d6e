# SPDX-License-Identifier: GPL-3.0-or-later
"""What Heft draws over the viewport: `data` makes lines of plain data, `draw` shows them."""
