# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds a Python and makes an environment from the lock file. Standard library only.

This runs on whatever Python a person has typed `python3` for, so its syntax stays what Python 3.7 reads: that one can
then say which versions will do, instead of failing on a line it cannot parse.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent
PYTHON_OF_BLENDER = {"4.5": "3.11", "5.2": "3.13"}
ENVIRONMENTS = ROOT / ".venv"
LOCK = ROOT / "locks" / "develop.txt"


class Trouble(Exception):
    """Something outside the project stands in the way; its text is the one line that a person gets to read."""


def say(text: str) -> None:
    """Tell what is being done, at once."""
    print(text, flush=True)


def chosen_lines(wanted: str | None) -> list[str]:
    """The Blender lines to work with: the one asked for, all whose Python is here, or the one nearest at hand."""
    if wanted and wanted != "all":
        return [wanted]
    found = [line for line in PYTHON_OF_BLENDER if environment_is_ready(line) or find_python(PYTHON_OF_BLENDER[line])]
    if not found:
        raise Trouble(no_python(PYTHON_OF_BLENDER.values()))
    if wanted == "all":
        for line, version in PYTHON_OF_BLENDER.items():
            if line not in found:
                say(f"Blender {line} is left out: no Python {version} on this machine")
        return found
    running = f"{sys.version_info[0]}.{sys.version_info[1]}"
    return [next((line for line in found if PYTHON_OF_BLENDER[line] == running), found[-1])]


def no_python(versions: Iterable[str]) -> str:
    """The sentence for a machine without a Python that will do."""
    running = ".".join(map(str, sys.version_info[:3]))
    return (
        f"Heft needs Python {' or '.join(versions)}, with its venv module; none was found on PATH, in pyenv or in the "
        f"usual places (this one is {running}). Install one of them and run this again."
    )


def find_python(version: str) -> str | None:
    """The path of an installed Python of this version that can make environments, or None."""
    for candidate in python_candidates(version):
        # one inside an environment would be removed together with it
        inside = candidate.startswith(str(ENVIRONMENTS) + os.sep)
        if not inside and can_make_environments(candidate, version):
            return candidate
    return None


def python_candidates(version: str) -> Iterator[str]:
    """Where a Python of this version may be: the running one, PATH, pyenv, uv, the systems' usual places."""
    home = Path.home()
    executable = "python.exe" if os.name == "nt" else "bin/python" + version
    yield getattr(sys, "_base_executable", None) or sys.executable
    for name in ("python" + version, "python3", "python"):
        found = shutil.which(name)
        if found:
            yield found
    pyenv = Path(os.environ.get("PYENV_ROOT", str(home / ".pyenv")))
    patterns = [
        (pyenv / "versions", version + "*/" + executable),
        (pyenv / "pyenv-win" / "versions", version + "*/" + executable),
        (home / ".local" / "share" / "uv" / "python", "cpython-" + version + "*/" + executable),
        (home / ".asdf" / "installs" / "python", version + "*/" + executable),
        (Path("/opt/homebrew/bin"), "python" + version),
        (Path("/usr/local/bin"), "python" + version),
        (Path("/usr/bin"), "python" + version),
        (Path("/Library/Frameworks/Python.framework/Versions"), version + "/" + executable),
    ]
    if os.environ.get("LOCALAPPDATA"):
        programs = Path(os.environ["LOCALAPPDATA"]) / "Programs" / "Python"
        patterns.append((programs, "Python" + version.replace(".", "") + "/python.exe"))
    for folder, pattern in patterns:
        for found in sorted(folder.glob(pattern), reverse=True):
            yield str(found)


def can_make_environments(python: str, version: str) -> bool:
    """Whether this executable runs, is of this version, and has what `python -m venv` needs."""
    question = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        answer = subprocess.run(
            [python, "-I", "-c", question], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=30, check=False
        )
        return answer.stdout.decode(errors="replace").strip() == version
    return False


