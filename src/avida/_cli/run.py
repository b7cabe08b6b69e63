"""Runs a script or notebook written for nvidia.dali.experimental.dynamic with avida in its place, unchanged."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.machinery
import os
import pathlib
import sys
import traceback
import types
from typing import Any

from avida._cli import notebook

# What a worker process of the script imports in place of `__main__` where workers are not forked.
_WORKER = "avida._cli.worker"
SCRIPT = "AVIDA_RUN_SCRIPT"  # the environment variable that tells it the script


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("script", help="the Python file, or a notebook (.ipynb)")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="passed on to the script")


def run(options: argparse.Namespace) -> int:
    return run_within(contextlib.nullcontext(), options)


def run_within(block: contextlib.AbstractContextManager[Any], options: argparse.Namespace) -> int:
    """Runs the script within a ``with`` block, which is not entered if there is no such script."""
    script = options.script
    try:
        code = load(script)
    except OSError as error:
        print(f"avida {options.command}: cannot read {script}: {error.strerror}", file=sys.stderr)
        return 2
    except SyntaxError as error:
        sys.excepthook(SyntaxError, error.with_traceback(None), None)
        return 1
    os.environ[SCRIPT] = str(pathlib.Path(script).resolve())
    sys.argv = [script, *options.arguments]
    sys.path[0] = str(pathlib.Path(script).resolve().parent)
    importlib.import_module("avida.as_dali")  # not by a statement, since that is done by importing it
    main = types.ModuleType("__main__")
    if is_notebook(script):  # which has no file, and which worker processes do not import
        setattr(main, notebook.HELPER, notebook.Helper(main.__dict__))
    else:
        main.__file__ = script
        main.__spec__ = importlib.machinery.ModuleSpec(_WORKER, None)
    sys.modules["__main__"] = main
    with block:
        return execute(code, main.__dict__)


def is_notebook(script: str) -> bool:
    return script.endswith(".ipynb")


def load(script: str) -> list[types.CodeType]:
    """The compiled script, or the compiled cells of a notebook; tracebacks show their own lines."""
    if is_notebook(script):
        return notebook.load(script)
    return [compile(pathlib.Path(script).read_bytes(), script, "exec")]


def execute(code: list[types.CodeType], names: dict[str, Any]) -> int:
    """Runs the script as Python would: an error prints a traceback that begins with the script's own line."""
    try:
        for part in code:
            exec(part, names)
    except SystemExit:
        raise
    except BaseException as error:
        own = error.__traceback__.tb_next if error.__traceback__ else None
        # The interpreter's own hook reads lines from files, and cells of notebooks are none.
        hook = traceback.print_exception if sys.excepthook is sys.__excepthook__ else sys.excepthook
        hook(type(error), error.with_traceback(own), own)
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    return 0
