# SPDX-License-Identifier: GPL-3.0-or-later
"""How kernels are compiled: each once, inside the entries that call it. The one module that reaches into numba.

By itself numba makes of every function a module with all that it calls, optimises that module and emits it: a function
that ten others call is optimised eleven times, and most are never called from Python. Here a function has two faces.

    to Python    an entry: compiled when it is first called from there, kept on disk
    to kernels   the function alone, neither optimised nor emitted: an entry links all that it reaches, once

What is linked is external until all is there, since the linker drops a function of link-once linkage to which nothing
refers yet; then it is link-once, optimised together with the entry, and told its environments, in which numba keeps
what a function needs of Python.

None of this is numba's public interface. It is as in the releases of `KNOWN`; with any other one, functions are
compiled as numba does it by itself, which takes three times as long and gives the same bits.
"""

import logging
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from llvmlite import ir
from llvmlite.binding import Linkage, get_host_cpu_features, parse_assembly
from numba.core import config
from numba.core.caching import FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, Flags
from numba.core.environment import lookup_environment
from numba.core.registry import CPUDispatcher

from .kernel_cache import mark

KNOWN = {"0.62.1", "0.68.1"}  # of numba, as locks/wheels.txt has them

ENVIRONMENT = "_ZN08NumbaEnv"
DEFINED = re.compile(r"^(define .*) \{$", re.MULTILINE)  # a function, in LLVM's language
WIDE = r'\1 "target-features"="+avx,+avx2" {'
NO_ENTRY: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

# What Python and LLVM raise where bytes are not what they were, or name a class that has gone.
UNREADABLE = (
    pickle.UnpicklingError,
    AttributeError,
    EOFError,
    ImportError,
    IndexError,
    KeyError,
    RuntimeError,
    TypeError,
    ValueError,
)

entries: list["Entry"] = []
"""All that are defined."""

told: list[Callable[[], None]] = []
"""Called whenever an entry was compiled."""

log = logging.getLogger(__name__)


def compiled(function: Callable[..., Any], options: dict[str, Any], *, wide: bool = False) -> Any:
    """A function with both faces; `options` are those of `numba.njit`.

    A `wide` one's entry is for vectors of four doubles, on processors that have them.
    """
    if numba.__version__ not in KNOWN:
        _say_once()
        return numba.njit(cache=True, **options)(function)
    inner = numba.njit(pipeline_class=InnerCompiler, **options, **NO_ENTRY)(function)
    compiler = EntryCompiler
    if wide and has_wide_vectors():
        compiler = WideCompiler
        mark(function, "wide")
    entry = Entry(function, targetoptions={**inner.targetoptions, **options}, pipeline_class=compiler)
    for name in NO_ENTRY:
        del entry.targetoptions[name]
    entry.inner = inner
    entry.keep()
    return entry


def has_wide_vectors() -> bool:
    """Whether this processor has vectors that kernels for every processor do without."""
    return bool(config.CPU_NAME == "x86-64" and get_host_cpu_features().get("avx2"))  # type: ignore[attr-defined]


class Entry(CPUDispatcher):
    """What a kernel's name stands for. Python calls it; a compiler that meets it is given the inner function."""

    inner: Any

    def keep(self) -> None:
        """Look on disk before compiling, and keep there what is compiled."""
        self._cache = KernelCache(self.py_func)
        entries.append(self)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """For typing a call in a kernel."""
        return self.inner.get_call_template(args, kws)

    def get_overload(self, sig: Any) -> Any:
        """For lowering that call."""
        return self.inner.get_overload(sig)

    @property
    def is_compiling(self) -> Any:
        """Whether a call in a kernel is one of itself."""
        return super().is_compiling or self.inner.is_compiling


class KernelCache(FunctionCache):
    """What is kept on disk of an entry; what cannot be read there is made anew."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """None where there is nothing that can be used."""
        try:
            return super().load_overload(sig, target_context)
        except UNREADABLE as error:
            log.warning("A kernel is compiled again, because the cache %s cannot be read: %r", self.cache_path, error)
            self.flush()
            return None

    def files(self) -> list[Path]:
        """What is kept of the entry: its index, and all that the index names."""
        kept = self._cache_file
        return [Path(path) for path in (kept._index_path, *map(kept._data_path, kept._load_index().values()))]

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep it, and tell."""
        super().save_overload(sig, data)
        for tell in told:
            tell()


