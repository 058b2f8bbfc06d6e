# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bone's name says: its side, and which parts of a body it may stand for.

Words are split at separators, digits and capitals; sides and prefixes are taken off; the longest known fragment of what
is left decides. A word that different rigs use for different bones (a "shoulder", an "arm", a "leg") speaks for each of
them with less weight, so that the shape of the chain can settle it.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from .vocabulary import (
    CONTROL,
    FINGER,
    FRONT,
    GROWN_SIDES,
    HIND,
    KNOWN,
    LEFT,
    MIDDLE,
    MIDDLE_PARTS,
    PREFIXES,
    RIDING,
    RIGHT,
    ROLE_OF_FRONT_LEG,
    SIDE_OF_WORD,
    SIDED_PARTS,
    TWIST,
    Weights,
)

__all__ = ["LEFT", "MIDDLE", "RIGHT", "Name", "read_name", "read_names"]

COMMON = 0.9  # of all names: so many share a prefix or a suffix that says nothing of the bone
FEWEST_IN_COMMON = 6  # names
VERTEBRA = re.compile(r"([LTC])(\d{1,2})")
VERTEBRAE: dict[str, Weights] = {"L": MIDDLE_PARTS["lumbar"], "T": MIDDLE_PARTS["thoracic"], "C": MIDDLE_PARTS["neck"]}

WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[^\W\d_A-Za-z]+")


@dataclass(frozen=True)
class Name:
    """What one name says."""

    side: str  # LEFT, RIGHT or MIDDLE
    parts: Weights  # how strongly it stands for a part of the body; empty where it says nothing
    control: bool = False  # steers or marks, and is no part of the body
    riding: bool = False  # a part of the face, hair or clothes
    twist: bool = False  # a segment of a limb
    front: bool = False  # of a front leg
    hind: bool = False
    stem: str = ""  # the name without its side: two bones of a pair share it

    def score(self, part: str) -> float:
        """How far the name speaks for a part, from 1 to -0.8 for a name that says something else; 0 where silent."""
        if not self.parts:
            return 0.0
        return self.parts.get(part, -0.8 * max(self.parts.values()))


def read_names(names: Sequence[str]) -> list[Name]:
    """Return what the names of a skeleton's bones say; what nearly all of them begin or end with says nothing."""
    short = list(names)
    for from_end in (False, True):
        for _ in range(4):
            affix = _common_affix(short, from_end=from_end)
            if not affix:
                break
            short = [_without(name, affix, from_end=from_end) for name in short]
    return [read_name(name) for name in short]


def _common_affix(names: Sequence[str], *, from_end: bool) -> str:
    """The prefix up to a separator, or the suffix from one on, that nearly all names share; "" where there is none."""
    counts: dict[str, int] = {}
    for name in names:
        found = re.search(r"[_:.|\- ][^_:.|\- ]+$" if from_end else r"^[^_:.|\- ]+[_:.|\- ]", name)
        if found and len(found.group()) < len(name):
            counts[found.group()] = counts.get(found.group(), 0) + 1
    best = max(counts, key=counts.__getitem__, default="")
    enough = counts.get(best, 0) >= max(COMMON * len(names), FEWEST_IN_COMMON)
    return best if enough and best.strip("_:.|- ").lower() not in SIDE_OF_WORD else ""


def _without(name: str, affix: str, *, from_end: bool) -> str:
    return (name.removesuffix(affix) if from_end else name.removeprefix(affix)) or name


def folded(text: str) -> str:
    """Text in plain letters: wide ones narrow, Latin ones without accents."""
    letters = []
    for letter in unicodedata.normalize("NFKC", text).replace("ß", "ss"):
        base = unicodedata.normalize("NFD", letter)[0]
        letters.append(base if base.isascii() else letter)
    return "".join(letters)


