# SPDX-License-Identifier: GPL-3.0-or-later
"""Files for OpenSim, read as its documentation says they are."""

import numpy as np
import pytest
from heft.core.clean import opensim


def storage(text):
    """Name, header and columns by label."""
    head, rows = text.split("endheader\n")
    name, *lines = head.splitlines()
    said = dict(line.split("=") for line in lines)
    labels, *values = rows.splitlines()
    table = np.array([[float(cell) for cell in line.split("\t")] for line in values])
    assert int(said["nRows"]) == len(table)
    assert int(said["nColumns"]) == table.shape[1] == len(labels.split("\t"))
    return name, said, dict(zip(labels.split("\t"), table.T, strict=True))


@pytest.fixture
def arrays():
    """Two steps; in the second a foot is pressed at two points, at one of them sideways."""
    points = np.array([[0.0, 0.0, 0.0], [0.2, 0.0, 0.0]])
    forces = np.array([[0.0, 0.0, 300.0], [0.0, 60.0, 100.0]])
    center = np.full((2, 2, 3), np.nan)
    center[1, 1] = [0.05, 0.0, 0.0]
    total = np.zeros((2, 2, 3))
    total[1, 1] = forces.sum(axis=0)
    return {
        "contact_start": np.array([0, 0, 2]),
        "contact_bodies": np.array([1, 1]),
        "contact_points": points,
        "contact_point_forces": forces,
        "contact_forces": total,
        "centers_of_pressure": center,
        "body_names": np.array(["pelvis", "left foot"]),
        "torque_names": np.array(["left knee", "left ankle.1"]),
        "torques": np.array([[1.5, -2.0], [0.0, 3.25]]),
        "rate": np.array(100.0),
        "fps": np.array(50.0),
        "frames": np.array([3.0, 4.0]),
        "joint_names": np.array(["Hips", "Foot"]),
        "joint_positions": np.array([[[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]], [[1.0, 2.0, 3.5], [0.0, 0.0, 0.0]]]),
    }


def test_forces_act_where_they_are_and_leave_a_moment_about_that_y_up(arrays):
    name, said, columns = storage(opensim.ground_forces(arrays))
    assert name == "ground_forces"
    assert said["inDegrees"] == "no"
    assert columns["time"].tolist() == [0.01, 0.02]
    assert columns["ground_force_left_foot_vy"].tolist() == [0.0, 400.0]
    assert columns["ground_force_left_foot_vz"].tolist() == [0.0, -60.0]  # what goes to the left goes along -z
    assert columns["ground_force_left_foot_px"].tolist() == [0.0, 0.05]
    # about the centre of pressure: 0.15 m ahead 60 N to the left, and upwards 300 * 0.05 = 100 * 0.15
    assert columns["ground_torque_left_foot_y"].tolist() == [0.0, 9.0]
    assert columns["ground_torque_left_foot_x"].tolist() == columns["ground_torque_left_foot_z"].tolist() == [0.0, 0.0]
    assert not any("pelvis" in label for label in columns)


def test_torques_have_their_names(arrays):
    _, _, columns = storage(opensim.joint_torques(arrays))
    assert list(columns) == ["time", "left_knee", "left_ankle.1"]
    assert columns["left_ankle.1"].tolist() == [-2.0, 3.25]


def test_joints_are_markers_y_up(arrays):
    lines = opensim.markers(arrays, "walk.trc").splitlines()
    assert lines[0] == "PathFileType\t4\t(X/Y/Z)\twalk.trc"
    numbers = dict(zip(lines[1].split("\t"), lines[2].split("\t"), strict=True))
    assert numbers["NumFrames"] == numbers["NumMarkers"] == "2"
    assert numbers["DataRate"] == "50"
    assert numbers["Units"] == "m"
    assert [one for one in lines[3].split("\t") if one] == ["Frame#", "Time", "Hips", "Foot"]
    assert lines[3].split("\t").index("Foot") == lines[4].split("\t").index("X2")
    assert lines[5] == ""
    assert [float(cell) for cell in lines[7].split("\t")] == [2.0, 0.02, 1.0, 3.5, -2.0, 0.0, 0.0, 0.0]
