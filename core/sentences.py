# SPDX-License-Identifier: GPL-3.0-or-later
"""Sentences for people, kept as an English template and its values, so that they can be translated."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from string import Formatter
from typing import Any, Union

Value = Union[float, str, "Sentence"]
FORM = re.compile(r"(\.\d[efg]|g)?")  # of a number in a template


@dataclass(frozen=True)
class Sentence:
    """A template as `str.format` takes it, with names only, and what stands for them; a part may be one by itself."""

    template: str
    values: Mapping[str, Value] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for _, name, form, conversion in Formatter().parse(self.template):
            if name is None:
                continue
            fits = name in self.values and not conversion and FORM.fullmatch(form or "") is not None
            if not fits or (form and not isinstance(self.values[name], float)):
                raise ValueError(f"The sentence '{self.template[:80]}' cannot be filled with {', '.join(self.values)}.")

    def __str__(self) -> str:
        return self.text(str)

    def text(self, translate: Callable[[str], str]) -> str:
        """The whole in the language of `translate`, which is given templates; in English where that does not fit."""
        parts = {
            name: value.text(translate) if isinstance(value, Sentence) else value for name, value in self.values.items()
        }
        try:
            return translate(self.template).format(**parts)
        except (KeyError, IndexError, ValueError, AttributeError):  # a translation with other names or forms
            return self.template.format(**parts)


def say(template: str, **values: Value) -> Sentence:
    """Make a sentence; a number that rounds to zero loses its sign."""
    forms = {name: form for _, name, form, _ in Formatter().parse(template) if name}
    return Sentence(template, {name: _plain(value, forms.get(name) or "") for name, value in values.items()})


def join(sentences: Iterable[Sentence], translate: Callable[[str], str] = str) -> str:
    """The sentences as one text."""
    return " ".join(sentence.text(translate) for sentence in sentences)


def to_data(sentences: Iterable[Sentence]) -> list[Any]:
    """Sentences as JSON: each a pair of the template and an object of its values."""
    return [
        [
            sentence.template,
            {
                name: to_data([value])[0] if isinstance(value, Sentence) else value
                for name, value in sentence.values.items()
            },
        ]
        for sentence in sentences
    ]


def from_data(data: Any) -> tuple[Sentence, ...]:
    """Sentences from JSON; ValueError if it holds anything else."""
    match data:
        case [*entries]:
            return tuple(_sentence(entry) for entry in entries)
    raise ValueError(f"{str(data)[:40]!r} are not sentences.")


def _sentence(data: Any) -> Sentence:
    match data:
        case [str(template), dict(values)]:
            return Sentence(template, {str(name): _value(value) for name, value in values.items()})
    raise ValueError(f"{str(data)[:40]!r} is not a sentence.")


def _value(data: Any) -> Value:
    if isinstance(data, list):
        return _sentence(data)
    if isinstance(data, str | float):
        return data
    raise ValueError(f"{str(data)[:40]!r} cannot stand in a sentence.")


def _plain(value: Value, form: str) -> Value:
    if isinstance(value, str | Sentence):
        return value
    return abs(float(value)) if float(format(value, form)) == 0.0 else float(value)


def in_frames(first: float, last: float) -> str:
    """Which frames, in words: nobody has fractions of them on the timeline."""
    start, end = round(first), round(last)
    return f"frame {start}" if start == end else f"frames {start} to {end}"
