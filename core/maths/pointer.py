# SPDX-License-Identifier: GPL-3.0-or-later
"""How the compiler sees a `Structure`: one address of a row of words, and the names and types of what stands there.

    array           address, shape, strides
    number or flag  its value
    structure       address of its words

Words never change while they are read, and the compiler is told so (`invariant.load`): a store into an array cannot
make it load the array's address again.

A structure's type is made of the names and types of its fields. One class may hold arrays of other dimensions, and is
another type then; and what is kept on disk names no class but `StructureType`.
"""

import hashlib
import struct
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba import typeof, types
from numba.core.typing.templates import AttributeTemplate
from numba.extending import NativeValue, infer_getattr, lower_getattr_generic, models, register_model, unbox

from .kernel_cache import own_content
from .structure import Structure

# of a number or structure its type, of an array what numba tells its type by
Kind = types.Type | tuple[np.dtype[Any], int, int]

_types: dict[tuple[str, tuple[str, ...], tuple[Kind, ...]], "StructureType"] = {}


class StructureType(types.Type):
    """The type of a structure: the name of its class, and names and types of its fields."""

    def __init__(self, name: str, fields: tuple[tuple[str, types.Type], ...]) -> None:
        self.fields = dict(fields)
        self.word: dict[str, int] = {}  # the first of each field
        at = 0
        for field, kind in fields:
            self.word[field] = at
            at += 1 + 2 * kind.ndim if isinstance(kind, types.Array) else 1
        # symbols are made of types' names, which would be as long as all that is inside
        inside = repr([(field, str(kind)) for field, kind in fields]) + _lowering()
        super().__init__(name=f"{name}_{hashlib.sha256(inside.encode()).hexdigest()[:16]}")


def lay_out(name: str, values: Mapping[str, Any]) -> tuple[bytearray, int, StructureType]:
    """The words of a structure whose class has that name, their address, and its type."""
    words: list[bytes] = []
    kinds: list[Kind] = []
    for field, value in values.items():
        if isinstance(value, np.ndarray):
            address, _ = value.__array_interface__["data"]
            words.append(struct.pack(f"{1 + 2 * value.ndim}q", address, *value.shape, *value.strides))
            kinds.append((value.dtype, value.ndim, value.flags.num))
        elif isinstance(value, Structure):
            words.append(struct.pack("q", value._address))
            kinds.append(value._numba_type_)
        elif isinstance(value, bool | np.bool_):
            words.append(struct.pack("q", value))
            kinds.append(types.boolean)
        elif isinstance(value, int | np.integer):
            words.append(struct.pack("q", value))
            kinds.append(types.int64)
        elif isinstance(value, float | np.floating):
            words.append(struct.pack("d", value))
            kinds.append(types.float64)
        else:
            raise TypeError(f"A kernel cannot read {field} of {name}, which is a {type(value).__name__}.")
    signature = (name, tuple(values), tuple(kinds))
    found = _types.get(signature)
    if found is None:
        parts = zip(values.items(), kinds, strict=True)
        fields = [(field, kind if isinstance(kind, types.Type) else typeof(value)) for (field, value), kind in parts]
        found = _types[signature] = StructureType(name, tuple(fields))
    row = bytearray(b"".join(words) or bytes(8))
    address, _ = np.frombuffer(row, dtype=np.uint8).__array_interface__["data"]
    return row, address, found


@cache
def _lowering() -> str:
    """How words are laid out and loaded: kernels that were compiled for another way are for other types."""
    return own_content(lay_out) + own_content(_load_field)


@register_model(StructureType)
class _PointerModel(models.OpaqueModel):
    """One address."""


@unbox(StructureType)
def _unbox(kind: StructureType, value: Any, context: Any) -> NativeValue:
    del kind
    number = context.pyapi.object_getattr_string(value, "_address")
    address = context.pyapi.long_as_voidptr(number)
    context.pyapi.decref(number)
    return NativeValue(address, is_error=context.pyapi.c_api_error())


@infer_getattr
class _Fields(AttributeTemplate):
    """What a field is."""

    key = StructureType

    def generic_resolve(self, kind: StructureType, name: str) -> types.Type | None:  # type: ignore[override]
        """None where there is no such field."""
        return kind.fields.get(name)


@lower_getattr_generic(StructureType)
def _load_field(context: Any, builder: Any, kind: StructureType, value: Any, name: str) -> Any:
    word = ir.IntType(64)
    words = builder.bitcast(value, word.as_pointer())

    def load(at: int) -> Any:
        loaded = builder.load(builder.gep(words, [ir.Constant(ir.IntType(32), at)], inbounds=True))
        loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
        return loaded

    at, field = kind.word[name], kind.fields[name]
    if isinstance(field, types.Array):
        array = context.make_array(field)(context, builder)
        context.populate_array(
            array,
            data=builder.inttoptr(load(at), array.data.type),
            shape=[load(at + 1 + i) for i in range(field.ndim)],
            strides=[load(at + 1 + field.ndim + i) for i in range(field.ndim)],
            itemsize=context.get_abi_sizeof(context.get_data_type(field.dtype)),
            meminfo=None,
        )
        return array._getvalue()
    if isinstance(field, StructureType):
        return builder.inttoptr(load(at), value.type)
    if field == types.boolean:
        return builder.trunc(load(at), ir.IntType(1))
    return builder.bitcast(load(at), context.get_value_type(field))
