# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters as JSON files.

A file is one object with "format": "heft.character" and "version": 1; the rest are the fields of `Character`, `Body`,
`Joint` and the contact shapes under their own names. Reading trusts nothing: sizes are bounded, keys must be exactly
those expected, numbers must be numbers, and the parts check themselves as they are made. Every refusal is a ValueError
of one line that says where.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from ..files import write_whole
from . import check
from .character import Character
from .check import Inertia, Quaternion, Vector
from .parts import Body, Capsule, Cone, ContactShape, Corner, Joint, Limits, Range, Sphere

FORMAT = "heft.character"
VERSION = 1
LARGEST_FILE = 16 * 2**20  # bytes
MOST_BODIES = 400  # as a chain they still fit into MuJoCo, which reads 500 nested elements
MOST_CONTACTS = 10000

T = TypeVar("T")
CONTACT_KEYS: dict[str, tuple[type[Corner] | type[Sphere] | type[Capsule], tuple[str, ...]]] = {
    "corner": (Corner, ("name", "body", "position")),
    "sphere": (Sphere, ("name", "body", "position", "radius")),
    "capsule": (Capsule, ("name", "body", "start", "end", "radius")),
}


def save(character: Character, path: Path) -> None:
    """Write the file, whole or not at all."""
    text = json.dumps(to_data(character), indent=1, allow_nan=False, ensure_ascii=False) + "\n"
    write_whole(path, text.encode())


def load(path: Path) -> Character:
    """Read a file that `save` wrote, or refuse it."""
    with path.open("rb") as file:
        content = file.read(LARGEST_FILE + 1)
    if len(content) > LARGEST_FILE:
        raise ValueError(f"{path.name} is too large for a character file: more than {LARGEST_FILE} bytes.")
    return parse(content, path.name)


def parse(content: bytes, source: str) -> Character:
    """The character in a file's content; `source` names it in messages."""
    try:
        data = json.loads(content.decode("utf-8"), parse_constant=_refuse_constant, object_pairs_hook=_refuse_repeated)
        return from_data(data)
    except RecursionError:
        raise ValueError(f"{source} is not a character file: it is nested too deeply.") from None
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{source} is not a character file: {' '.join(str(error).split())}") from error


