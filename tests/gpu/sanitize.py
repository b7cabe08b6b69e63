"""Runs the suites of the GPU under compute-sanitizer: a process for some tests of a file, many of them side by side.

    python tests/gpu/sanitize.py [--tool racecheck] [--seconds 150] [--tests 8] [FILE ...]

racecheck looks for hazards in shared memory, which only the kernels have that thread blocks run in phases (run_blocks):
the others are left alone. After `--seconds` what is left is ended and named. Exits with 1 unless everything was run to
its end and nothing was found.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).parent
SKIPPED = "not fails and not out_of_memory"  # these tests provoke errors
PYTEST = [sys.executable, "-m", "pytest", "-q", "-o", "addopts=", "-p", "no:cacheprovider"]
# Long ones come first.
FIRST = [
    "decoding",
    "ahead",
    "filters",
    "pictures",
    "values",
    "kernels_agree",
    "every_op",
    "broken_jpegs",
]
LAST = ["arithmetic", "neighbour_items", "pixels"]  # mostly of kernels without shared memory


def tests_of(file: pathlib.Path) -> list[str]:
    command = [*PYTEST, "--collect-only", "-k", SKIPPED, str(file)]
    lines = subprocess.run(command, capture_output=True, text=True).stdout.splitlines()
    return [line for line in lines if "::" in line and " " not in line.split("[")[0]]


def run(tool: str, tests: list[str], end: float) -> tuple[int, str]:
    """How many tests passed, and what is wrong; nothing if all is well."""
    command = ["compute-sanitizer", "--tool", tool, "--print-limit", "3"]
    if tool == "racecheck":
        command += ["--kernel-name", "kns=run_blocks"]
    try:
        left = max(1.0, end - time.monotonic())
        done = subprocess.run([*command, *PYTEST, *tests], capture_output=True, text=True, timeout=left)
    except subprocess.TimeoutExpired as cut:
        return (cut.stdout or b"").count(b"."), f"not run to the end: {len(tests)} tests from {tests[0]}"
    passed = re.search(r"(\d+) passed", done.stdout)
    found = re.findall(r"SUMMARY: (.*)", done.stdout)
    silent = bool(found) and all(re.match(r"0 (errors|hazards)", line) for line in found)
    wrong = "" if silent and done.returncode == 0 else f"{tests[0]} ...: {found} {done.stdout[-600:]}"
    return int(passed[1]) if passed else 0, wrong


def rank(file: pathlib.Path) -> int:
    name = file.stem.removeprefix("test_")
    return FIRST.index(name) if name in FIRST else 100 + (name in LAST)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tool", default="racecheck", choices=["racecheck", "memcheck", "initcheck", "synccheck"])
    parser.add_argument("--seconds", type=float, default=150)
    parser.add_argument("--tests", type=int, default=8, help="in a process")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("files", nargs="*", type=pathlib.Path, default=sorted(HERE.glob("test_*.py")))
    options = parser.parse_args()
    end = time.monotonic() + options.seconds
    files = sorted(options.files, key=rank)
    with concurrent.futures.ThreadPoolExecutor(options.processes) as pool:
        jobs: dict[concurrent.futures.Future[tuple[int, str]], pathlib.Path] = {}
        for file, tests in zip(files, pool.map(tests_of, files), strict=True):
            parts = -(-len(tests) // options.tests)
            for part in range(parts):
                jobs[pool.submit(run, options.tool, tests[part::parts], end)] = file
        passed: collections.Counter[str] = collections.Counter()
        wrong: list[str] = []
        for job in concurrent.futures.as_completed(jobs):
            count, problem = job.result()
            passed[jobs[job].name] += count
            wrong += [problem] if problem else []
    print("\n".join(wrong) or "nothing was found")
    for name, count in sorted(passed.items()):
        print(f"{name:28} {count:4} passed under {options.tool}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
