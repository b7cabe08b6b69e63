"""Draws docs/gallery/blocks.png: where the samples of an epoch come from, with windows of 1, 16 and all blocks."""

import pathlib

from PIL import Image, ImageDraw

from avida import _core

BLOCKS, SAMPLES = 64, 100  # of each
SIDE, GAP, LINE = 260, 20, 18  # of a panel, in pixels
GRAY, INK = (225, 225, 225), (30, 60, 120)


def order(window: int) -> list[int]:
    total = BLOCKS * SAMPLES
    blocks = _core.ReaderBlocks(list(range(0, total, SAMPLES)), total, window)
    start = _core.ReaderState(shards=1, seed=5)
    schedule = _core.ReaderSchedule(start, total, shuffle="random_shuffle", blocks=blocks)
    return [index for index, _ in schedule.batch(_core.ReaderCursor(), total)]


def main() -> None:
    windows = [1, 16, BLOCKS]
    picture = Image.new("RGB", (len(windows) * (SIDE + GAP) + GAP + LINE, SIDE + 3 * LINE), "white")
    draw = ImageDraw.Draw(picture)
    for i, window in enumerate(windows):
        left, top = LINE + GAP + i * (SIDE + GAP), LINE + 4
        draw.rectangle([left, top, left + SIDE, top + SIDE], outline=GRAY)
        for when, sample in enumerate(order(window)):
            at = left + when * SIDE // (BLOCKS * SAMPLES), top + SIDE - sample * SIDE // (BLOCKS * SAMPLES)
            draw.point(at, INK)
        draw.text((left, 2), f"window={window}" + (" of 64 blocks" if window < BLOCKS else ": all blocks"), "black")
        draw.text((left + SIDE - 105, top + SIDE + 4), "place in the epoch", "black")
    sideways = Image.new("RGB", (140, LINE), "white")
    ImageDraw.Draw(sideways).text((0, 2), "place in the data set", "black")
    picture.paste(sideways.rotate(90, expand=True), (GAP - 4, LINE + SIDE - 140))
    picture.save(pathlib.Path(__file__).parents[1] / "docs" / "gallery" / "blocks.png", optimize=True)


if __name__ == "__main__":
    main()
