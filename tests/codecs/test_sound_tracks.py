"""Sound tracks of films and other containers: the samples are those of PyAV, without what encoders put in front."""

import itertools

import numpy as np
import pytest

import avida
from tests.codecs.tracks import CODECS, all_tracks, decoded_track, encoded_track, tones
from tests.codecs.videos import all_videos


def audio(file: np.ndarray, **arguments) -> np.ndarray:
    return np.asarray(avida.decoders.audio(file, **arguments)[0])


@pytest.mark.parametrize("name", CODECS)
def test_samples_are_those_of_pyav(name):
    file = all_tracks()[name]
    expected = decoded_track(file)
    sound, rate = avida.decoders.audio(file)
    assert rate.item() == CODECS[name][2]
    assert sound.shape == expected.shape
    np.testing.assert_allclose(np.asarray(sound), expected, atol=2e-6)
    np.testing.assert_allclose(audio(file, stream=0), expected, atol=2e-6)


@pytest.mark.parametrize(
    "name", ["aac.mp4", "aac.mkv", "mp3.mp4", "opus.webm", "alac.m4a", "pcm.avi", "pcm24.mkv", "ac3.ts"]
)
def test_seconds(name):
    """Parts that follow each other are the whole."""
    file, rate = all_tracks()[name], CODECS[name][2]
    whole = audio(file)
    edges = [0.0, 0.1, 0.23456, 0.4, 9.0]
    parts = [audio(file, start=start, end=end) for start, end in itertools.pairwise(edges)]
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    assert len(parts[1]) == round(edges[2] * rate) - round(edges[1] * rate)
    mono = audio(file, start=0.1, end=0.2, downmix=True, sample_rate=16000)
    assert mono.shape == (1600,)


@pytest.mark.parametrize("name", ["aac.mp4", "aac.mkv", "alac.m4a", "mp3.mkv", "opus.webm"])
def test_sound_is_where_it_was(name):
    """Priming is left out: what was encoded comes back at the same place."""
    expected = tones(CODECS[name][2], 0.5)[2400:9600]
    assert abs(audio(all_tracks()[name])[2400:9600] - expected).mean() < 0.015


@pytest.mark.parametrize("name", ["alac.m4a", "pcm24.mkv", "aac.mp4"])
def test_types(name):
    file = all_tracks()[name]
    floats = audio(file).astype(np.float64)
    scale = {"int16": 32768, "int32": 2.0**31}
    for dtype, full in scale.items():
        integers = audio(file, dtype=getattr(avida, dtype))
        assert integers.dtype == dtype
        np.testing.assert_allclose(integers / full, floats, atol=1.5 / 32768)


def test_films_and_streams():
    file = all_videos()["h264_with_sound.mp4"]
    assert avida.decoders.audio(file)[1].item() == 8000
    two = all_videos()["h264_two_streams.mkv"]
    np.testing.assert_array_equal(audio(two, stream=0), audio(two))
    for stream, message in ((1, "stream 1 is one of video"), (7, "below 3, got 7"), (-2, "at least 0")):
        with pytest.raises(RuntimeError, match=message):
            audio(two, stream=stream)
    with pytest.raises(RuntimeError, match="expected a sound track, the file has none"):
        audio(all_videos()["h264.mp4"])


def test_ranges_of_files_of_libsndfile():
    from tests.codecs.sounds import decoded, encoded, noise

    for form in ("WAV", "FLAC", "OGG", "MP3"):
        file = encoded(noise(16000, 2), 16000, form)
        whole = decoded(file)
        np.testing.assert_allclose(audio(file, start=0.25, end=0.5), whole[4000:8000], atol=1e-5)
        np.testing.assert_allclose(audio(file, start=0.75), whole[12000:], atol=1e-5)
        assert audio(file, start=0.25, end=0.5, sample_rate=8000).shape == (2000, 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"start": 3.0}, "start within the sound"),
        ({"start": -1.0}, "at least 0 s"),
        ({"start": 0.2, "end": 0.2}, "end after the start"),
    ],
)
def test_wrong_ranges(arguments, message):
    for file in (all_tracks()["aac.mp4"], all_tracks()["flac.flac"]):
        with pytest.raises(RuntimeError, match=f"sample 0: .*{message}"):
            avida.decoders.audio(
                avida.as_batch([file, file]), **{"end": 9.0, **arguments} if "end" in arguments else arguments
            )[0].evaluate()


def test_damage_is_told():
    file = encoded_track("aac", "adts", 44100, 1.0).copy()
    file[len(file) // 2 : len(file) // 2 + 400] = 0x55
    with pytest.raises(RuntimeError, match=r"damaged after \d+ frames|changes after"):
        audio(file)


def test_what_is_no_number_is_silent():
    file, broken = all_tracks()["pcm_floats.mov"].tobytes(), np.float32([np.nan, np.inf]).tobytes()
    known = tones(44100, 0.5)[100].tobytes()  # tones repeat: the first one is meant
    for dtype, loudest in ((avida.int32, 2**31 - 1), (avida.int16, 2**15 - 1)):
        made = audio(np.frombuffer(file.replace(known, broken, 1), np.uint8), dtype=dtype)
        np.testing.assert_array_equal(made[100], [0, loudest])
