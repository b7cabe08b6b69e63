"""Runs a script written for nvidia.dali.experimental.dynamic with avida in its place; the script is not changed."""

from __future__ import annotations

import argparse
import importlib.machinery
import os
import pathlib
import sys
import types
from typing import Any

from avida._cli import aliases

# What a worker process of the script imports in place of `__main__` where workers are not forked.
_WORKER = "avida._cli.worker"
SCRIPT = "AVIDA_RUN_SCRIPT"  # the environment variable that tells it the script


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("script", help="the Python file")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="passed on to the script")


def run(options: argparse.Namespace) -> int:
    try:
        code = load(options.script)
    except OSError as error:
        print(f"avida run: cannot read {options.script}: {error.strerror}", file=sys.stderr)
        return 2
    except SyntaxError as error:
        sys.excepthook(SyntaxError, error.with_traceback(None), None)
        return 1
    os.environ[SCRIPT] = str(pathlib.Path(options.script).resolve())
    sys.argv = [options.script, *options.arguments]
    sys.path[0] = str(pathlib.Path(options.script).resolve().parent)
    aliases.install()
    main = types.ModuleType("__main__")
    main.__file__ = options.script
    main.__spec__ = importlib.machinery.ModuleSpec(_WORKER, None)
    sys.modules["__main__"] = main
    return execute(code, main.__dict__)


def load(script: str) -> types.CodeType:
    """The compiled script; its tracebacks show its own lines."""
    return compile(pathlib.Path(script).read_bytes(), script, "exec")


def execute(code: types.CodeType, names: dict[str, Any]) -> int:
    """Runs the script as Python would: an error prints a traceback that begins with the script's own line."""
    try:
        exec(code, names)
    except SystemExit:
        raise
    except BaseException as error:
        own = error.__traceback__.tb_next if error.__traceback__ else None
        sys.excepthook(type(error), error.with_traceback(own), own)
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    return 0
