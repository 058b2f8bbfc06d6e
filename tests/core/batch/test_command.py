# SPDX-License-Identifier: GPL-3.0-or-later
"""`heft batch`: what it says, in a terminal and elsewhere, and its exit status."""

import io
import os
import signal
import subprocess
import sys

import pytest
from heft.core import cli
from heft.core.batch.journal import Entry, Journal
from heft.core.batch.running import Standing
from heft.core.batch.showing import Shown, clock

from tests.core.batch.nights import night
from tests.core.batch.test_running import ENVIRONMENT

TWO = """
output = "out"
[[bake]]
job = "saved.heftjob"
push = [0, {push}]
push_body = "{body}"
push_seconds = 0.2
seconds = 1.0
settings.rehearsals = 0
"""


def two(folder, push=20, body="torso"):
    return night(folder, TWO.format(push=push, body=body))


def test_a_batch_is_listed_baked_and_resumed(tmp_path, capsys):
    path = two(tmp_path)
    assert cli.main(["batch", str(path), "--list"]) == 0
    assert capsys.readouterr().out == "saved-push0\nsaved-push20\n"
    assert not (tmp_path / "out").exists()
    words = ["batch", str(path), "--workers", "1", "--cache", str(tmp_path / "kept")]
    assert cli.main(words) == 0
    told = capsys.readouterr()
    assert "2 bakes: 2 completed." in told.out
    assert "1 of 2: saved-push0: Stayed up" in told.err
    assert set(Journal(tmp_path / "out").entries) == {"saved-push0", "saved-push20"}
    assert cli.main(words) == 1
    assert "continue it with --resume" in capsys.readouterr().err
    assert cli.main([*words, "--resume"]) == 0
    told = capsys.readouterr()
    assert "2 bakes: 2 completed." in told.out
    assert "saved" not in told.err
    assert list((tmp_path / "kept").iterdir())


@pytest.mark.parametrize(
    ("changes", "status", "said"),
    [
        ({"push": 3000}, 3, "1 completed, 1 fell"),
        ({"body": "wing"}, 1, "saved-push20 failed: A push acts on an unknown body 'wing'."),
    ],
)
def test_the_status_says_what_became_of_it(tmp_path, capsys, changes, status, said):
    assert cli.main(["batch", str(two(tmp_path, **changes)), "--workers", "1"]) == status
    assert said in capsys.readouterr().out


def test_mistakes_are_one_line(tmp_path, capsys):
    assert cli.main(["batch", str(night(tmp_path, "[[bake]]\njbo = 1"))]) == 1
    assert capsys.readouterr().err.startswith("heft: night.toml, line 2: there is no key 'jbo' here")
    assert cli.main(["batch", str(tmp_path / "no.toml")]) == 1
    assert "There is no file" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signal to send")
@pytest.mark.usefixtures("interrupts")
def test_an_interrupt_keeps_what_is_finished(tmp_path):
    text = '[[bake]]\njob = "saved.heftjob"\nseconds = 3.0\nsettings.rehearsals = 0\nseed = ' + str(list(range(60)))
    words = [sys.executable, "-m", "heft.core.cli", "batch", str(night(tmp_path, text)), "--workers", "1"]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
    first = process.stderr.readline()
    os.kill(process.pid, signal.SIGINT)
    told = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert first.startswith("1 of 60: saved-seed0")
    assert "continue with --resume" in told
    assert 1 <= len(Journal(tmp_path / "night").entries) < 60


class Terminal(io.StringIO):
    def isatty(self):
        return True


def entry(outcome, why):
    return Entry("walk", "", outcome, why, {})


def test_a_terminal_has_a_bar_with_the_time_left(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("heft.core.batch.showing.time.monotonic", lambda: now[0])
    stream = Terminal()
    shown = Shown(stream)
    now[0] = 130.0
    shown.update(Standing(4, before=1, done=1, last=entry("completed", "Stayed up.")))
    assert stream.getvalue().split("\r")[-1].rstrip() == "[##########                    ] 2 of 4, 1:00 left"
    shown.update(Standing(4, before=1, done=2, last=entry("failed", "No legs.")))
    assert "3 of 4: walk: failed. No legs." in stream.getvalue()
    shown.end()
    assert stream.getvalue().endswith("\r")


def test_clock():
    assert [clock(seconds) for seconds in (0.7, 61, 3600, 7265)] == ["0:01", "1:01", "1:00:00", "2:01:05"]
