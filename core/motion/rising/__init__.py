# SPDX-License-Identifier: GPL-3.0-or-later
"""Getting up: key poses of a person by where limbs point, and a rough motion through them from how a body lies."""
