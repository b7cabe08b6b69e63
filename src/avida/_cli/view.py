"""Writes a contact sheet as PNG: of a folder of images or one, as they are and augmented, or of a video's frames."""

from __future__ import annotations

import argparse
import errno
import pathlib
import sys
from collections.abc import Sequence

import numpy as np

import avida
from avida._cli.arguments import integer
from avida._cli.images import SUFFIXES, NoImagesError, find_images
from avida._files.atomic import write_file
from avida._values.picture import contact_sheet, pixels, png
from avida.progress import Progress

_BATCH = 16
_MOST_PIXELS = 2**27


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", help="where the images are, also below it; an image or a video")
    parser.add_argument("-o", "--output", metavar="FILE", default="sheet.png", help="the PNG to write (%(default)s)")
    parser.add_argument(
        "-n", "--images", type=integer(1, 10**6), default=24, help="how many images or frames to show (%(default)s)"
    )
    parser.add_argument(
        "--variants", type=integer(0, 10**6), default=3, help="augmented forms of each image (%(default)s)"
    )
    parser.add_argument(
        "--cell", type=integer(1, 2**14), default=160, help="extent of one picture in pixels (%(default)s)"
    )
    parser.add_argument(
        "--seed", type=integer(0, 2**63 - 1), default=0, help="other images, other augmentation (%(default)s)"
    )


def run(options: argparse.Namespace) -> int:
    place = pathlib.Path(options.folder)
    if pathlib.Path(options.output).is_dir():
        raise IsADirectoryError(errno.EISDIR, "expected a file for the contact sheet, found a folder", options.output)
    if place.is_file() and place.suffix.lower() not in SUFFIXES:
        return show_video(options)
    files = [place] if place.is_file() else find_images(place)
    count = min(options.images, len(files))
    _check_size(count, options.variants, options.cell)
    chosen = np.random.default_rng(options.seed).permutation(len(files))[:count]
    shown, errors = write_sheet(
        [files[i] for i in sorted(chosen)], options.output, options.variants, options.cell, options.seed
    )
    for message in errors:
        print(message, file=sys.stderr)
    if not shown:
        raise NoImagesError("none of the images could be decoded")
    print(f"{options.output}: {shown} of {len(files)} images; each is followed by {options.variants} augmented forms")
    return 0


def _check_size(pictures: int, variants: int, cell: int) -> None:
    """Refuses sheets that no memory holds and no program shows."""
    pixels = pictures * (1 + variants) * cell**2
    if pixels > _MOST_PIXELS:
        raise NoImagesError(
            f"expected a sheet of at most {_MOST_PIXELS:,} pixels, got {pictures} x {1 + variants} pictures of "
            f"{cell} x {cell}: {pixels:,} pixels; lower --images, --variants or --cell"
        )


def show_video(options: argparse.Namespace) -> int:
    """Evenly spaced frames, from the first to the last."""
    _check_size(options.images, 0, options.cell)
    reader = avida.experimental.readers.Video(
        filenames=[options.folder],
        sequence_length=options.images,
        uniform_sample=True,
        enable_frame_num="sequence",
        enable_timestamps=True,
    )
    clip, numbers, times = reader[0]
    small = np.asarray(avida.resize(clip, size=[options.cell, options.cell], mode="not_larger"))
    frames = dict(zip(np.asarray(numbers).tolist(), small, strict=True))  # a short video repeats some
    across = max(1, round((len(frames) * 1.5) ** 0.5))
    sheet = contact_sheet([[frame] for frame in frames.values()], across, options.cell)
    write_file(options.output, png(sheet))
    height, width = clip.shape[1:3]
    print(
        f"{options.output}: {len(frames)} frames, {height} x {width}, from 0 to {np.asarray(times)[-1]:.2f} s "
        f"(frames 0 to {max(frames)})"
    )
    return 0


def write_sheet(
    files: Sequence[pathlib.Path], output: str | pathlib.Path, variants: int = 3, cell: int = 160, seed: int = 0
) -> tuple[int, list[str]]:
    """Writes the contact sheet; returns how many images it shows, and why others are not on it."""
    strips: list[list[np.ndarray | None]] = []
    errors: dict[str, str] = {}
    rng = avida.random.RNG(seed)
    reader = avida.readers.File(files=[str(file) for file in files], labels=[0] * len(files), last_batch="partial")
    with Progress("contact sheet", total=len(files)) as bar:
        for encoded, _ in reader.next_epoch(batch_size=_BATCH):
            images = avida.decoders.image(encoded, on_error="placeholder")
            errors |= {str(error.source): error.message for error in images.errors}
            images = avida.drop_failed(images)
            if images.batch_size:
                columns = [avida.resize(images, size=[cell, cell], mode="not_larger")]
                columns += [augmented(images, cell, rng) for _ in range(variants)]
                strips += [[pixels(image) for image in row] for row in zip(*columns, strict=True)]
            bar.advance(encoded.batch_size)
    if strips:
        across = max(1, round((len(strips) * 1.5 / (1 + variants)) ** 0.5))  # about as wide as a screen
        write_file(output, png(contact_sheet(strips, across, cell)))
    return len(strips), [f"{source}: {message}" for source, message in errors.items()]


def augmented(images: avida.Batch, size: int, rng: avida.random.RNG) -> avida.Batch:
    """What a classifier would see in training."""
    images = avida.random_resized_crop(images, size=[size, size], random_area=[0.2, 1.0], rng=rng)
    return avida.flip(images, horizontal=avida.random.coin_flip(batch_size=images.batch_size, rng=rng))
