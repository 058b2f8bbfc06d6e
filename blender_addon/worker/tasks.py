# SPDX-License-Identifier: GPL-3.0-or-later
"""What the worker can do; each task is told in a message, and may send messages before its answer."""

from collections.abc import Callable
from typing import Any

from .messages import Message

Send = Callable[..., None]


def warm_up(_message: Message, _send: Send) -> dict[str, Any]:
    """Import what a bake needs."""
    from ... import core

    return {"core": core.__name__}


TASKS: dict[str, Callable[[Message, Send], dict[str, Any]]] = {"warm_up": warm_up}
