# SPDX-License-Identifier: GPL-3.0-or-later
"""Which bones of a skeleton are what: by their names, by their shape, by their motion."""
