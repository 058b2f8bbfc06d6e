# SPDX-License-Identifier: GPL-3.0-or-later
"""Batch files for the tests, and what lies beside them."""

from heft.core.job import BakeJob

from tests.core.job.jobs import waving_job

BVH = (
    """HIERARCHY
ROOT Hips
{
	OFFSET 0 0.95 0
	CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
	JOINT ThighL
	{
		OFFSET 0.1 -0.05 0
		CHANNELS 3 Zrotation Xrotation Yrotation
		JOINT ShinL
		{
			OFFSET 0 -0.42 0.02
			CHANNELS 3 Zrotation Xrotation Yrotation
			JOINT FootL
			{
				OFFSET 0 -0.4 -0.02
				CHANNELS 3 Zrotation Xrotation Yrotation
				End Site
				{
					OFFSET 0 -0.06 0.18
				}
			}
		}
	}
	JOINT ThighR
	{
		OFFSET -0.1 -0.05 0
		CHANNELS 3 Zrotation Xrotation Yrotation
		JOINT ShinR
		{
			OFFSET 0 -0.42 0.02
			CHANNELS 3 Zrotation Xrotation Yrotation
			JOINT FootR
			{
				OFFSET 0 -0.4 -0.02
				CHANNELS 3 Zrotation Xrotation Yrotation
				End Site
				{
					OFFSET 0 -0.06 0.18
				}
			}
		}
	}
}
MOTION
Frames: 31
Frame Time: 0.0333333
"""
    + ("0 0.95 0" + " 0" * 21 + "\n") * 31
)

NIGHT = """# two clips, three pushes
output = "out"

[rigs.legs]
unit = 1.0
mass = 70

[rigs.legs.roles]
pelvis = "Hips"
"thigh.L" = "ThighL"
"shin.L" = ["ShinL"]
"foot.L" = "FootL"
"thigh.R" = "ThighR"
"shin.R" = "ShinR"
"foot.R" = "FootR"

[terrains.down]
rise = -0.02
going = 0.5
count = 3
friction = 0.9

[[bake]]
name = "{clip}-{push}N-{seed}-{terrain}"
clip = "stand*.bvh"
rig = "legs"
controller = "lookahead"
frames = "2:20"
terrain = ["none", "down"]
push = [0, 50,
        100.5]
push_body = "pelvis"
push_direction = 90
push_start = 0.2
seed = [1, 2]
noise = 0.01
settings = { rehearsals = 0 }
reference.friction = 0.7

[[bake]]
job = "saved.heftjob"
rate = [120, 240]
seconds = 0.25
[bake.settings]
rehearsals = 0
adaptation = [0.001, 0.002]
"""


def night(folder, text=NIGHT):
    """A batch file and what it needs; its path."""
    (folder / "stand.bvh").write_text(BVH)
    (folder / "stand2.bvh").write_text(BVH)
    if not (folder / "saved.heftjob").exists():
        waving_job().save(folder / "saved.heftjob")
    path = folder / "night.toml"
    path.write_text(text, encoding="utf-8")
    return path


def quick_jobs(count, **changes) -> dict[str, BakeJob]:
    """Small jobs that differ."""
    changes = {"settings": {"rehearsals": 0}, "noise": 0.01} | changes
    return {f"wave-{seed}": waving_job(name=f"wave-{seed}", seed=seed, **changes) for seed in range(count)}
