# SPDX-License-Identifier: GPL-3.0-or-later
"""Control rigs made by script: one a kind of constraint, and layouts such as animators have. All are of one person.

The person is 1.75 m tall, faces -Y and has the left side at +X. What deforms is called so: DEF-thigh.L, or by the names
of the layout; everything else is a control or a mechanism.
"""

from __future__ import annotations

import bpy
import numpy as np
from mathutils import Matrix, Vector

TRUNK = {
    "hips": ((0.0, 0.0, 0.95), (0.0, 0.0, 1.06)),
    "spine": ((0.0, 0.0, 1.06), (0.0, 0.01, 1.22)),
    "chest": ((0.0, 0.01, 1.22), (0.0, 0.0, 1.46)),
    "neck": ((0.0, 0.0, 1.46), (0.0, -0.01, 1.56)),
    "head": ((0.0, -0.01, 1.56), (0.0, -0.01, 1.75)),
}
SIDE = {
    "shoulder": ((0.03, 0.0, 1.43), (0.17, 0.01, 1.43)),
    "upper_arm": ((0.17, 0.01, 1.43), (0.40, 0.04, 1.28)),
    "forearm": ((0.40, 0.04, 1.28), (0.61, 0.0, 1.14)),
    "hand": ((0.61, 0.0, 1.14), (0.72, -0.02, 1.07)),
    "thigh": ((0.1, 0.0, 0.92), (0.1, -0.03, 0.50)),
    "shin": ((0.1, -0.03, 0.50), (0.1, 0.03, 0.09)),
    "foot": ((0.1, 0.03, 0.09), (0.1, -0.10, 0.02)),
    "toe": ((0.1, -0.10, 0.02), (0.1, -0.17, 0.02)),
}
ABOVE = {
    "spine": "hips",
    "chest": "spine",
    "neck": "chest",
    "head": "neck",
    "shoulder": "chest",
    "upper_arm": "shoulder",
    "forearm": "upper_arm",
    "hand": "forearm",
    "thigh": "hips",
    "shin": "thigh",
    "foot": "shin",
    "toe": "foot",
}
LIMBS = (("upper_arm", "forearm", "hand"), ("thigh", "shin", "foot"))
KINDS = (
    "COPY_TRANSFORMS",
    "COPY_ROTATION",
    "ARMATURE",
    "CHILD_OF",
    "PARENT",
    "IK",
    "IK_POLE",
    "STRETCH_TO",
    "DAMPED_TRACK",
    "DRIVEN",
)


def person() -> dict[str, tuple[Vector, Vector, str]]:
    """Head, tail and parent of all bones, by names such as thigh.L."""
    found = {}
    for name, (head, tail) in TRUNK.items():
        found[name] = (Vector(head), Vector(tail), ABOVE.get(name, ""))
    for side, sign in (("L", 1.0), ("R", -1.0)):
        flip = Matrix.Diagonal((sign, 1.0, 1.0))
        for name, (head, tail) in SIDE.items():
            above = ABOVE[name] if ABOVE[name] in TRUNK else f"{ABOVE[name]}.{side}"
            found[f"{name}.{side}"] = (flip @ Vector(head), flip @ Vector(tail), above)
    return found


