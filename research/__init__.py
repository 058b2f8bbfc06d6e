# SPDX-License-Identifier: GPL-3.0-or-later
"""Methods of the papers that no bake uses: what studies compare the product with. Nothing of the product imports it."""
