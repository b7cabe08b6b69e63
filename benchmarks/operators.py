"""Measures every image operator on the CPU: avida, the real library and OpenCV, in one run.

    python benchmarks/operators.py [--data DIR] [--threads 2] [--rounds 7] [--only clahe filter] [--clock cpu]

The batch has 32 photos of 640x480: the JPEG files in DIR, or generated ones. A measurement is a loop of calls on the
whole batch and waits for each call, so it includes the fixed cost per call. The libraries take turns in each round, and
the best round counts. OpenCV (see `operator_cases.py`) runs one image per thread of a pool, and also image by image
with its own threads; the faster way counts. It writes into preallocated arrays.

Clock "wall" measures what a user waits for. "cpu" sums the time of all threads, which other programs affect less.
Writes operators.json, operators.md and operators.png to --output. Needs the extras `bench` and `parity`.
"""

import argparse
import json
import math
import os
import pathlib
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import cv2
import numpy as np
import nvidia.dali.experimental.dynamic as dali
from operator_cases import BATCH, CASES, HEIGHT, WIDTH, Case, inputs

import avida
from avida.progress import Progress

# The real library comes with the extra `parity`.
# pyright: reportMissingImports=false

LIBRARIES = {"avida": avida, "DALI": dali}
POOL, OWN = "OpenCV, a pool of threads", "OpenCV, its own threads"
BARS = {"DALI": 2.0, "OpenCV": 1.0}
MEASURED_SECONDS = 0.1  # at least, in each turn
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, help="a folder of JPEG files; generated photos if omitted")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", nargs="+", default=[], metavar="PART", help="operators whose names contain it")
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help="clock of the ratios; the JSON file has both")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("build/benchmarks"))
    options = parser.parse_args()

    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])
    for library in LIBRARIES.values():
        library.set_num_threads(options.threads)
    arrays = inputs(photos_of(options.data) if options.data else made_photos())
    batches = {name: batches_of(library, arrays) for name, library in LIBRARIES.items()}

    wanted = [
        (group, name, case)
        for group, cases in CASES.items()
        for name, case in cases.items()
        if not options.only or any(part in name for part in options.only)
    ]
    results: list[dict[str, Any]] = []
    lines = [header(options.clock)]
    options.output.mkdir(parents=True, exist_ok=True)
    text = options.output / "operators.md"  # grows with each operator: an interrupted run keeps its results
    with Progress("measuring", total=len(wanted), unit="operators") as bar, ThreadPoolExecutor(options.threads) as pool:
        for group, name, case in wanted:
            contestants = {
                library: calls(lambda m=module, b=batches[library], run=case.run: run(m, b))
                for library, module in LIBRARIES.items()
            }
            if case.opencv:
                contestants |= opencv_calls(case, arrays[case.takes][0], pool, options.threads)
            measured = {"group": group, "operator": name, **measure(contestants, case, options.rounds)}
            results.append(measured | ratios(measured["ms"], options.clock))
            lines.append(row(results[-1], options.clock))
            text.write_text("\n".join([*lines, "", summary(results), ""]))
            bar.advance(note=name)

    print(text.read_text())
    about = {"threads": options.threads, "rounds": options.rounds, "clock": options.clock, "batch": BATCH}
    about |= {"size": [WIDTH, HEIGHT], "data": "JPEG files" if options.data else "made photos"}
    (options.output / "operators.json").write_text(json.dumps({**about, "operators": results}, indent=1) + "\n")
    chart(results, options.output / "operators.png")
    print(f"Written: {options.output}/operators.json, .md and .png")


