"""Measures files to training batches: avida, other libraries, and the lower bound that decoding sets.

    python benchmarks/classification.py --data DIR [--threads 2] [--files 1024] [--rounds 5] [--only avida libjpeg]

Job "resize": read, decode, resize to 224, normalize to CHW float32. Job "random_crop": the same for a random crop of
each image, for contestants that decode only the crop. The floor is libjpeg-turbo decoding the files from memory with
the same number of threads and doing nothing else; it decodes whole images in both jobs.

Every contestant runs in its own process on the same cores, and the contestants take turns in each round. Writes
classification.json and classification.png to --output. Needs the extras `bench` and `parity`, and a C compiler.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
from typing import Any

import numpy as np
from contestants.classification import JOBS, Settings

HERE = pathlib.Path(__file__).parent
FLOOR = "libjpeg-turbo, decoding only"
MOST_DIFFERENT = 0.1  # of a standard deviation: libraries filter differently when they downscale images
Results = dict[str, dict[str, dict[str, Any]]]  # of a job, of a contestant


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, required=True, help="a folder of JPEG files")
    parser.add_argument("--files", type=int, default=1024, help="the files are repeated up to this number")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--jobs", nargs="+", choices=JOBS, default=list(JOBS))
    parser.add_argument("--only", nargs="+", default=[], metavar="PART", help="contestants whose names contain it")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("build/benchmarks"))
    options = parser.parse_args()

    # All contestants use the same cores: as many cores of this process as there are threads.
    cores = sorted(os.sched_getaffinity(0))[: options.threads]
    os.sched_setaffinity(0, cores)
    found = sorted(str(path) for path in options.data.rglob("*") if path.suffix.lower() in (".jpg", ".jpeg"))
    if not found:
        sys.exit(f"{options.data} has no files that end in .jpg or .jpeg")
    files = (found * -(-options.files // len(found)))[: options.files]

    results = {job: run_job(job, files, options) for job in options.jobs}
    stages = avida_stages(options)
    for job, measured in results.items():
        print("\n" + table(job, measured))
    print("\nWhere avida's time goes:\n" + stages)
    options.output.mkdir(parents=True, exist_ok=True)
    about = {name: getattr(options, name) for name in ("threads", "batch", "size", "rounds")}
    about |= {"files": len(files), "distinct_files": len(found), "cores": len(cores)}
    report = {**about, "jobs": results, "stages": stages.splitlines()}
    (options.output / "classification.json").write_text(json.dumps(report, indent=2) + "\n")
    chart(results, about, options.output / "classification.png")
    print(f"\nWritten: {options.output}/classification.json and .png")


def run_job(job: str, files: list[str], options: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """Images per second of every contestant in all rounds, and the difference of its first batch from avida's."""
    names = [name for name in [*JOBS[job], FLOOR] if not options.only or any(part in name for part in options.only)]
    rates: dict[str, list[float]] = {name: [] for name in names}
    cpu: dict[str, list[float]] = {name: [] for name in names}
    peaks: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        settings = Settings(files, job, options.threads, options.batch, options.size)
        (scratch / "settings.json").write_text(json.dumps(vars(settings)))
        (scratch / "files.txt").write_text("\n".join(files) + "\n")
        for i in range(options.rounds):
            for name in names:
                print(f"{job}: round {i + 1} of {options.rounds}, {name:<32}", end="\r", file=sys.stderr, flush=True)
                if name == FLOOR:
                    answer = run_floor(scratch, options.threads)
                else:
                    answer = run_contestant(name, scratch)
                    peaks[name] = answer["peak_bytes"]
                rates[name].append(len(files) / answer["seconds"])
                cpu[name].append(answer["cpu_seconds"] / len(files) * 1e6)
        print(" " * 80, end="\r", file=sys.stderr)
        differences = compare(job, names, scratch)
    return {
        name: {
            "images_per_second": round(statistics.median(rates[name]), 1),
            "rounds": [round(rate, 1) for rate in rates[name]],
            "cpu_us_per_image": round(statistics.median(cpu[name]), 1),
            "peak_mib": round(peaks[name] / 2**20) if name in peaks else None,
            "difference": differences.get(name),
        }
        for name in names
    }