def side_and_rest(word: str) -> tuple[str, str]:
    """Take a side off a word that has grown together with it: lefthand, lfoot, handl."""
    if word in KNOWN:
        return MIDDLE, word
    for side in sorted(GROWN_SIDES, key=len, reverse=True):
        if word.startswith(side) and word != side:
            return SIDE_OF_WORD[side], word[len(side) :]
        if word.endswith(side) and word != side:
            return SIDE_OF_WORD[side], word[: -len(side)]
    if word[:1] in {"l", "r"} and word[1:] in SIDED_PARTS:
        return SIDE_OF_WORD[word[0]], word[1:]
    if word[-1:] in {"l", "r"} and word[:-1] in SIDED_PARTS:
        return SIDE_OF_WORD[word[-1]], word[:-1]
    return MIDDLE, word


def words_of(name: str) -> tuple[str, list[str]]:
    """Return the side and the words of a name, without its namespace, numbers and prefixes."""
    # A side that ends the name is the side: in "r_toe.L" the R stands for the rear.
    last = re.search(r"[._\-\s](L|R|l|r|Left|Right|left|right)(?:[._]\d+)?$", name)
    side = SIDE_OF_WORD[last.group(1).lower()] if last else MIDDLE
    found_words = [match.group().lower() for match in WORD.finditer(name.rsplit(":", 1)[-1].rsplit("|", 1)[-1])]
    words = []
    for word in _together(found_words):
        found = SIDE_OF_WORD.get(word, MIDDLE)
        rest = ""
        if not found:
            found, rest = side_and_rest(word)
        side = side or found
        if rest and rest not in PREFIXES and not rest.startswith("mixamorig"):
            words.append(rest)
    return side, words


def _together(words: Sequence[str]) -> list[str]:
    """Words with those joined that capitals have parted wrongly: the LU and Arm of LUArm are luarm."""
    result: list[str] = []
    for word in words:
        before = result[-1] if result else ""
        if len(before) == 2 and before[0] in {"l", "r"} and before[1] + word in SIDED_PARTS and before not in KNOWN:
            result[-1] = before + word
        else:
            result.append(word)
    return result


def longest_fragment(words: list[str], parts: Iterable[str]) -> str:
    """Return the longest known part in the words; short ones count as whole words only (an ear is in every forearm).

    In scripts that do not part words there are no whole ones.
    """
    joined = "".join(words)
    found = [part for part in parts if part in words or ((len(part) > 3 or not part.isascii()) and part in joined)]
    return max(found, key=lambda part: (len(part), part in words), default="")


def _among(words: set[str], joined: str, known: Iterable[str]) -> bool:
    """Whether a word is known, or in a script that does not part words one is within."""
    return any(part in words or (not part.isascii() and part in joined) for part in known)


@cache
def read_name(name: str) -> Name:
    """Return what a bone's name says."""
    name = folded(name)
    vertebra = VERTEBRA.fullmatch(name.rsplit(":", 1)[-1])
    if vertebra:
        return Name(MIDDLE, dict(VERTEBRAE[vertebra.group(1)]), stem=name)
    side, words = words_of(name)
    every, joined = set(words), "".join(words)
    stem = re.sub(r"\d+", "#", joined) + "".join(re.findall(r"\d+", name))
    front, hind = bool(every & FRONT), bool(every & HIND) and bool(side)
    said = Name(
        side,
        parts={},
        control=_among(every, joined, CONTROL) or re.match(r"(MCH|WGT|VIS|ORG|CTRL|IK|FK)[-_]", name) is not None,
        riding=_among(every, joined, RIDING),
        twist=_among(every, joined, TWIST),
        front=front,
        hind=hind,
        stem=stem,
    )
    if every & FINGER or longest_fragment(words, FINGER) not in {"", "ring"}:
        return replace(said, parts={"finger": 1.0})
    tables = SIDED_PARTS if side else MIDDLE_PARTS
    fragment = longest_fragment(words, tables)
    if not fragment and not side:
        # A limb's name without its side still says which part it is.
        tables, fragment = SIDED_PARTS, longest_fragment(words, SIDED_PARTS)
    if side and fragment == "hip" and "joint" in name.lower():
        return replace(said, parts={"hip_joint": 0.6})
    parts = dict(tables.get(fragment, {}))
    if front:
        parts = {ROLE_OF_FRONT_LEG.get(part, part): weight for part, weight in parts.items()}
    if side and "pelvis" in words:
        parts = {"hip_joint": 0.8}
    return replace(said, parts=parts)
