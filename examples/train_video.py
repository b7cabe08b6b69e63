"""Trains a small 3D network on clips of videos, and prints the accuracy after every epoch.

    python examples/train_video.py                   # makes videos of moving boxes first
    python examples/train_video.py --data DIR        # DIR/train/CLASS/*.mp4 and DIR/val/CLASS/*.mp4

Needs PyTorch.
"""

import argparse
import pathlib
import tempfile

import numpy as np
import torch
from torch import nn

import avida as ndd
from avida.progress import Progress

LENGTH = 8
MOVES = {"down": (1, 0), "left": (0, -1), "right": (0, 1), "up": (-1, 0)}


def main(arguments: list[str] | None = None) -> list[float]:
    """Trains, and returns the accuracy after every epoch."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, help="the folder with train/ and val/; made if omitted")
    parser.add_argument("--videos", type=int, default=80, help="number of videos to make (%(default)s)")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--size", type=int, default=32, help="height and width of the network's input (%(default)s)")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="avida-videos-") as made:
        data = options.data or make_videos(pathlib.Path(made), options.videos)
        return train(data, options.epochs, options.batch, options.size)


def train(data: pathlib.Path, epochs: int, batch_size: int, size: int) -> list[float]:
    torch.manual_seed(0)
    ndd.random.set_seed(0)
    classes = sorted(folder.name for folder in (data / "train").iterdir() if folder.is_dir())
    network = small_network(len(classes))
    optimizer = torch.optim.AdamW(network.parameters(), lr=3e-3)
    clips_of = ndd.experimental.readers.Video
    training = clips_of(file_root=data / "train", sequence_length=LENGTH, step=4, random_shuffle=True, seed=0)
    validation = clips_of(file_root=data / "val", sequence_length=LENGTH, last_batch="partial")
    print(f"{len(training)} clips of {', '.join(classes)}")

    accuracies = []
    for epoch in range(1, epochs + 1):
        network.train()
        with Progress(f"epoch {epoch}", total=len(training)) as bar:
            for clips, labels in training.next_epoch(batch_size=batch_size):
                shade = ndd.random.uniform(range=[0.7, 1.3], batch_size=clips.batch_size)
                clips = ndd.brightness(clips, brightness=shade)
                targets = labels.torch().flatten().long()
                loss = nn.functional.cross_entropy(network(network_input(clips, size)), targets)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                bar.advance(clips.batch_size, note=f"loss {loss.item():.3f}")
        accuracies.append(accuracy(network, validation, batch_size, size))
        print(f"epoch {epoch}: validation accuracy {accuracies[-1]:.1%}, {bar.rate:,.0f} clips/s in training")
    return accuracies


def network_input(clips: ndd.Batch, size: int) -> torch.Tensor:
    """(N, channels, frames, height, width), from -1 to 1."""
    clips = ndd.resize(clips, size=[size, size])
    return clips.torch().permute(0, 4, 1, 2, 3).float() / 127.5 - 1


@torch.no_grad()
def accuracy(network: nn.Module, validation: ndd.readers.Reader, batch_size: int, size: int) -> float:
    """The fraction of the clips that the network classifies correctly."""
    network.eval()
    right = total = 0
    for clips, labels in validation.next_epoch(batch_size=batch_size):
        guesses = network(network_input(clips, size)).argmax(dim=1)
        right += int((guesses == labels.torch().flatten()).sum())
        total += clips.batch_size
    return right / total


def small_network(classes: int) -> nn.Module:
    return nn.Sequential(
        *(nn.Conv3d(3, 16, 3, stride=(1, 2, 2), padding=1), nn.BatchNorm3d(16), nn.ReLU()),
        *(nn.Conv3d(16, 32, 3, stride=2, padding=1), nn.BatchNorm3d(32), nn.ReLU()),
        *(nn.AdaptiveAvgPool3d(1), nn.Flatten(), nn.Linear(32, classes)),
    )


def make_videos(folder: pathlib.Path, count: int) -> pathlib.Path:
    """Boxes that move in one of four directions; one video in four is for validation. Uncompressed, as YUV4MPEG2."""
    rng = np.random.default_rng(0)
    for i in range(count):
        name = list(MOVES)[i % len(MOVES)]
        down, right = MOVES[name]
        path = folder / ("val" if i % 16 < 4 else "train") / name / f"{i:04d}.y4m"
        path.parent.mkdir(parents=True, exist_ok=True)
        y, x, luma = *rng.integers(0, 48, 2), rng.integers(120, 235)
        parts = [b"YUV4MPEG2 W48 H48 F25:1 C444\n"]
        for k in range(20):
            frame = np.full((3, 48, 48), 128, np.uint8)
            frame[0] = 16 + rng.integers(0, 40, (48, 48), np.uint8)
            rows, columns = (np.arange(14) + y + 2 * k * down) % 48, (np.arange(14) + x + 2 * k * right) % 48
            frame[0, rows[:, None], columns] = luma
            parts += [b"FRAME\n", frame.tobytes()]
        path.write_bytes(b"".join(parts))
    return folder


if __name__ == "__main__":
    main()
