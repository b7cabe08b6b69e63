"""Writes the index of a folder of videos: frames and keyframes of each, for the readers of videos."""

from __future__ import annotations

import os
import pathlib
import sys

from avida import _core
from avida.progress import Progress
from avida.readers._video import read_indexes, write_indexes

NAME = "videos.idx"
_AT_ONCE = 64  # between two signs of progress, and chances to interrupt


def index_folder(folder: pathlib.Path, output: str | None) -> bool:
    """Indexes the videos in the folder and those under it; returns whether all could be read."""
    target = pathlib.Path(output or folder, NAME)
    indexes = read_indexes(target)
    endings = {pathlib.PurePath(pattern).suffix for pattern in _core.VIDEO_FILES}
    videos = sorted(
        os.path.join(place, name)
        for place, _, names in os.walk(folder)
        for name in names
        if pathlib.PurePath(name).suffix.lower() in endings
    )
    if not videos:
        raise RuntimeError(f"{folder}: expected videos in the folder, found none")
    failed: list[tuple[str, str]] = []
    try:
        with Progress("indexing", total=len(videos), unit="videos") as bar:
            for first in range(0, len(videos), _AT_ONCE):
                some = videos[first : first + _AT_ONCE]
                failed += indexes.read(some)
                bar.advance(len(some))
    finally:
        write_indexes(target, indexes)  # after an interrupt, too
    for video, reason in failed:
        print(f"avida index: {os.fsencode(video).decode(errors='backslashreplace')}: {reason}", file=sys.stderr)
    print(f"{target}: {indexes.videos} videos, {indexes.frames} frames")
    return not failed
