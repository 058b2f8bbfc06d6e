# SPDX-License-Identifier: GPL-3.0-or-later
"""What a person sees of run.py when something outside the project is wrong: one line, and a failing exit status."""

import os
import subprocess
import sys

import pytest

import run
from tools import environment


def run_run_py(*arguments, **variables):
    return subprocess.run(
        [sys.executable, str(environment.ROOT / "run.py"), *arguments],
        capture_output=True,
        text=True,
        env=os.environ | variables,
        check=False,
        timeout=60,
    )


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """A checkout with a lock file and nothing else."""
    for name in ("locks/develop.txt", "pyproject.toml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    monkeypatch.setattr(environment, "LOCK", tmp_path / "locks" / "develop.txt")
    monkeypatch.setattr(environment, "ENVIRONMENTS", tmp_path / ".venv")
    return tmp_path


def no_python_anywhere(monkeypatch):
    monkeypatch.setattr(environment, "python_candidates", lambda _: [])


def test_running_python_is_found():
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    found = environment.find_python(version)
    assert found is not None
    assert environment.can_make_environments(found, version)


def test_python_of_an_environment_that_is_to_be_made_anew_is_passed_over(elsewhere, monkeypatch):
    inside = str(elsewhere / ".venv" / "blender5.2" / "bin" / "python")
    monkeypatch.setattr(environment, "python_candidates", lambda _: [inside, "python outside"])
    monkeypatch.setattr(environment, "can_make_environments", lambda *_: True)
    assert environment.find_python("3.13") == "python outside"


def test_python_of_pyenv_is_found_without_path(tmp_path, monkeypatch):
    folder = tmp_path / "versions" / "3.13.5" / "bin"
    folder.mkdir(parents=True)
    (folder / "python3.13").touch()
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    assert str(folder / "python3.13") in list(environment.python_candidates("3.13"))


def test_something_that_is_not_a_python_is_passed_over(tmp_path):
    fake = tmp_path / "python3.13"
    fake.write_text("#!/bin/sh\nexit 1\n")
    fake.chmod(0o755)
    assert not environment.can_make_environments(str(fake), "3.13")
    assert not environment.can_make_environments(str(tmp_path / "absent"), "3.13")


def test_no_python_says_which_will_do(elsewhere, monkeypatch):
    no_python_anywhere(monkeypatch)
    with pytest.raises(environment.Trouble, match=r"needs Python 3\.11 or 3\.13"):
        environment.chosen_lines(None)
    with pytest.raises(environment.Trouble, match=r"needs Python 3\.13"):
        environment.ensure("5.2")
    assert not environment.environment_is_ready("5.2")


def test_all_lines_names_the_one_left_out(elsewhere, monkeypatch, capsys):
    monkeypatch.setattr(environment, "find_python", lambda version: "python" if version == "3.11" else None)
    assert environment.chosen_lines("all") == ["4.5"]
    assert "Blender 5.2 is left out: no Python 3.13" in capsys.readouterr().out


def test_half_made_environment_is_made_again(elsewhere, monkeypatch):
    made = []
    monkeypatch.setattr(environment, "install_packages", lambda line: made.append(line) or fail())
    environment.folder_of("5.2").mkdir(parents=True)

    def fail():
        raise environment.Trouble("interrupted")

    for _ in range(2):
        with pytest.raises(environment.Trouble):
            environment.ensure("5.2")
    assert made == ["5.2", "5.2"]


def test_file_in_use_is_one_sentence(elsewhere, monkeypatch):
    def denied(line):
        raise PermissionError(13, "Permission denied", str(environment.folder_of(line)))

    monkeypatch.setattr(environment, "install_packages", denied)
    with pytest.raises(environment.Trouble, match=r"cannot write .* close what uses it"):
        environment.ensure("5.2")


@pytest.mark.parametrize(
    ("output", "sentence"),
    [
        ("NewConnectionError: Failed to establish a new connection: [Errno -2]", "registry cannot be reached"),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE", "not the one that was locked"),
        ("OSError: [Errno 28] No space left on device", "disk is full"),
        ("lots of lines\nERROR: something new", "something new"),
        ("", "no message"),
    ],
)
def test_trouble_of_pip_is_explained(output, sentence):
    assert sentence in environment.explain(output)


def test_failing_program_is_one_sentence():
    with pytest.raises(environment.Trouble, match=r"^doing it failed: broken$"):
        environment.run_quietly([sys.executable, "-c", "import sys; sys.exit('error: broken')"], "doing it")


def test_unknown_argument_is_refused():
    done = run_run_py("check", "--nonsense")
    assert done.returncode == 2
    assert "unknown argument: --nonsense" in done.stderr
    assert "Traceback" not in done.stderr


def test_unreachable_registry_is_one_line(tmp_path):
    """A fresh checkout with no way out: everything but the packages is there."""
    checkout = tmp_path / "checkout"
    tools = ("tools/__init__.py", "tools/bare.py", "tools/environment.py")
    for name in ("run.py", "pyproject.toml", *tools, "locks/develop.txt"):
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).write_bytes((environment.ROOT / name).read_bytes())
    closed = "http://127.0.0.1:9/simple"
    variables = {
        "PIP_INDEX_URL": closed,
        "PIP_EXTRA_INDEX_URL": "",
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_NO_CACHE_DIR": "1",
    }
    done = subprocess.run(
        [sys.executable, str(checkout / "run.py"), "demo"],
        capture_output=True,
        text=True,
        env=os.environ | variables,
        check=False,
        timeout=120,
    )
    assert done.returncode == 1
    assert done.stderr.startswith(
        "run.py: installing the locked packages failed: the package registry cannot be reached"
    )
    assert done.stderr.count("\n") == 1


def test_programs_of_the_environment_get_all_that_follows_their_name(tmp_path):
    known, rest = run.parse_arguments(["tool", "ruff", "check", "--fix", "a.py"])
    python = tmp_path / "python"
    assert run.command_line(known, rest, python) == [str(tmp_path / "ruff"), "check", "--fix", "a.py"]
    known, rest = run.parse_arguments(["test", "-k", "lcp"])
    assert run.command_line(known, rest, python) == [str(python), "-m", "pytest", "-k", "lcp"]
