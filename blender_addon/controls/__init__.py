# SPDX-License-Identifier: GPL-3.0-or-later
"""From where deforming bones are to be to the controls that an animator keys: a map for each family of rigs."""
