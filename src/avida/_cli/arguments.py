"""Numbers on the command line, within bounds."""

from __future__ import annotations

import argparse
from collections.abc import Callable


def integer(least: int, most: int) -> Callable[[str], int]:
    """The ``type`` of an argument of argparse."""

    def parse(text: str) -> int:
        with_bounds = f"expected an integer from {least} to {most}, got {text!r}"
        try:
            number = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(with_bounds) from None
        if not least <= number <= most:
            raise argparse.ArgumentTypeError(with_bounds)
        return number

    return parse
