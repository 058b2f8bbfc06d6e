# SPDX-License-Identifier: GPL-3.0-or-later
"""`run.py check`: everything about the code that can be told without running the tests."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

from tools import sentences
from tools.build import blender_ext, stage, version_of_manifest
from tools.environment import ROOT, say

# What counts as documentation besides docs/, which MkDocs reads with its own check of links.
PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")


def module(name: str, *arguments: str) -> list[str]:
    """The command that runs a Python module of this environment."""
    return [sys.executable, "-m", name, *arguments]


def program(name: str) -> str:
    """The path of a program of this environment."""
    return str(shutil.which(name, path=str(Path(sys.executable).parent)))


def workflows() -> list[str]:
    """The files that say what hosted CI does."""
    return [str(path) for path in sorted((ROOT / ".github" / "workflows").glob("*.yml"))]


def broken_links() -> list[str]:
    """Links of the pages outside docs/ to files that are not there."""
    links = [
        (page, target)
        for page in PAGES
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", (ROOT / page).read_text(encoding="utf-8"))
    ]
    return [f"{p} links to {t}, which is not there" for p, t in links if "://" not in t and not (ROOT / t).exists()]


def different_versions() -> list[str]:
    """The manifest and pyproject.toml name one version, and the changelog has an entry for it."""
    version = version_of_manifest()
    other = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    wrong = [] if other == version else [f"blender_manifest.toml says {version}, pyproject.toml says {other}"]
    if f"## {version}" not in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"):
        wrong.append(f"CHANGELOG.md has no section for {version}")
    return wrong


def unlisted_packages() -> list[str]:
    """Packages that pyproject.toml lists and the tree lacks, or the other way round."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    listed = set(project["tool"]["setuptools"]["packages"])
    found = {"heft"}
    for room in ("core", "blender_addon", "operators", "panels", "examples"):
        for path in (ROOT / room).rglob("__init__.py"):
            found.add(".".join(["heft", *path.parent.relative_to(ROOT).parts]))
    return [f"pyproject.toml's packages: {name} is on one side only" for name in sorted(listed ^ found)]


def types() -> list[str]:
    """Mypy's errors. It reads the checkout from a folder that holds it as the package that it is."""
    rooms = [f"heft.{name}" for name in ("core", "research", "blender_addon", "operators", "panels", "examples")]
    options = ["--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", f"{sys.prefix}/mypy"]
    chosen = [part for room in rooms for part in ("-p", room)]
    chosen += ["-m", "heft.registration", "-m", "heft.blender_module"]
    with tempfile.TemporaryDirectory() as folder:
        link(ROOT, Path(folder) / "heft")
        command = module("mypy", *options, *chosen)
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).splitlines() if done.returncode else []


def link(folder: Path, name: Path) -> None:
    """Give a folder another name."""
    if os.name == "nt":  # where links ask for a privilege, and junctions do not
        from _winapi import CreateJunction

        CreateJunction(str(folder), str(name))
    else:
        name.symlink_to(folder, target_is_directory=True)


def main() -> int:
    """Run every check, say how each went, and fail if one did."""
    with tempfile.TemporaryDirectory() as folder:
        staged = Path(folder) / "staged"
        stage(staged, (ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))
        checks = {
            "style (ruff)": module("ruff", "check", "--quiet", "."),
            "format (ruff)": module("ruff", "format", "--check", "--quiet", "."),
            "spelling (typos)": [program("typos"), "--format", "brief"],
            "workflows (check-jsonschema)": [
                program("check-jsonschema"),
                *("--quiet", "--builtin-schema", "vendor.github-workflows", *workflows()),
            ],
            "types (mypy)": types,
            # its cache has been seen to remember modules that had moved
            "arrows between layers (import-linter)": [
                program("lint-imports"),
                *("--no-logo", "--no-cache"),
            ],
            "core without bpy": module("tools.import_core"),
            "manifest (Blender)": [sys.executable, str(blender_ext()), "validate", str(staged)],
            "documentation (MkDocs)": module("mkdocs", "build", "--strict", "--quiet", "--site-dir", f"{folder}/site"),
            "pages and presets made from the source": module("tools.made", "--stale"),
            "links of the pages beside it": broken_links,
            "length of the pages' sentences": sentences.too_long,
            "one version": different_versions,
            "list of packages": unlisted_packages,
        }
        failed = []
        for name, check in checks.items():
            start = time.perf_counter()
            if callable(check):
                output = "\n".join(check())
                bad = bool(output)
            else:
                done = subprocess.run(check, cwd=ROOT, capture_output=True, text=True, check=False)
                output, bad = done.stdout + done.stderr, done.returncode != 0
            say(f"{'FAILED' if bad else 'ok':6} {name} ({time.perf_counter() - start:.1f} s)")
            if bad:
                say(output.rstrip())
                failed.append(name)
    say(f"{len(checks) - len(failed)} of {len(checks)} checks passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
