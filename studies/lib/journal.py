# SPDX-License-Identifier: GPL-3.0-or-later
"""What a study has found so far, a line of JSON for each, so that one that is stopped goes on where it was."""

import json
import math
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Self

from heft.core.batch.local import processors

from tools.environment import ROOT
from tools.measured import measured

FOLDER = ROOT / "out" / "studies"
STEERED = FOLDER / "steered.cache"  # actions of steered walks, which several studies lead


class Journal:
    """Of one study, and of what it is about: answers found with other sources count no more."""

    only = ""  # of tables' rows those alone are found that have this in their names

    @classmethod
    def of(cls, name: str) -> Self:
        """Of a study, by what it imports."""
        return cls(name, measured(ROOT / "studies" / f"{name}.py"))

    def __init__(self, name: str, sources: Iterable[Path]) -> None:
        """`sources` are files, and folders with all that is in them."""
        files = sorted(file for path in sources for file in (path.rglob("*") if path.is_dir() else [path]))
        digest = sha256(b"".join(file.read_bytes() for file in files if file.suffix in {".py", ".json", ".toml"}))
        self._path = FOLDER / f"{name}.{digest.hexdigest()[:12]}.jsonl"
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._answers: dict[str, Any] = {}
        if self._path.is_file():
            # the last line may have been cut short
            for line in self._path.read_text(encoding="utf-8").split("\n")[:-1]:
                self._answers.update(json.loads(line))

    def knows(self, question: str) -> bool:
        """Whether the answer stands there."""
        return question in self._answers

    def find(self, question: str, find: Callable[[], Any]) -> Any:
        """The answer that stands there, or that is found now: what JSON can say."""
        if question not in self._answers:
            self._keep(question, find())
        return self._answers[question]

    def rows(self, rows: Mapping[str, Callable[[], str]]) -> list[str]:
        """Lines of a table, by their names: those that are wanted, and of the others those that stand there."""
        return [self.find(name, find) for name, find in rows.items() if self.wants(name)]

    def wants(self, question: str) -> bool:
        """Whether it is to be answered, or stands there."""
        return self.only in question or self.knows(question)

    def find_all(self, questions: Mapping[str, Callable[[], Any]], until: float = math.inf) -> list[Any]:
        """Answers to many, those not found yet by all processors at once.

        None for those that would have been begun after a time of the monotonic clock, s: they stay open.
        """
        pool = processes()
        waiting = {
            pool.submit(_begun_before, until, find): question
            for question, find in questions.items()
            if question not in self._answers
        }
        for done in as_completed(waiting):
            if done.result() is not None:
                self._keep(waiting[done], done.result())
        return [self._answers.get(question) for question in questions]

    def _keep(self, question: str, answer: Any) -> None:
        self._answers[question] = answer
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({question: answer}) + "\n")


def _begun_before(until: float, find: Callable[[], Any]) -> Any:
    """What is found, if there is time to begin; all processes of a machine share the clock."""
    return find() if time.monotonic() < until else None


@cache
def processes() -> ProcessPoolExecutor:
    """As many as there are processors, each with kernels of its own."""
    return ProcessPoolExecutor(processors(), get_context("spawn"), initializer=find_blender_whole)


def end_processes() -> None:
    """Have none of them outlive the study: who waits for its output would wait for them."""
    if processes.cache_info().currsize:
        processes().shutdown(cancel_futures=True)


def find_blender_whole() -> None:
    """Forget Blender's own scripts on the path that was taken over: there `bpy` is the half that is in Python."""
    sys.path[:] = [path for path in sys.path if not Path(path, "bpy", "__init__.py").is_file()]
