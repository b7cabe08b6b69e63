"""Operators on sound: both libraries with the same signals, for every argument."""

import numpy as np
import pytest

import avida
from tests.parity.compare import DTYPES, both, cases

rng = np.random.default_rng(0)
NOISE = rng.standard_normal(3000).astype(np.float32)
SPECTRUM = np.abs(rng.standard_normal((257, 50))).astype(np.float32)


def typed(lib, arguments):
    """dtype by name, in the terms of a library."""
    return arguments | ({"dtype": getattr(lib, arguments["dtype"])} if "dtype" in arguments else {})


def compare(name, sample, arguments=None, layout=None, fails=None, scale=0.0):
    """Tolerances are 1e-4, and 1e-6 of `scale` for elements where terms cancel."""

    def run(lib):
        given = lib.tensor(sample, layout=layout) if layout else sample
        return getattr(lib, name)(given, **typed(lib, arguments or {}))

    both(run, rtol=1e-4, atol=1e-6 * scale, fails=fails)


SPECTROGRAMS = cases(
    [
        {},
        {"power": 1},
        {"layout": "tf"},
        {"nfft": 512},
        {"nfft": 513},
        {"nfft": 1000},
        {"nfft": 1024},
        {"nfft": 997},
        {"nfft": 6006},
        {"window_length": 400, "window_step": 160},
        {"window_length": 501},
        {"window_length": 7, "window_step": 3},
        {"window_length": 3, "nfft": 100},
        {"window_length": 3500},
        {"window_length": 3500, "reflect_padding": False},
        {"center_windows": False},
        {"center_windows": False, "window_step": 100, "layout": "tf"},
        {"reflect_padding": False},
        {"reflect_padding": False, "power": 1, "window_step": 5000},
        {"window_fn": [1.0] * 512},
        {"window_fn": list(np.linspace(0, 1, 100)), "window_length": 100, "nfft": 128},
    ],
    [
        {"window_length": 0},
        {"window_length": -1},
        {"window_step": 0},
        {"window_step": -1},
        {"nfft": 500},
        {"nfft": 0},
        {"power": 0},
        {"power": 3},
        {"layout": "xy"},
        {"layout": ""},
        {"window_fn": [1.0] * 5},
        {"center_windows": False, "window_length": 4000},
    ],
)


@pytest.mark.parametrize(("arguments", "fails"), SPECTROGRAMS)
def test_spectrogram(arguments, fails):
    compare("spectrogram", NOISE, arguments, fails=fails, scale=2000)


@pytest.mark.parametrize("length", [1, 2, 3, 10, 255, 256, 257, 511, 512, 513, 700])
@pytest.mark.parametrize("reflect", [True, False])
def test_spectrogram_of_short_signals(length, reflect):
    compare("spectrogram", NOISE[:length], {"reflect_padding": reflect}, scale=5000)


@pytest.mark.parametrize(("length", "fails"), cases([257, 300, 511, 512, 700, 800], [0, 1, 255, 256]))
def test_spectrogram_without_padding(length, fails):
    compare("spectrogram", NOISE[:length], {"center_windows": False}, fails=fails, scale=1000)


@pytest.mark.parametrize(
    ("shape", "fails"), cases([(3000,), (3000, 1), (1, 3000), (1, 1, 3000), (1, 3000, 1)], [(1500, 2), (2, 1500)])
)
def test_spectrogram_of_shapes(shape, fails):
    compare("spectrogram", NOISE.reshape(shape), fails=fails, scale=2000)


@pytest.mark.parametrize("name", ["spectrogram", "power_spectrum", "mel_filter_bank", "to_decibels", "mfcc"])
@pytest.mark.parametrize("dtype", ["int16", "uint8", "float64", "float16"])
def test_only_float32(name, dtype):
    compare(name, (SPECTRUM[:, :1] * 50).astype(dtype), fails=RuntimeError)


@pytest.mark.parametrize("length", [3, 4, 5, 6, 7, 8, 9, 11, 13, 17, 100, 997, 1000, 2048])
@pytest.mark.parametrize("power", [1, 2])
def test_power_spectrum(length, power):
    compare("power_spectrum", NOISE[:length], {"power": power}, scale=length)


