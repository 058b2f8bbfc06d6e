# SPDX-License-Identifier: GPL-3.0-or-later
"""Reference files: what is saved is loaded, what is broken is refused in a sentence, and nothing is half written."""

import json
import zipfile

import numpy as np
import pytest
from heft.core.motion.fit import Trajectory
from heft.core.motion.reference import Reference
from heft.core.motion.spacetime import Ends, build_reference

from tests.core.motion.spacetime import motions


@pytest.fixture(scope="module")
def reference():
    motion = motions.walk()
    trajectory = Trajectory(motion.rate, motion.q, motion.v, 11.0, 0.25)
    return build_reference(motion.character, trajectory, motion.schedule, bounds=Ends(cycle=motion.cycle))


def test_loading_gives_what_was_saved(reference, tmp_path):
    path = tmp_path / "walk.heftref"
    reference.save(path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["walk.heftref"]
    loaded = Reference.load(path)
    for name in ("q", "v", "torque", "normal", "carrying", "force"):
        assert (getattr(loaded, name) == getattr(reference, name)).all()
    assert loaded.character == reference.character
    assert loaded.schedule.points == reference.schedule.points
    assert (loaded.schedule.active == reference.schedule.active).all()
    assert loaded.cycle == reference.cycle
    assert (loaded.rate, loaded.friction, loaded.first_frame, loaded.frames_per_sample) == (120.0, 0.8, 11.0, 0.25)
    assert loaded.quality.why == reference.quality.why
    assert (loaded.quality.joint_change == reference.quality.joint_change).all()


def altered(reference, tmp_path, change):
    """A file in which `change(value, arrays, header)` has been at work; arrays by the names of the reference's."""
    path = tmp_path / "a.heftref"
    reference.save(path)
    with np.load(path) as file:
        arrays = dict(file)
    header = json.loads(arrays["header"].tobytes())
    value = header["value"]
    names = {name: f"array{value[name]['array']}" for name in ("q", "v", "torque", "force")}
    named = {name: arrays.pop(stored) for name, stored in names.items()}
    change(value, named, header)
    arrays |= {names[name]: array for name, array in named.items()}
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    with path.open("wb") as file:
        np.savez(file, **arrays)
    return path


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda _v, _a, h: h.update(version=99), "its version is '99'"),
        (lambda _v, _a, h: h.update(format="x"), "does not say"),
        (lambda _, a, _h: a.update(q=a["q"][:, :-1]), "shape of q"),
        (lambda _, a, _h: a.update(v=a["v"] * np.nan), "v must be finite"),
        (lambda _, a, _h: a.update(torque=a["torque"].astype(np.float32)), "array of <f4"),
        (lambda _, a, _h: a.update(torque=a["torque"] > 0.0), "torque cannot hold bool"),
        (lambda _, a, _h: a.pop("force"), "it holds"),
        (lambda v, _a, _h: v["schedule"]["points"][0].update(body=99), "belongs to no body"),
        (lambda v, _a, _h: v["schedule"]["points"][0].update(position=[0.0, "nan", 0.0]), "must be finite"),
        (lambda v, _a, _h: v["quality"].pop("sentences"), "quality is not a Quality"),
        (lambda v, _a, _h: v["quality"].update(slip_millimetres="none"), "slip_millimetres cannot be 'none'"),
        (lambda v, _a, _h: v["quality"].update(joint_change=v["torque"]), "one finite row"),
        (lambda v, _a, _h: v.update(rate=-1.0), "must be positive"),
        (lambda v, _a, _h: v.pop("cycle"), "is not a Reference"),
        (lambda _, a, _h: a.update(q=np.array([object()])), "an array of .O in|is missing"),
    ],
)
def test_altered_files_are_refused(reference, tmp_path, change, message):
    path = altered(reference, tmp_path, change)
    with pytest.raises(ValueError, match=message) as raised:
        Reference.load(path)
    assert str(raised.value).startswith("a.heftref is not a reference: ")
    assert "\n" not in str(raised.value)


def test_other_files_are_refused(reference, tmp_path):
    path = tmp_path / "b.heftref"
    reference.save(path)
    whole = path.read_bytes()
    for content in (b"", b"not a zip", whole[:-200], whole[: len(whole) // 2]):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="is not a reference"):
            Reference.load(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.npy", b"")
    with pytest.raises(ValueError, match="what should be an array is none"):
        Reference.load(path)


def test_failed_save_leaves_the_old_file(reference, tmp_path):
    path = tmp_path / "c.heftref"
    reference.save(path)
    before = path.read_bytes()
    broken = object.__new__(Reference)
    broken.__dict__.update(reference.__dict__ | {"q": "nothing"})
    with pytest.raises(ValueError, match="could not convert"):
        broken.save(path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["c.heftref"]
