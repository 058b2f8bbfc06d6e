# SPDX-License-Identifier: GPL-3.0-or-later
"""Where compiled kernels are kept, and when one has to be compiled again.

By itself numba keeps a function by the path of its file, and compiles it anew when that file changes. So a copy of the
package starts from nothing, a word in a docstring throws away a whole module, and a kernel whose callee in another file
has changed is taken for fresh. `ByContent` keeps a function by its module's name, and by what it compiles to: its own
code and options, and those of everything it calls.

A process takes it up by two variables of its environment that numba reads: NUMBA_CACHE_DIR names the folder, and
NUMBA_CACHE_LOCATOR_CLASSES the class.
"""

import hashlib
import inspect
import types
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, Self

import numpy as np
from numba.core import config
from numba.core.caching import _CacheLocator
from numba.core.dispatcher import Dispatcher

CONSTANTS = (bool, int, float, complex, str, bytes, type(None), np.generic)


class ByContent(_CacheLocator):
    """numba's question where a function is kept, and whether what lies there is still it."""

    def __init__(self, function: types.FunctionType, file: str) -> None:
        self._function = function
        self._py_file = file  # numba names it where it warns of what cannot be kept

    @classmethod
    def from_function(cls, function: types.FunctionType, file: str) -> Self | None:
        """The locator, or None where the process has named no folder."""
        return cls(function, file) if config.CACHE_DIR else None  # type: ignore[attr-defined]

    def get_cache_path(self) -> str:
        """A folder for each module."""
        return str(Path(config.CACHE_DIR) / self._function.__module__)  # type: ignore[attr-defined]

    def get_source_stamp(self) -> "Stamp":
        """What numba writes beside the compiled code, and compares before using it."""
        return Stamp(self._function)

    def get_disambiguator(self) -> str:
        """A module has one function of a name, and the cache one version of it for each kind of processor."""
        return _marks.get(self._function, "kernel")


def mark(function: Callable[..., Any], kind: str) -> None:
    """Keep a function by another name, since what is kept under its own would not do."""
    _marks[function] = kind


_marks: dict[Callable[..., Any], str] = {}


class Stamp:
    """A function's fingerprint, taken when it is first asked for: by then all that the function calls is defined."""

    def __init__(self, function: types.FunctionType) -> None:
        self._function = function

    def __eq__(self, other: object) -> bool:
        return str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        return fingerprint(self._function)

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (str(self),)


_fingerprints: dict[types.FunctionType, str] = {}


def fingerprint(function: types.FunctionType) -> str:
    """A digest of a function's code, constants and options, and of all that it calls."""
    if function not in _fingerprints:
        found: dict[Any, str] = {}
        _collect(function, found)
        _fingerprints[function] = _digest("\n".join([found.pop(function), *sorted(found.values())]).encode())
    return _fingerprints[function]


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _collect(function: types.FunctionType, found: dict[Any, str]) -> None:
    """Add what stands in a function itself; then go on to what its names stand for."""
    if function in found:
        return
    found[function] = own_content(function)
    home = function.__module__.partition(".")[0]
    names = {name for one in _codes(function.__code__) for name in one.co_names}
    for name in sorted(names):
        if name in function.__globals__:
            _collect_value(name, function.__globals__[name], names, home, found)


def own_content(function: Any) -> str:
    """What a function itself says, but for its docstring."""
    parts = [function.__module__, function.__qualname__]
    for one in _codes(function.__code__):
        documentation = function.__doc__ if one is function.__code__ else None
        constants = [c for c in one.co_consts if not isinstance(c, types.CodeType) and c != documentation]
        parts += [one.co_code.hex(), repr(one.co_names), repr(one.co_varnames), repr(constants)]
    return "|".join(parts)


def _codes(code: types.CodeType) -> list[types.CodeType]:
    """A code object and those of the functions and comprehensions inside it."""
    inner = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return [code, *(deeper for c in inner for deeper in _codes(c))]


def _collect_value(name: str, value: Any, names: Collection[str], home: str, found: dict[Any, str]) -> None:
    """Add what a name stands for; of a module, those of its attributes that bear one of `names`.

    `home` is the outermost package of the function that uses it: what comes from elsewhere is libraries, of which
    numba's version, which the cache knows, is to stand for all.
    """
    if isinstance(value, Dispatcher):
        found[name, id(value)] = f"{name}|{sorted(value.targetoptions.items())!r}"
        _collect(value.py_func, found)
    elif isinstance(value, types.ModuleType):
        if value.__name__.partition(".")[0] == home:
            for attribute in sorted(names):
                if hasattr(value, attribute):
                    _collect_value(attribute, getattr(value, attribute), names, home, found)
    elif isinstance(value, CONSTANTS):
        found[name, repr(value)] = f"{name}|{value!r}"
    elif isinstance(value, tuple):
        for i, item in enumerate(value):
            _collect_value(f"{name}[{i}]", item, names, home, found)
    elif isinstance(value, np.ndarray):
        found[name, id(value)] = f"{name}|{value.dtype}|{value.shape}|{_digest(value.tobytes())}"
    elif hasattr(value, "_fields"):
        found[value] = f"{name}|{value._fields!r}"
    elif getattr(value, "__module__", "").partition(".")[0] == home:
        # what numba is taught by other means than a kernel: its whole module counts
        file = inspect.getfile(value)
        found[file] = f"{name}|{_digest(Path(file).read_bytes())}"