class Builder:
    """Makes an armature bone by bone, then constrains it."""

    def __init__(self, name: str = "rig") -> None:
        data = bpy.data.armatures.new(name)
        self.rig = bpy.data.objects.new(name, data)
        bpy.context.scene.collection.objects.link(self.rig)
        bpy.context.view_layer.objects.active = self.rig
        bpy.ops.object.mode_set(mode="EDIT")

    def bone(self, name, head, tail, parent="", *, deform=False, roll=0.0, inherit=True):
        """Add a bone; controls do not deform."""
        bone = self.rig.data.edit_bones.new(name)
        bone.head, bone.tail, bone.roll = head, tail, roll
        bone.use_deform, bone.use_inherit_rotation = deform, inherit
        if parent:
            bone.parent = self.rig.data.edit_bones[parent]
        return name

    def done(self) -> bpy.types.Object:
        """Leave Edit Mode; what follows is constraints."""
        bpy.ops.object.mode_set(mode="OBJECT")
        return self.rig

    def constrain(self, bone, kind, target, **options):
        """Add a constraint to a bone of the rig; `pole` is a bone too."""
        made = self.rig.pose.bones[bone].constraints.new(kind)
        if kind == "ARMATURE":
            entry = made.targets.new()
            entry.target, entry.subtarget = self.rig, target
            return made
        made.target, made.subtarget = self.rig, target
        pole = options.pop("pole", "")
        for name, value in options.items():
            setattr(made, name, value)
        if pole:
            made.pole_target, made.pole_subtarget = self.rig, pole
            made.pole_angle = pole_angle(self.rig, bone, pole, made.chain_count)
        if kind == "CHILD_OF":
            made.inverse_matrix = self.rig.data.bones[target].matrix_local.inverted()
        return made

    def switched(self, constraint, owner, name, expression="s"):
        """Have a constraint's influence follow a custom property of a bone."""
        curve = constraint.driver_add("influence")
        curve.driver.expression = expression
        variable = curve.driver.variables.new()
        variable.name = "s"
        variable.targets[0].id = self.rig
        variable.targets[0].data_path = f'pose.bones["{owner}"]["{name}"]'


def pole_angle(rig, bone, pole, count) -> float:
    """The angle with which the chain at rest is where its pole wants it."""
    chain = [rig.data.bones[bone]]
    while len(chain) < count:
        chain.append(chain[-1].parent)
    base, tip = chain[-1], chain[0]
    line = tip.tail_local - base.head_local
    normal = line.cross(rig.data.bones[pole].head_local - base.head_local)
    projected = normal.cross(base.tail_local - base.head_local)
    angle = base.x_axis.copy()
    angle = (base.matrix_local.to_3x3() @ Vector((1.0, 0.0, 0.0))).angle(projected)
    cross = (base.matrix_local.to_3x3() @ Vector((1.0, 0.0, 0.0))).cross(projected)
    return -angle if cross.angle(base.tail_local - base.head_local) < 1.0 else angle


def constrained(kind: str, seed: int = 0) -> bpy.types.Object:
    """A rig whose deforming bones follow controls by one kind of constraint, with rolls and modes at random."""
    rng = np.random.default_rng(seed)
    rolls = {name: float(rng.uniform(-np.pi, np.pi)) for name in person()}
    if kind in {"IK", "IK_POLE", "DRIVEN"}:
        rolls = dict.fromkeys(rolls, 0.0)
    builder = Builder()
    builder.bone("root", (0.0, 0.0, 0.0), (0.0, 0.4, 0.0))
    bones = person()
    chains = kind in {"IK", "IK_POLE", "STRETCH_TO", "DAMPED_TRACK", "DRIVEN"}
    for name, (head, tail, above) in bones.items():
        if kind == "DRIVEN" and name.startswith("toe"):
            continue
        builder.bone(f"CTRL-{name}", head, tail, f"CTRL-{above}" if above else "root", roll=rolls[name])
    for name, (head, tail, above) in bones.items():
        parent = f"DEF-{above}" if above else "root"
        if kind == "PARENT":
            parent = f"CTRL-{name}"
        elif kind in {"ARMATURE", "CHILD_OF"}:
            parent = ""
        builder.bone(f"DEF-{name}", head, tail, parent, deform=True, roll=rolls[name])
    if chains:
        for side, sign in (("L", 1.0), ("R", -1.0)):
            for upper, lower, end in LIMBS:
                _, (head, tail, _) = sign, bones[f"{end}.{side}"]
                hold = builder.bone(f"IK-{end}.{side}", head, tail, "root", roll=rolls[f"{end}.{side}"])
                if end == "foot" and kind != "DRIVEN":
                    builder.rig.data.edit_bones[f"CTRL-toe.{side}"].parent = builder.rig.data.edit_bones[hold]
                middle = bones[f"{lower}.{side}"][0]
                away = Vector((0.0, 0.5 if upper == "upper_arm" else -0.5, 0.0))
                builder.bone(f"POLE-{lower}.{side}", middle + away, middle + 1.2 * away, "root")
    for name, (head, tail, above) in bones.items() if kind == "DRIVEN" else ():
        if any(name.split(".")[0] in limb for limb in LIMBS):
            limb_above = above if name.split(".")[0] not in {"upper_arm", "thigh"} else ""
            builder.bone(f"MCH-{name}", head, tail, f"MCH-{limb_above}" if limb_above else f"CTRL-{above}")
    rig = builder.done()
    for bone in rig.pose.bones:
        bone.rotation_mode = str(rng.choice(["QUATERNION", "XYZ", "YZX", "ZXY"]))
    for name in bones:
        if not chains or kind == "DRIVEN" or not any(name.split(".")[0] in limb for limb in LIMBS):
            follow(builder, name, kind)
    for side in "LR" if chains else "":
        for limb in LIMBS:
            bend(builder, kind, *(f"{part}.{side}" for part in limb))
    if kind in {"STRETCH_TO", "DAMPED_TRACK"}:
        joints_at(rig, bones)
    return rig


