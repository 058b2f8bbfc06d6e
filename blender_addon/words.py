# SPDX-License-Identifier: GPL-3.0-or-later
"""The explanations of core in the language of Blender's interface."""

from collections.abc import Mapping
from typing import Any

from bpy.app.translations import pgettext_rpt

from ..core import sentences


def why(report: Mapping[str, Any]) -> str:
    """A report's sentences; its English ones where it has no others, as those of older files."""
    try:
        found = sentences.from_data(report.get("sentences"))
    except ValueError:
        return str(report["why"])
    return sentences.told(found, pgettext_rpt)
