"""Forked children of the test process: whatever happens in one, it ends, and its parent goes on."""

import multiprocessing
import os
import signal
import traceback
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


def in_child(function: Callable[[], Result]) -> Result:
    """What a function returns in a forked child. Raises EOFError if it returns nothing there."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    child = os.fork()
    if child == 0:
        try:
            signal.alarm(600)
            sender.send(function())
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)
    sender.close()
    try:
        return receiver.recv()
    finally:
        receiver.close()
        os.waitpid(child, 0)
