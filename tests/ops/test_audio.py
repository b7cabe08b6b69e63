"""Decoding of sound: formats, types, channels, resampling, and files that are not what they say."""

import json
import pathlib
import struct

import numpy as np
import pytest

import avida as ndd
from tests.codecs.sounds import decoded, encoded, noise, resampled
from tests.op_case import op_case

FILES = [[encoded(noise(frames, channels))] for frames, channels in ((70, 2), (33, 2), (9, 2))]


@op_case("decoders.audio", inputs=FILES, downmix=[False, True], on_error=["raise", "placeholder"])
def audio(file, downmix, on_error):
    sound = decoded(file)
    return (sound.mean(1) if downmix else sound), np.float32(16000)


FORMATS = [
    ("WAV", "PCM_U8"),
    ("WAV", "PCM_16"),
    ("WAV", "PCM_24"),
    ("WAV", "PCM_32"),
    ("WAV", "ULAW"),
    ("WAV", "ALAW"),
    ("WAV", "IMA_ADPCM"),
    ("FLAC", "PCM_16"),
    ("FLAC", "PCM_24"),
    ("AIFF", "PCM_16"),
]


@pytest.mark.parametrize(("form", "subtype"), FORMATS)
@pytest.mark.parametrize("dtype", ["float32", "int16", "int32"])
def test_formats_of_integers(form, subtype, dtype):
    for channels in (1, 2, 3) if subtype != "IMA_ADPCM" else (1, 2):
        file = encoded(noise(5000, channels), 22050, form, subtype)
        sound, rate = ndd.decoders.audio(file, dtype=getattr(ndd, dtype))
        np.testing.assert_array_equal(np.asarray(sound), decoded(file, dtype))
        assert rate.shape == ()
        assert rate.item() == 22050


@pytest.mark.parametrize(("form", "subtype"), [("WAV", "FLOAT"), ("WAV", "DOUBLE"), ("OGG", "VORBIS"), ("MP3", None)])
def test_formats_of_floats(form, subtype):
    file = encoded(noise(5000, 2) * 1.4, 16000, form, subtype)
    expected = decoded(file)
    assert abs(expected).max() > 1
    np.testing.assert_allclose(np.asarray(ndd.decoders.audio(file)[0]), expected, atol=1e-5)
    shorts = np.asarray(ndd.decoders.audio(file, dtype=ndd.int16)[0])
    np.testing.assert_allclose(shorts, np.clip(expected * 32767, -32768, 32767), atol=1)


def read_by_pieces(file: np.ndarray, folder: pathlib.Path) -> np.ndarray | None:
    """What a reader makes of a file, which decodes every file with libsndfile and new tables; None if it refuses it."""
    (folder / "sound").write_bytes(file.tobytes())
    (folder / "manifest").write_text(json.dumps({"audio_filepath": str(folder / "sound")}))
    reader = ndd.readers.NemoAsr(manifest_filepaths=[str(folder / "manifest")], downmix=False)
    try:
        return np.asarray(reader()[0])
    except RuntimeError:
        return None


def test_ogg_files_of_many_encoders(tmp_path):
    """Tables are kept for the next file with the same headers."""
    kinds = [(frames, channels, rate) for rate in (8000, 16000, 44100) for channels in (1, 2) for frames in (300, 9000)]
    files = [encoded(noise(frames, channels), rate, "OGG", "VORBIS") for frames, channels, rate in kinds]
    files += [encoded(noise(frames, 3), 16000, "OGG", "VORBIS") for frames in (1, 5000)]
    first = [np.asarray(ndd.decoders.audio(file)[0]) for file in files]
    for sound, file in zip(first, files, strict=True):
        np.testing.assert_allclose(sound, read_by_pieces(file, tmp_path), atol=1e-6)
    for order in (range(len(files))[::-1], [0, 0, 5, 0, 5, 1, 5], [*range(12)] * 3):
        sounds = ndd.decoders.audio(ndd.batch([files[i] for i in order[:12]]), downmix=True)[0].tensors
        for i, mean in zip(order, sounds, strict=False):
            np.testing.assert_array_equal(ndd.decoders.audio(files[i])[0], first[i])
            np.testing.assert_allclose(mean, first[i].mean(1), atol=1e-6)


@pytest.mark.parametrize("seed", range(40))
def test_damaged_ogg_files(seed, tmp_path):
    rng = np.random.default_rng(seed)
    file = encoded(noise(6000, 1 + seed % 2), 16000, "OGG", "VORBIS").copy()
    match seed % 4:
        case 0:
            file = file[: rng.integers(100, len(file))]
        case 1:
            file = np.concatenate([file, rng.integers(0, 256, 50, dtype=np.uint8) if seed % 8 == 1 else file])
        case _:
            file[rng.integers(0, len(file), seed % 3 + 1)] ^= np.uint8(1 << rng.integers(0, 8))
    expected = read_by_pieces(file, tmp_path)
    if expected is None:
        with pytest.raises(RuntimeError):
            ndd.decoders.audio(file)[0].evaluate()
    else:
        np.testing.assert_allclose(ndd.decoders.audio(file)[0], expected, atol=1e-6)


@pytest.mark.parametrize("endian", ["LITTLE", "BIG"])
@pytest.mark.parametrize("form", ["WAV", "AIFF", "AU"])
def test_byte_orders(form, endian):
    file = encoded(noise(20000, 2), 16000, form, "PCM_16", endian)
    np.testing.assert_array_equal(ndd.decoders.audio(file)[0], decoded(file))


