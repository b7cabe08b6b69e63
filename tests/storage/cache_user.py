"""A process of its own that reads objects through a cache, and checks every one of them."""

import argparse
import sys

import numpy as np

import avida

OBJECTS = 120


def content(number):
    """Of an object: a few bytes to 90 KB, which no other object has."""
    return np.random.default_rng(number).bytes(1 + number * 757)


def objects():
    return {f"data/{number:03}": content(number) for number in range(OBJECTS)}


def read(url, cache, seed, epochs=1):
    """All of them, in another order in each epoch."""
    avida.storage.configure("s3://", endpoint=url, anonymous=True, deadline=120)
    files = [f"s3://data/{number:03}" for number in range(OBJECTS)]
    reader = avida.readers.File(files=files, cache=cache, last_batch="partial")
    for epoch in range(epochs):
        seen = 0
        order = np.random.default_rng((seed, epoch)).permutation(OBJECTS)  # and no other epoch ahead of it
        for batch, labels in reader.next_epoch(batch_size=16, indices=order):
            for file, label in zip(batch, labels, strict=True):
                assert bytes(np.asarray(file)) == content(label.item()), f"object {label.item()} is not what it was"
                seen += 1
        assert seen == OBJECTS


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("folder")
    parser.add_argument("--limit", default="100MB")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=1)
    args = parser.parse_args()
    cache = avida.storage.Cache(args.folder, args.limit)
    print("ready", flush=True)
    sys.stdin.readline()
    read(args.url, cache, args.seed, args.epochs)
