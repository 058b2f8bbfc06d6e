# SPDX-License-Identifier: GPL-3.0-or-later
"""Texts, and core's explanations, in the language of Blender's interface."""

from collections.abc import Mapping
from typing import Any

from bpy.app.translations import pgettext_iface, pgettext_rpt, pgettext_tip

from ..core import sentences


def interface(text: str) -> str:
    """Return a text of the interface, in its language."""
    return str(pgettext_iface(text))


def tip(text: str) -> str:
    """Return a description, in its language."""
    return str(pgettext_tip(text))


def why(report: Mapping[str, Any]) -> str:
    """A report's sentences; its English ones where it has no others, as those of older files."""
    try:
        found = sentences.from_data(report.get("sentences"))
    except ValueError:
        return str(report["why"])
    return sentences.join(found, pgettext_rpt)
