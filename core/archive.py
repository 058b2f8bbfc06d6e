# SPDX-License-Identifier: GPL-3.0-or-later
"""Values in files: a tree of dataclasses with arrays at its leaves, written and read by the types that it declares.

A file is a zip of arrays (numpy's npz, nothing pickled). One of them, `header`, is JSON text: format, version, and the
value, in which {"array": n} stands for the array of that number. A type whose JSON people keep by itself says what it
is, by the methods of `OwnText`. Reading trusts nothing: only what a type declares can
come out of a file, arrays are of three kinds, nothing takes more room than its bytes in the file, and every part checks
itself as it is made.
"""

import dataclasses
import hashlib
import io
import json
import math
import re
import types
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, Protocol, Self, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from .files import write_whole

LARGEST_FILE = 2**31  # bytes
LONGEST_HEADER = 2**28  # bytes
MOST_DIMENSIONS = 8
KINDS = tuple(np.dtype(kind) for kind in (np.float64, np.int64, np.bool_))
# how numpy begins an array in C's order; its own reader would evaluate whatever stands there
ARRAY = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '([<>|]\w\d{0,2})', 'fortran_order': False, "
    rb"'shape': \((|\d+,|\d+(?:, \d+)+)\), \} *\n",
    re.DOTALL,
)
LONGEST_ARRAY_HEADER = 1024  # bytes
PIECE = 2**22  # bytes that are copied at once

# what reading a damaged file raises: RuntimeError is zipfile's word for an entry that is encrypted or made by a later
# version of it, and Python's for one nested too deep
UNREADABLE = (ValueError, TypeError, KeyError, EOFError, OverflowError, RuntimeError, zipfile.BadZipFile)

T = TypeVar("T")
AnyArray = NDArray[np.generic]
Keep = Callable[[type, Any], Any]  # a value of a type, as it is to stand in JSON
# of a value, as JSON has it, with what keeps a value that is new in it; raises whatever is in UNREADABLE
Renewal = Callable[[dict[str, Any], Keep], dict[str, Any]]
NEVER: Mapping[int, Renewal] = types.MappingProxyType({})


class OwnText(Protocol):
    """What stands in a file of its own as JSON, and stands in others in the same way."""

    def to_data(self) -> Any:
        """What JSON can say of it, no table with the key "is"."""

    @classmethod
    def from_data(cls, data: Any) -> Self:
        """And back; ValueError where it is none."""


def save(value: Any, kind: type, path: str | Path, format_name: str, version: int) -> None:
    """Write the file, whole or not at all."""
    write_whole(path, pack(value, kind, format_name, version))


def load(
    kind: type[T], path: str | Path, format_name: str, version: int, what: str, older: Mapping[int, Renewal] = NEVER
) -> T:
    """Read a file that `save` wrote; ValueError says in one line what is wrong with it, which is no `what`.

    `older` versions are read too: what stands there makes a value of each into one of the next.
    """
    source = Path(path)
    try:
        with source.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
        return unpack(kind, content, format_name, version, older)
    except UNREADABLE as error:
        raise ValueError(f"{source.name} is not {what}: {' '.join(str(error).split())[:300]}") from error


def digest(value: Any, kind: type, *more: str) -> str:
    """A name for the value and the texts beside it: equal digests mean equal contents."""
    arrays: list[AnyArray] = []
    text = json.dumps([_encode(kind, value, arrays), *more], sort_keys=True)
    result = hashlib.sha256(text.encode())
    for array in arrays:
        result.update(f"{array.dtype.str}{array.shape}".encode())
        result.update(array.reshape(-1).view(np.uint8).data)
    return result.hexdigest()


def pack(value: Any, kind: type, format_name: str, version: int) -> bytes:
    """The content of a file."""
    arrays: list[AnyArray] = []
    header = {"format": format_name, "version": version, "value": _encode(kind, value, arrays)}
    text = json.dumps(header, allow_nan=False, sort_keys=True)
    numbered: dict[str, Any] = {f"array{number}": array for number, array in enumerate(arrays)}
    buffer = io.BytesIO()
    np.savez(buffer, header=np.frombuffer(text.encode(), np.uint8), **numbered)
    return buffer.getvalue()


