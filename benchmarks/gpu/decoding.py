"""Measures JPEG decoding alone on a GPU, of files in memory: photos, large files, pages and progressive files.

    python benchmarks/gpu/decoding.py --data FOLDER [--rounds 12] [--json FILE]

The photos of the folder are repeated; large files of 12 megapixels and progressive files are composed of them, pages of
3000x3000 pixels are drawn. A round decodes one batch, from the call until the GPU has finished. The libraries take
turns, and the best round counts. At last, two contexts decode photos at the same time.
"""

import argparse
import functools
import io
import json
import pathlib
import threading
import time

import numpy as np
from operators import libraries, seconds
from PIL import Image

# The contestants come with the extra `bench`, and not all have types.
# pyright: reportMissingImports=false

HEIGHT, WIDTH = 3000, 4000


def encode(pixels: np.ndarray, **options: object) -> np.ndarray:
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "JPEG", **options)
    return np.frombuffer(file.getvalue(), np.uint8)


def compose(images: list[np.ndarray]) -> np.ndarray:
    """A large picture out of small ones."""
    made = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    places = [(y, x) for y in range(0, HEIGHT, 375) for x in range(0, WIDTH, 500)]
    for i, (y, x) in enumerate(places):
        image = images[i % len(images)][:375, :500]
        made[y : y + image.shape[0], x : x + image.shape[1]] = image
    return made


def draw_text() -> np.ndarray:
    """Lines of black letters of random shapes, on white."""
    rng = np.random.default_rng(1)
    page = np.full((3000, 3000), 255, np.uint8)
    for top in range(200, 2800, 48):
        letters = rng.integers(0, 2, (4, 420)).repeat(6, 0).repeat(6, 1)
        spaces = (rng.random(420) < 0.15).repeat(6)
        page[top : top + 24, 250 : 250 + letters.shape[1]][(letters == 1) & ~spaces] = 0
    return np.stack([page] * 3, -1)


def cases(folder: str) -> dict[str, list[np.ndarray]]:
    names = sorted(pathlib.Path(folder).rglob("*.jpg"))[:128]
    images = [np.asarray(Image.open(name).convert("RGB")) for name in names]
    large = [encode(np.roll(compose(images), 40 * i, 0), quality=95) for i in range(4)]
    pages = [encode(np.full((3000, 3000, 3), 255, np.uint8), quality=92), encode(draw_text(), quality=92)]
    progressive = [encode(image, quality=92, progressive=True) for image in images[:64]]
    photos = [np.fromfile(name, np.uint8) for name in names]
    return {
        "256 photos": (photos * 256)[:256],
        "64 progressive photos": (progressive * 64)[:64],
        "one file of 12 megapixels": large[:1],
        "32 files of 12 megapixels": large * 8,
        "a white page and a page of text": pages,
    }


def side_by_side(files: list[np.ndarray], contexts: int, calls: int = 20) -> float:
    """Images per second."""
    import avida

    batch = avida.batch(files)

    def run() -> None:
        with avida.EvalContext(num_threads=8, device_id=0):
            for _ in range(calls):
                avida.decoders.image(batch, device="gpu").evaluate()

    threads = [threading.Thread(target=run) for _ in range(contexts)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return contexts * calls * len(files) / (time.perf_counter() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--json", help="write the figures to this file")
    options = parser.parse_args()
    import torch

    libs = libraries()
    figures: dict[str, dict[str, float]] = {}
    all_cases = cases(options.data)
    for title, files in all_cases.items():
        batches = {name: lib.batch(files) for name, lib in libs.items()}
        times: dict[str, list[float]] = {name: [] for name in libs}
        for _ in range(options.rounds):
            for name, lib in libs.items():
                decode = functools.partial(lib.decoders.image, batches[name], device="gpu")
                times[name].append(1e3 * seconds(decode, 1, torch.cuda.synchronize))
        figures[title] = {name: min(of) for name, of in times.items()}
        size = sum(len(file) for file in files) / len(files) / 1e3
        best = ", ".join(
            f"{name} {min(of):.2f} ms (median {sorted(of)[len(of) // 2]:.2f})" for name, of in times.items()
        )
        print(f"{title}, {size:.0f} KB each: {best}", flush=True)
    for contexts in (1, 2):
        side_by_side(all_cases["256 photos"], contexts, calls=2)
        rate = side_by_side(all_cases["256 photos"], contexts)
        figures[f"{contexts} contexts"] = {"avida": rate}
        print(f"{contexts} contexts: {rate:.0f} images/s", flush=True)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