def to_data(character: Character) -> dict[str, Any]:
    """The character as what JSON can say."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "name": character.name,
        "gravity": character.gravity,
        "bodies": [_body_to_data(body) for body in character.bodies],
        "contacts": [_contact_to_data(contact) for contact in character.contacts],
    }


def from_data(data: Any) -> Character:
    """The character that `to_data` described."""
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ValueError(f'it does not say "format": "{FORMAT}".')
    version = data.get("version")
    if version != VERSION or not isinstance(version, int) or isinstance(version, bool):
        raise ValueError(f"its version is {str(version)[:40]!r}, but this Heft reads version {VERSION}.")
    fields = _fields(data, ("format", "version", "name", "gravity", "bodies", "contacts"), "the file")
    return Character(
        name=_string(fields["name"], "name"),
        bodies=tuple(_list(fields["bodies"], "bodies", MOST_BODIES, _body_from_data)),
        contacts=tuple(_list(fields["contacts"], "contacts", MOST_CONTACTS, _contact_from_data)),
        gravity=_vector(fields["gravity"], "gravity"),
    )


def _body_to_data(body: Body) -> dict[str, Any]:
    joint = body.joint
    return {
        "name": body.name,
        "parent": body.parent,
        "position": body.position,
        "orientation": body.orientation,
        "mass": body.mass,
        "center_of_mass": body.center_of_mass,
        "inertia": body.inertia,
        "joint": {
            "name": joint.name,
            "kind": joint.kind,
            "axes": joint.axes,
            "limits": _limits_to_data(joint.limits),
            "stiffness": joint.stiffness,
            "damping": joint.damping,
            "rest": joint.rest,
        },
    }


def _body_from_data(data: Any) -> Body:
    keys = ("name", "parent", "position", "orientation", "mass", "center_of_mass", "inertia", "joint")
    fields = _fields(data, keys, "a body")
    name = _string(fields["name"], "a body's name")
    return Body(
        name=name,
        parent=None if fields["parent"] is None else _string(fields["parent"], f"the parent of body '{name}'"),
        position=_vector(fields["position"], f"body '{name}'"),
        orientation=_quaternion(fields["orientation"], f"body '{name}'"),
        mass=_number(fields["mass"], f"body '{name}'"),
        center_of_mass=_vector(fields["center_of_mass"], f"body '{name}'"),
        inertia=_inertia(fields["inertia"], f"body '{name}'"),
        joint=_joint_from_data(fields["joint"], f"the joint of body '{name}'"),
    )


def _joint_from_data(data: Any, where: str) -> Joint:
    fields = _fields(data, ("name", "kind", "axes", "limits", "stiffness", "damping", "rest"), where)
    name = _string(fields["name"], f"the name of {where}")
    return Joint(
        name=name,
        kind=_string(fields["kind"], f"the kind of joint '{name}'"),  # type: ignore[arg-type]  # Joint checks it
        axes=tuple(_list(fields["axes"], "axes", 2, lambda axis: _vector(axis, f"joint '{name}'"))),
        limits=_limits_from_data(fields["limits"], f"the limits of joint '{name}'"),
        stiffness=_number(fields["stiffness"], f"joint '{name}'"),
        damping=_number(fields["damping"], f"joint '{name}'"),
        rest=tuple(_numbers(fields["rest"], f"joint '{name}'")),
    )


def _limits_to_data(limits: Limits | None) -> Any:
    if isinstance(limits, Cone):
        twist = (limits.twist.lower, limits.twist.upper)
        return {"axis": limits.axis, "center": limits.center, "swing": limits.swing, "twist": twist}
    return None if limits is None else [(limit.lower, limit.upper) for limit in limits]


def _limits_from_data(data: Any, where: str) -> Limits | None:
    if data is None:
        return None
    if isinstance(data, dict):
        fields = _fields(data, ("axis", "center", "swing", "twist"), where)
        return Cone(
            axis=_vector(fields["axis"], where),
            center=_vector(fields["center"], where),
            swing=_number(fields["swing"], where),
            twist=_range(fields["twist"], where),
        )
    return tuple(_list(data, where, 2, lambda ends: _range(ends, where)))


def _range(data: Any, where: str) -> Range:
    lower, upper = check.numbers(_numbers(data, where), 2, "range", where)
    return Range(lower, upper)


def _contact_to_data(contact: ContactShape) -> dict[str, Any]:
    shape = type(contact).__name__.lower()
    return {"shape": shape} | {key: getattr(contact, key) for key in CONTACT_KEYS[shape][1]}


def _contact_from_data(data: Any) -> ContactShape:
    shape = data.get("shape") if isinstance(data, dict) else None
    if not isinstance(shape, str) or shape not in CONTACT_KEYS:
        raise ValueError(f"a contact's shape must be one of {', '.join(CONTACT_KEYS)}.")
    make, keys = CONTACT_KEYS[shape]
    fields = _fields(data, ("shape", *keys), "a contact")
    values: dict[str, Any] = {key: _string(fields[key], f"a contact's {key}") for key in ("name", "body")}
    for key in keys[2:]:
        read = _number if key == "radius" else _vector
        values[key] = read(fields[key], f"contact '{values['name']}'")
    return make(**values)


def _fields(data: Any, keys: tuple[str, ...], where: str) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise ValueError(f"{where} must be an object.")  # noqa: TRY004  # a wrong file, not a wrong call
    for key in keys:
        if key not in data:
            raise ValueError(f"{where} lacks '{key}'.")
    for key in data:
        if key not in keys:
            raise ValueError(f"{where} has an unknown key {key[:40]!r}.")
    return data


def _list(data: Any, where: str, most: int, read: Callable[[Any], T]) -> list[T]:
    if not isinstance(data, list) or len(data) > most:
        raise ValueError(f"{where} must be a list of at most {most}.")
    return [read(item) for item in data]


def _inertia(data: Any, where: str) -> Inertia:
    rows = _list(data, f"the inertia of {where}", 3, lambda row: _vector(row, where))
    return check.inertia(rows, where)


def _quaternion(data: Any, where: str) -> Quaternion:
    return check.quaternion(_numbers(data, where), "quaternion", where)


def _vector(data: Any, where: str) -> Vector:
    return check.vector(_numbers(data, where), "vector", where)


def _numbers(data: Any, where: str) -> list[float]:
    return _list(data, f"a vector of {where}", 4, lambda value: _number(value, where))


def _number(data: Any, where: str) -> float:
    if isinstance(data, bool) or not isinstance(data, (int, float)):
        raise ValueError(f"{where} needs a number, not {str(data)[:40]!r}.")  # noqa: TRY004  # a wrong file, not a wrong call
    return float(data)


def _string(data: Any, where: str) -> str:
    if not isinstance(data, str):
        raise ValueError(f"{where} must be text.")  # noqa: TRY004  # a wrong file, not a wrong call
    return data


def _refuse_constant(text: str) -> float:
    raise ValueError(f"{text} is not a number.")


def _refuse_repeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) < len(pairs):
        raise ValueError("an object has a key twice.")
    return data
