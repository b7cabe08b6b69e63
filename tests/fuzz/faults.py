"""Files with every fault that tests.fuzz.harness has to see."""

import os
import signal

import numpy as np


def examine(kind: str, number: int) -> str:
    if number == 1:
        os.abort()
    if number == 2:
        signal.setitimer(signal.ITIMER_PROF, 0.1)  # as after the time that a file has
        while True:
            pass
    if number == 3:
        np.ones(2 << 30, np.uint8)
    if number == 4:
        raise AssertionError("a part differs from the crop")
    return "fine"