@pytest.mark.parametrize(
    ("arguments", "fails"),
    cases(
        [
            {"axis": 0},
            {"axis": 1},
            {"axis": 2},
            {"axis": -1},
            {"axis": -2},
            {"axis": -4},
            {"nfft": 10},
            {"nfft": 64},
            {"nfft": 0},
            {"nfft": -1},
            {"axis": 0, "nfft": 16},
        ],
        [{"axis": 3}, {"power": 0}, {"power": 3}],
    ),
)
def test_power_spectrum_along_axes(arguments, fails):
    compare("power_spectrum", NOISE.reshape(10, 15, 20), arguments, layout="abc", fails=fails, scale=100)


MEL = cases(
    [
        {},
        {"nfilter": 40, "sample_rate": 16000.0},
        {"nfilter": 300},
        {"mel_formula": "htk"},
        {"normalize": False, "nfilter": 20},
        {"freq_low": 300.0, "freq_high": 8000.0, "nfilter": 30},
        {"freq_high": 30000.0},
        {"freq_high": -5.0},
        {"sample_rate": 16000.0, "nfilter": 80, "mel_formula": "htk", "normalize": False},
    ],
    [
        {"nfilter": 0},
        {"nfilter": -1},
        {"freq_low": -1.0},
        {"freq_low": 5000.0, "freq_high": 4000.0},
        {"freq_low": 22050.0},
        {"freq_high": 50000.0},
        {"sample_rate": 0.0},
        {"sample_rate": -5.0},
        {"mel_formula": "HTK"},
    ],
)


@pytest.mark.parametrize(("arguments", "fails"), MEL)
def test_mel_filter_bank(arguments, fails):
    # The real library computes its weights in float32.
    compare("mel_filter_bank", SPECTRUM, arguments, fails=fails, scale=20 if arguments.get("normalize") is False else 1)


@pytest.mark.parametrize(
    ("shape", "layout"),
    [
        ((257,), None),
        ((200, 3), None),
        ((3, 200), None),
        ((2, 100, 3), None),
        ((2, 100, 3), "ctf"),
        ((6, 100), "tf"),
        ((100, 6), "ft"),
        ((100, 2, 3), "fct"),
        ((1, 6), "ft"),
        ((2, 6), "ft"),
        ((0, 6), "ft"),
        ((100, 0), "ft"),
    ],
)
def test_mel_layouts(shape, layout):
    sample = SPECTRUM.ravel()[: int(np.prod(shape))].reshape(shape)
    compare("mel_filter_bank", sample, {"nfilter": 4}, layout=layout, scale=1)


@pytest.mark.parametrize(("shape", "layout"), [((6, 100), "ab"), ((100, 6), "tx")])
def test_mel_layouts_without_frequencies(shape, layout):
    compare("mel_filter_bank", np.ones(shape, np.float32), layout=layout, fails=RuntimeError)


LEVELS = np.float32([0, 1, 2, 4, 1e-40, 1e-30, 3e30, -5, np.nan])


@pytest.mark.parametrize(
    ("arguments", "fails"),
    cases(
        [
            {},
            {"reference": 1.0},
            {"reference": -2.0},
            {"reference": 2.0, "multiplier": 20.0, "cutoff_db": -40.0},
            {"multiplier": 0.0},
            {"multiplier": -10.0},
            {"cutoff_db": 0.0},
            {"cutoff_db": 10.0},
            {"cutoff_db": -400.0, "reference": 1.0},
            {"cutoff_db": -1000.0},
        ],
        [{"reference": 0.0}],
    ),
)
@pytest.mark.parametrize("sample", [LEVELS, np.float32(5), np.float32([]), np.float32([0, 0]), np.float32([-1, -2])])
def test_to_decibels(arguments, fails, sample):
    compare("to_decibels", sample, arguments, fails=fails, scale=10)


def test_decibels_of_infinity():
    for arguments in ({}, {"reference": 1.0}, {"reference": -1.0}):
        compare("to_decibels", np.float32([np.inf, 1, 2]), arguments, scale=10)


