# SPDX-License-Identifier: GPL-3.0-or-later
"""A second thread for kernels of which others wait: the same sums in the same order, so the same bits.

Kernels for long loops let other threads go on meanwhile (`maths.kernel.wide_kernel`). Who bakes one job while somebody
looks on allows it; who bakes a batch has a process for each of the processor's cores already.
"""

import contextlib
import os
import queue
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")

_helper: ContextVar[ThreadPoolExecutor | None] = ContextVar("helper", default=None)


@contextlib.contextmanager
def helped(wanted: bool = True) -> Iterator[None]:
    """Within the block a second thread helps if it is wanted, where there is a second core for it."""
    if not wanted or (os.cpu_count() or 1) < 2:
        yield
        return
    with ThreadPoolExecutor(1, "Heft's helper") as helper:
        token = _helper.set(helper)
        try:
            yield
        finally:
            _helper.reset(token)


def in_line(pieces: Sequence[T], make: Callable[[T], None], use: Callable[[T], bool]) -> None:
    """Make and use one piece after the other, until one is found to be of no use.

    The helper makes the next pieces while one is used. When this returns, it makes none any more.
    """
    helper = _helper.get()
    if helper is None:
        for piece in pieces:
            make(piece)
            if not use(piece):
                return
        return
    made: queue.SimpleQueue[bool] = queue.SimpleQueue()
    left = False

    def go_ahead() -> None:
        try:
            for piece in pieces:
                if left:
                    return
                make(piece)
                made.put(True)
        finally:
            made.put(False)

    making = helper.submit(go_ahead)
    try:
        for piece in pieces:
            if not (made.get() and use(piece)):
                return
    finally:
        left = True
        making.result()


def both(one: Callable[[], None], other: Callable[[], None]) -> None:
    """Do two things that have nothing to do with each other."""
    helper = _helper.get()
    if helper is None:
        one()
        other()
        return
    doing = helper.submit(one)
    try:
        other()
    finally:
        doing.result()