def unpack(
    kind: type[T],
    content: bytes | memoryview,
    format_name: str,
    version: int,
    older: Mapping[int, Renewal] = NEVER,
) -> T:
    """The value in a file's content."""
    if len(content) > LARGEST_FILE:
        raise ValueError(f"it is larger than {LARGEST_FILE} bytes.")
    with zipfile.ZipFile(Content(content)) as archive:
        entries = {entry.filename: entry for entry in archive.infolist()}
        if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries.values()):
            raise ValueError("it is compressed, which Heft's files never are.")
        if any(entry.file_size > len(content) for entry in entries.values()):
            raise ValueError("an array is not as large as it says.")
        if "header.npy" not in entries or entries["header.npy"].file_size > LONGEST_HEADER:
            raise ValueError("it has no header.")
        header = json.loads(_array(archive, "header.npy", (np.dtype(np.uint8),)).tobytes().decode())
        if not isinstance(header, dict) or header.get("format") != format_name:
            raise ValueError(f'it does not say "format": "{format_name}".')
        value, found = header["value"], header.get("version")
        if type(found) is not int or (found != version and found not in older):
            raise ValueError(f"its version is {str(header.get('version'))[:40]!r}, but this Heft reads {version}.")
        names = [f"array{number}.npy" for number in range(len(entries) - 1)]
        if set(entries) != {"header.npy", *names}:
            raise ValueError(f"it holds {', '.join(sorted(entries))[:200]}.")
        arrays = [_array(archive, name, KINDS) for name in names]
        while found in older:
            value = older[found](value, lambda kind, new: _encode(kind, new, arrays))
            found += 1
    return _decode(kind, value, arrays, "its value")  # type: ignore[no-any-return]


class Content(io.RawIOBase):
    """Bytes in memory as a file that is read where they lie."""

    def __init__(self, content: bytes | memoryview) -> None:
        self._view, self._at = memoryview(content), 0

    def readable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """It is."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go on elsewhere."""
        self._at = max(offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: len(self._view)}[whence], 0)
        return self._at

    def readinto(self, buffer: Any) -> int:
        """Read as much as there is, and as fits."""
        part = self._view[self._at : self._at + len(buffer)]
        buffer[: len(part)] = part
        self._at += len(part)
        return len(part)


def _array(archive: zipfile.ZipFile, name: str, kinds: tuple[np.dtype[Any], ...]) -> AnyArray:
    """One entry: nothing is allocated beyond the bytes that are there.

    It is read piece by piece. Where this is not the main thread, that one would wait for the whole of a large copy.
    """
    size = archive.getinfo(name).file_size
    with archive.open(name) as entry:
        begin = entry.read(LONGEST_ARRAY_HEADER)
        header = ARRAY.match(begin)
        if header is None:
            raise ValueError("an array is missing or of an unsupported kind.")
        type_name, numbers = header.group(1).decode(), header.group(2).decode()
        kind = next((kind for kind in kinds if kind.str == type_name), None)
        shape = tuple(int(number) for number in numbers.split(",") if number)
        if kind is None or len(shape) > MOST_DIMENSIONS:
            raise ValueError(f"an array of {type_name} in {len(shape)} dimensions is not supported.")
        length = size - header.end()
        if math.prod(shape) * kind.itemsize != length:
            raise ValueError("an array is not as large as it says.")
        body = np.empty(length, np.uint8)
        piece, place = np.frombuffer(begin, np.uint8, offset=header.end()), 0
        while len(piece):
            body[place : place + len(piece)] = piece
            place += len(piece)
            piece = np.frombuffer(entry.read(PIECE), np.uint8)
    if place != length:
        raise ValueError("an array is not as large as it says.")
    if kind == np.bool_ and length and body.max() > 1:
        raise ValueError("an array of truth values holds something else.")
    return body.view(kind).reshape(shape)


def _encode(hint: Any, value: Any, arrays: list[AnyArray]) -> Any:
    """What JSON can say of a value of a declared type; arrays go to the list."""
    if value is None:
        return None
    origin, arguments = _origin_and_arguments(hint)
    if origin in {Union, types.UnionType}:
        return _encode(_variant_of(value, arguments), value, arrays)
    if origin is np.ndarray:
        array = np.ascontiguousarray(value, dtype=get_args(arguments[1])[0])
        arrays.append(array.reshape(np.shape(value)))
        return {"array": len(arrays) - 1}
    if _has_own_text(hint):
        return value.to_data()
    if _has_fields(hint):
        parts = {name: _encode(part, getattr(value, name), arrays) for name, part in _fields(hint).items()}
        return {"is": hint.__name__, **parts}
    if origin is tuple or origin is list:
        return [_encode(part, each, arrays) for part, each in zip(_parts(hint, len(value)), value, strict=True)]
    if origin in {dict, Mapping}:
        return {str(key): _encode(arguments[1], value[key], arrays) for key in sorted(value)}
    if hint is float:
        number = float(value)
        return number if math.isfinite(number) else str(number)
    if origin is Literal:
        return value
    return hint(value)


