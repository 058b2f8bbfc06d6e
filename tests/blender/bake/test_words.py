# SPDX-License-Identifier: GPL-3.0-or-later
"""What a report says, in another language of Blender's interface."""

import pytest
from heft.blender_addon import words
from heft.core.sentences import join, say, to_data

SENTENCES = [say("It strayed up to {centimetres:.0f} cm from its way.", centimetres=12), say("Nothing knows this.")]
REPORT = {"why": join(SENTENCES), "sentences": to_data(SENTENCES)}
GERMAN = {SENTENCES[0].template: "Bis zu {centimetres:.0f} cm vom Weg abgekommen."}


def test_reports_are_told_in_the_interfaces_language(monkeypatch):
    monkeypatch.setattr(words, "pgettext_rpt", lambda text: GERMAN.get(text, text))  # the bpy module has English only
    assert words.why(REPORT) == "Bis zu 12 cm vom Weg abgekommen. Nothing knows this."


@pytest.mark.parametrize("report", [REPORT, {"why": REPORT["why"]}, REPORT | {"sentences": [["{", {}]]}])
def test_english_and_reports_without_templates(report):
    assert words.why(report) == "It strayed up to 12 cm from its way. Nothing knows this."