@pytest.mark.parametrize(
    ("arguments", "fails"),
    cases(
        [{}, {"axis": 1}, {"n_mfcc": 5}, {"n_mfcc": 3000}, {"lifter": 22.0}, {"lifter": -1.0}]
        + [{"dct_type": kind} for kind in (1, 2, 3, 4)]
        + [{"dct_type": kind, "normalize": True} for kind in (2, 3, 4)]
        + [{"lifter": 22.0, "n_mfcc": 7, "axis": 1, "dct_type": 3}],
        [
            {"axis": -1},
            {"axis": 2},
            {"n_mfcc": 0},
            {"n_mfcc": -3},
            {"dct_type": 0},
            {"dct_type": 5},
            {"dct_type": 1, "normalize": True},
        ],
    ),
)
def test_mfcc(arguments, fails):
    compare("mfcc", SPECTRUM[:128], arguments, layout="ft", fails=fails, scale=1000)


@pytest.mark.parametrize(("shape", "fails"), cases([(1, 3), (0, 3), (3, 0), (3, 10, 2)], [(40,), ()]))
def test_mfcc_of_shapes(shape, fails):
    sample = SPECTRUM.ravel()[: int(np.prod(shape))].reshape(shape)
    compare("mfcc", sample, fails=fails, scale=10)


@pytest.mark.parametrize("border", ["zero", "clamp", "reflect"])
@pytest.mark.parametrize("dtype", [name for name in DTYPES if name != "bool"])
def test_preemphasis(border, dtype):
    sample = (np.abs(NOISE[:100]) * 20).astype(dtype)
    compare("preemphasis_filter", sample, {"border": border}, scale=10)
    compare("preemphasis_filter", sample.reshape(10, 10), {"border": border, "preemph_coeff": 0.5}, "ab", scale=10)
    both(lambda lib: lib.preemphasis_filter(NOISE * 30, dtype=getattr(lib, dtype), border=border), rtol=1e-4, atol=1e-4)


def test_preemphasis_of_each_sample():
    samples = [NOISE[:100], NOISE[100:107], NOISE[:1]]
    both(lambda lib: lib.preemphasis_filter(lib.batch(samples), preemph_coeff=lib.batch([0.5, 0.7, 0.9])), rtol=1e-4)


def test_preemphasis_refuses():
    compare("preemphasis_filter", NOISE, {"border": "wrap"}, fails=RuntimeError)
    compare("preemphasis_filter", NOISE > 0, fails=RuntimeError)


SOUND_TYPES = ["float32", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]


