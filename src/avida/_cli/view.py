"""Writes a contact sheet as PNG: of images, as they are and as a policy changes them, or of a video's frames."""

from __future__ import annotations

import argparse
import errno
import pathlib
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

import avida
from avida._cli.arguments import integer
from avida._cli.images import SUFFIXES, NoImagesError, find_images
from avida._cli.scenes import Policy, find_scenes, read_policy, strips_of_scenes
from avida._files.atomic import write_file
from avida._values.picture import contact_sheet, pixels, png
from avida.progress import Progress

_BATCH = 16
_MOST_PIXELS = 2**27
_CELL, _ANNOTATED_CELL = 160, 240


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
        "--cell",
        type=integer(1, 2**14),
        help=f"extent of one picture in pixels ({_CELL}; {_ANNOTATED_CELL} with annotations)",
    )
    parser.add_argument(
        "--seed", type=integer(0, 2**63 - 1), default=0, help="other images, other augmentation (%(default)s)"
    )
    parser.add_argument("--policy", metavar="FILE", help="what changes the images: an avida.augment.Policy as JSON")
    parser.add_argument(
        "--annotations",
        metavar="FILE",
        help="annotations of COCO (JSON); those of YOLO, Pascal VOC and LabelMe are found in the folder",
    )
    parser.add_argument("--split", metavar="NAME", help="the part of annotated images to show, such as train")


def run(options: argparse.Namespace) -> int:
    place = pathlib.Path(options.folder)
    if pathlib.Path(options.output).is_dir():
        raise IsADirectoryError(errno.EISDIR, "expected a file for the contact sheet, found a folder", options.output)
    if place.is_file() and place.suffix.lower() not in SUFFIXES:
        options.cell = options.cell or _CELL
        return show_video(options)
    policy = read_policy(options.policy)
    scenes = None if place.is_file() else find_scenes(options.folder, options.annotations, options.split)
    options.cell = options.cell or (_CELL if scenes is None else _ANNOTATED_CELL)
    if scenes is not None:
        return show_scenes(options, scenes, policy)
    files = [place] if place.is_file() else find_images(place)
    count = min(options.images, len(files))
    _check_size(count, options.variants, options.cell)
    chosen = np.random.default_rng(options.seed).permutation(len(files))[:count]
    shown, errors = write_sheet(
        [files[i] for i in sorted(chosen)], options.output, options.variants, options.cell, options.seed, policy
    )
    for message in errors:
        print(message, file=sys.stderr)
    if not shown:
        raise NoImagesError("none of the images could be decoded")
    print(f"{options.output}: {shown} of {len(files)} images; each is followed by {options.variants} augmented forms")
    return 0


def show_scenes(options: argparse.Namespace, reader: Any, policy: Policy | None) -> int:
    """Images with annotations, which follow what is done to them."""
    count = min(options.images, len(reader))
    _check_size(count, options.variants, options.cell)
    chosen = sorted(np.random.default_rng(options.seed).permutation(len(reader))[:count].tolist())
    rng = avida.random.RNG(options.seed)
    strips, errors = strips_of_scenes(reader, chosen, policy, options.variants, options.cell, rng)
    for message in errors:
        print(message, file=sys.stderr)
    if not strips:
        raise NoImagesError("none of the images could be shown")
    _write(options.output, strips, options.cell)
    print(
        f"{options.output}: {len(strips)} of {len(reader)} images with annotations; each is followed by "
        f"{options.variants} augmented forms"
    )
    return 0


def _write(output: str | pathlib.Path, strips: list[list[np.ndarray | None]], cell: int) -> None:
    across = max(1, round((len(strips) * 1.5 / len(strips[0])) ** 0.5))  # about as wide as a screen
    write_file(output, png(contact_sheet(strips, across, cell)))


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
    files: Sequence[pathlib.Path],
    output: str | pathlib.Path,
    variants: int = 3,
    cell: int = _CELL,
    seed: int = 0,
    policy: Policy | None = None,
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
                columns += [augmented(images, cell, rng, policy) for _ in range(variants)]
                strips += [[pixels(image) for image in row] for row in zip(*columns, strict=True)]
            bar.advance(encoded.batch_size)
    if strips:
        _write(output, strips, cell)
    return len(strips), [f"{source}: {message}" for source, message in errors.items()]


def augmented(images: avida.Batch, size: int, rng: avida.random.RNG, policy: Policy | None = None) -> avida.Batch:
    """What a classifier would see in training."""
    if policy is not None:
        return avida.resize(policy(images, rng=rng), size=[size, size], mode="not_larger")
    images = avida.random_resized_crop(images, size=[size, size], random_area=[0.2, 1.0], rng=rng)
    return avida.flip(images, horizontal=avida.random.coin_flip(batch_size=images.batch_size, rng=rng))