def photos_of(folder: pathlib.Path) -> list[np.ndarray]:
    files = sorted(path for path in folder.rglob("*") if path.suffix.lower() in (".jpg", ".jpeg"))
    if not files:
        sys.exit(f"{folder} has no files that end in .jpg or .jpeg")
    chosen = (files * -(-BATCH // len(files)))[:BATCH]
    images = avida.decoders.image(avida.as_batch([np.fromfile(file, np.uint8) for file in chosen]))
    photos = avida.resize(images, size=[HEIGHT, WIDTH])
    return [np.array(photos.tensors[i]) for i in range(BATCH)]


def made_photos() -> list[np.ndarray]:
    """Gradients, edges and noise, as in photos."""
    rng = np.random.default_rng(0)
    y, x = np.mgrid[:HEIGHT, :WIDTH].astype(np.float32)
    photos = []
    for i in range(BATCH):
        shades = np.stack([np.sin(x / 40 + i), np.cos(y / 30 - i), np.sin((x + y) / 90 + i)], -1) * 80 + 128
        edges = 60 * (np.hypot(x - 20 * i, y - 240) < 150) - 40 * (x > 300)
        photos.append(np.clip(shades + edges[..., None] + rng.normal(0, 6, shades.shape), 0, 255).astype(np.uint8))
    return photos


def batches_of(library: Any, arrays: dict[str, tuple[list[np.ndarray], str]]) -> SimpleNamespace:
    made = {name: library.batch(values, layout=layout or None) for name, (values, layout) in arrays.items()}
    for batch in made.values():
        batch.evaluate()
    return SimpleNamespace(**made)


# --- contestants: each is a function that makes a number of calls and returns the result of the last ---


def calls(run: Callable[[], Any]) -> Callable[[int], Any]:
    def several(count: int) -> Any:
        outputs: Any = ()
        for _ in range(count):
            outputs = ()  # the next call reuses its memory, as OpenCV reuses its arrays
            outputs = run()
            outputs = outputs if isinstance(outputs, tuple | list) else (outputs,)
            for output in outputs:
                output.evaluate()
        return outputs[0]

    return several


def opencv_calls(
    case: Case, images: list[np.ndarray], pool: ThreadPoolExecutor, threads: int
) -> dict[str, Callable[[int], Any]]:
    run = case.opencv
    assert run
    results: list[Any] = [None] * len(images)

    def some(first: int, step: int) -> None:
        for i in range(first, len(images), step):
            results[i] = run(images[i], results[i])

    def pooled(count: int) -> Any:
        cv2.setNumThreads(1)
        for _ in range(count):
            list(pool.map(some, range(threads), [threads] * threads))
        return results

    def own(count: int) -> Any:
        cv2.setNumThreads(threads)
        for _ in range(count):
            some(0, 1)
        return results

    return {POOL: pooled, OWN: own}


# --- measuring ---


def measure(contestants: dict[str, Callable[[int], Any]], case: Case, rounds: int) -> dict[str, Any]:
    """Milliseconds of a batch by both clocks, the best of the rounds; libraries without the operator are skipped."""
    counts, first, left_out = {}, {}, {}
    for name, run in contestants.items():
        try:
            first[name] = first_sample(run(1))
        except (AttributeError, RuntimeError, ValueError, TypeError) as error:
            left_out[name] = f"{type(error).__name__}: {str(error).strip().splitlines()[0]}"
            continue
        seconds = math.inf
        for _ in range(3):  # the first ones may wait for memory of the system
            start = time.perf_counter()
            run(1)
            seconds = min(seconds, time.perf_counter() - start)
        counts[name] = max(1, math.ceil(MEASURED_SECONDS / seconds))
    best = {name: dict.fromkeys(CLOCKS, math.inf) for name in counts}
    for _ in range(rounds):
        for name, count in counts.items():
            before = {clock: read() for clock, read in CLOCKS.items()}
            contestants[name](count)
            for clock, read in CLOCKS.items():
                best[name][clock] = min(best[name][clock], (read() - before[clock]) / count * 1e3)
    differences = {} if case.random else {name: difference(first.get("avida"), found) for name, found in first.items()}
    milliseconds = {name: {clock: round(ms, 3) for clock, ms in found.items()} for name, found in best.items()}
    return {"ms": milliseconds, "left_out": left_out, "mean_difference": differences}


def first_sample(result: Any) -> np.ndarray | None:
    if isinstance(result, list):
        result = result[0]
        return np.stack(result) if isinstance(result, tuple) else np.asarray(result)
    return np.asarray(result.tensors[0])


def difference(ours: Any, theirs: Any) -> float | None:
    """The mean difference of the first samples, which shows whether the libraries do the same."""
    if ours is None or ours.size != theirs.size:
        return None
    return round(float(np.abs(ours.ravel().astype(np.float64) - theirs.ravel()).mean()), 4)


def ratios(milliseconds: dict[str, dict[str, float]], clock: str) -> dict[str, float | None]:
    """The speed-up of avida."""
    own = milliseconds.get("avida")
    found: dict[str, float | None] = {}
    for rival in BARS:
        theirs = [ms[clock] for name, ms in milliseconds.items() if name.startswith(rival)]
        found[f"x {rival}"] = round(min(theirs) / own[clock], 2) if own and theirs else None
    return found


# --- showing ---


def header(clock: str) -> str:
    bars = " | ".join(f"x {rival} (bar {bar:g})" for rival, bar in BARS.items())
    return f"| operator | avida, ms ({clock}) | {bars} |\n|---|---|---|---|"


def row(found: dict[str, Any], clock: str) -> str:
    """A line of a Markdown table. A ratio below its target is bold."""
    own = found["ms"].get("avida")
    cells = [f"`{found['operator']}`", f"{own[clock]:.2f}" if own else "cannot"]
    for rival, bar in BARS.items():
        ratio = found[f"x {rival}"]
        missing = "cannot" if rival in found["left_out"] else ""
        cells.append(missing if ratio is None else f"{ratio:.2f}" if ratio >= bar else f"**{ratio:.2f}**")
    return f"| {' | '.join(cells)} |"


def summary(results: list[dict[str, Any]]) -> str:
    lines = []
    for rival, bar in BARS.items():
        known = [found[f"x {rival}"] for found in results if found[f"x {rival}"] is not None]
        lines.append(f"At {bar:g} x {rival} or above: {sum(ratio >= bar for ratio in known)} of {len(known)}.")
    return "\n".join(lines)


def chart(results: list[dict[str, Any]], file: pathlib.Path) -> None:
    """Two bars for every operator, and a line for each target."""
    try:
        import matplotlib  # pyright: ignore[reportMissingImports]
    except ImportError:
        print("matplotlib is not installed: no chart")
        return

    matplotlib.use("Agg")
    from matplotlib import pyplot  # pyright: ignore[reportMissingImports]

    figure, plot = pyplot.subplots(figsize=(9, 1.2 + 0.3 * len(results)))
    places = np.arange(len(results))
    for rival, color, offset in (("DALI", "#5b7fa6", -0.2), ("OpenCV", "#d9822b", 0.2)):
        ratio = [found[f"x {rival}"] or math.nan for found in results]
        plot.barh(places + offset, ratio, 0.38, color=color, label=f"times as fast as {rival} (bar {BARS[rival]:g})")
        plot.axvline(BARS[rival], color=color, linewidth=1, linestyle="--")
    plot.set_yticks(places, [found["operator"] for found in results], fontsize=8)
    plot.set_ylim(len(results) - 0.5, -0.5)
    plot.set_xscale("log")
    plot.set_xticks([0.5, 1, 2, 5, 10, 50, 200], ["0.5", "1", "2", "5", "10", "50", "200"])
    plot.spines[["top", "right", "left"]].set_visible(False)
    plot.tick_params(axis="y", length=0)
    plot.legend(loc="lower right", frameon=False)
    title = f"{BATCH} photos of {WIDTH}x{HEIGHT} on the CPU: avida beside DALI and OpenCV"
    plot.set_title(title, loc="left", fontsize=11, weight="bold")
    figure.tight_layout()
    figure.savefig(file, dpi=110)


if __name__ == "__main__":
    main()
