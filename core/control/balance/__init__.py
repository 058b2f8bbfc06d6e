# SPDX-License-Identifier: GPL-3.0-or-later
"""Balance control after da Silva 2010, chapter 3: style, a three-link model's balance, and a program between them."""

from .balance import Balance
from .settings import Settings

__all__ = ["Balance", "Settings"]
