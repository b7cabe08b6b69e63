"""What the reader of videos does in Python."""

from __future__ import annotations

from avida.readers import _video


class VideoHooks(_video.VideoHooks):
    """Tells this reader from its namesake."""

    def _title(self) -> str:
        return "experimental.readers.Video"
