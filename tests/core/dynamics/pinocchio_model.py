# SPDX-License-Identifier: GPL-3.0-or-later
"""A `Character` as Pinocchio's model, made body by body, and the change of coordinates between the two.

Pinocchio's free-flyer has its linear velocity in the body's frame and quaternions x-y-z-w; a universal joint is two
hinges. With T v the velocities that Pinocchio uses, its M becomes T^T M T and its Jacobians J T.
"""

import numpy as np
import pinocchio as pin


class PinocchioModel:
    def __init__(self, character):
        self.character = character
        self.model = pin.Model()
        self.model.gravity = pin.Motion(np.array([*character.gravity, 0.0, 0.0, 0.0]))
        self.joint_of_body = []  # the joint that carries the body, and the body's frame in it
        self.frame_of_body = []
        tree = character.tree
        for b, body in enumerate(character.bodies):
            joint, placement = 0, pin.SE3.Identity()
            if tree.parent[b] >= 0:
                joint, placement = self.joint_of_body[tree.parent[b]]
            placement = placement * pin.SE3(pin.Quaternion(*tree.offset_quaternion[b]), tree.offset_position[b])
            for model in self.joint_models(body.joint):
                joint = self.model.addJoint(joint, model, placement, f"{body.name}_{self.model.njoints}")
                placement = pin.SE3.Identity()
            inertia = pin.Inertia(body.mass, np.array(body.center_of_mass), np.array(body.inertia))
            self.model.appendBodyToJoint(joint, inertia, placement)
            self.joint_of_body.append((joint, placement))
            frame = pin.Frame(body.name, joint, 0, placement, pin.FrameType.BODY)
            self.frame_of_body.append(self.model.addFrame(frame, False))
        self.data = self.model.createData()

    @staticmethod
    def joint_models(joint):
        if joint.kind == "free":
            return [pin.JointModelFreeFlyer()]
        if joint.kind == "ball":
            return [pin.JointModelSpherical()]
        return [pin.JointModelRevoluteUnaligned(np.array(axis)) for axis in joint.axes]

    def positions(self, q):
        result, start = q.copy(), 0
        for joint in self.character.joints:
            start += 3 * (joint.kind == "free")
            if joint.kind in {"free", "ball"}:
                result[start : start + 4] = np.roll(q[start : start + 4], -1)
                start += 4
            start += len(joint.axes)
        return result

    def velocity_transform(self, q):
        """T: the root's linear velocity from the world's axes to the body's."""
        result = np.eye(self.character.nv)
        if self.character.joints[0].kind == "free":
            result[:3, :3] = pin.Quaternion(*q[3:7]).matrix().T
        return result

    def acceleration_bias(self, q, v):
        """Pinocchio's acceleration when ours is zero: T' v, the turning of the axes of the root's linear velocity."""
        result = np.zeros(self.character.nv)
        if self.character.joints[0].kind == "free":
            result[:3] = -np.cross(v[3:6], (self.velocity_transform(q) @ v)[:3])
        return result
