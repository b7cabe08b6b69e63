"""Measures decoding and reading of sound files, compared with the real library.

python benchmarks/sound/decoding.py [--files 320] [--seconds 3] [--rounds 5] [--formats wav aiff flac ogg]

The libraries take turns on the same files, which are in the page cache. Each line has the median time per file of
avida and the real library, and the speed-up of avida. Epochs are much longer than the two batches that are prefetched.
"""

from __future__ import annotations

import argparse
import gc
import json
import pathlib
import statistics
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import nvidia.dali.experimental.dynamic as dali

import avida

# The real library comes with the extra `parity`.
# pyright: reportMissingImports=false

RATE = 22050
BATCH = 32


def write_files(folder: pathlib.Path, formats: list[str], files: int, seconds: float) -> dict[str, list[pathlib.Path]]:
    """Writes noise in one channel, with the varying amplitude of speech."""
    import soundfile  # after avida: soundfile bundles a libsndfile, which avida would use if it were loaded first

    rng = np.random.default_rng(0)
    made: dict[str, list[pathlib.Path]] = {ending: [] for ending in formats}
    for i in range(files):
        n = int(RATE * seconds * rng.uniform(0.7, 1.3))
        noise = np.convolve(rng.normal(0, 0.1, n), np.ones(8) / 8, "same")
        sound = noise * (1.1 + np.sin(np.arange(n) * 20 / RATE))
        for ending, paths in made.items():
            paths.append(folder / f"{i}.{ending}")
            soundfile.write(paths[-1], sound, RATE)
    return made


def decode(library: Any, encoded: list[np.ndarray], arguments: dict[str, Any]) -> Callable[[], int]:
    batches = [library.as_batch(encoded[i : i + BATCH]) for i in range(0, len(encoded), BATCH)]
    return lambda: sum(frames(library.decoders.audio(batch, **arguments)[0]) for batch in batches)


def read(library: Any, manifest: pathlib.Path, arguments: dict[str, Any]) -> Callable[[], int]:
    reader = library.readers.NemoAsr(manifest_filepaths=[str(manifest)], **arguments)
    return lambda: sum(frames(sound) for sound, *_ in reader.next_epoch(batch_size=BATCH))


def frames(sound: Any) -> int:
    """Waits for the batch. The count shows that no library skips work."""
    sound.evaluate()
    return sum(shape[0] for shape in sound.shape)


def compare(name: str, make: Callable[[Any], Callable[[], int]], files: int, rounds: int) -> None:
    """One library at a time: each round creates its reader anew and drops it before the other library's turn."""
    wall: dict[str, list[float]] = {"avida": [], "dali": []}
    cpu: dict[str, list[float]] = {"avida": [], "dali": []}
    counts = set()
    for _ in range(rounds + 1):
        for key, library in (("avida", avida), ("dali", dali)):
            run = make(library)
            start, cpu_start = time.perf_counter(), time.process_time()
            counts.add(run())
            wall[key].append(time.perf_counter() - start)
            cpu[key].append(time.process_time() - cpu_start)
            del run
            gc.collect()
            time.sleep(0.2)  # prefetching threads finish their current sample
    assert len(counts) == 1, f"not the same work: {counts} frames"
    parts = []
    for kind, times in (("wall", wall), ("CPU", cpu)):
        ours, theirs = (statistics.median(times[key][1:]) / files * 1e6 for key in ("avida", "dali"))
        parts.append(f"{kind} {ours:7.0f} / {theirs:7.0f} us, {theirs / ours:4.2f} x")
    print(f"{name:32} {'   '.join(parts)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=320)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--formats", nargs="+", default=["wav", "aiff", "flac", "ogg"])
    options = parser.parse_args()
    print("avida uses", dict(avida._core.sound_formats())["WAV"])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for ending, paths in write_files(folder, options.formats, options.files, options.seconds).items():
            encoded = [np.fromfile(path, np.uint8) for path in paths]
            manifest = folder / f"{ending}.json"
            manifest.write_text("\n".join(json.dumps({"audio_filepath": str(p), "text": "words"}) for p in paths))
            for text, arguments in {"": {}, ", to 16 kHz": {"sample_rate": 16000.0}}.items():
                jobs: list[tuple[str, Any, Any]] = [
                    ("decoders.audio", decode, encoded),
                    ("readers.NemoAsr", read, manifest),
                ]
                for kind, make, data in jobs:
                    compare(
                        f"{kind} {ending}{text}",
                        lambda library, make=make, data=data, arguments=arguments: make(library, data, arguments),
                        options.files,
                        options.rounds,
                    )


if __name__ == "__main__":
    main()