def bend(builder, kind, upper, lower, end) -> None:
    """Have a limb be solved towards controls."""
    rig, hold, joint = builder.rig, f"IK-{end}", f"POLE-{lower}"
    if kind == "DRIVEN":
        rig.pose.bones[hold]["ik"] = 1.0
        builder.constrain(f"MCH-{lower}", "IK", hold, chain_count=2, iterations=500, pole=joint)
        for name, leader in ((upper, f"MCH-{upper}"), (lower, f"MCH-{lower}"), (end, f"MCH-{end}")):
            builder.switched(builder.constrain(f"DEF-{name}", "COPY_TRANSFORMS", leader), hold, "ik")
        builder.constrain(f"MCH-{end}", "COPY_ROTATION", hold)
    elif kind in {"IK", "IK_POLE"}:
        pole = "" if kind == "IK" else joint
        builder.constrain(f"DEF-{lower}", "IK", hold, chain_count=2, iterations=500, pole=pole)
        builder.constrain(f"DEF-{end}", "COPY_ROTATION", hold)
    else:
        for bone, aim in ((f"DEF-{upper}", joint), (f"DEF-{lower}", hold)):
            made = builder.constrain(bone, kind, aim)
            if kind == "STRETCH_TO":
                made.rest_length, made.volume = rig.data.bones[bone].length, "NO_VOLUME"
        builder.constrain(f"DEF-{end}", "COPY_TRANSFORMS", hold)


def joints_at(rig, bones) -> None:
    """Put controls of joints where these are."""
    bpy.ops.object.mode_set(mode="EDIT")
    for bone in rig.data.edit_bones:
        if bone.name.startswith("POLE-"):
            head = bones[bone.name.removeprefix("POLE-")][0]
            bone.head, bone.tail = head, head + Vector((0.0, 0.1, 0.0))
    bpy.ops.object.mode_set(mode="OBJECT")


def follow(builder, name, kind) -> None:
    """Have a deforming bone follow its control."""
    bone, control = f"DEF-{name}", f"CTRL-{name}"
    if kind == "PARENT" or control not in builder.rig.data.bones:
        return
    if kind in {"ARMATURE", "CHILD_OF"}:
        builder.constrain(bone, kind, control)
    elif kind == "COPY_ROTATION":
        builder.constrain(bone, "COPY_ROTATION", control)
        if name == "hips":
            builder.constrain(bone, "COPY_LOCATION", control)
    else:
        builder.constrain(bone, "COPY_TRANSFORMS", control)


