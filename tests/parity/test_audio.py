"""Sound: both libraries on the same files."""

import json

import pytest
import soundfile

from tests.codecs.sounds import encoded, noise
from tests.parity.compare import both

DTYPES = ["float32", "int16", "int32"]
TOLERANCE = {"float32": 1e-5, "int16": 1, "int32": 2**31 * 1e-5}


@pytest.mark.parametrize(("form", "subtype"), [("WAV", "PCM_16"), ("WAV", "PCM_24"), ("WAV", "ULAW"), ("FLAC", None)])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("channels", [1, 2])
def test_decoding(form, subtype, dtype, channels):
    file = encoded(noise(3000, channels), 22050, form, subtype)
    both(lambda lib: lib.decoders.audio(file, dtype=getattr(lib, dtype)))
    both(lambda lib: lib.decoders.audio(file, dtype=getattr(lib, dtype), downmix=True), atol=TOLERANCE[dtype])


@pytest.mark.parametrize("arguments", [{}, {"downmix": True}, {"sample_rate": 16000.0}])
def test_vorbis(arguments):
    file = encoded(noise(9000, 2), 44100, "OGG")
    both(lambda lib: lib.decoders.audio(file, **arguments), atol=1e-5)


@pytest.mark.parametrize("rates", [(48000, 16000), (44100, 16000), (16000, 44100), (16000, 15999.7)])
@pytest.mark.parametrize("quality", [0, 33, 50, 75, 100])
@pytest.mark.parametrize("dtype", DTYPES)
def test_resampling(rates, quality, dtype):
    file = encoded(noise(4000, 2), rates[0])
    both(
        lambda lib: lib.decoders.audio(
            file, dtype=getattr(lib, dtype), sample_rate=float(rates[1]), quality=float(quality)
        ),
        atol=TOLERANCE[dtype],
    )


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"read_idxs": True, "max_duration": 0.05},
        {"read_idxs": True, "min_duration": 0.03},
        {"read_text": False, "read_sample_rate": False},
        {"downmix": False, "dtype": "int16"},
        {"sample_rate": 12000.0, "quality": 80.0},
    ],
)
def test_nemo_asr(tmp_path, arguments):
    entries = []
    for i in range(6):
        soundfile.write(tmp_path / f"{i}.wav", noise(1000 + i, 1 + i % 2, seed=i), 16000 + i)
        entries.append({"audio_filepath": str(tmp_path / f"{i}.wav"), "duration": 0.01 * (i + 1), "text": f"ä {i}"})
    entries[2]["offset"] = 0.01003
    del entries[3]["duration"], entries[4]["text"]
    for name, part in (("a.json", entries[:4]), ("b.json", entries[4:])):
        (tmp_path / name).write_text("\n".join(map(json.dumps, part)))

    def run(lib):
        given = dict(arguments)
        if "dtype" in given:
            given["dtype"] = getattr(lib, given["dtype"])
        manifests = [str(tmp_path / "a.json"), str(tmp_path / "b.json")]
        return next(iter(lib.readers.NemoAsr(manifest_filepaths=manifests, **given).next_epoch(batch_size=3)))

    both(run, atol=1 if "dtype" in arguments else 1e-5)