@pytest.mark.parametrize("seed", range(90))
def test_nonsilent_region(seed):
    """Exactly the same region, including what rounding errors of the moving sum do to it."""
    random = np.random.default_rng(seed)
    dtype = SOUND_TYPES[seed % len(SOUND_TYPES)]
    length, window = int(random.integers(1, 900)), int(random.integers(1, 40))
    x = random.standard_normal(length) * np.exp(-(((np.arange(length) / length - 0.5) * 8) ** 2))
    x *= {"float32": 1, "int32": 1e8, "uint32": 1e8, "int64": 1e14, "uint64": 1e11}.get(dtype, 100)
    if seed % 5 == 0:
        x[length * 2 // 3 :] = 0
    x = np.abs(x) if dtype[0] == "u" else x
    arguments = {
        "window_length": window,
        "reset_interval": window * int(random.integers(1, 6)) if seed % 3 else -1,
        "cutoff_db": float(random.uniform(-150, -1)),
    }
    if seed % 2:
        arguments["reference_power"] = float(random.uniform(0.01, 1)) * (1 if dtype == "float32" else 1000)
    both(lambda lib: lib.nonsilent_region(x.astype(dtype), **arguments))


@pytest.mark.parametrize(
    ("arguments", "fails"),
    cases(
        [
            {},
            {"cutoff_db": -20.0},
            {"cutoff_db": 10.0},
            {"reference_power": 1e-09},
            {"reset_interval": -1},
            {"reset_interval": 2048},
            {"window_length": 100, "reset_interval": 1000},
            {"window_length": 1},
        ],
        [{"reference_power": -1.0}, {"reset_interval": 100}, {"window_length": 20000}],
    ),
)
def test_nonsilent_region_with_arguments(arguments, fails):
    x = np.zeros(20000, np.float32)
    x[5000:8000] = NOISE
    both(lambda lib: lib.nonsilent_region(lib.batch([x, x[4000:7000], NOISE[:100]]), **arguments), fails=fails)


@pytest.mark.parametrize("sample", [np.ones((10, 10), np.float32), np.ones(9, bool), np.ones(9), np.float32(1)])
def test_nonsilent_region_refuses(sample):
    both(lambda lib: lib.nonsilent_region(sample), fails=RuntimeError)


@pytest.mark.parametrize(
    ("arguments", "fails"),
    cases(
        [
            {"scale": 0.5},
            {"scale": 2.0},
            {"scale": 1.0},
            {"scale": 0.0},
            {"scale": 0.333},
            {"scale": 0.001},
            {"in_rate": 16000.0, "out_rate": 11025.0},
            {"in_rate": 8000.0, "out_rate": 44100.0},
            {"out_length": 333},
            {"out_length": 0},
            {"out_length": 5000},
            {"scale": 0.7777, "quality": 0.0},
            {"scale": 0.7777, "quality": 100.0},
        ],
        [
            {},
            {"scale": -1.0},
            {"in_rate": 16000.0},
            {"out_rate": 1.0},
            {"out_length": -1},
            {"scale": 0.5, "out_length": 500},
            {"scale": 0.5, "in_rate": 1.0, "out_rate": 0.5},
            {"out_length": 100, "in_rate": 1.0, "out_rate": 0.5},
            {"scale": 0.5, "quality": 101.0},
            {"scale": 0.5, "quality": -1.0},
            {"in_rate": -1.0, "out_rate": -2.0},
            {"in_rate": 0.0, "out_rate": 1.0},
            {"scale": 0.5, "dtype": "float64"},
            {"scale": 0.5, "dtype": "int64"},
        ],
    ),
)
def test_audio_resample(arguments, fails):
    compare("audio_resample", NOISE, arguments, fails=fails, scale=10)


@pytest.mark.parametrize(
    ("shape", "fails"), cases([(1500, 2), (1, 3000), (3000, 1), (0, 2), (5, 0), (0,)], [(10, 10, 30), ()])
)
def test_audio_resample_of_shapes(shape, fails):
    sample = NOISE[: int(np.prod(shape))].reshape(shape)
    compare("audio_resample", sample, {"scale": 0.5}, fails=fails, scale=10)


@pytest.mark.parametrize("source", SOUND_TYPES[:7])
@pytest.mark.parametrize("to", SOUND_TYPES[:7])
def test_audio_resample_between_types(source, to):
    x = NOISE[:300] / 4
    if source != "float32":
        info = np.iinfo(source)
        x = (x * (info.max * 0.9) + (info.max // 2 if source[0] == "u" else 0)).clip(info.min, info.max * 0.99)
    ends = 0 if to == "float32" else np.iinfo(to).max
    both(
        lambda lib: lib.audio_resample(x.astype(source), scale=0.7, dtype=getattr(lib, to)),
        rtol=1e-4,
        atol=max(1e-5, 1.001 if ends < 2**20 else ends * 1e-5) if ends else 1e-5,
    )


def test_audio_resample_of_each_sample():
    samples = [NOISE[:1000], NOISE[:300]]
    both(lambda lib: lib.audio_resample(lib.batch(samples), scale=lib.batch(np.float32([0.5, 0.7]))), atol=1e-5)
    both(lambda lib: lib.audio_resample(lib.batch(samples), out_length=lib.batch([5, 700])), atol=1e-5)
    rates = {"in_rate": [3.0, 2.0], "out_rate": [2.0, 3.0]}
    both(lambda lib: lib.audio_resample(lib.batch(samples), **{k: lib.batch(v) for k, v in rates.items()}), atol=1e-5)


def test_ragged_batches():
    signals = [NOISE, NOISE[:700], NOISE[:170]]

    def coefficients(lib):
        spectra = lib.spectrogram(lib.batch(signals), window_length=400, window_step=160)
        mel = lib.to_decibels(lib.mel_filter_bank(spectra, nfilter=20, sample_rate=16000.0))
        return spectra, mel, lib.mfcc(mel, n_mfcc=13)

    ours = coefficients(avida)
    assert [out.layout for out in ours] == ["ft", "ft", "ft"]
    both(coefficients, rtol=1e-4, atol=5e-3)
