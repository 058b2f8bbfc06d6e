# SPDX-License-Identifier: GPL-3.0-or-later
"""Long work on Blender's data, done a little at a time, so that the interface never waits for it.

Work is a generator: it yields how far it is, a fraction, whenever it can be left for a while, or None where it waits
for a thread; what it returns is what came of it. While it is left, Blender's data is as users have it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from typing import Generic, TypeVar

import bpy
from bpy.app.handlers import persistent

T = TypeVar("T")
Work = Generator[float | None, None, T]

AT_ONCE = 0.1  # s of work, after which a window is shown again
A_MOMENT = 0.01  # s that are waited for a thread before it is left to itself
WAITS = 0.002  # s between looks at a thread, where there is nothing else to do


def whole(work: Work[T]) -> T:
    """Do all of it now."""
    while True:
        try:
            if next(work) is None:
                time.sleep(WAITS)
        except StopIteration as ended:
            result: T = ended.value
            return result


def at_once(result: T) -> Work[T]:
    """What is there already, as work."""
    yield from ()
    return result


def within(work: Work[T], start: float, end: float) -> Work[T]:
    """The same as a part of more, which it brings from one fraction to another."""
    try:
        while True:
            done = next(work)
            yield None if done is None else start + (end - start) * done
    except StopIteration as ended:
        result: T = ended.value
        return result
    finally:
        work.close()


def elsewhere(compute: Callable[[], T]) -> Work[T]:
    """Compute in a thread what has nothing to do with Blender's data."""
    results: list[T] = []
    errors: list[Exception] = []

    def run() -> None:
        try:
            results.append(compute())
        except (ValueError, MemoryError) as error:
            errors.append(error)

    thread = threading.Thread(target=run, name="Heft's arithmetic", daemon=True)
    thread.start()
    thread.join(A_MOMENT)
    while thread.is_alive():
        yield None
    if errors:
        raise errors[0]
    return results[0]


class Slices(Generic[T]):
    """Work that goes on whenever it is asked to.

    It is begun anew where undo, redo or a deletion came between: what it knew of Blender's data is gone then.
    """

    def __init__(self, begin: Callable[[], Work[T]]) -> None:
        """`begin` looks for all it needs by names or numbers."""
        self._begin = begin
        self._work: Work[T] | None = None
        self._turned = 0
        self.fraction = 0.0
        self.results: list[T] = []  # one, once it is over

    def go_on(self, seconds: float = AT_ONCE) -> bool:
        """Work for about so long, a step at least; whether it is over. ValueError as the work raises it."""
        until = time.monotonic() + seconds
        if self._turned != history.turned:
            self.end()
            self.results.clear()
        if self.results:
            return True
        if self._work is None:
            self._work, self._turned = self._begin(), history.turned
        try:
            while (done := next(self._work)) is not None:
                self.fraction = done
                if time.monotonic() > until:
                    break
        except StopIteration as ended:
            self.results.append(ended.value)
        except ReferenceError:  # something was deleted
            self.end()
        return bool(self.results)

    def end(self) -> None:
        """Leave it, with nothing left of it."""
        if self._work is not None:
            self._work.close()
        self._work = None


class History:
    """How often Blender's data was replaced by that of another time."""

    def __init__(self) -> None:
        self.turned = 0

    def turn(self) -> None:
        """It was."""
        self.turned += 1


history = History()


@persistent  # type: ignore[untyped-decorator]
def on_turn(*_arguments: object) -> None:
    """Called by Blender after undo and redo."""
    history.turn()


def register() -> None:
    """Notice undo and redo."""
    bpy.app.handlers.undo_post.append(on_turn)
    bpy.app.handlers.redo_post.append(on_turn)


def unregister() -> None:
    """No more."""
    bpy.app.handlers.undo_post.remove(on_turn)
    bpy.app.handlers.redo_post.remove(on_turn)
