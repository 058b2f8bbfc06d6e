# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters and motions of the project's own, made by script."""
