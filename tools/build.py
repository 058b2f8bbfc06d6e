# SPDX-License-Identifier: GPL-3.0-or-later
"""`run.py build`: one zip per platform and Blender line, with the wheels that Blender itself does not have.

Blender's own extension tool, from the bpy package, validates the manifest and packs the zip; it is given a staged copy
of the files that make up the extension, so that nothing else of the checkout can slip in.
"""

import argparse
import hashlib
import importlib.util
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from platform import machine
from types import ModuleType
from typing import NamedTuple

from packaging.requirements import Requirement

from tools.bare import stage, version_of_manifest
from tools.environment import ENVIRONMENTS, PYTHON_OF_BLENDER, ROOT, Trouble, ensure, explain, say, variables

WHEEL_LOCK = ROOT / "locks" / "wheels.txt"
# The first Blender that a line's zip is not for; the newest line stays open.
ENDS_BEFORE = {"4.5": "5.0.0"}


class Platform(NamedTuple):
    """What pip and the lock file's markers need to know of a platform that Blender runs on."""

    name: str  # as in Blender's manifests
    tags: tuple[str, ...]  # wheels that run there, as pip's --platform
    markers: dict[str, str]  # PEP 508 markers
    lines: tuple[str, ...]  # Blender lines that exist for it


PLATFORMS = (
    Platform(
        "linux-x64",
        ("manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux2014_x86_64"),
        {"sys_platform": "linux", "platform_machine": "x86_64", "platform_system": "Linux", "os_name": "posix"},
        ("4.5", "5.2"),
    ),
    Platform(
        "windows-x64",
        ("win_amd64",),
        {"sys_platform": "win32", "platform_machine": "AMD64", "platform_system": "Windows", "os_name": "nt"},
        ("4.5", "5.2"),
    ),
    Platform(
        "macos-arm64",
        ("macosx_12_0_arm64",),
        {"sys_platform": "darwin", "platform_machine": "arm64", "platform_system": "Darwin", "os_name": "posix"},
        ("4.5", "5.2"),
    ),
    Platform(
        "macos-x64",
        ("macosx_12_0_x86_64",),
        {"sys_platform": "darwin", "platform_machine": "x86_64", "platform_system": "Darwin", "os_name": "posix"},
        ("4.5",),
    ),
)


def locked_for(platform: Platform, line: str, lock: str) -> Iterator[str]:
    """The lock file's entries that hold on a platform, without their markers: pip would read those for this machine."""
    python = PYTHON_OF_BLENDER[line]
    environment = platform.markers | {"python_version": python, "python_full_version": f"{python}.0"}
    for entry in lock.replace("\\\n", " ").splitlines():
        text, *hashes = entry.split(" --hash=")
        if not text.strip():
            continue
        requirement = Requirement(text.strip())
        if requirement.marker is None or requirement.marker.evaluate(environment):
            yield " --hash=".join([f"{requirement.name}{requirement.specifier}", *map(str.strip, hashes)])


