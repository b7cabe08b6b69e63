"""Trains a small network to name the notes of short sounds, and prints the accuracy after every epoch.

    python examples/train_sounds.py                       # generates notes of three instruments first
    python examples/train_sounds.py --data DIR            # DIR/train/CLASS/*.wav and DIR/val/CLASS/*.wav

Needs PyTorch.
"""

import argparse
import pathlib
import tempfile
import wave

import numpy as np
import torch
from torch import nn

import avida as ndd
from avida.progress import Progress

RATE = 16000
LENGTH = RATE // 2  # elements of a sound that the network hears
NOTES = ["c", "d", "e", "f", "g", "a", "b"]
SEMITONES = [0, 2, 4, 5, 7, 9, 11]


def main(arguments: list[str] | None = None) -> list[float]:
    """Trains, and returns the accuracy after every epoch."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, help="the folder with train/ and val/; generated if omitted")
    parser.add_argument("--sounds", type=int, default=2100, help="number of sounds to generate (%(default)s)")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--batch", type=int, default=32)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="avida-notes-") as made:
        data = options.data or make_notes(pathlib.Path(made), options.sounds)
        return train(data, options.epochs, options.batch)


def pictures(files: ndd.Batch, loudness: ndd.Batch | float = 1.0) -> torch.Tensor:
    """Files as mel spectrograms in decibels, around 0: (N, 1, 64, frames)."""
    sounds, _ = ndd.decoders.audio(files, downmix=True, sample_rate=RATE)
    start, length = ndd.nonsilent_region(sounds, cutoff_db=-10, window_length=512, reset_interval=-1)
    sounds = ndd.slice(sounds, start, length, axes=[0]) * loudness
    sounds = ndd.slice(sounds, 0, LENGTH, axes=[0], normalized_anchor=False, normalized_shape=False,
                       out_of_bounds_policy="pad")  # fmt: skip
    spectra = ndd.spectrogram(sounds, window_length=1024, window_step=256)
    mel = ndd.mel_filter_bank(spectra, nfilter=64, sample_rate=RATE, freq_high=4000)
    return ndd.to_decibels(mel, cutoff_db=-60).torch().unsqueeze(1) / 30 + 1


def train(data: pathlib.Path, epochs: int, batch_size: int) -> list[float]:
    torch.manual_seed(0)
    ndd.random.set_seed(0)
    classes = sorted(folder.name for folder in (data / "train").iterdir() if folder.is_dir())
    network = small_network(len(classes))
    optimizer = torch.optim.AdamW(network.parameters(), lr=3e-3)
    training = ndd.readers.File(file_root=data / "train", random_shuffle=True, seed=0)
    validation = ndd.readers.File(file_root=data / "val", pad_last_batch=True)
    print(f"{training.get_metadata()['epoch_size']} sounds of {', '.join(classes)}")

    accuracies = []
    for epoch in range(1, epochs + 1):
        network.train()
        batches = training.next_epoch(batch_size=batch_size)
        with Progress(f"epoch {epoch}", total=len(batches) * batch_size) as bar:
            for files, labels in batches:
                loudness = ndd.random.uniform(range=[0.3, 1.0], like=files)
                targets = labels.torch().flatten().long()  # (N, 1) int32 to (N,) int64
                loss = nn.functional.cross_entropy(network(pictures(files, loudness)), targets)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                bar.advance(files.batch_size, note=f"loss {loss.item():.3f}")
        accuracies.append(accuracy(network, validation, batch_size))
        print(f"epoch {epoch}: validation accuracy {accuracies[-1]:.1%}, {bar.rate:,.0f} sounds/s in training")
    return accuracies


@torch.no_grad()
def accuracy(network: nn.Module, validation: ndd.readers.File, batch_size: int) -> float:
    """The fraction of the sounds that the network classifies correctly."""
    network.eval()
    left = total = validation.get_metadata()["epoch_size"]
    right = 0
    for files, labels in validation.next_epoch(batch_size=batch_size):
        guesses = network(pictures(files)).argmax(dim=1)
        right += int((guesses == labels.torch().flatten())[:left].sum())  # without the padding of the last batch
        left -= batch_size
    return right / total


def small_network(classes: int) -> nn.Module:
    """Pools over time alone: a note is a pattern of frequencies."""

    def block(inputs: int, outputs: int) -> nn.Module:
        convolution = nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)
        return nn.Sequential(convolution, nn.BatchNorm2d(outputs), nn.ReLU(), nn.MaxPool2d((1, 2)))

    pool = nn.AdaptiveAvgPool2d((64, 1))
    return nn.Sequential(block(1, 8), block(8, 8), pool, nn.Flatten(), nn.Linear(8 * 64, classes))


def make_notes(folder: pathlib.Path, count: int) -> pathlib.Path:
    """Generates notes of three instruments in two octaves, with noise; a fifth of them for validation."""
    random = np.random.default_rng(0)
    with Progress("generating sounds", total=count) as bar:
        for i in range(count):
            note = i % len(NOTES)
            octave = int(random.integers(2))
            frequency = 261.63 * 2 ** (octave + (SEMITONES[note] + random.normal(0, 0.15)) / 12)
            t = np.arange(int(RATE * random.uniform(0.4, 0.8))) / RATE
            instrument = [(1, 0, 0.3, 0, 0.2), (1, 0.8, 0.6, 0.4, 0.2), (1, 0.2, 0.1, 0, 0)][int(random.integers(3))]
            tone = sum(level * np.sin(2 * np.pi * k * frequency * t) for k, level in enumerate(instrument, 1))
            tone = tone * np.exp(-t * random.uniform(1, 4)) * random.uniform(0.1, 0.3)
            pause = np.zeros(int(RATE * random.uniform(0, 0.3)))
            sound = np.concatenate([pause, tone]) + random.normal(0, 0.02, len(pause) + len(tone))
            file = folder / ("val" if i % 5 == 4 else "train") / NOTES[note] / f"{i:05}.wav"
            file.parent.mkdir(parents=True, exist_ok=True)
            write_wav(file, sound)
            bar.advance()
    return folder


def write_wav(path: pathlib.Path, sound: np.ndarray) -> None:
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, RATE, len(sound), "NONE", ""))
        file.writeframes((sound.clip(-1, 1) * 32767).astype("<i2").tobytes())


if __name__ == "__main__":
    main()