def hand_made() -> bpy.types.Object:
    """As animators make them: feet on IK with a reverse foot, hands on IK with poles, the spine on FK, COG and root.

    What deforms is also what is turned, where nothing constrains it.
    """
    builder, bones = Builder(), person()
    builder.bone("root", (0.0, 0.0, 0.0), (0.0, 0.4, 0.0))
    builder.bone("COG", (0.0, 0.0, 0.95), (0.0, 0.2, 0.95), "root")
    for name, (head, tail, above) in bones.items():
        builder.bone(name, head, tail, above or "COG", deform=True)
    for side in "LR":
        foot, ball, toe = (bones[f"{part}.{side}"] for part in ("foot", "toe", "toe"))
        heel = Vector((foot[0].x, foot[0].y + 0.05, 0.0))
        tip = Vector((toe[1].x, toe[1].y - 0.03, 0.0))
        builder.bone(f"foot_ctrl.{side}", heel, tip, "root")
        up = Vector((0.0, 0.0, 0.08))
        builder.bone(f"heel_roll.{side}", heel, heel + up, f"foot_ctrl.{side}")
        builder.bone(f"toe_roll.{side}", tip, tip + up, f"heel_roll.{side}")
        builder.bone(f"ball_roll.{side}", ball[0], ball[0] + up, f"toe_roll.{side}")
        builder.bone(f"MCH-ankle.{side}", foot[0], ball[0], f"ball_roll.{side}")
        builder.bone(f"toe_ctrl.{side}", toe[0], toe[1], f"toe_roll.{side}")
        knee, elbow = bones[f"shin.{side}"][0], bones[f"forearm.{side}"][0]
        builder.bone(f"knee_pole.{side}", knee - Vector((0.0, 0.5, 0.0)), knee - Vector((0.0, 0.6, 0.0)), "root")
        builder.bone(f"hand_ctrl.{side}", *bones[f"hand.{side}"][:2], "root")
        builder.bone(f"elbow_pole.{side}", elbow + Vector((0.0, 0.5, 0.0)), elbow + Vector((0.0, 0.6, 0.0)), "root")
    rig = builder.done()
    for side in "LR":
        for name in ("heel_roll", "toe_roll", "ball_roll"):
            posed = rig.pose.bones[f"{name}.{side}"]
            posed.rotation_mode, posed.lock_location, posed.lock_rotation = "XYZ", [True] * 3, [False, True, True]
        pole = f"knee_pole.{side}"
        builder.constrain(f"shin.{side}", "IK", f"MCH-ankle.{side}", chain_count=2, iterations=500, pole=pole)
        builder.constrain(f"foot.{side}", "COPY_ROTATION", f"MCH-ankle.{side}")
        builder.constrain(f"toe.{side}", "COPY_ROTATION", f"toe_ctrl.{side}")
        pole = f"elbow_pole.{side}"
        builder.constrain(f"forearm.{side}", "IK", f"hand_ctrl.{side}", chain_count=2, iterations=500, pole=pole)
        builder.constrain(f"hand.{side}", "COPY_ROTATION", f"hand_ctrl.{side}")
    return rig


