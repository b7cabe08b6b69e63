"""Measures Ray Data: images per CPU second of actors with avida, of others, and of avida in plain processes.

    python benchmarks/ray.py [--data DIR] [--images 4096] [--rounds 3] [--only avida] [--venvs DIR]

Two actors decode JPEG files, resize the shorter side to 256 and crop 224, as uint8 that trainers normalize, or with
--normalize as CHW float32; the driver takes the batches. Every contestant runs in its own process with a Ray of its
own, whose object store has 300 MB, and they take turns in each round. CPU seconds are those of all processes, Ray's own
among them. Prints medians of the rounds, the ratios that matter, and the bytes that Ray has spilled. Without --data it
makes photos. torchvision is installed into an environment of its own under --venvs. Needs the extras `bench` and `ray`.

This file is not called ray in front of Ray: who measures is a process of its own, in another folder.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import sysconfig
import tempfile
from typing import Any

HERE = pathlib.Path(__file__).parent
DISTINCT = 128
STORE = 300 * 2**20
AVIDA, PLAIN = "avida in two actors", "avida in two processes"
# With which of the others avida's actors are compared, and the least ratio that is wanted.
RATIOS = {
    "torchvision in two actors": 3,
    "Pillow in two actors": 3,
    "read_images, normalized in actors": 2,
    "read_images alone": 2,
    PLAIN: 0.9,
}
SLOWER = 4  # the others get so many times fewer images


def write_files(folder: pathlib.Path, options: argparse.Namespace) -> list[str]:
    """Distinct files, repeated."""
    if options.data:
        files = [str(path) for path in sorted(options.data.rglob("*.jp*g"))]
    else:
        import numpy as np
        from storage import made_photo

        rng = np.random.default_rng(0)
        for i in range(DISTINCT):
            (folder / f"{i:03}.jpg").write_bytes(made_photo(rng))
        files = [str(path) for path in sorted(folder.iterdir())]
    return files


def python_of(name: str, venvs: pathlib.Path) -> str:
    """This one; for torchvision, one that finds all that this one has, and torchvision."""
    if "torchvision" not in name:
        return sys.executable
    home = venvs / "torchvision"
    if not (home / "bin" / "python").exists():
        subprocess.run([sys.executable, "-m", "venv", home], check=True)
        there = sysconfig.get_path("purelib", vars={"base": str(home)})
        here = [path for path in sys.path if path.endswith("site-packages") or path.endswith("src")]
        pathlib.Path(there, "here.pth").write_text("\n".join(here) + "\n")
        subprocess.run([home / "bin" / "pip", "install", "-qq", "--no-deps", "torchvision==0.28.0"], check=True)
    return str(home / "bin" / "python")


def run(name: str, settings: dict[str, Any], file: pathlib.Path, venvs: pathlib.Path) -> dict[str, float]:
    file.write_text(json.dumps(settings))
    command = [python_of(name, venvs), "-W", "ignore", str(HERE / "contestants" / "ray_data.py"), name, str(file)]
    environment = os.environ | {"RAY_worker_niceness": "0"}  # else other load slows workers down, and nothing else
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=1800)
    if done.returncode:
        raise RuntimeError(f"{name} failed:\n{done.stderr[-2000:]}")
    return json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))  # Ray writes, too


def measure(files: list[str], folder: pathlib.Path, options: argparse.Namespace) -> dict[str, list[dict[str, float]]]:
    names = [name for name in (AVIDA, *RATIOS) if not options.only or any(part in name for part in options.only)]
    rounds: dict[str, list[dict[str, float]]] = {name: [] for name in names}
    for i in range(options.rounds):
        for name in names:
            print(f"round {i + 1} of {options.rounds}, {name:<40}", end="\r", file=sys.stderr, flush=True)
            images = options.images if name in (AVIDA, PLAIN) else options.images // SLOWER
            ahead = images // 2 + 512  # until both actors have begun
            count = ahead + images + ahead  # as many are under way at the end as at the beginning
            settings: dict[str, Any] = {"files": (files * -(-count // len(files)))[:count], "store": STORE}
            settings |= {"batch": options.batch, "normalize": options.normalize, "between": [ahead, ahead + images]}
            rounds[name].append(run(name, settings, folder / "settings.json", options.venvs))
    return rounds


def table(rounds: dict[str, list[dict[str, float]]]) -> str:
    def median(name: str, of: Any) -> float:
        return statistics.median(of(each) for each in rounds[name])

    lines = ["| contestant | images per CPU s | CPU us per image | images/s | avida is | wanted | spilled |"]
    lines.append("|---|---|---|---|---|---|---|")
    ours = median(AVIDA, lambda each: each["images"] / each["cpu"]) if AVIDA in rounds else 0.0
    for name, measured in rounds.items():
        rate = median(name, lambda each: each["images"] / each["cpu"])
        ratio = f"{ours / rate:.2f} x" if ours and name != AVIDA else ""
        wanted = f"{RATIOS[name]} x" if name in RATIOS else ""
        seconds = median(name, lambda each: each["images"] / each["seconds"])
        spilled = max(each["spilled"] for each in measured)
        lines.append(
            f"| {name} | {rate:,.0f} | {1e6 / rate:,.0f} | {seconds:,.0f} | {ratio} | {wanted} | {spilled:,.0f} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, help="a folder of JPEG files; made ones without it")
    parser.add_argument("--images", type=int, default=4096, help="that are measured")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--normalize", action="store_true")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", default=[], metavar="PART", help="contestants whose names contain it")
    parser.add_argument("--venvs", type=pathlib.Path, default=pathlib.Path("build/venvs"))
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("build/benchmarks"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        (folder / "photos").mkdir()
        files = write_files(folder / "photos", options)
        rounds = measure(files, folder, options)
        size = statistics.mean(os.path.getsize(file) for file in files)
    print(f"\n{options.images:,} photos of {size:,.0f} bytes, {options.rounds} rounds, load {os.getloadavg()[0]:.1f}\n")
    print(table(rounds))
    options.output.mkdir(parents=True, exist_ok=True)
    about = {name: getattr(options, name) for name in ("images", "batch", "normalize")} | {"bytes_of_image": size}
    (options.output / "ray.json").write_text(json.dumps({**about, "contestants": rounds}, indent=2) + "\n")


if __name__ == "__main__":
    main()