@pytest.mark.parametrize("rates", [(16000, 8000), (44100, 16000), (16000, 44100), (16000, 15999.5)])
@pytest.mark.parametrize(("quality", "lobes"), [(0, 3), (50, 16), (100, 64)])
def test_resampling(rates, quality, lobes):
    file = encoded(noise(700, 2), rates[0], "WAV", "FLOAT")
    sound, rate = ndd.decoders.audio(file, sample_rate=rates[1], quality=quality)
    # Positions are float32, up to a thousandth of an element off.
    np.testing.assert_allclose(np.asarray(sound), resampled(decoded(file), *rates, lobes), atol=5e-3)
    assert rate.item() == np.float32(rates[1])


def test_resampled_tones_stay_what_they_are():
    tone = np.sin(np.arange(22050) * 2 * np.pi * 440 / 22050) * 0.5
    sound = np.asarray(ndd.decoders.audio(encoded(tone, 22050), sample_rate=16000, downmix=True)[0])
    assert sound.shape == (16000,)
    np.testing.assert_allclose(
        sound[100:-100], np.sin(np.arange(16000) * 2 * np.pi * 440 / 16000)[100:-100] * 0.5, atol=2e-3
    )


def test_a_rate_for_each_sample():
    files = ndd.as_batch([encoded(noise(160))] * 3)
    sound, rate = ndd.decoders.audio(files, sample_rate=ndd.batch([np.float32(r) for r in (8000, 0, 32000)]))
    assert sound.shape == [(80, 1), (160, 1), (320, 1)]
    assert [r.item() for r in rate] == [8000, 16000, 32000]


def wav(frames: int, claimed: int, rate: int = 16000) -> np.ndarray:
    data = np.zeros(frames, "<i2").tobytes()
    header = struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + claimed, b"WAVE", b"fmt ", 16, 1, 1, rate, 2 * rate, 2, 16, b"data", claimed)  # fmt: skip  # noqa: E501
    return np.frombuffer(header + data, np.uint8)


def lying_flac() -> np.ndarray:
    file = encoded(noise(500), form="FLAC").copy()
    file[22:26] |= np.array([0x07, 0xFF, 0xFF, 0xFF], np.uint8)  # 2**27 - 1 frames
    return file


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (np.zeros(0, np.uint8), "no bytes"),
        (np.arange(200, dtype=np.uint8), "known format"),
        (encoded(noise(500))[:20], "known format"),
        (encoded(noise(5000), form="FLAC")[:2000], "frames of sound"),
        (lying_flac(), "but the file contains 500"),
    ],
)
def test_bad_files(file, message):
    with pytest.raises(RuntimeError, match=message):
        ndd.decoders.audio(file)[0].evaluate()


def test_a_length_beyond_the_file_ends_with_it():
    assert ndd.decoders.audio(wav(10, 0x7FFFFFF0))[0].shape == (10, 1)
    assert ndd.decoders.audio(wav(0, 0))[0].shape == (0, 1)
    assert ndd.decoders.audio(wav(0, 0), sample_rate=8000)[0].shape == (0, 1)


def test_a_rate_of_nearly_nothing_costs_no_memory():
    with pytest.raises(RuntimeError, match="256 times the 1 Hz"):
        ndd.decoders.audio(wav(10000, 20000, 1), sample_rate=16000)[0].evaluate()


@pytest.mark.parametrize("downmix", [False, True])
def test_placeholders(downmix):
    good = encoded(noise(50, 1))
    files = ndd.as_batch([good, np.arange(99, dtype=np.uint8), encoded(noise(5000), form="FLAC")[:2000], good])
    sound, rate = ndd.decoders.audio(files, on_error="placeholder", downmix=downmix)
    assert [shape[0] for shape in sound.shape] == [50, 0, 0, 50]
    assert [error.sample for error in sound.errors] == [1, 2]
    assert [r.item() for r in rate] == [16000, 0, 0, 16000]
    with pytest.raises(RuntimeError, match="sample 1: expected a sound file"):
        ndd.decoders.audio(files)[0].evaluate()


def test_wrong_arguments():
    file = FILES[0][0]
    for arguments in ({"dtype": ndd.uint8}, {"quality": -1}, {"quality": 101}):
        with pytest.raises(RuntimeError, match="expected"):
            ndd.decoders.audio(file, **arguments)[0].evaluate()
    with pytest.raises(ValueError, match="on_error"):
        ndd.decoders.audio(file, on_error="ignore")[0].evaluate()
    for wrong in (file[None], file.astype(np.float32)):
        with pytest.raises(RuntimeError, match="one axis"):
            ndd.decoders.audio(wrong)[0].evaluate()


def test_formats_are_listed():
    libraries = dict(ndd._core.sound_formats())
    assert all(libraries[name].startswith("libsndfile ") for name in ("WAV", "FLAC", "Ogg"))


def test_flac_of_unknown_length():
    """An encoder that writes into a pipe cannot go back to tell how many frames there are."""
    known = encoded(noise(5000, 2), 16000, "FLAC").tobytes()
    field = int.from_bytes(known[18:26], "big") >> 36 << 36  # without the frames, which stand in the last 36 bits
    unknown = known[:18] + field.to_bytes(8, "big") + known[26:]
    expected = np.asarray(ndd.decoders.audio(np.frombuffer(known, np.uint8))[0])
    np.testing.assert_array_equal(np.asarray(ndd.decoders.audio(np.frombuffer(unknown, np.uint8))[0]), expected)