def run_contestant(name: str, scratch: pathlib.Path) -> dict[str, Any]:
    save = scratch / f"{name}.npy"
    command = [
        sys.executable,
        HERE / "contestants" / "classification.py",
        name,
        scratch / "settings.json",
        "--save",
        save,
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{name} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def run_floor(scratch: pathlib.Path, threads: int) -> dict[str, float]:
    program = scratch / "jpeg_floor"
    if not program.exists():
        source = HERE / "contestants" / "jpeg_floor.c"
        subprocess.run([os.environ.get("CC", "cc"), "-O2", source, "-o", program, "-ljpeg", "-lpthread"], check=True)
    command = [program, str(threads), scratch / "files.txt"]
    seconds, cpu = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return {"seconds": float(seconds), "cpu_seconds": float(cpu)}


def compare(job: str, names: list[str], scratch: pathlib.Path) -> dict[str, float]:
    """Checks that all do the same work: returns the mean difference of each first batch to the first contestant's."""
    batches = {name: np.load(scratch / f"{name}.npy") for name in names if name != FLOOR}
    if not batches:
        return {}
    first, reference = next(iter(batches.items()))
    differences = {}
    for name, batch in batches.items():
        if batch.shape != reference.shape or batch.dtype != np.float32:
            sys.exit(f"{name} gave {batch.dtype} {batch.shape}, {first} {reference.dtype} {reference.shape}")
        # Random crops differ from run to run; only their mean brightness is comparable.
        apart = abs(batch.mean() - reference.mean()) if job == "random_crop" else np.abs(batch - reference).mean()
        differences[name] = round(float(apart), 5)
        if apart > (0.3 if job == "random_crop" else MOST_DIFFERENT):
            sys.exit(f"{job}: {name} and {first} differ by {apart:.3f} on average: they do not do the same")
    return differences


def avida_stages(options: argparse.Namespace) -> str:
    """The table of `avida bench`, measured in its own process."""
    command = [sys.executable, "-m", "avida", "bench", options.data, "--files", str(options.files)]
    command += ["--batch", str(options.batch), "--size", str(options.size), "--threads", str(options.threads)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def table(job: str, measured: dict[str, dict[str, Any]]) -> str:
    """The results as text. CPU time per image, summed over all threads, is least affected by other load."""
    rates = {name: found["images_per_second"] for name, found in measured.items()}
    own, floor = rates.get("avida"), rates.get(FLOOR)
    titles = f"{'spread':>15} {'avida is':>9} {'of floor':>9} {'CPU us':>8} {'peak MiB':>9} {'difference':>11}"
    lines = [f"{job:<30} {'images/s':>9} {titles}"]
    for name, found in sorted(measured.items(), key=lambda item: -item[1]["images_per_second"]):
        spread = f"{min(found['rounds']):,.0f}-{max(found['rounds']):,.0f}"
        ratio = f"{own / rates[name]:.2f} x" if own else ""
        part = f"{rates[name] / floor:.2f}" if floor else ""
        peak = "" if found["peak_mib"] is None else f"{found['peak_mib']:,}"
        apart = "" if found["difference"] is None else f"{found['difference']:.5f}"
        figures = f"{spread:>15} {ratio:>9} {part:>9} {found['cpu_us_per_image']:>8,.0f} {peak:>9} {apart:>11}"
        lines.append(f"{name:<30} {rates[name]:>9,.0f} {figures}".rstrip())
    return "\n".join(lines)


def chart(results: Results, about: dict[str, int], file: pathlib.Path) -> None:
    """A bar for every contestant, a thin line for its spread over the rounds."""
    import matplotlib  # pyright: ignore[reportMissingImports]

    matplotlib.use("Agg")
    from matplotlib import pyplot  # pyright: ignore[reportMissingImports]

    titles = {"resize": "decode, resize, normalize", "random_crop": "decode a random part, resize, normalize"}
    heights = [len(measured) for measured in results.values()]
    figure, plots = pyplot.subplots(
        len(results),
        1,
        figsize=(9, 0.9 + 0.42 * sum(heights) + 0.6 * len(heights)),
        height_ratios=heights,
        squeeze=False,
    )
    widest = max(max(found["rounds"]) for measured in results.values() for found in measured.values())
    for plot, (job, measured) in zip(plots[:, 0], results.items(), strict=True):
        ordered = sorted(measured.items(), key=lambda item: item[1]["images_per_second"])
        rates = [found["images_per_second"] for _, found in ordered]
        colors = ["#d9822b" if name == "avida" else "#b8bec6" if name == FLOOR else "#5b7fa6" for name, _ in ordered]
        low = [rate - min(found["rounds"]) for rate, (_, found) in zip(rates, ordered, strict=True)]
        high = [max(found["rounds"]) - rate for rate, (_, found) in zip(rates, ordered, strict=True)]
        bars = plot.barh([name for name, _ in ordered], rates, color=colors, xerr=[low, high], ecolor="#444444")
        for bar, rate in zip(bars, rates, strict=True):
            middle = bar.get_y() + bar.get_height() / 2
            plot.text(widest * 0.01, middle, f"{rate:,.0f}", va="center", color="white", weight="bold")
        plot.set_title(titles[job], loc="left", fontsize=11)
        plot.set_xlim(0, widest * 1.05)
        plot.spines[["top", "right", "left"]].set_visible(False)
        plot.tick_params(axis="y", length=0)
    plots[-1, 0].set_xlabel("images per second (median; lines: all rounds)")
    machine = f"{about['threads']} threads on {about['cores']} cores"
    title = f"{about['files']:,} JPEG files to batches of {about['batch']}, {machine}"
    figure.suptitle(title, fontsize=12, weight="bold")
    figure.tight_layout()
    figure.savefig(file, dpi=120)


if __name__ == "__main__":
    main()
