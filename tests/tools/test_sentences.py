# SPDX-License-Identifier: GPL-3.0-or-later
"""How the pages for users are read: sentence by sentence, without code and marks."""

from tools import sentences

PAGE = """# A page

You press **Bake**. Then you *wait*: it [takes](elsewhere.md) a moment.

1. Do this.
2. Do that, and
   that.

| what | why |
|---|---|
| one | two three |

```
not a sentence, however long it may be, with very many words that nobody is ever to read aloud in any tutorial of ours
```

![A picture](picture.png)
"""


def test_what_is_a_sentence():
    found = [one for one in sentences.sentences(PAGE) if sentences.words(one)]
    assert found == [
        "A page",
        "You press **Bake**.",
        "Then you *wait*: it takes a moment.",
        "Do this.",
        "Do that, and that.",
        "what",
        "why",
        "one",
        "two three",
        "A picture",
    ]


def test_a_long_one_is_found(tmp_path, monkeypatch):
    (tmp_path / "docs").mkdir()
    page = tmp_path / "docs" / "index.md"
    monkeypatch.setattr(sentences, "ROOT", tmp_path)
    page.write_text(" ".join(["word"] * sentences.MOST) + ". Done.", encoding="utf-8")
    assert sentences.too_long() == []
    page.write_text("One " + " ".join(["word"] * sentences.MOST) + ". Done.", encoding="utf-8")
    (said,) = sentences.too_long()
    assert said.startswith("docs/index.md: 26 words")