class QuickFlags(Flags):
    """Flags are looked up a hundred thousand times; numba hashes them all alike, and compares them option by option."""

    def __hash__(self) -> int:
        if not hasattr(self, "_hash"):
            self._hash = hash(self.get_mangle_string())
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Flags) and (self._values == other._values or super().__eq__(other))


class QuickCompiler(Compiler):
    """numba's, into a library of our own."""

    library: type[JITCodeLibrary]

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.state.flags = QuickFlags(self.state.flags)

    def compile_extra(self, func: Callable[..., Any]) -> Any:
        """As numba's."""
        library = self.library(self.state.targetctx.codegen(), func.__qualname__)
        library.enable_object_caching()
        self.state.library = library
        return super().compile_extra(func)


class InnerLibrary(JITCodeLibrary):
    """A function alone: neither linked nor optimised nor emitted."""

    def finalize(self) -> None:
        """Nothing can be added any more."""
        self._raise_if_finalized()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """None: nothing is emitted."""
        del name
        return 0

    @property
    def codegen(self) -> Any:
        """Whoever asks a library for it wants to set the function's environment, and there is none yet."""
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """Left to the entry that it is emitted with."""


class EntryLibrary(JITCodeLibrary):
    """An entry from Python with all that it reaches."""

    def finalize(self) -> None:
        """Link, optimise and emit."""
        self._raise_if_finalized()
        inner, others = _reached(self)
        module = self._final_module
        own = {function.name for function in module.functions if not function.is_declaration}
        for alone in inner:
            module.link_in(alone._final_module, preserve=True)
        for whole in others:
            module.link_in(whole._get_module_for_linking(), preserve=True)
            if hasattr(whole, "_reload_init"):  # not in 0.62
                self._reload_init.update(whole._reload_init)
        for function in module.functions:
            if not function.is_declaration and function.name not in own and function.linkage == Linkage.external:
                function.linkage = "linkonce_odr"
        self._optimize_final_module()
        module = self._final_module
        module.verify()
        self._finalize_final_module()
        for variable in module.global_variables:
            environment = lookup_environment(variable.name) if variable.name.startswith(ENVIRONMENT) else None
            if environment is not None:
                self._codegen.set_env(variable.name, environment)  # type: ignore[attr-defined]

    def serialize_using_object_code(self) -> tuple[str, str, tuple[bytes, bytes]]:
        """What is kept: the machine's code, and of the module only the names that are looked up when it is loaded.

        numba keeps the module as well, for others to link. Nobody links an entry.
        """
        self._ensure_finalized()
        names = ir.Module(self.name)
        for function in self.get_defined_functions():
            there = ir.Function(names, ir.FunctionType(ir.VoidType(), ()), function.name)
            ir.IRBuilder(there.append_basic_block()).ret_void()
        return self.name, "object", (self._get_compiled_object(), parse_assembly(str(names)).as_bitcode())


class WideLibrary(EntryLibrary):
    """The same for processors with AVX2. Bits are those of any: without leave nothing is fused or reordered."""

    def _optimize_final_module(self) -> None:
        module = parse_assembly(DEFINED.sub(WIDE, str(self._final_module)))
        module.name = self._final_module.name
        self._final_module = module
        super()._optimize_final_module()


class InnerCompiler(QuickCompiler):
    """Of what kernels call."""

    library = InnerLibrary


class EntryCompiler(QuickCompiler):
    """Of what Python calls."""

    library: type[EntryLibrary] = EntryLibrary


class WideCompiler(EntryCompiler):
    """Of what Python calls for long loops."""

    library = WideLibrary


def _reached(entry: JITCodeLibrary) -> tuple[list[InnerLibrary], list[JITCodeLibrary]]:
    """All that a library links, and what that links: functions alone, and libraries that are whole."""
    inner: dict[InnerLibrary, None] = {}
    others: dict[JITCodeLibrary, None] = {}
    waiting = list(entry._linking_libraries)
    while waiting:
        library = waiting.pop()
        if not isinstance(library, InnerLibrary):
            others[library] = None
        elif library not in inner:
            inner[library] = None
            waiting += library._linking_libraries
    return list(inner), list(others)


def kept_files() -> list[Path]:
    """What is kept on disk of all entries that this process has called."""
    return [path for entry in entries if entry.overloads for path in entry._cache.files()]


_said = False


def _say_once() -> None:
    global _said  # noqa: PLW0603
    if not _said:
        _said = True
        log.warning(
            "Kernels compile slowly with numba %s: install %s for faster compilation.",
            numba.__version__,
            " or ".join(sorted(KNOWN)),
        )
