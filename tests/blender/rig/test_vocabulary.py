# SPDX-License-Identifier: GPL-3.0-or-later
"""Names first: every family of rigs by a line, as built and with a rest pose that is none; every word of the table."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from heft.core.motion import quaternions
from heft.core.motion.clip import LocalPoses, from_local, to_local
from heft.core.rig.names import read_name
from heft.core.rig.roles import detect_roles
from heft.core.rig.vocabulary import MIDDLE_PARTS, SIDED_PARTS

from tests.blender.rig import rigs
from tests.blender.rig.test_families import JOINTS, both_sides, figure
from tests.core.motion.skeletons import still, waving

TURNED = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
UPWARDS = np.array([0.0, 0.0, 1e-3])
ORDER = ("pelvis", "spine", "chest", "neck", "head")
LIMBS = ("clavicle", "upper_arm", "forearm", "hand", "thigh", "shin", "foot", "toe")


def parsed(line):
    """Names by role."""
    label, text = line.split(": ", 1)
    sides, *middle = [part.strip() for part in text.split(" | ")]
    limbs = [name for part in middle[5:] for name in (part.split(";") if ";" in part else part.split())]
    names = {role: tuple(text.split(",")) for role, text in zip(ORDER, middle, strict=False)}
    for letter, word in zip("LR", sides.split(","), strict=True):
        for role, text in zip(LIMBS, limbs, strict=True):
            if text != "-":
                names[f"{role}.{letter}"] = tuple(text.replace("%", word).split(","))
    return label, names


TABLE = (Path(__file__).parent / "names_of_rigs.txt").read_text(encoding="utf-8")
LINES = [parsed(line) for line in TABLE.splitlines() if not line.startswith("#")]


def scrambled(skeleton, seed):
    """The same bones with every joint turned at random, and the whole of it too."""
    rng = np.random.default_rng(seed)
    turn = quaternions.normalize(rng.normal(size=(1, len(skeleton.names), 4)))
    like = still(skeleton, 1)
    posed = from_local(like, LocalPoses(skeleton.parent_offset[None], turn))
    turned = posed.orientation[0]
    back = quaternions.multiply(turned, quaternions.conjugate(skeleton.orientation))
    tail = posed.position[0] + quaternions.rotate(back, skeleton.tail - skeleton.head)
    return replace(skeleton, head=posed.position[0], tail=tail, orientation=turned)


@pytest.mark.parametrize(("label", "names"), LINES, ids=[label for label, _ in LINES])
def test_a_family_of_rigs_by_its_names(label, names):
    skeleton = figure(names)
    found = detect_roles(skeleton)
    assert dict(found.bones) == names
    assert not found.unsure
    for seed in range(3):
        turned = detect_roles(scrambled(skeleton, seed))
        assert dict(turned.bones) == names
        assert not [line for line in turned.unsure if "toe" in line or "foot" in line]


@pytest.mark.parametrize("table", [MIDDLE_PARTS, SIDED_PARTS])
def test_every_word_says_what_the_table_has(table):
    for word, weights in table.items():
        name = word if table is MIDDLE_PARTS else f"{word}_L"
        said = read_name(name)
        assert said.parts == weights, word
        assert said.side == ("" if table is MIDDLE_PARTS else "L"), word


@pytest.mark.parametrize("change", [str.upper, str.lower, str.swapcase, lambda name: name.replace("_", "")])
def test_case_and_separators_do_not_matter(change):
    names = {role: tuple(map(change, bones)) for role, bones in dict(LINES)["UE4"].items()}
    assert dict(detect_roles(figure(names)).bones) == names


@pytest.mark.parametrize("affix", ["Hero_Arm_%", "%_jnt", "rig|char:%_bind", "%.000"])
def test_what_all_names_share_says_nothing(affix):
    names = {role: tuple(affix.replace("%", bone) for bone in bones) for role, bones in dict(LINES)["Namco"].items()}
    fingers = {f"{finger}{side}" for finger in ("Index", "Middle", "Ring") for side in "LR"}
    skeleton = figure(names)
    every = tuple(affix.replace("%", name) if name in fingers else name for name in skeleton.names)
    assert dict(detect_roles(replace(skeleton, names=every)).bones) == names


def test_a_rest_pose_without_any_height():
    names = dict(LINES)["UE4"]
    skeleton = figure(names)
    flat = np.array([1.0, 1.0, 0.0])
    lying = replace(skeleton, head=(skeleton.head @ TURNED) * flat, tail=(skeleton.tail @ TURNED) * flat + UPWARDS)
    assert dict(detect_roles(lying).bones) == names


def test_poser_hangs_thighs_from_buttocks():
    names = dict(LINES)["Poser"]
    hips = JOINTS["pelvis"].head
    extra = both_sides(("%Buttock", "hip", hips, JOINTS["thigh.L"].head))
    found = detect_roles(figure(names, parents={f"{side}Thigh": f"{side}Buttock" for side in "lr"}, extra=extra))
    assert dict(found.bones) == names


def test_mmd_with_its_copies_for_ik_and_for_deforming():
    names = dict(LINES)["MMD"]
    rows = []
    for side, word in (("L", "左"), ("R", "右")):
        for bone, role, above in (
            ("足D", "thigh", "下半身"),
            ("ひざD", "shin", f"{word}足D"),
            ("足首D", "foot", f"{word}ひざD"),
            ("足ＩＫ", "foot", "全ての親"),
        ):
            joint = JOINTS[f"{role}.{side}"]
            rows.append((word + bone, above, joint.head, joint.tail))
    rows.append(("全ての親", None, np.zeros(3), np.array([0.0, 0.1, 0.0])))
    rows.append(("センター", "全ての親", np.array([0.0, 0.0, 0.8]), np.array([0.0, 0.0, 0.9])))
    found = detect_roles(figure(names, parents={"下半身": "センター"}, extra=rows))
    assert dict(found.bones) == names


def test_feet_that_hang_from_the_root_belong_to_the_legs():
    names = dict(LINES)["Namco"]
    skeleton = figure(names, extra=[("Root", None, np.zeros(3), np.array([0.0, 0.1, 0.0]))], parents={"Hips": "Root"})
    parent = skeleton.parent.copy()
    for side in "LR":
        parent[skeleton.index(f"Foot_{side}")] = skeleton.index("Root")
    found = detect_roles(rigs.make_skeleton(replace_parent(skeleton, parent)))
    assert dict(found.bones) == names


def test_a_root_at_the_hips_that_stands_still_is_no_pelvis():
    names = dict(LINES)["UE4"]
    hips = JOINTS["pelvis"].head
    skeleton = figure(
        names,
        extra=[("root", None, hips, hips + np.array([0.0, 0.1, 0.0]))],
        parents={"pelvis": "root", "spine_01": "root"},
    )
    still_roots = waving(skeleton, frames=20, size=0.1)
    place, turn = to_local(still_roots).position.copy(), to_local(still_roots).orientation.copy()
    place[:, 0], turn[:, 0] = place[0, 0], turn[0, 0]
    clip = from_local(still_roots, LocalPoses(place, turn))
    assert skeleton.names[0] == "root"
    assert detect_roles(skeleton).bones["pelvis"] == ("root", "pelvis")
    assert dict(detect_roles(skeleton, None, None, clip).bones) == names


def replace_parent(skeleton, parent):
    """Rows of the skeleton with other parents."""
    rows = []
    for bone, name in enumerate(skeleton.names):
        above = skeleton.names[parent[bone]] if parent[bone] >= 0 else None
        rows.append((name, above, skeleton.head[bone], skeleton.tail[bone]))
    return rows