def folder_of(line: str) -> Path:
    """Where this Blender line's environment lives."""
    return ENVIRONMENTS / ("blender" + line)


def python_of(line: str) -> Path:
    """The environment's own Python."""
    return folder_of(line) / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def stamps_of(line: str) -> dict[str, str]:
    """What the environment's two parts are made from: the locked packages, and Heft's own entry among them."""
    packages = f"{PYTHON_OF_BLENDER[line]} {hashlib.sha256(LOCK.read_bytes()).hexdigest()} {ROOT}"
    return {"packages": packages, "heft": hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest()}


def is_stamped(line: str, part: str) -> bool:
    """Whether this part of the environment was finished, from the same things as now."""
    try:
        return (folder_of(line) / ("stamp-" + part)).read_text() == stamps_of(line)[part]
    except OSError:
        return False


def environment_is_ready(line: str) -> bool:
    """Whether all of the environment is there and its Python still runs."""
    return all(is_stamped(line, part) for part in stamps_of(line)) and can_make_environments(
        str(python_of(line)), PYTHON_OF_BLENDER[line]
    )


def ensure(line: str) -> Path:
    """Make the environment of this Blender line unless it is there; return its Python."""
    if environment_is_ready(line):
        return python_of(line)
    try:
        ENVIRONMENTS.mkdir(exist_ok=True)
        with one_at_a_time(ENVIRONMENTS / "lock"):
            make(line)
    except OSError as error:
        place = error.filename or ENVIRONMENTS
        raise Trouble(
            f"cannot write {place} ({error.strerror}): close what uses it, free some space, or delete .venv"
        ) from None
    return python_of(line)


def make(line: str) -> None:
    """Create what is missing of the environment. A stamp comes last: a half-made part is never taken for ready."""
    folder = folder_of(line)
    if not (is_stamped(line, "packages") and can_make_environments(str(python_of(line)), PYTHON_OF_BLENDER[line])):
        install_packages(line)
        (folder / "stamp-packages").write_text(stamps_of(line)["packages"])
    if not is_stamped(line, "heft"):
        pip_install(line, ["--no-build-isolation", "-e", str(ROOT)], "installing Heft itself")
        (folder / "stamp-heft").write_text(stamps_of(line)["heft"])


def install_packages(line: str) -> None:
    """A new virtual environment with the packages of the lock file."""
    version = PYTHON_OF_BLENDER[line]
    python = find_python(version)
    if python is None:
        raise Trouble(no_python([version]))
    say(f"Making the environment for Blender {line} with Python {version}: about 1 GB to fetch the first time")
    folder = folder_of(line)
    if folder.exists():
        shutil.rmtree(str(folder))
    run_quietly([python, "-m", "venv", str(folder)], "making a virtual environment")
    locked = ["--require-hashes", "--only-binary", ":all:", "-r", str(LOCK)]
    pip_install(line, locked, "installing the locked packages", progress_of_pip)
    say(f"Ready: {folder.relative_to(ROOT)}")


def pip_install(line: str, arguments: list[str], doing: str, show: Callable[[str], str | None] | None = None) -> None:
    """Run the environment's pip; every package it may take is named by the lock file or is Heft itself."""
    options = ["--disable-pip-version-check", "--retries", "2", "install", "--no-deps", "--progress-bar", "off"]
    run_quietly([str(python_of(line)), "-m", "pip", *options, *arguments], doing, show)


def progress_of_pip(line: str) -> str | None:
    """What of pip's output a waiting person wants to know, or None."""
    found = re.match(r"\s*Downloading (?:\S*/)?([^\s/]+?)-(\d[^\s-]*)-\S*\.whl(?:\.metadata)? \(([\d.]+ [MG]B)\)", line)
    if found:
        name, version, size = found.groups()
        return f"  fetching {name} {version} ({size})"
    if line.startswith("Installing collected packages"):
        return f"  installing {line.count(',') + 1} packages"
    return None


