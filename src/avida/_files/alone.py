"""Work on a file that one process does while others wait."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pathlib
from collections.abc import Iterator

from avida._core import Descriptor
from avida._files.atomic import make_folder


@contextlib.contextmanager
def alone_with(path: str | os.PathLike[str]) -> Iterator[None]:
    """Waits until no other process, of all that share the folder, is in such a block for the path.

    The lock ends with the process that has it. Where the file system has no locks, nobody waits.

    Raises:
        OSError: The folder cannot be written to.
    """
    path = pathlib.Path(path)
    make_folder(path.parent)
    place = path.with_name(f".avida-{path.name}.lock")
    while True:
        with Descriptor(place, os.O_RDWR | os.O_CREAT) as lock:
            with contextlib.suppress(OSError):
                fcntl.flock(lock, fcntl.LOCK_EX)
            if os.fstat(lock.fileno()).st_nlink == 0:
                continue  # who had it before has removed it
            try:
                yield
            finally:
                place.unlink(missing_ok=True)
                with contextlib.suppress(OSError):
                    fcntl.flock(lock, fcntl.LOCK_UN)  # also for copies that children have
            return
