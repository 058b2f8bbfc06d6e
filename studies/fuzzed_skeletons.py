# SPDX-License-Identifier: GPL-3.0-or-later
"""A thousand skeletons of all families altered at random, set up by names and motion."""

from pathlib import Path

from tests.blender.rig.fuzzed import fuzzed, set_up

COUNT = 1000
INTRODUCTION = f"""# Fuzzed skeletons

{COUNT} skeletons, each the mannequin's joints under the names of a family of rigs, altered at random: with a prefix and
a suffix, its bones in another order, mirrored, with every joint of the rest pose turned, lying on a side, scaled by
0.001 to 1,000, with bones left out (toes, collar bones, neck, spine) and added (roots that stand still, twists, a
sword, a cape). Each sways a little and is set up: roles, axis, repair, rest pose, scale, character.

Asked: no error, and all roles right in 99 %. Written by `run.py study fuzzed_skeletons`.

"""


def study(folder: Path) -> str:
    """The page; this study leaves no pictures."""
    del folder
    right, wrong, refused = 0, [], []
    for seed in range(COUNT):
        case = fuzzed(seed)
        try:
            found, _ = set_up(case)
        except ValueError as error:
            refused.append(f"- {seed} ({', '.join(case.what)}): {error}")
            continue
        if found == case.roles:
            right += 1
        else:
            other = sorted(role for role in case.roles | found if case.roles.get(role) != found.get(role))
            wrong.append(f"- {seed} ({', '.join(case.what)}): {', '.join(other)}")
    lines = [f"{INTRODUCTION}All roles right in {right} of {COUNT}; refused {len(refused)}; other errors 0."]
    for title, listed in (("Wrong", wrong), ("Refused", refused)):
        if listed:
            lines += ["", f"## {title}", "", *listed]
    return "\n".join(lines) + "\n"
