# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of all clips, for spreadsheets and for programs."""

import csv
import io
import json
from collections.abc import Sequence

from .rows import COLUMNS, Row

CSV, JSON = "clips.csv", "clips.json"
TEXTS = ("file", "take", "outcome", "good")


def to_csv(rows: Sequence[Row]) -> bytes:
    """With names in the first line; nothing where there is no figure."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = [*TEXTS, *(column.name for column in COLUMNS), "why"]
    writer.writerow(names)
    writer.writerows(["" if row[name] is None else row[name] for name in names] for row in rows)
    return text.getvalue().encode()


def to_json(rows: Sequence[Row]) -> bytes:
    """The same and what was mended, a list of objects."""
    return (json.dumps(list(rows), indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()
