# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiled code is used again exactly as long as it would come out the same."""

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numba
import pytest
from heft.core.maths import kernel_cache
from heft.core.maths.kernel_cache import fingerprint

from tools import environment

LOCATOR = f"{kernel_cache.__name__}.{kernel_cache.ByContent.__name__}"
CALLEE = (
    "import numba\nFACTOR = {factor}\n@numba.njit(cache=True)\ndef inner(x):\n    {text!r}\n    return FACTOR * x\n"
)
CALLER = (
    "import numba\nfrom .callee import inner\n@numba.njit(cache=True)\ndef outer(x):\n    return inner(x) + {offset}\n"
)
PROGRAM = "from bundle.caller import outer; print(outer(1.0), sum(outer.stats.cache_hits.values()))"


@pytest.fixture
def run(tmp_path: Path):
    """Write a package of two modules, call its function in a new process: the value, and whether it was kept."""

    def call(place: str, *, factor: float, offset: int = 0, text: str = "A docstring.") -> tuple[float, bool]:
        folder = tmp_path / place / "bundle"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "__init__.py").touch()
        (folder / "callee.py").write_text(CALLEE.format(factor=factor, text=text))
        (folder / "caller.py").write_text(CALLER.format(offset=offset))
        paths = os.pathsep.join([str(folder.parent), os.environ.get("PYTHONPATH", "")])
        variables = dict(os.environ, PYTHONPATH=paths, PYTHONDONTWRITEBYTECODE="1")
        variables |= {"NUMBA_CACHE_DIR": str(tmp_path / "kernels"), "NUMBA_CACHE_LOCATOR_CLASSES": LOCATOR}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=variables, capture_output=True, text=True, check=True
        )
        value, hits = done.stdout.split()
        return float(value), hits == "1"

    return call


def test_a_kernel_is_compiled_once(run):
    assert run("a", factor=2.0) == (2.0, False)
    assert run("a", factor=2.0) == (2.0, True)


def test_a_copy_of_the_package_elsewhere_uses_what_is_there(run):
    run("a", factor=2.0)
    assert run("b", factor=2.0) == (2.0, True)


def test_words_do_not_count(run):
    run("a", factor=2.0)
    assert run("a", factor=2.0, text="Better said.") == (2.0, True)


def test_a_constant_of_a_callee_in_another_file_counts(run):
    run("a", factor=2.0)
    assert run("a", factor=3.0) == (3.0, False)
    assert run("a", factor=3.0) == (3.0, True)


def test_its_own_code_counts(run):
    run("a", factor=2.0)
    assert run("a", factor=2.0, offset=5) == (7.0, False)


class Pair(NamedTuple):
    first: float
    second: float


class Swapped(NamedTuple):
    second: float
    first: float


def fingerprint_with(**names: object) -> str:
    """The fingerprint of one function among other names."""
    source = "def uses(x):\n    'Say it.'\n    return [thing(x, y) for y in x]\n"
    module = {"__name__": __name__, **names}
    exec(compile(source, "uses.py", "exec"), module)  # noqa: S102
    return fingerprint(module["uses"])


def test_fields_of_a_tuple_and_their_order_count():
    assert fingerprint_with(thing=Pair) == fingerprint_with(thing=Pair)
    assert fingerprint_with(thing=Pair) != fingerprint_with(thing=Swapped)


def test_options_of_a_callee_count():
    def double(x, y):
        return 2.0 * x * y

    plain, lenient = numba.njit(double), numba.njit(error_model="numpy")(double)
    assert fingerprint_with(thing=plain) == fingerprint_with(thing=numba.njit(double))
    assert fingerprint_with(thing=plain) != fingerprint_with(thing=lenient)


def test_kernels_that_call_each_other_have_an_end():
    module = {"__name__": __name__, "numba": numba}
    exec("@numba.njit\ndef a(x):\n    return b(x)\n@numba.njit\ndef b(x):\n    return a(x)\n", module)  # noqa: S102
    assert fingerprint(module["a"].py_func) != fingerprint(module["b"].py_func)


def test_the_developers_command_takes_it_up():
    assert environment.variables(next(iter(environment.PYTHON_OF_BLENDER)))["NUMBA_CACHE_LOCATOR_CLASSES"] == LOCATOR
