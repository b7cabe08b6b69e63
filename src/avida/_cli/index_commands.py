"""`tfrecord2idx`, `rec2idx` and `wds2idx`: DALI's commands for index files, with their arguments."""

from __future__ import annotations

import argparse
import pathlib
import sys
from collections.abc import Sequence

from avida._cli.index import FORMATS
from avida._files.atomic import write_file


def tfrecord2idx(arguments: Sequence[str] | None = None) -> int:
    """Writes the index of a TFRecord file and returns the exit code."""
    return _run("tfrecord2idx", "tfrecord", "tfrecord", arguments)


def rec2idx(arguments: Sequence[str] | None = None) -> int:
    """Writes the index of a RecordIO file and returns the exit code."""
    return _run("rec2idx", "recordio", "record", arguments)


def wds2idx(arguments: Sequence[str] | None = None) -> int:
    """Writes the index of a WebDataset archive and returns the exit code."""
    return _run("wds2idx", "webdataset", "archive", arguments)


def _run(command: str, kind: str, file: str, arguments: Sequence[str] | None) -> int:
    parser = argparse.ArgumentParser(prog=command, description=f"Writes the index of a {kind} file, for its reader.")
    parser.add_argument(file, help="the file")
    parser.add_argument("index", nargs="?", help="where the index goes (beside the file, with the ending .idx)")
    options = vars(parser.parse_args(arguments))
    path = pathlib.Path(options[file])
    target = pathlib.Path(options["index"] or path.with_name(FORMATS[kind].index_name(path.name)))
    try:
        if target.resolve() == path.resolve():
            raise OSError(f"{path}: the index would replace the file itself; name another one for the index")
        write_file(target, FORMATS[kind].text(str(path), lambda done, total: None))
    except (RuntimeError, OSError) as error:
        print(f"{command}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0