def run_quietly(command: list[str], doing: str, show: Callable[[str], str | None] | None = None) -> None:
    """Run a program, showing only what `show` makes of its lines; raise Trouble with one line when it fails."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=str(ROOT))
    output = []
    try:
        for raw in process.stdout:
            line = raw.decode(errors="replace").rstrip()
            output.append(line)
            shown = show(line) if show else None
            if shown:
                say(shown)
    except BaseException:
        process.kill()
        raise
    finally:
        process.stdout.close()
        process.wait()
    if process.returncode:
        explanation = explain("\n".join(output))
        raise Trouble(f"{doing} failed: {explanation}")


# What a program's output says when something outside the project went wrong, and what to tell the person then.
KNOWN_TROUBLES = {
    r"Failed to establish a new connection|Max retries exceeded|ConnectTimeout|name resolution|ProxyError|timed out": (
        "the package registry cannot be reached; check the network and run this again"
    ),
    r"No space left on device": "the disk is full; free about 4 GB and run this again",
    r"DO NOT MATCH THE HASHES": (
        "a fetched package is not the one that was locked; run `python -m pip cache purge` and try again"
    ),
    r"Permission denied|WinError 5|WinError 32": "a file is in use or cannot be written; close what uses .venv",
    r"No matching distribution found": "a locked package has no build for this system",
}


def explain(output: str) -> str:
    """One sentence for the trouble that a program's output tells of."""
    for pattern, sentence in KNOWN_TROUBLES.items():
        if re.search(pattern, output):
            return sentence
    errors = re.findall(r"(?im)^(?:error: *)(.+)$", output) or output.splitlines() or ["no message"]
    return errors[-1].strip()


@contextlib.contextmanager
def one_at_a_time(path: Path) -> Iterator[None]:
    """Hold a lock that another run of this command waits for; the system frees it when the process ends."""
    with path.open("a") as file:
        if os.name == "nt":
            import msvcrt

            def take() -> None:
                msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

            wait = take_repeatedly
        else:
            import fcntl

            def take() -> None:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

            def wait(_: Callable[[], None]) -> None:
                fcntl.flock(file, fcntl.LOCK_EX)

        try:
            take()
        except OSError:
            say("Another run.py is making an environment; waiting for it")
            wait(take)
        yield


def take_repeatedly(take: Callable[[], None]) -> None:
    """Windows has no lock that waits for ever: ask again every half second."""
    import time

    while True:
        time.sleep(0.5)
        with contextlib.suppress(OSError):
            take()
            return


def variables(line: str) -> dict[str, str]:
    """The process environment for commands in this Blender line's environment.

    It says where numba keeps compiled kernels; core/maths/kernel_cache.py says how. Numerical libraries round as in the
    process that bakes, and on every processor; core/rounding.py says how.
    """
    return dict(
        os.environ,
        **rounding().PROCESS,
        NUMBA_CACHE_DIR=os.environ.get("NUMBA_CACHE_DIR", str(kernels_of(line))),
        NUMBA_CACHE_LOCATOR_CLASSES="heft.core.maths.kernel_cache.ByContent",
        PYTHONUTF8="1",
    )


def kernels_of(line: str) -> Path:
    """Where compiled kernels are kept, which another clone on this machine finds as well: by what they compile to."""
    if os.name == "nt":
        caches = Path(os.environ.get("LOCALAPPDATA", str(Path.home() / "AppData" / "Local")))
    elif sys.platform == "darwin":
        caches = Path.home() / "Library" / "Caches"
    else:
        caches = Path(os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache")))
    return caches / "heft" / ("kernels-" + PYTHON_OF_BLENDER[line])


def rounding() -> ModuleType:
    """core/rounding.py, by its file: by its name it would take all of core with it."""
    spec = importlib.util.spec_from_file_location("rounding", str(ROOT / "core" / "rounding.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
