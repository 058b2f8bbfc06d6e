# SPDX-License-Identifier: GPL-3.0-or-later
"""Tasks for a worker that is to be tried: they answer, count, talk, fail, hang and crash."""

import importlib.util
import os
import sys
import time


def echo(message, send):
    send("said", message.values, message.arrays)
    return message.values, message.arrays


def chatter(_message, _send):
    sys.stdout.write("on the standard output\n")
    os.write(1, b"from a library")
    return {"bpy": sys.modules["bpy"] is not None or importlib.util.find_spec("numpy") is None}, {}


def refuse(_message, _send):
    raise ValueError("The rig has no legs.")


def full_disk(_message, _send):
    raise OSError(28, "No space left on device", "gains.npz")


def hang(_message, send):
    send("hanging")
    while True:
        time.sleep(0.01)


def count(_message, send):
    number = 0
    while True:
        send("number", {"number": number})
        number += 1
        time.sleep(0.001)


def crash(_message, _send):
    raise RuntimeError("a mistake")


def vanish(_message, _send):
    os._exit(3)


def babble(_message, send):
    for number in range(10_000):
        send("number", {"number": number})
    return {}, {}


def try_on(_message, send):
    send("trying")
    while not send.enough():
        time.sleep(0.01)
    return {"enough": True}, {}


TASKS = {f.__name__: f for f in (echo, chatter, refuse, full_disk, hang, count, crash, vanish, babble, try_on)}
