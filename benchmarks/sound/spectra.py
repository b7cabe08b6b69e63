"""Measures spectrograms, mel spectrograms and decibels of clips, compared with the real library and torchaudio.

python benchmarks/sound/spectra.py [--device gpu] [--clips 64] [--seconds 10] [--rounds 10] [--threads N]

The libraries take turns on the same clips of noise, at 16 kHz; torchaudio takes part where it is installed. Each line
has the least time of a round and the speed-up of avida. The results are compared, too.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import nvidia.dali.experimental.dynamic as dali

import avida

# The real library comes with the extra `parity`; torchaudio is nobody's requirement.
# pyright: reportMissingImports=false

RATE = 16000
WINDOW, STEP, FILTERS = 512, 256, 80

Stages = dict[str, Callable[[], Any]]


def ours_or_theirs(library: Any, clips: list[np.ndarray], device: str) -> Stages:
    batch = library.batch(clips, device=device)
    batch.evaluate()

    def spectra() -> Any:
        return library.spectrogram(batch, window_length=WINDOW, window_step=STEP)

    def mel() -> Any:
        return library.mel_filter_bank(spectra(), nfilter=FILTERS, sample_rate=float(RATE))

    def finished(stage: Callable[[], Any]) -> Callable[[], Any]:
        def run() -> Any:
            result = stage().evaluate()
            if device == "gpu":
                wait_for_gpu()
            return result

        return run

    return {
        "spectrogram": finished(spectra),
        "spectrogram, mel": finished(mel),
        "spectrogram, mel, decibels": finished(lambda: library.to_decibels(mel())),
    }


def torchaudio_stages(clips: list[np.ndarray], device: str) -> Stages:
    import torch
    import torchaudio

    where = "cuda" if device == "gpu" else "cpu"
    batch = torch.from_numpy(np.stack(clips)).to(where)
    spectra = torchaudio.transforms.Spectrogram(WINDOW, WINDOW, STEP).to(where)
    scale = torchaudio.transforms.MelScale(FILTERS, RATE, n_stft=WINDOW // 2 + 1, norm="slaney", mel_scale="slaney")
    scale, decibels = scale.to(where), torchaudio.transforms.AmplitudeToDB()

    def finished(stage: Callable[[], Any]) -> Callable[[], Any]:
        def run() -> Any:
            with torch.no_grad():
                result = stage()
            if device == "gpu":
                wait_for_gpu()
            return result

        return run

    return {
        "spectrogram": finished(lambda: spectra(batch)),
        "spectrogram, mel": finished(lambda: scale(spectra(batch))),
        "spectrogram, mel, decibels": finished(lambda: decibels(scale(spectra(batch)))),
    }


def wait_for_gpu() -> None:
    import torch

    torch.cuda.synchronize()


def check(ours: Any, theirs: Any) -> None:
    """What is compared is the same."""
    for a, b in zip(ours.cpu().tensors, theirs.cpu().tensors, strict=True):
        expected = np.asarray(b)
        np.testing.assert_allclose(np.asarray(a), expected, rtol=1e-3, atol=1e-5 * np.abs(expected).max())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=["cpu", "gpu"], default="cpu")
    parser.add_argument("--clips", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    clips = [rng.normal(0, 0.1, int(RATE * options.seconds)).astype(np.float32) for _ in range(options.clips)]

    with avida.EvalContext(num_threads=options.threads), dali.EvalContext(num_threads=options.threads):
        contestants = {
            "avida": ours_or_theirs(avida, clips, options.device),
            "dali": ours_or_theirs(dali, clips, options.device),
        }
        try:
            import torch

            torch.set_num_threads(options.threads)
            contestants["torchaudio"] = torchaudio_stages(clips, options.device)
        except ImportError as error:
            print(f"without torchaudio: {error}")
        print(f"{options.clips} clips of {options.seconds:g} s on the {options.device}, {options.threads} threads")
        for stage in contestants["avida"]:
            check(contestants["avida"][stage](), contestants["dali"][stage]())
            compare(stage, {name: stages[stage] for name, stages in contestants.items()}, options.rounds)


def compare(stage: str, runs: dict[str, Callable[[], Any]], rounds: int) -> None:
    least = dict.fromkeys(runs, float("inf"))
    for _ in range(rounds + 1):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            least[name] = min(least[name], time.perf_counter() - start)
    parts = [f"avida {least['avida'] * 1e3:7.2f} ms"]
    parts += [f"{name} {t * 1e3:7.2f} ms, {t / least['avida']:5.2f} x" for name, t in least.items() if name != "avida"]
    print(f"{stage:28} {'   '.join(parts)}", flush=True)


if __name__ == "__main__":
    main()
