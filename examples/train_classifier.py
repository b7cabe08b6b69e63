"""Trains a small network on a folder of images, and prints the accuracy after every epoch.

    python examples/train_classifier.py                   # generates pictures of shapes first
    python examples/train_classifier.py --data DIR        # DIR/train/CLASS/*.jpg and DIR/val/CLASS/*.jpg

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

MEAN = [0.485 * 255, 0.456 * 255, 0.406 * 255]
STD = [0.229 * 255, 0.224 * 255, 0.225 * 255]


def main(arguments: list[str] | None = None) -> list[float]:
    """Trains, and returns the accuracy after every epoch."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, help="the folder with train/ and val/; generated if omitted")
    parser.add_argument("--images", type=int, default=2000, help="number of images to generate (%(default)s)")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--size", type=int, default=48, help="height and width of the network's input (%(default)s)")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="avida-shapes-") as made:
        data = options.data or make_shapes(pathlib.Path(made), options.images)
        return train(data, options.epochs, options.batch, options.size)


def train(data: pathlib.Path, epochs: int, batch_size: int, size: int) -> list[float]:
    torch.manual_seed(0)
    ndd.random.set_seed(0)
    classes = sorted(folder.name for folder in (data / "train").iterdir() if folder.is_dir())
    network = small_network(len(classes))
    optimizer = torch.optim.AdamW(network.parameters(), lr=3e-3)
    training = ndd.readers.File(file_root=data / "train", random_shuffle=True, seed=0)
    validation = ndd.readers.File(file_root=data / "val", pad_last_batch=True)
    print(f"{training.get_metadata()['epoch_size']} images of {', '.join(classes)}")

    accuracies = []
    for epoch in range(1, epochs + 1):
        network.train()
        batches = training.next_epoch(batch_size=batch_size)
        with Progress(f"epoch {epoch}", total=len(batches) * batch_size) as bar:
            for files, labels in batches:
                images = ndd.decoders.image(files)
                images = ndd.random_resized_crop(images, size=[size, size], random_area=[0.7, 1.0])
                mirror = ndd.random.coin_flip(batch_size=files.batch_size)
                images = ndd.crop_mirror_normalize(images, mirror=mirror, mean=MEAN, std=STD)
                targets = labels.torch().flatten().long()  # (N, 1) int32 to (N,) int64
                loss = nn.functional.cross_entropy(network(images.torch()), targets)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                bar.advance(files.batch_size, note=f"loss {loss.item():.3f}")
        accuracies.append(accuracy(network, validation, batch_size, size))
        print(f"epoch {epoch}: validation accuracy {accuracies[-1]:.1%}, {bar.rate:,.0f} images/s in training")
    return accuracies


@torch.no_grad()
def accuracy(network: nn.Module, validation: ndd.readers.File, batch_size: int, size: int) -> float:
    """The fraction of the images that the network classifies correctly."""
    network.eval()
    left = total = validation.get_metadata()["epoch_size"]
    right = 0
    for files, labels in validation.next_epoch(batch_size=batch_size):
        images = ndd.resize(ndd.decoders.image(files), size=[size, size])
        images = ndd.crop_mirror_normalize(images, mean=MEAN, std=STD)
        guesses = network(images.torch()).argmax(dim=1)
        right += int((guesses == labels.torch().flatten())[:left].sum())  # without the padding of the last batch
        left -= batch_size
    return right / total


def small_network(classes: int) -> nn.Module:
    def block(inputs: int, outputs: int) -> nn.Module:
        convolution = nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)
        return nn.Sequential(convolution, nn.BatchNorm2d(outputs), nn.ReLU(), nn.MaxPool2d(2))

    pool = nn.AdaptiveAvgPool2d(1)
    return nn.Sequential(block(3, 16), block(16, 32), block(32, 64), pool, nn.Flatten(), nn.Linear(64, classes))


SHAPES = {
    "circle": lambda x, y: np.hypot(x, y) < 0.8,
    "cross": lambda x, y: (np.minimum(abs(x), abs(y)) < 0.25) & (np.maximum(abs(x), abs(y)) < 0.9),
    "square": lambda x, y: np.maximum(abs(x), abs(y)) < 0.7,
    "triangle": lambda x, y: (y < 0.6) & (abs(x) < (y + 0.9) * 0.55),
}


def make_shapes(folder: pathlib.Path, count: int) -> pathlib.Path:
    """Generates bright shapes on dark ground, with noise; a fifth of them for validation."""
    random = np.random.default_rng(0)
    with Progress("generating images", total=count) as bar:
        for i in range(count):
            name = list(SHAPES)[i % len(SHAPES)]
            height, width = random.integers(64, 128, 2)
            y, x = np.mgrid[0:height, 0:width]
            radius = min(height, width) * random.uniform(0.3, 0.5)
            across, down = random.uniform(0.4, 0.6, 2) * (width, height)
            inside = SHAPES[name]((x - across) / radius, (y - down) / radius)
            bright, dark = random.uniform(120, 255, 3), random.uniform(0, 120, 3)
            image = np.where(inside[..., None], bright, dark) + random.normal(0, 20, (height, width, 3))
            file = folder / ("val" if i % 5 == 4 else "train") / name / f"{i:05}.ppm"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(b"P6 %d %d 255\n" % (width, height) + image.clip(0, 255).astype(np.uint8).tobytes())
            bar.advance()
    return folder


if __name__ == "__main__":
    main()
