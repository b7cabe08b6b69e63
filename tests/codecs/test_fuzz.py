"""Broken files: an error or a result, never a crash, and neither the memory nor the time of a large file.

AVIDA_FUZZ_FILES says how many of each format; `make fuzz` asks for thousands, with a limit and with the sanitizers.
"""

import random

import numpy as np
import pytest

import avida
from tests.fuzz import harness
from tests.fuzz.mutate import STRUCTURES, mutated

from .decoding import as_input, decode, decode_part
from .files import all_files
from .sounds import all_sounds
from .tracks import all_tracks
from .videos import videos_by_container

TRACKS = "tracks"
TYPES = ["RGB", "GRAY", "ANY_DATA", "BGR", "INDICES"]
DTYPES = ["uint8", "uint8", "uint16", "float32"]


def examine(format_name: str, number: int) -> str:
    rng = random.Random(number)
    if format_name in videos_by_container():
        return examine_video(mutated(format_name, list(videos_by_container()[format_name].values()), number), rng)
    if format_name == TRACKS:
        return examine_sound(mutated(TRACKS, [file.tobytes() for file in all_tracks().values()], number), rng)
    if format_name in all_sounds():
        return examine_sound(mutated(format_name, list(all_sounds()[format_name].values()), number), rng)
    return examine_image(mutated(format_name, list(all_files()[format_name].values()), number), rng)


def examine_frames(data: bytes, output_type: str) -> None:
    """An animation may fail where its first picture does not."""
    try:
        assert avida.decoders.image_info(data).frames >= 1
        assert decode(data, output_type, frames=True).ndim == 4
    except RuntimeError as error:
        harness.check_not_for_memory(error)


def examine_image(data: bytes, rng: random.Random) -> str:
    """A part equals the crop of the whole."""
    output_type, dtype = rng.choice(TYPES), rng.choice(DTYPES)
    try:
        whole = decode(data, output_type, dtype)
    except RuntimeError as error:
        harness.check_not_for_memory(error)
        return "refused"
    examine_frames(data, output_type)
    height, width = whole.shape[:2]
    y, x = rng.randrange(height), rng.randrange(width)
    part = (y, x, rng.randrange(height - y) + 1, rng.randrange(width - x) + 1)
    try:
        cropped = decode_part(data, part, output_type, dtype)
    except RuntimeError as error:  # a broken image may fail in one way and not in another
        harness.check_not_for_memory(error)
        return "decoded"
    np.testing.assert_array_equal(cropped, whole[y : y + part[2], x : x + part[3]])
    return "decoded"


def examine_sound(data: bytes, rng: random.Random) -> str:
    options = {
        "dtype": rng.choice([avida.float32, avida.int16, avida.int32]),
        "downmix": rng.random() < 0.3,
        "sample_rate": rng.choice([0, 0, 8000, 48000]),
        **rng.choice([{}, {}, {"start": 0.1}, {"start": 0.1, "end": 0.3}, {"stream": 0}]),
    }
    try:
        sound, rate = avida.decoders.audio(as_input(data), **options)
        assert np.asarray(sound).ndim == (1 if options["downmix"] else 2)
        assert float(rate) > 0
    except RuntimeError as error:
        harness.check_not_for_memory(error)
        return "refused"
    return "decoded"


FRAMES = [{"fps": 7.0}, {"num_frames": 5}, {"start": 0.1, "end": 0.5}, {"start": 0.2, "stride": 3}, {"stream": 0}]
CHANGES = [{"adjust_orientation": True}, {"tone_map": True}, {"dtype": avida.uint16}, {"dtype": avida.float32}]


def examine_media(data: bytes, rng: random.Random) -> None:
    """What may fail where plain frames do not."""
    calls = [
        lambda: avida.decoders.video_info(data, scan=rng.random() < 0.5),
        lambda: avida.decoders.video(as_input(data), **rng.choice(FRAMES), **rng.choice(CHANGES)).evaluate(),
        lambda: avida.decoders.media(as_input(data), num_frames=2)[1].evaluate(),
    ]
    for call in calls:
        try:
            call()
        except RuntimeError as error:
            harness.check_not_for_memory(error)


def examine_video(data: bytes, rng: random.Random) -> str:
    """Frames in the middle, which need seeking, then all of them."""
    examine_media(data, rng)
    try:
        video = np.asarray(avida.decoders.video(as_input(data), start_frame=rng.randrange(8), sequence_length=4))
        assert video.shape[0] == 4
        assert np.asarray(avida.decoders.video(as_input(data))).ndim == 4
    except RuntimeError as error:
        harness.check_not_for_memory(error)
        return "refused"
    return "decoded"


@pytest.mark.parametrize("numbers", harness.blocks(), ids=lambda numbers: numbers.start)
@pytest.mark.parametrize("format_name", [*all_files(), *all_sounds(), TRACKS, *videos_by_container()])
def test_broken_files(format_name: str, numbers: range, record_property) -> None:
    harness.check(__name__, format_name, numbers, record_property)


@pytest.mark.parametrize("format_name", STRUCTURES)
def test_parts_make_the_file_again(format_name: str) -> None:
    take, join = STRUCTURES[format_name]
    files, decoded = all_files().get(format_name), decode
    if files is None:
        files, decoded = all_sounds()[format_name], lambda data: np.asarray(avida.decoders.audio(as_input(data))[0])
    for data in files.values():
        np.testing.assert_array_equal(decoded(join(list(take(data)))), decoded(data))
