# SPDX-License-Identifier: GPL-3.0-or-later
"""Sentences of the pages for users: none is so long that it has to be read twice."""

import re
from collections.abc import Iterator

from tools.environment import ROOT

MOST = 25  # words
PAGES = ("../README.md", "*.md", "tutorials/*.md", "panels/*.md", "methods/*.md")
OTHERS = {"architecture.md", "papers.md"}  # for developers

FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
PICTURE = re.compile(r"!\[([^\]]*)\]\([^)]*\)")
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
LINE = re.compile(r"<br */?>")  # what follows it is read by itself
TAG = re.compile(r"<[^>]*>")
BLOCK = re.compile(r"^\s*(?:[-*>]|\d+\.|#+|\|)\s*", re.MULTILINE)  # a list's item, a heading, a row of a table
END = re.compile(r"(?<=[.!?])[\"')*]*\s+")
WORD = re.compile(r"\w")


def sentences(text: str) -> Iterator[str]:
    """What stands in a page, sentence by sentence, without code and marks."""
    plain = LINK.sub(r"\1", PICTURE.sub(r"\n\n\1\n\n", FENCE.sub("\n\n", text)))
    plain = LINE.sub("\n\n", plain)
    plain = TAG.sub("", BLOCK.sub("\n\n", plain)).replace("|", "\n\n")
    for paragraph in re.split(r"\n\s*\n", plain):
        yield from END.split(" ".join(paragraph.split()))


def too_long() -> list[str]:
    """Those that have more than MOST words, with their page."""
    pages = [page for pattern in PAGES for page in sorted((ROOT / "docs").glob(pattern)) if page.name not in OTHERS]
    return [
        f"{page.relative_to(ROOT)}: {count} words, {MOST} at most: {sentence}"
        for page in pages
        for sentence in sentences(page.read_text(encoding="utf-8"))
        if (count := words(sentence)) > MOST
    ]


def words(sentence: str) -> int:
    """How many there are; signs and dashes by themselves are none."""
    return sum(WORD.search(word) is not None for word in sentence.split())
