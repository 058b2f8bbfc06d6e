# SPDX-License-Identifier: GPL-3.0-or-later
"""What kernels read and write, behind one pointer: `Structure`, a named tuple of arrays, numbers, flags and structures.

A named tuple reaches a kernel as all that is in it: some two hundred arrays are taken apart at every call, and every
function that they pass through is compiled with a thousand arguments. A structure is written once into a row of words,
and its address is all that is handed on; a kernel loads from there what it uses, where it uses it. `pointer.py` teaches
the compiler so.

What a structure holds never changes, though the entries of its arrays may. A structure owns its words, keeps alive what
they point to, and has to live as long as the call.
"""

from collections.abc import Iterator
from typing import Any, ClassVar, Self, dataclass_transform

LAID_OUT = ("_words", "_address", "_numba_type_")


@dataclass_transform(eq_default=False, frozen_default=True)
class Structure:
    """Base of the classes that kernels take: fields by annotation, given in their order or by name."""

    _fields: ClassVar[tuple[str, ...]] = ()
    _words: bytearray
    _address: int  # of the words

    def __init_subclass__(cls) -> None:
        cls._fields = tuple(cls.__annotations__)

    def __init__(self, *values: Any, **named: Any) -> None:
        fields, held = self._fields, self.__dict__
        held.update(zip(fields, values, strict=False))
        held.update(named)
        if len(values) + len(named) != len(fields) or held.keys() != set(fields):
            raise TypeError(f"{type(self).__name__} needs each of {', '.join(fields)} exactly once.")

    def __getattr__(self, name: str) -> Any:
        """Words and type, found when a kernel first asks for them: numba's name of the type is `_numba_type_`."""
        if name not in LAID_OUT:
            raise AttributeError(f"{type(self).__name__} has no {name}.")
        from .pointer import lay_out

        found = lay_out(type(self).__name__, self._asdict())
        self.__dict__.update(zip(LAID_OUT, found, strict=True))
        return self.__dict__[name]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable: its {name} cannot be set.")

    def __iter__(self) -> Iterator[Any]:
        return (self.__dict__[name] for name in self._fields)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._asdict().items())})"

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        return type(self), tuple(self)

    def _asdict(self) -> dict[str, Any]:
        """Values by name, as of a named tuple."""
        return {name: self.__dict__[name] for name in self._fields}

    def _replace(self, **changes: Any) -> Self:
        """Another structure, which differs by these, as of a named tuple."""
        return type(self)(**(self._asdict() | changes))
