# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters in files: what is saved comes back equal, and anything else is refused in one line."""

import copy
import json

import pytest
from heft.core.character import Character
from heft.core.character.presets import NAMES
from heft.core.character.storage import LARGEST_FILE, parse, to_data
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.random_trees import random_character

SMALL = json.loads(json.dumps(to_data(Character.preset("balance3"))))
LARGE = json.loads(json.dumps(to_data(Character.preset("muico29"))))
TEXT = json.dumps(LARGE).encode()


def refusal(content):
    """The one line with which a content is refused, or None where it is a character."""
    try:
        character = parse(content, "file.json")
    except ValueError as error:
        message = str(error)
        assert message.startswith("file.json is not a character file: ")
        assert message.isprintable()
        assert len(message) < 600
        return message
    assert isinstance(character, Character)
    assert character.nv > 0
    return None


@pytest.mark.parametrize("name", NAMES)
def test_presets_come_back_equal(name, tmp_path):
    character = Character.preset(name)
    character.save(tmp_path / "character.json")
    assert Character.load(tmp_path / "character.json") == character
    assert [file.name for file in tmp_path.iterdir()] == ["character.json"]


@pytest.mark.parametrize("seed", range(20))
def test_random_characters_come_back_equal(seed, tmp_path):
    character = random_character(seed, passive=True)
    character.save(str(tmp_path / "character.json"))
    assert Character.load(str(tmp_path / "character.json")) == character


def test_saving_replaces_the_old_file_or_leaves_it_alone(tmp_path):
    path = tmp_path / "character.json"
    Character.preset("balance3").save(path)
    Character.preset("gymnast2").save(path)
    assert Character.load(path).name == "gymnast2"
    with pytest.raises(OSError, match="nowhere"):
        Character.preset("gymnast2").save(tmp_path / "nowhere" / "character.json")


def test_unknown_versions_are_refused_by_number():
    assert refusal(json.dumps(SMALL | {"version": 2}).encode()) == (
        "file.json is not a character file: its version is '2', but this Heft reads version 1."
    )


WRONG = {
    "not JSON": (b"{", "Expecting property name"),
    "not text": (b"\xff\xfe\x00", "codec can't decode"),
    "another format": (b'{"format": "gltf"}', 'it does not say "format": "heft.character".'),
    "a list": (b"[]", "it does not say"),
    "nan": (TEXT.replace(b"12.8", b"NaN"), "NaN is not a number."),
    "infinite": (TEXT.replace(b"12.8", b"1e999"), "The mass of body 'pelvis' must be a finite number, not inf."),
    "long number": (TEXT.replace(b"12.8", b"1" * 400), "int too large to convert to float"),
    "text for a mass": (TEXT.replace(b"12.8", b'"12.8"'), "body 'pelvis' needs a number, not '12.8'."),
    "true for a mass": (TEXT.replace(b"12.8", b"true"), "body 'pelvis' needs a number, not 'True'."),
    "negative mass": (TEXT.replace(b"12.8", b"-12.8"), "The mass of body 'pelvis' must be positive, not -12.8."),
    "key twice": (TEXT.replace(b'"mass": 12.8', b'"mass": 12.8, "mass": 1.0'), "an object has a key twice."),
    "unknown key": (TEXT.replace(b'"mass": 12.8', b'"mass": 12.8, "colour": 1'), "a body has an unknown key 'colour'."),
    "missing key": (TEXT.replace(b'"mass": 12.8, ', b""), "a body lacks 'mass'."),
    "deep": (b"[" * 100_000 + b"]" * 100_000, "it is nested too deeply."),
    "wrong shape": (TEXT.replace(b'"corner"', b'"cone"'), "a contact's shape must be one of corner, sphere, capsule."),
    "unknown parent": (TEXT.replace(b'"parent": "pelvis"', b'"parent": "hips"'), "is unknown: 'hips'."),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_files_are_refused(case):
    content, words = WRONG[case]
    assert content != TEXT
    assert words in refusal(content)


def test_too_many_bodies_are_refused():
    data = SMALL | {"bodies": SMALL["bodies"] * 200}
    assert "bodies must be a list of at most 400." in refusal(json.dumps(data).encode())


def test_huge_files_are_refused_before_they_are_parsed(tmp_path):
    path = tmp_path / "huge.json"
    with path.open("wb") as file:
        file.truncate(LARGEST_FILE + 1)
    with pytest.raises(ValueError, match=r"huge\.json is too large for a character"):
        Character.load(path)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(["free", "torso"]),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text(max_size=8), children, max_size=3),
    max_leaves=6,
)


@settings(deadline=None, max_examples=300)
@given(st.data())
def test_mutated_values_are_refused_in_one_line_or_make_a_character(data):
    """Replace, remove or repeat one value anywhere in a good file."""
    mutant = copy.deepcopy(data.draw(st.sampled_from([SMALL, LARGE])))
    place = mutant
    while True:
        key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        if isinstance(place[key], (dict, list)) and place[key] and data.draw(st.integers(0, 4)):
            place = place[key]
            continue
        break
    action = data.draw(st.sampled_from(["replace", "remove", "repeat"]))
    if action == "replace":
        place[key] = data.draw(VALUES)
    elif action == "remove":
        del place[key]
    elif isinstance(place, list):
        place.insert(key, place[key])
    else:
        place[data.draw(st.text(max_size=8))] = place[key]
    refusal(json.dumps(mutant).encode())


@settings(deadline=None, max_examples=300)
@given(st.integers(0, len(TEXT) - 1), st.binary(max_size=6), st.integers(0, 20))
def test_mutated_bytes_are_refused_in_one_line_or_make_a_character(start, inserted, removed):
    refusal(TEXT[:start] + inserted + TEXT[start + removed :])
