# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bone's name says: its side, and which parts of a body it may stand for.

Words are split at separators, digits and capitals; sides and prefixes are taken off; the longest known fragment of what
is left decides. A word that different rigs use for different bones (a "shoulder", an "arm", a "leg") speaks for each of
them with less weight, so that the shape of the chain can settle it.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

LEFT, RIGHT, MIDDLE = "L", "R", ""

SIDE_OF_WORD = {
    "l": LEFT, "left": LEFT, "lf": LEFT, "lft": LEFT, "lt": LEFT, "izq": LEFT,
    "r": RIGHT, "right": RIGHT, "rg": RIGHT, "rgt": RIGHT, "rt": RIGHT, "rht": RIGHT, "der": RIGHT,
}  # fmt: skip

PREFIXES = {"mixamorig", "armature", "skeleton", "bip", "biped", "valvebiped", "cc", "base", "def", "jnt", "joint"}
PREFIXES |= {"bone", "bn", "b", "j", "c", "skel", "rig", "character", "sk", "bind", "jt", "geo", "deform", "valve"}

CONTROL = {
    "attach", "camera", "center", "control", "controller", "corrective", "ctl", "ctrl", "dummy", "effector", "end",
    "fk", "footsteps", "glue", "goal", "ground", "gun", "handle", "heel", "helper", "ik", "interaction", "mass",
    "master", "mch", "nub", "null", "offset", "org", "pivot", "pole", "prop", "pv", "rock", "sharebone", "site",
    "socket", "swing", "target", "tgt", "tweak", "virtual", "vis", "weapon", "wgt",
}  # fmt: skip
"""Bones that steer other bones, or mark a place, and carry no part of the body."""

RIDING = {
    "adj", "bag", "bang", "beard", "belt", "boob", "braid", "breast", "brow", "bust", "buttock", "cape", "cheek",
    "chin", "cloth", "coat", "dress", "dyn", "ear", "ears", "eye", "eyeball", "eyebrow", "eyelid", "eyes", "face",
    "facial", "feather", "forehead", "genital", "glasses", "glute", "hair", "hat", "helmet", "jaw", "jiggle", "lid",
    "lip", "lips", "mouth", "mustache", "necklace", "nose", "nostril", "pec", "pectoral", "physics", "ponytail",
    "ribbon", "scarf", "scrotum", "sec", "skirt", "sleeve", "teeth", "temple", "tongue", "tooth", "wing",
}  # fmt: skip
"""Parts that ride on the body: face, hair, clothes, flesh."""

TWIST = {"twist", "roll", "bend"}
"""Segments of a limb. They lie in its chain (Daz, MakeHuman) or beside it (Unreal), but start nothing."""

FINGER = {"thumb", "index", "middle", "ring", "pinky", "little", "finger", "fingers", "palm", "metacarpal"}
FINGER |= {"carpal", "digit", "knuckle"}

FRONT = {"front", "fore", "fr"}
HIND = {"hind", "rear", "back", "bk"}

MIDDLE_PARTS: dict[str, dict[str, float]] = {
    "pelvis": {"pelvis": 1.0},
    "hips": {"pelvis": 1.0},
    "hip": {"pelvis": 0.8},
    "cog": {"pelvis": 0.5},
    "root": {"pelvis": 0.2},
    "sacrum": {"pelvis": 0.8, "spine": 0.3},
    "spine": {"spine": 0.8, "chest": 0.7, "neck": 0.2, "head": 0.2, "pelvis": 0.2},
    "lowerback": {"spine": 1.0},
    "back": {"spine": 0.6, "chest": 0.4},
    "abdomen": {"spine": 1.0},
    "stomach": {"spine": 1.0},
    "belly": {"spine": 0.8},
    "waist": {"spine": 1.0, "pelvis": 0.3},
    "lumbar": {"spine": 1.0},
    "torso": {"spine": 0.6, "chest": 0.5, "pelvis": 0.3},
    "upperbody": {"spine": 0.7, "chest": 0.7},
    "lowerbody": {"pelvis": 0.8},
    "body": {"spine": 0.3, "chest": 0.3, "pelvis": 0.3},
    "chest": {"chest": 1.0, "spine": 0.5},
    "thorax": {"chest": 1.0, "spine": 0.4},
    "ribcage": {"chest": 1.0, "spine": 0.4},
    "ribs": {"chest": 0.8, "spine": 0.4},
    "neck": {"neck": 1.0, "head": 0.1},
    "cervical": {"neck": 1.0},
    "head": {"head": 1.0},
    "skull": {"head": 1.0},
    "tail": {"tail": 1.0},
}

