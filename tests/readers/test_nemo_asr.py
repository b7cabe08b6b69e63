"""readers.NemoAsr: manifests, segments, and what is wrong in them."""

import json
import warnings

import numpy as np
import pytest
import soundfile

import avida as ndd
from tests.codecs.sounds import noise


@pytest.fixture
def speech(tmp_path):
    """A folder with ramps of 1,000 frames at 16 kHz: frame n is n / 32768."""
    for name in ("a.wav", "b.flac"):
        soundfile.write(tmp_path / name, np.arange(1000) / 32768, 16000)
    return tmp_path


def manifest(folder, *entries, name="train.json"):
    lines = [entry if isinstance(entry, str) else json.dumps(entry) for entry in entries]
    (folder / name).write_text("\n".join(lines) + "\n")
    return folder / name


def samples(path, **arguments):
    reader = ndd.readers.NemoAsr(manifest_filepaths=path, **arguments)
    return [tuple(np.asarray(output) for output in sample) for sample in reader.next_epoch()]


@pytest.mark.parametrize("file", ["a.wav", "b.flac"])
@pytest.mark.parametrize(
    ("offset", "duration", "first", "frames"),
    [
        (None, None, 0, 1000),
        (0.01, None, 160, 840),
        (0.01006, 0.01006, 160, 160),
        (0.06, 0.01, 960, 40),
        (-1, 0.02, 0, 320),
        (0, -1, 0, 1000),
        (0.01, 0, 160, 0),
        (0.0625, None, 1000, 0),
    ],
)
def test_segments(speech, file, offset, duration, first, frames):
    entry = {"audio_filepath": str(speech / file), "offset": offset, "duration": duration}
    ((sound, rate, text),) = samples(manifest(speech, entry))
    np.testing.assert_array_equal(sound * 32768, np.arange(first, first + frames))
    assert rate == 16000
    assert text.shape == (0,)


def test_outputs(speech):
    path = manifest(speech, {"audio_filepath": str(speech / "a.wav"), "text": "grüße"})
    sound, rate, text, number = samples(path, read_idxs=True, downmix=False, dtype=ndd.int16, sample_rate=8000)[0]
    assert sound.shape == (500, 1)
    assert sound.dtype == np.int16
    assert rate == 16000  # the file's own
    assert text.tobytes().decode() == "grüße"
    assert number.tolist() == [0]


@pytest.mark.parametrize("rate", [1e-308, 1e-6, 1e30])
def test_rates_that_are_too_far_apart(speech, rate):
    path = manifest(speech, {"audio_filepath": "a.wav"})
    with pytest.raises(RuntimeError, match=r"a factor of at most 2\*\*31"):
        samples(path, sample_rate=rate)


def test_relative_names_are_found_beside_the_manifest(speech, monkeypatch):
    path = manifest(speech, {"audio_filepath": "a.wav"})
    monkeypatch.chdir(speech.parent)
    assert samples(path)[0][0].shape == (1000,)


def test_more_files_than_stay_open(speech):
    path = manifest(speech, *[{"audio_filepath": str(speech / "a.wav"), "offset": i / 16000} for i in range(300)])
    reader = ndd.readers.NemoAsr(manifest_filepaths=path)
    sound = next(iter(reader.next_epoch(batch_size=300)))[0]
    assert sound.shape == [(1000 - i,) for i in range(300)]
    assert [round(t[0].item() * 32768) for t in sound.tensors] == list(range(300))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("hello", "expected JSON"),
        ('{"audio_filepath": "x', "expected JSON"),
        ("[1, 2]", "braces"),
        ('{"text": "x"}', "found none"),
        ('{"audio_filepath": 5}', 'string in "audio_filepath"'),
        ('{"audio_filepath": "a\\u0000b"}', "null character"),
        ('{"audio_filepath": "a.wav", "text": 5}', 'string in "text"'),
        ('{"audio_filepath": "a.wav", "duration": "3"}', 'number in "duration"'),
    ],
)
def test_lines_that_are_no_entry_are_left_out(speech, line, message):
    good = json.dumps({"audio_filepath": str(speech / "a.wav"), "text": None})
    with pytest.warns(RuntimeWarning, match=f"1 line .* line 2: .*{message}"):
        assert len(samples(manifest(speech, good, line, good))) == 2


def test_blank_lines_and_commas(speech):
    good = json.dumps({"audio_filepath": str(speech / "a.wav")})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(samples(manifest(speech, "", good + ",", " \r", good))) == 2


@pytest.mark.parametrize("kind", ["missing", "garbage", "truncated", "beyond"])
def test_a_bad_file_is_named(speech, kind):
    bad = speech / "bad.flac"
    if kind == "garbage":
        bad.write_bytes(b"not a sound")
    if kind in ("truncated", "beyond"):
        soundfile.write(bad, noise(9000), 16000)
    if kind == "truncated":
        bad.write_bytes(bad.read_bytes()[:3000])
    entries = [{"audio_filepath": str(speech / "a.wav")}, {"audio_filepath": str(bad)}]
    if kind == "beyond":
        entries[1]["offset"] = 5
    reader = ndd.readers.NemoAsr(manifest_filepaths=manifest(speech, *entries))
    with pytest.raises(RuntimeError, match=r"readers.NemoAsr: sample 1 \(.*bad\.flac"):
        next(iter(reader.next_epoch(batch_size=2)))[0].evaluate()


def test_wrong_arguments(speech):
    path = manifest(speech, {"audio_filepath": str(speech / "a.wav")})
    for arguments in ({"dtype": ndd.uint8}, {"quality": 101}, {"max_duration": -1, "min_duration": 9}):
        with pytest.raises(RuntimeError, match="expected"):
            ndd.readers.NemoAsr(manifest_filepaths=path, **arguments)
    with pytest.raises(RuntimeError, match="names of files in manifest_filepaths, got an empty list"):
        ndd.readers.NemoAsr(manifest_filepaths=[])
    with pytest.raises(RuntimeError, match=r"nowhere\.json.*No such file"):
        ndd.readers.NemoAsr(manifest_filepaths=speech / "nowhere.json")
    with pytest.warns(DeprecationWarning, match="normalize_text"):
        ndd.readers.NemoAsr(manifest_filepaths=path, normalize_text=True)