def fetch_wheels(platform: Platform, line: str) -> list[Path]:
    """The locked wheels of one zip, checked by hash by pip, fetched once."""
    wanted = "\n".join(locked_for(platform, line, WHEEL_LOCK.read_text(encoding="utf-8"))) + "\n"
    digest = hashlib.sha256("\n".join([wanted, *platform.tags]).encode()).hexdigest()[:16]
    folder = ENVIRONMENTS / "wheels" / f"{platform.name}-blender{line}-{digest}"
    if not folder.is_dir():
        say(f"Fetching the wheels for {platform.name}, Blender {line}")
        unfinished = folder.with_name(folder.name + ".unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        requirements = unfinished / "requirements.txt"
        requirements.write_text(wanted, encoding="utf-8")
        run(
            [
                *(sys.executable, "-m", "pip", "--disable-pip-version-check", "--retries", "2", "download"),
                *("--quiet", "--no-deps", "--only-binary", ":all:", "--require-hashes", "--progress-bar", "off"),
                *("--python-version", PYTHON_OF_BLENDER[line], "--implementation", "cp"),
                *(option for tag in platform.tags for option in ("--platform", tag)),
                *("--dest", str(unfinished), "--requirement", str(requirements)),
            ],
            f"fetching the wheels for {platform.name}",
        )
        requirements.unlink()
        unfinished.rename(folder)
    return sorted(folder.glob("*.whl"))


def manifest_for(platform: Platform, line: str, wheels: list[Path]) -> str:
    """The checkout's manifest with the platform, the Blender line and the wheels of one zip."""
    manifest = (ROOT / "blender_manifest.toml").read_text(encoding="utf-8")
    # exactly one line may match, or the zip would install where its wheels cannot run
    start = f'blender_version_min = "{min(PYTHON_OF_BLENDER)}.0"'
    if manifest.count(start) != 1:
        raise Trouble(f"blender_manifest.toml must contain the line {start}")
    manifest = manifest.replace(start, f'blender_version_min = "{line}.0"')
    if line in ENDS_BEFORE:
        manifest += f'blender_version_max = "{ENDS_BEFORE[line]}"\n'
    names = "".join(f'    "./wheels/{wheel.name}",\n' for wheel in wheels)
    return manifest + f'platforms = ["{platform.name}"]\nwheels = [\n{names}]\n'


def compile_kernels(folder: Path, line: str) -> None:
    """Put all kernels into the staged extension: compiled by its own code, for the platform that this runs on."""
    say(f"Compiling the kernels for Blender {line}")
    kept = Path(variables(line)["NUMBA_CACHE_DIR"])
    done = subprocess.run(
        [
            sys.executable if sys.version.startswith(PYTHON_OF_BLENDER[line]) else str(ensure(line)),
            "-P",
            str(ROOT / "tools" / "compile_kernels.py"),
            str(folder),
        ],
        capture_output=True,
        text=True,
        env={name: value for name, value in variables(line).items() if name != "HEFT_PROCESSOR"},
        check=False,
    )
    if done.returncode:
        raise Trouble(f"compiling the kernels failed: {explain(done.stdout + done.stderr)}")
    found = json.loads(done.stdout.splitlines()[-1])
    files = [Path(name).relative_to(kept).as_posix() for name in found["files"]]
    shipped().pack(kept, files, found["methods"], folder / "kernels", found["fits"])


def shipped() -> ModuleType:
    """blender_addon/worker/shipped.py, by its file: by its name it would need Blender."""
    spec = importlib.util.spec_from_file_location("shipped", ROOT / "blender_addon" / "worker" / "shipped.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def is_here(platform: Platform) -> bool:
    """Whether this machine is of that platform."""
    markers = platform.markers
    return (sys.platform, machine()) == (markers["sys_platform"], markers["platform_machine"])


def pack(folder: Path, output: Path) -> None:
    """Have Blender's extension tool check the staged files and write the zip."""
    output.parent.mkdir(exist_ok=True)
    unfinished = output.with_name("unfinished-" + output.name)
    run(
        [
            sys.executable,
            str(blender_ext()),
            "build",
            "--source-dir",
            str(folder),
            "--output-filepath",
            str(unfinished),
        ],
        f"packing {output.name}",
    )
    unfinished.replace(output)
    say(f"dist/{output.name}  {output.stat().st_size / 1e6:.1f} MB")


def blender_ext() -> Path:
    """Blender's command for extensions, as the bpy package carries it."""
    import importlib.util

    found = importlib.util.find_spec("bpy")
    scripts = sorted(Path(found.origin).parent.glob("*/scripts/addons_core/bl_pkg/cli/blender_ext.py")) if found else []
    if not scripts:
        raise Trouble("the bpy package does not contain Blender's extension tool")
    return scripts[0]


def run(command: list[str], doing: str) -> None:
    """Run a program quietly; one line when it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Trouble(f"{doing} failed: {explain(done.stdout + done.stderr)}")


def build(platform: Platform, line: str, version: str, *, kernels: bool = True) -> Path:
    """One zip with its wheels, and with kernels where it can be."""
    wheels = fetch_wheels(platform, line)
    folder = ROOT / "build" / f"{platform.name}-blender{line}"
    stage(folder, manifest_for(platform, line, wheels))
    (folder / "wheels").mkdir()
    for wheel in wheels:
        shutil.copy2(wheel, folder / "wheels")
    if kernels and is_here(platform):
        compile_kernels(folder, line)
    else:
        say(f"No kernels for {platform.name}: they are compiled on such a machine, or by users as they need them")
    output = ROOT / "dist" / f"heft-{version}-{platform.name}-blender{line}.zip"
    pack(folder, output)
    return output


def main() -> None:
    """Build what the command line asks for."""
    parser = argparse.ArgumentParser(prog="run.py build")
    parser.add_argument("--platform", choices=[platform.name for platform in PLATFORMS])
    parser.add_argument(
        "--without-kernels", action="store_true", help="leave them to be compiled where they are needed"
    )
    arguments = parser.parse_args()
    version = version_of_manifest()
    for platform in PLATFORMS:
        if arguments.platform in (None, platform.name):
            for line in platform.lines:
                build(platform, line, version, kernels=not arguments.without_kernels)


if __name__ == "__main__":
    try:
        main()
    except Trouble as trouble:
        sys.exit(f"run.py build: {trouble}")
    except OSError as error:
        sys.exit(f"run.py build: cannot write {error.filename}: {error.strerror}")
