# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact candidates: where shapes are near terrain or each other."""

from .contacts import Contacts, make_contacts
from .detect import detect

__all__ = ["Contacts", "detect", "make_contacts"]