SIDED_PARTS: dict[str, dict[str, float]] = {
    "hip": {"thigh": 0.6},
    "clavicle": {"clavicle": 1.0},
    "collar": {"clavicle": 1.0},
    "collarbone": {"clavicle": 1.0},
    "scapula": {"clavicle": 1.0},
    "shoulder": {"clavicle": 0.8, "upper_arm": 0.6},
    "shldr": {"clavicle": 0.5, "upper_arm": 0.7},
    "upperarm": {"upper_arm": 1.0},
    "uparm": {"upper_arm": 1.0},
    "armupper": {"upper_arm": 1.0},
    "bicep": {"upper_arm": 0.9},
    "humerus": {"upper_arm": 1.0},
    "arm": {"upper_arm": 0.7, "forearm": 0.4, "hand": 0.1},
    "forearm": {"forearm": 1.0},
    "foreleg": {"upper_arm": 0.5, "forearm": 0.5},
    "forefoot": {"hand": 1.0},
    "forepaw": {"hand": 1.0},
    "lowerarm": {"forearm": 1.0},
    "lowarm": {"forearm": 1.0},
    "loarm": {"forearm": 1.0},
    "armlower": {"forearm": 1.0},
    "elbow": {"forearm": 1.0},
    "radius": {"forearm": 1.0},
    "ulna": {"forearm": 0.8},
    "hand": {"hand": 1.0},
    "wrist": {"hand": 1.0},
    "thigh": {"thigh": 1.0},
    "upleg": {"thigh": 1.0},
    "upperleg": {"thigh": 1.0},
    "legupper": {"thigh": 1.0},
    "femur": {"thigh": 1.0},
    "leg": {"shin": 0.7, "thigh": 0.5, "foot": 0.1, "toe": 0.05},
    "shin": {"shin": 1.0},
    "calf": {"shin": 1.0},
    "knee": {"shin": 1.0},
    "lowerleg": {"shin": 1.0},
    "lowleg": {"shin": 1.0},
    "loleg": {"shin": 1.0},
    "leglower": {"shin": 1.0},
    "tibia": {"shin": 1.0},
    "foot": {"foot": 1.0, "toe": 0.1},
    "ankle": {"foot": 1.0},
    "hock": {"foot": 1.0},
    "metatarsal": {"foot": 0.5, "toe": 0.4},
    "metatarsals": {"foot": 0.5, "toe": 0.4},
    "paw": {"foot": 0.6, "hand": 0.6, "toe": 0.5},
    "hoof": {"foot": 0.4, "hand": 0.4, "toe": 0.7},
    "toe": {"toe": 1.0},
    "toes": {"toe": 1.0},
    "toebase": {"toe": 1.0},
    "ball": {"toe": 1.0},
}

ROLE_OF_FRONT_LEG = {"thigh": "upper_arm", "shin": "forearm", "foot": "hand", "toe": "finger"}
"""What a part named as of a hind leg is, when its name also says that it stands in front."""

KNOWN = set(MIDDLE_PARTS) | set(SIDED_PARTS) | CONTROL | RIDING | TWIST | FINGER | FRONT | HIND | PREFIXES
WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[^\W\d_A-Za-z]+")


@dataclass(frozen=True)
class Name:
    """What one name says."""

    side: str  # LEFT, RIGHT or MIDDLE
    parts: dict[str, float]  # how strongly it stands for a part of the body; empty where it says nothing
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


def side_and_rest(word: str) -> tuple[str, str]:
    """Take a side off a word that has grown together with it: lefthand, lfoot, handl."""
    if word in KNOWN:
        return MIDDLE, word
    for side in ("left", "right"):
        if word.startswith(side):
            return SIDE_OF_WORD[side], word[len(side) :]
        if word.endswith(side):
            return SIDE_OF_WORD[side], word[: -len(side)]
    if word[:1] in SIDE_OF_WORD and word[1:] in SIDED_PARTS:
        return SIDE_OF_WORD[word[0]], word[1:]
    if word[-1:] in SIDE_OF_WORD and word[:-1] in SIDED_PARTS:
        return SIDE_OF_WORD[word[-1]], word[:-1]
    return MIDDLE, word


def words_of(name: str) -> tuple[str, list[str]]:
    """Return the side and the words of a name, without its namespace, numbers and prefixes."""
    # A side that ends the name is the side: in "r_toe.L" the R stands for the rear.
    last = re.search(r"[._\-\s](L|R|l|r|Left|Right|left|right)(?:[._]\d+)?$", name)
    side = SIDE_OF_WORD[last.group(1).lower()] if last else MIDDLE
    words = []
    for match in WORD.finditer(name.rsplit(":", 1)[-1].rsplit("|", 1)[-1]):
        word = match.group().lower()
        found = SIDE_OF_WORD.get(word, MIDDLE)
        if not found:
            found, word = side_and_rest(word)
        else:
            word = ""
        side = side or found
        if word and word not in PREFIXES and not word.startswith("mixamorig"):
            words.append(word)
    return side, words


def longest_fragment(words: list[str], parts: Iterable[str]) -> str:
    """Return the longest known part in the words; short ones count as whole words only (an ear is in every forearm)."""
    joined = "".join(words)
    found = [part for part in parts if part in words or (len(part) > 3 and part in joined)]
    return max(found, key=lambda part: (len(part), part in words), default="")


@cache
def read_name(name: str) -> Name:
    """Return what a bone's name says."""
    side, words = words_of(name)
    every = set(words)
    stem = re.sub(r"\d+", "#", "".join(words)) + "".join(re.findall(r"\d+", name))
    front, hind = bool(every & FRONT), bool(every & HIND) and bool(side)
    said = {
        "control": bool(every & CONTROL) or re.match(r"(MCH|WGT|VIS|ORG|CTRL|IK|FK)[-_]", name) is not None,
        "riding": bool(every & RIDING),
        "twist": bool(every & TWIST),
        "front": front,
        "hind": hind,
        "stem": stem,
    }
    if every & FINGER or longest_fragment(words, FINGER) not in {"", "ring"}:
        return Name(side, {"finger": 1.0}, **said)
    tables = SIDED_PARTS if side else MIDDLE_PARTS
    fragment = longest_fragment(words, tables)
    if not fragment and not side:
        # A limb's name without its side still says which part it is.
        tables, fragment = SIDED_PARTS, longest_fragment(words, SIDED_PARTS)
    if side and fragment == "hip" and "joint" in name.lower():
        return Name(side, {"hip_joint": 0.6}, **said)
    parts = dict(tables.get(fragment, {}))
    if front:
        parts = {ROLE_OF_FRONT_LEG.get(part, part): weight for part, weight in parts.items()}
    if side and "pelvis" in words:
        parts = {"hip_joint": 0.8}
    return Name(side, parts, **said)
