# SPDX-License-Identifier: GPL-3.0-or-later
"""Policies in files: a zip of arrays (numpy's npz, nothing pickled) under the key of all that they depend on."""

import hashlib
import io
import json
import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...character import Character, storage
from ...files import write_whole
from .precompute import Policy
from .settings import Settings
from .track import Track

VERSION = 3
LARGEST_FILE = 2**31  # bytes, unpacked


def policy_key(character: Character, track: Track, settings: Settings) -> str:
    """A digest of everything that `precompute` depends on: equal keys mean the same policy."""
    cycle = None if track.cycle is None else asdict(track.cycle)
    text = json.dumps(
        {
            "version": VERSION,
            "character": storage.to_data(character),
            "settings": asdict(settings),
            "dt": track.dt,
            "cycle": cycle,
            "stance": track.stance,
        },
        sort_keys=True,
    )
    digest = hashlib.sha256(text.encode())
    for array in (
        track.q,
        track.v,
        track.torque,
        track.force,
        track.loaded,
        track.point_body,
        track.point_local,
        track.grip,
        track.help,
    ):
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def save_policy(policy: Policy, path: str | Path, key: str) -> None:
    """Write the file, whole or not at all."""
    arrays = dict(policy._asdict())
    buffer = io.BytesIO()
    np.savez(buffer, key=np.frombuffer(key.encode(), np.uint8), **arrays)
    write_whole(path, buffer.getvalue())


def load_policy(path: str | Path, key: str) -> Policy:
    """Read a file that `save_policy` wrote under this key; ValueError says in one line what is wrong with it."""
    source = Path(path)
    try:
        return _read(source, key)
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{source.name} is not a policy: {' '.join(str(error).split())}") from error


def _read(source: Path, key: str) -> Policy:
    with zipfile.ZipFile(source) as archive:
        if sum(entry.file_size for entry in archive.infolist()) > LARGEST_FILE:
            raise ValueError(f"it unpacks to more than {LARGEST_FILE} bytes.")
    with np.load(source, allow_pickle=False) as file:
        data = {name: np.ascontiguousarray(file[name]) for name in file.files}
    if data.pop("key").tobytes().decode() != key:
        raise ValueError("it was made for something else.")
    if set(data) != set(Policy._fields):
        raise ValueError(f"it holds {', '.join(sorted(data))[:200]}.")
    _check(data)
    return Policy(**data)


def _check(data: dict[str, NDArray[Any]]) -> None:
    """Shapes that kernels rely on; the key stands for the rest."""
    indices = {"points", "point", "body", "grip", "feature_body"}
    for name, array in data.items():
        if array.dtype != (np.int64 if name in indices else np.float64) or not np.isfinite(array).all():
            raise ValueError(f"its {name} is not an array of finite numbers of the right kind.")
    (frames, nv), motors, count = data["v"].shape, data["torque"].shape[1], len(data["body"])
    width = motors + 3 * int(data["points"].max(initial=0))
    positions, features = data["q"].shape[1], len(data["feature_body"])
    expected = {
        "q": (frames, positions),
        "q_before": (frames, positions),
        "v_before": (frames, nv),
        "torque": (frames, motors),
        "force": (frames, count, 3),
        "points": (frames,),
        "point": (frames, count),
        "local": (count, 3),
        "grip": (count,),
        "slope_position": (frames, nv, nv),
        "slope_velocity": (frames, nv, nv),
        "costate": (frames, nv),
        "gain": (frames, width, 2 * nv),
        "offset": (frames, width),
        "change": (motors,),
        "effort": (motors,),
        "force_effort": (1,),
        "joint_feature": (nv,),
        "feature_point": (features, 3),
        "feature_weight": (features, 3),
    }
    for name, shape in expected.items():
        if data[name].shape != shape:
            raise ValueError(f"the shape of its {name} is {data[name].shape} instead of {shape}.")
    if frames == 0 or (data["point"] < 0).any() or (data["point"] >= max(count, 1)).any():
        raise ValueError("its points make no sense.")
