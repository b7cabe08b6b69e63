"""Rewrites a script or notebook of pipeline mode into one with loops, and marks what is left to do by hand.

The new script goes to standard output, or to a file with -o. What it could not rewrite, or could not be sure about, has
a comment "# avida migrate: ..." above it and is listed on standard error with its line. The exit code is 0 if nothing
was left, 1 if something was, and 2 if the script cannot be read.
"""

from __future__ import annotations

import argparse
import ast
import io
import pathlib
import sys
import tokenize

from avida._cli.migrate.conditionals import Conditionals
from avida._cli.migrate.expressions import Expressions
from avida._cli.migrate.inputs import Inputs
from avida._cli.migrate.kinds import Kinds
from avida._cli.migrate.names import Names
from avida._cli.migrate.notebooks import Notebook
from avida._cli.migrate.pipelines import PipelineWriter
from avida._cli.migrate.source import MARK, Source
from avida._cli.migrate.uses import Uses
from avida._cli.run import is_notebook
from avida._files.atomic import write_file
from avida._files.reading import read_file


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("script", help="the Python file, or a notebook (.ipynb); it is not changed")
    parser.add_argument("-o", "--output", metavar="FILE", help="where the new script goes (standard output)")


def run(options: argparse.Namespace) -> int:
    try:
        migrated, left = _migrate_file(options.script, options.output or "-")
    except (RecursionError, MemoryError):
        print(f"avida migrate: {options.script} has expressions that are nested too deeply", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"avida migrate: cannot read {options.script}: {error.strerror}", file=sys.stderr)
        return 2
    except (SyntaxError, UnicodeDecodeError) as error:
        kind = "notebook" if is_notebook(options.script) else "Python script"
        print(f"avida migrate: {options.script} is not a {kind}: {error}", file=sys.stderr)
        return 2
    except RuntimeError as error:
        print(f"avida migrate: {options.script}: {error}", file=sys.stderr)
        return 2
    try:
        if options.output:
            write_file(pathlib.Path(options.output), migrated)
        else:
            sys.stdout.write(migrated)
    except OSError as error:
        print(f"avida migrate: cannot write {options.output or 'the new script'}: {error.strerror}", file=sys.stderr)
        return 2
    for line in left:
        print(line, file=sys.stderr)
    return 1 if left else 0


def _migrate_file(script: str, output: str) -> tuple[str, list[str]]:
    """What a script or notebook becomes, and what is left, with its place."""
    content = io.BytesIO(read_file(script))
    if not is_notebook(script):
        encoding, _ = tokenize.detect_encoding(content.readline)  # what the script declares
        content.seek(0)
        migrated = migrate(io.TextIOWrapper(content, encoding).read())
        return migrated, [f"{output}:{line}: {message}" for line, message in marks(migrated)]
    notebook = Notebook(io.TextIOWrapper(content, "utf-8").read())
    cells = notebook.migrate(migrate)
    left = [(number, *mark) for number, text in cells.items() for mark in marks(text)]
    return notebook.text(), [f"{output}, cell {number}:{line}: {message}" for number, line, message in left]


def migrate(text: str) -> str:
    """The script with loops in place of pipelines; unchanged if it imports nothing of nvidia.dali."""
    source = Source(text)
    names = Names(source)
    if not names:
        return text
    kinds = Kinds(source, names)
    inputs = {pipeline: Inputs(pipeline, kinds, source) for pipeline in kinds.all_pipelines()}
    writers = [PipelineWriter(source, kinds, pipeline, inputs[pipeline]) for pipeline in kinds.all_pipelines()]
    Expressions(source, kinds, inputs).visit(source.tree)
    for writer in writers:
        writer.write_calls()
    Uses(source, kinds).visit(source.tree)
    Conditionals(source, kinds).visit(source.tree)
    for writer in writers:
        writer.write()
    names.rewrite_imports()
    migrated = source.result()
    try:
        left = names.unresolved(migrated)
    except SyntaxError as error:
        raise RuntimeError("what was written is not Python: please report this, with the script") from error
    return _with_marks(migrated, left)


def _with_marks(migrated: str, left: list[tuple[ast.AST, str]]) -> str:
    """The last look: what still has a name that is no longer imported is marked, wherever no stage did so."""
    found = sorted({(node.lineno, name) for node, name in left})  # type: ignore[attr-defined]
    said = (f"{MARK}line {number + len(found)}: {name} is not imported any more\n" for number, name in found)
    return "".join(said) + migrated if found and not marks(migrated) else migrated


def marks(text: str) -> list[tuple[int, str]]:
    """The marks of a migrated script, with the numbers of their lines."""
    lines = enumerate(text.splitlines(), start=1)
    return [(number, line.strip().removeprefix(MARK)) for number, line in lines if line.strip().startswith(MARK)]
