# SPDX-License-Identifier: GPL-3.0-or-later
"""A process that may have loaded Blender ends at once, whatever its work comes to; a thread does not hold it."""

import subprocess
import sys

import pytest

from tools.environment import ROOT

SCRIPT = """
import sys, threading
from tools.leaving import leave_after
threading.Thread(target=threading.Event().wait).start()  # waits for ever, as Blender's may
leave_after(lambda: {work})
"""


@pytest.mark.parametrize(
    ("work", "status", "said"),
    [("0", 0, ""), ("3", 3, ""), ("sys.exit('no')", 1, "no\n"), ("[][1]", 1, "IndexError")],
)
def test_it_ends_with_the_status_of_its_work(work, status, said):
    ended = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(work=work)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == status
    assert said in ended.stderr
