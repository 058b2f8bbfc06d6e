# SPDX-License-Identifier: GPL-3.0-or-later
"""Sentences in English, in other languages, and as data that may come from anywhere."""

import ast
import json
from pathlib import Path

import pytest
from heft.core import sentences
from heft.core.sentences import Sentence, from_data, say, to_data

FELL = say("Fell {way} at {frame}.", way="forwards", frame=say("frame {number:.0f}", number=12))
GERMAN = {"Fell {way} at {frame}.": "Bei {frame} gefallen: {way}.", "frame {number:.0f}": "Bild {number:.0f}"}


def test_english_is_the_template_filled():
    assert str(FELL) == "Fell forwards at frame 12."


def test_templates_are_translated_and_filled_in_their_own_order():
    assert FELL.text(lambda text: GERMAN.get(text, text)) == "Bei Bild 12 gefallen: forwards."


@pytest.mark.parametrize("wrong", ["{nothing}", "{way:.1f}", "{", "{0}", "{way.left.right}"])
def test_a_translation_that_does_not_fit_is_not_used(wrong):
    assert say("Fell {way}.", way="down").text(lambda _: wrong) == "Fell down."


def test_numbers_rounded_to_nothing_have_no_sign():
    assert str(say("{height:.1f} cm, {tilt:.2f}°", height=-0.04, tilt=-0.04)) == "0.0 cm, -0.04°"


def test_they_come_back_from_json():
    (again,) = from_data(json.loads(json.dumps(to_data([FELL]))))
    assert again == FELL


@pytest.mark.parametrize(
    "data",
    [
        None,
        "text",
        [["{a}", {}]],
        [["{a:999999999}", {"a": 1.0}]],
        [["{a.__class__}", {"a": "x"}]],
        [["{a!r}", {"a": "x"}]],
        [["{", {}]],
        [["{a:.1f}", {"a": "x"}]],
        [["{a}", {"a": None}]],
        [["{a:.0f}", {"a": 10**400}]],
        [["{a}", {"a": ["b"]}]],
        [["a"]],
    ],
)
def test_what_is_no_sentence_is_refused(data):
    with pytest.raises(ValueError, match=r"."):
        from_data(data)


def test_translators_find_every_template_as_text_in_the_code():
    core = Path(sentences.__file__).parent
    found = 0
    for path in core.rglob("*.py"):
        if path.name in {"cli.py", "command_line.py"}:  # they print lines, which nobody translates
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "say":
                found += 1
                assert not isinstance(call.args[0], ast.JoinedStr | ast.BinOp), f"{path.name}:{call.lineno}"
    assert found > 10
    assert Sentence("Nothing in it.").text(str) == "Nothing in it."
