# SPDX-License-Identifier: GPL-3.0-or-later
"""TOML with lines: every key is found where it stands, whatever strings and comments there are."""

from pathlib import Path

import pytest
from heft.core.batch.document import LARGEST_FILE, parse_document

PATH = Path("night.toml")
TEXT = '''# [not.a.table]
output = "a # no comment"   # a comment = with [everything]
[rigs."c.m.u".roles]
spine = [
  "one", # ]
  'two = 2',
]
text = """
[[bake]]
push = 3 \\"""
"""
raw = \'\'\'
"x" = [
\'\'\'
[[bake]]
push = [50,
        100]
settings = { adaptation = 1, "a=b" = "]" }
a . "b" . c = 1979-05-27T07:32:00Z
[bake.reference]
friction = 0.5
[[bake]]
push = 3.5e-1
[[bake.deep]]
x = 1
[[bake.deep]]
'y' = 2
'''
LINES = {
    ("output",): 2,
    ("rigs", "c.m.u", "roles"): 3,
    ("rigs", "c.m.u", "roles", "spine"): 4,
    ("rigs", "c.m.u", "roles", "text"): 8,
    ("rigs", "c.m.u", "roles", "raw"): 12,
    ("bake",): 15,
    ("bake", 0): 15,
    ("bake", 0, "push"): 16,
    ("bake", 0, "settings"): 18,
    ("bake", 0, "a", "b", "c"): 19,
    ("bake", 0, "reference"): 20,
    ("bake", 0, "reference", "friction"): 21,
    ("bake", 1): 22,
    ("bake", 1, "push"): 23,
    ("bake", 1, "deep"): 24,
    ("bake", 1, "deep", 0): 24,
    ("bake", 1, "deep", 0, "x"): 25,
    ("bake", 1, "deep", 1): 26,
    ("bake", 1, "deep", 1, "y"): 27,
}


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_every_key_has_its_line(newline):
    document = parse_document(TEXT.replace("\n", newline).encode(), PATH)
    assert document.lines == LINES
    for place in LINES:
        value = document.values
        for step in place:
            value = value[step]
    inline = ("bake", 0, "settings", "adaptation")
    assert str(document.mistake(inline, "no.")) == "night.toml, line 18: no."


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a = 1\nb = \n", "line 2: Invalid value"),
        (b"a = 1\na = 2\n", "line 2: Cannot overwrite a value"),
        (b"[a\n", "line 1: "),
        (b'a = "\n', "line 1: "),
        (b'\n\na = """\n\n', "line 3: "),
        (b"a = 1\nb = \xff\n", "line 2: this is not UTF-8 text"),
        (b"a = 1\nb = " + b"9" * 5000, "line 2: this is not valid TOML"),
        (b"a = 1\n[b]\nc = [1,\n9223372036854775808]", "line 3: this number does not fit in 64 bits"),
        (b"a = 1\n\nb = " + b"[" * 100_000, "line 3: "),
        (b"a = 2023-02-31", "line 1: "),
    ],
)
def test_what_is_no_toml_is_refused_by_line(content, message):
    with pytest.raises(ValueError, match=r"^night\.toml, " + message):
        parse_document(content, PATH)


def test_size_is_bounded(tmp_path):
    from heft.core.batch.document import read_document

    path = tmp_path / "large.toml"
    path.write_bytes(b"#" * (LARGEST_FILE + 1))
    with pytest.raises(ValueError, match=r"large\.toml is larger than"):
        read_document(path)