def _decode(hint: Any, data: Any, arrays: list[AnyArray], where: str) -> Any:
    """The value of a declared type that `_encode` described."""
    origin, arguments = _origin_and_arguments(hint)
    if origin in {Union, types.UnionType}:
        if data is None and types.NoneType in arguments:
            return None
        return _decode(_variant_of_data(data, arguments, where), data, arrays, where)
    if origin is np.ndarray:
        return _take(data, np.dtype(get_args(arguments[1])[0]), arrays, where)
    if _has_own_text(hint):
        return hint.from_data(data)
    if _has_fields(hint):
        wanted = _fields(hint)
        if not isinstance(data, dict) or set(data) != {"is", *wanted} or data["is"] != hint.__name__:
            raise ValueError(f"{where} is not a {hint.__name__}.")
        return hint(**{name: _decode(part, data[name], arrays, name) for name, part in wanted.items()})
    if origin is tuple or origin is list:
        if not isinstance(data, list):
            raise ValueError(f"{where} must be a list.")
        parts = zip(_parts(hint, len(data)), data, strict=True)
        return origin(_decode(part, each, arrays, where) for part, each in parts)
    if origin in {dict, Mapping}:
        if not isinstance(data, dict):
            raise ValueError(f"{where} must be a table.")
        return {key: _decode(arguments[1], data[key], arrays, where) for key in sorted(data)}
    if origin is Literal:
        if data not in arguments:
            raise ValueError(f"{where} must be one of {', '.join(map(str, arguments))}, not {str(data)[:40]!r}.")
        return data
    return _primitive(hint, data, where)


def _origin_and_arguments(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    """Those of a type, of a union's members too; from numpy 2.5 on NDArray is a name for what it stands for."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hasattr(origin, "__value__"):
        return _origin_and_arguments(origin.__value__[arguments])
    if origin in {Union, types.UnionType}:
        return origin, tuple(map(_bare, arguments))
    return origin, arguments


def _bare(hint: Any) -> Any:
    """What a named type stands for."""
    origin = get_origin(hint)
    return origin.__value__[get_args(hint)] if hasattr(origin, "__value__") else hint


def _primitive(hint: Any, data: Any, where: str) -> Any:
    if hint is float and (type(data) in {int, float} or data in {"inf", "-inf", "nan"}):
        return float(data)
    if hint in {bool, int, str} and type(data) is hint:
        return data
    raise ValueError(f"{where} cannot be {str(data)[:40]!r}.")


def _take(data: Any, kind: np.dtype[Any], arrays: list[AnyArray], where: str) -> AnyArray:
    number = data.get("array") if isinstance(data, dict) and len(data) == 1 else None
    if type(number) is not int or not 0 <= number < len(arrays):
        raise ValueError(f"{where} is not an array.")
    if arrays[number].dtype != kind:
        raise ValueError(f"the numbers in {where} cannot be {arrays[number].dtype}.")
    return arrays[number]


def _has_own_text(hint: Any) -> bool:
    return isinstance(hint, type) and hasattr(hint, "to_data") and hasattr(hint, "from_data")


def _has_fields(hint: Any) -> bool:
    return isinstance(hint, type) and (dataclasses.is_dataclass(hint) or hasattr(hint, "_fields"))


def _fields(hint: Any) -> dict[str, Any]:
    """Names and types of what a dataclass, a named tuple or a kernels' structure is made from."""
    hints = get_type_hints(hint)
    if dataclasses.is_dataclass(hint):
        return {entry.name: hints[entry.name] for entry in dataclasses.fields(hint) if entry.init}
    return {name: hints[name] for name in hint._fields}


def _parts(hint: Any, count: int) -> tuple[Any, ...]:
    """The types of `count` members of a list or tuple."""
    arguments = get_args(hint)
    if get_origin(hint) is list or (len(arguments) == 2 and arguments[1] is Ellipsis):
        return (arguments[0],) * count
    return arguments


def _variant_of(value: Any, variants: tuple[Any, ...]) -> Any:
    """Which type of a union a value is of."""
    for variant in variants:
        if (get_origin(variant) or variant) is type(value):
            return variant
    loose = [variant for variant in variants if variant is not types.NoneType]
    for variant in loose:
        base = get_origin(variant) or variant
        if isinstance(base, type) and isinstance(value, (int, np.integer) if base is float else base):
            return variant
    if len(loose) == 1:
        return loose[0]
    raise TypeError(f"A {type(value).__name__} cannot be saved here.")


def _variant_of_data(data: Any, variants: tuple[Any, ...], where: str) -> Any:
    """Which type of a union data describes."""
    if isinstance(data, dict) and "is" in data:
        chosen = [variant for variant in variants if getattr(variant, "__name__", "") == data["is"]]
    elif isinstance(data, dict):
        chosen = [v for v in variants if _has_own_text(v) or get_origin(v) in {np.ndarray, dict, Mapping}]
    elif isinstance(data, list):
        chosen = [v for v in variants if get_origin(v) in {tuple, list}]
    else:
        chosen = [v for v in variants if v is type(data)] or [v for v in variants if get_origin(v) is Literal]
        chosen = chosen or [v for v in variants if v is float]
    if not chosen:
        raise ValueError(f"{where} cannot be {str(data)[:40]!r}.")
    return chosen[0]
