# SPDX-License-Identifier: GPL-3.0-or-later
"""How kernels are compiled: what is promised of numba's inside, and of what is kept on disk."""

import logging
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import numba
import numpy as np
import pytest
from heft.core.maths import compiler, kernel_cache
from heft.core.maths.compiler import KNOWN, Entry, compiled, has_wide_vectors
from heft.core.maths.kernel import kernel, wide_kernel

from tests.core.maths.kept import OPTIONS

ROOT = Path(__file__).parents[3]


@kernel
def double(x):
    return 2.0 * x


@kernel
def double_twice(x):
    return double(double(x))


@kernel
def add_both(x):
    return double(x) + double_twice(x)


@kernel
def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)


@kernel
def refuse(x):
    if x < 0.0:
        raise ValueError("A negative number.")
    return double(x)


@kernel
def refuse_deeper(x):
    return refuse(x) + 1.0


@kernel
def called_from_kernels_only(x):
    return x - 1.0


@kernel
def called_from_python(x):
    return called_from_kernels_only(x) * double(x)


class TestTwoFaces:
    def test_what_only_kernels_call_has_no_entry(self):
        assert called_from_python(3.0) == 12.0
        assert len(called_from_python.overloads) == 1
        assert not called_from_kernels_only.overloads

    def test_a_kernel_that_kernels_call_is_called_from_python_as_well(self):
        assert double(3.0) == 6.0
        assert double_twice(3.0) == 12.0
        assert add_both(3.0) == 18.0

    def test_another_type_of_argument_is_another_function(self):
        assert double_twice(np.float32(1.0)) == 4.0
        assert double_twice(1) == 4.0

    def test_one_that_calls_itself(self):
        assert factorial(10) == 3628800

    def test_an_error_inside_is_the_same_error(self):
        assert refuse_deeper(1.0) == 3.0
        with pytest.raises(ValueError, match="A negative number"):
            refuse_deeper(-1.0)

    def test_the_version_here_is_one_of_those_that_are_known(self):
        assert numba.__version__ in KNOWN
        assert isinstance(double, Entry)

    def test_versions_are_those_of_the_wheels(self):
        pinned = {
            line.split()[0].removeprefix("numba==")
            for line in (ROOT / "locks" / "wheels.txt").read_text(encoding="utf-8").splitlines()
            if line.startswith("numba==")
        }
        assert pinned == KNOWN
        assert version("numba") in pinned

    def test_another_version_compiles_as_numba_does(self, monkeypatch, caplog):
        monkeypatch.setattr(compiler, "KNOWN", {"1.2.3"})
        monkeypatch.setattr(compiler, "_said", False)
        with caplog.at_level(logging.WARNING):
            plain = [compiled(function.py_func, {"error_model": "numpy"}) for function in (double, refuse)]
        assert not any(isinstance(function, Entry) for function in plain)
        assert plain[0](2.0) == double(2.0)
        assert [numba.__version__ in record.getMessage() for record in caplog.records] == [True]


def product(a, b, out):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                out[i, j] += a[i, k] * b[k, j]


def test_a_wide_kernel_has_the_bits_of_any_other():
    generator = np.random.default_rng(3)
    a, b = generator.normal(size=(37, 41)), generator.normal(size=(41, 29))
    out = np.zeros((2, 37, 29))
    for one, compile_it in zip(out, (kernel, wide_kernel), strict=True):
        compile_it(product)(a, b, one)
    assert out[0].tobytes() == out[1].tobytes()


def test_quick_flags_are_equal_where_flags_are():
    one, other, third = compiler.QuickFlags(), compiler.QuickFlags(), compiler.QuickFlags()
    other.nrt = compiler.Flags().nrt  # said, and the same
    third.nrt = not compiler.Flags().nrt
    assert one == other
    assert one == compiler.Flags()
    assert one != third


class TestKept:
    """In a process of its own, with a folder of its own."""

    @pytest.fixture
    def run(self, tmp_path):
        def call(program="print(outer(np.array([1.0, 2.0])))"):
            variables = dict(os.environ, PYTHONPATH=os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
            variables |= {"NUMBA_CACHE_DIR": str(tmp_path)}
            variables |= {"NUMBA_CACHE_LOCATOR_CLASSES": f"{kernel_cache.__name__}.{kernel_cache.ByContent.__name__}"}
            heading = "import logging, numpy as np; logging.basicConfig(); from tests.core.maths.kept import *; "
            tail = "; print(sum(outer.stats.cache_hits.values()))"
            done = subprocess.run(
                [sys.executable, "-c", heading + program + tail],
                env=variables,
                capture_output=True,
                text=True,
                check=True,
            )
            *values, hits = done.stdout.split()
            return [float(value) for value in values], int(hits), done.stderr

        return call

    def test_an_entry_is_kept_with_all_that_it_reaches(self, run, tmp_path):
        assert run()[:2] == ([12.0], 0)
        assert run()[:2] == ([12.0], 1)
        assert len(list(tmp_path.rglob("*.nbc"))) == 1

    def test_an_error_of_a_kept_kernel_is_the_same_error(self, run):
        program = """
try:
    outer(np.array([-1.0]))
except ValueError as error:
    print(len(str(error)))
""".strip().replace("\n", "\\n")
        for hits in (0, 1):
            values, found, _ = run(f'exec("{program}")')
            assert values == [len("A negative entry.")]
            assert found == hits

    @pytest.mark.skipif(not has_wide_vectors(), reason="all kernels here are for the same vectors")
    def test_only_a_wide_kernel_uses_vectors_of_four_and_is_kept_by_a_name_of_its_own(self, run, tmp_path):
        called = "array = np.ones(9); out = np.zeros(9); add_scaled(array, array, out); print(out.sum()); "
        assembly = "print(int('ymm' in next(iter({}.inspect_asm().values()))))"
        assert run(called + assembly.format("add_scaled"))[0] == [81.0, 1.0]
        assert run(called + "print(sum(add_scaled.stats.cache_hits.values()))")[0] == [81.0, 1.0]
        assert [path.name.split("-")[1].split(".")[0] for path in tmp_path.rglob("*add_scaled*.nbi")] == ["wide"]
        assert run("outer(np.ones(9)); " + assembly.format("outer"))[0] == [0.0]

    def test_what_cannot_be_read_is_made_anew_and_nothing_else(self, run, tmp_path):
        program = "print(outer(np.array([1.0, 2.0])), inner(4.0))"
        run(program)
        spoilt, other = (next(tmp_path.rglob(f"kept.{name}-*.nbi")) for name in ("outer", "inner"))
        before = other.read_bytes()
        content = spoilt.read_bytes()
        spoilt.write_bytes(
            content.replace(b"heft.core.maths.pointer", b"heft.core.maths.Pointer").replace(b"c", b"\xff")
        )
        values, hits, said = run(program)
        assert values == [12.0, 16.0]
        assert hits == 0
        assert "compiled again" in said
        assert other.read_bytes() == before
        assert run(program)[1:] == (1, "")

    def test_numba_warns_of_what_cannot_be_kept(self, run):
        program = "print(with_options(OPTIONS)(np.array([1.0])))"
        assert "Cannot cache" in run(program.replace("OPTIONS", repr(OPTIONS)))[2]