def three_chains(names, switch) -> bpy.types.Object:
    """A limb in three: what deforms, one on FK and one on IK, blended by a property of the IK control.

    `names` says what the parts are called, `switch` the property; 1 is FK.
    """
    builder, bones = Builder(), person()
    called = {name: names.get(name, name) for name in bones}
    builder.bone(names["root"], (0.0, 0.0, 0.0), (0.0, 0.4, 0.0))
    builder.bone(names["cog"], (0.0, 0.0, 0.95), (0.0, 0.2, 0.95), names["root"])
    parts = {part for limb in LIMBS for part in limb}
    for name, (head, tail, above) in bones.items():
        over = names["fk"].format(called[above]) if above else names["cog"]
        builder.bone(names["fk"].format(called[name]), head, tail, over)
    for name, (head, tail, above) in bones.items():
        part = name.split(".")[0]
        if part not in parts:
            continue
        start = part in {"upper_arm", "thigh"}
        over = names["fk"].format(called[above]) if start else names["mch"].format(called[above])
        builder.bone(names["mch"].format(called[name]), head, tail, over)
        if part in {"hand", "foot"}:
            builder.bone(names["ik"].format(called[name]), head, tail, names["root"])
        if part in {"forearm", "shin"}:
            away = Vector((0.0, 0.5 if part == "forearm" else -0.5, 0.0))
            builder.bone(names["pole"].format(called[name]), head + away, head + 1.2 * away, names["root"])
    for name, (head, tail, above) in bones.items():
        builder.bone(
            names["def"].format(called[name]),
            head,
            tail,
            names["def"].format(called[above]) if above else names["cog"],
            deform=True,
        )
    rig = builder.done()
    for name in bones:
        bone = names["def"].format(called[name])
        builder.constrain(bone, "COPY_TRANSFORMS", names["fk"].format(called[name]))
    for side in "LR":
        for upper, lower, end in LIMBS:
            hold = names["ik"].format(called[f"{end}.{side}"])
            rig.pose.bones[hold][switch] = 0.0
            pole = names["pole"].format(called[f"{lower}.{side}"])
            mechanism = names["mch"].format(called[f"{lower}.{side}"])
            builder.constrain(mechanism, "IK", hold, chain_count=2, iterations=500, pole=pole)
            builder.constrain(names["mch"].format(called[f"{end}.{side}"]), "COPY_ROTATION", hold)
            for part in (upper, lower, end):
                name = called[f"{part}.{side}"]
                made = builder.constrain(names["def"].format(name), "COPY_TRANSFORMS", names["mch"].format(name))
                builder.switched(made, hold, switch, "1.0 - s")
    return rig


def auto_rig_pro_like() -> bpy.types.Object:
    """The names and the build of such a rig, as far as they are publicly known."""
    names = {"hips": "root.x", "spine": "spine_01.x", "chest": "spine_02.x", "neck": "neck.x", "head": "head.x"}
    for side in "LR":
        low = side.lower()
        names |= {f"upper_arm.{side}": f"arm.{low}", f"thigh.{side}": f"thigh.{low}", f"shin.{side}": f"leg.{low}"}
        names |= {f"{part}.{side}": f"{part}.{low}" for part in ("shoulder", "forearm", "hand", "foot")}
        names |= {f"toe.{side}": f"toes_01.{low}"}
    forms = {"fk": "c_{}", "ik": "c_{}_ik", "pole": "c_{}_pole", "mch": "{}_ik_nostr", "def": "{}_stretch"}
    return three_chains(names | forms | {"root": "c_traj", "cog": "c_root_master.x"}, "ik_fk_switch")


def mixamo_control_rig_like() -> bpy.types.Object:
    """The names and the build of such a rig, as far as they are publicly known."""
    names = {"hips": "Hips", "spine": "Spine", "chest": "Spine1", "neck": "Neck", "head": "Head"}
    called = {"shoulder": "Shoulder", "upper_arm": "Arm", "forearm": "ForeArm", "hand": "Hand"}
    called |= {"thigh": "UpLeg", "shin": "Leg", "foot": "Foot", "toe": "ToeBase"}
    for part, word in called.items():
        names |= {f"{part}.L": f"Left{word}", f"{part}.R": f"Right{word}"}
    forms = {"fk": "Ctrl_{}", "ik": "Ctrl_{}_IK", "pole": "Ctrl_{}_Pole", "mch": "{}_IK_mch", "def": "mixamorig:{}"}
    return three_chains(names | forms | {"root": "Ctrl_Master", "cog": "Ctrl_Hips_Main"}, "ik_fk_switch")
