# SPDX-License-Identifier: GPL-3.0-or-later
"""How a process ends that may have loaded Blender as a module."""

import os
import sys
from collections.abc import Callable
from types import TracebackType
from typing import NoReturn


def leave_after(main: Callable[[], int | None]) -> NoReturn:
    """Do it, and end without the bpy module's own clean-up: 4.5's can wait for ever on one of its threads.

    After an error that nobody expected too, once Python has told of it.
    """
    sys.excepthook = _tell_and_leave
    try:
        status = main() or 0
    except SystemExit as end:  # as argparse ends after what it has said
        status = end.code if isinstance(end.code, int) else 1
        if isinstance(end.code, str):
            sys.stderr.write(end.code + "\n")
    _leave(status)


def _tell_and_leave(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    sys.__excepthook__(kind, error, trace)
    _leave(1)


def _leave(status: int) -> NoReturn:
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
