"""Runs the suites of the GPU under compute-sanitizer: a process for some tests of a file, many of them side by side.

    python tests/gpu/sanitize.py [--tool racecheck] [--seconds 480] [--silent FILE] [FILE ...]

First all tests run without it, which compiles their kernels and counts their launches. racecheck looks for hazards in
shared memory, which only the kernels have that thread blocks run in phases (run_blocks): tests that launch none of them
are left out. After `--seconds` what is left is ended and named. `--silent` names a file with the tests that were seen
to be silent: they are not run again, and others are added. Exits with 1 unless everything was run to its end and
nothing was found.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

import pytest

HERE = pathlib.Path(__file__).parent
# These tests provoke errors, or do the same thing ten thousand times.
SKIPPED = "not fails and not out_of_memory and not ten_thousand"
FEW = {"AVIDA_FUZZ_FILES": "100"}
PYTEST = [sys.executable, "-m", "pytest", "-q", "-o", "addopts=", "-p", "no:cacheprovider"]


class Run:
    """The output of a command that is ended, with the processes that it started, when its time is over."""

    def __init__(self, command: list[str], end: float, **environment: str) -> None:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, start_new_session=True, env=os.environ | FEW | environment
        )
        self.ended = True
        try:
            self.output, _ = process.communicate(timeout=max(1.0, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            self.output, _ = process.communicate()
            self.ended = False
        self.code = process.returncode


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """With `-p tests.gpu.sanitize`, pytest notes the costs of each test: launches for racecheck, and seconds."""
    from avida import _core

    launches, start = _core.testing.gpu_block_launches(), time.monotonic()
    try:
        return (yield)
    finally:
        launches, seconds = _core.testing.gpu_block_launches() - launches, time.monotonic() - start
        with open(os.environ["COSTS_OF_TESTS"], "a") as file:
            file.write(f"{launches}\t{seconds}\t{item.nodeid}\n")


def costs_of(file: pathlib.Path, tool: str, end: float) -> tuple[dict[str, float], str]:
    """The tests that the tool can say something about, with their costs, and what is wrong; nothing if all is well."""
    with tempfile.NamedTemporaryFile("r") as costs:
        command = [*PYTEST, "-p", "tests.gpu.sanitize", "-k", SKIPPED, str(file)]
        done = Run(command, end, COSTS_OF_TESTS=costs.name)
        lines = [line.rstrip("\n").split("\t", 2) for line in costs]
    column = 0 if tool == "racecheck" else 1
    found = {line[2]: float(line[column]) for line in lines if float(line[column])}
    is_well = done.code in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    return found, "" if is_well else f"{file.name} without {tool}: {done.output[-600:]}"


def run(tool: str, tests: list[str], end: float) -> tuple[int, str]:
    """How many tests passed, and what is wrong; nothing if all is well."""
    command = ["compute-sanitizer", "--tool", tool, "--print-limit", "3"]
    if tool == "racecheck":
        command += ["--kernel-name", "kns=run_blocks"]
    done = Run([*command, *PYTEST, *tests], end)
    if not done.ended:
        return done.output.count("."), f"not run to the end: {len(tests)} tests from {tests[0]}"
    passed = re.search(r"(\d+) passed", done.output)
    found = re.findall(r"SUMMARY: (.*)", done.output)
    silent = bool(found) and all(re.match(r"0 (errors|hazards)", line) for line in found)
    wrong = "" if silent and done.code == 0 else f"{tests[0]} ...: {found} {done.output[-600:]}"
    return int(passed[1]) if passed else 0, wrong


def parts_of(costs: dict[str, float], most: int) -> list[list[str]]:
    """Lists of at most so many tests that cost about the same."""
    tests = sorted(costs, key=lambda test: -costs[test])
    count = -(-len(tests) // most)
    return [tests[part::count] for part in range(count)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default="racecheck", choices=["racecheck", "memcheck", "initcheck", "synccheck"])
    parser.add_argument("--seconds", type=float, default=480)
    parser.add_argument("--silent", type=pathlib.Path, help="a file that names silent tests")
    parser.add_argument("--tests", type=int, default=8, help="in a process")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("files", nargs="*", type=pathlib.Path, default=sorted(HERE.glob("test_*.py")))
    options = parser.parse_args()
    end = time.monotonic() + options.seconds
    known = set(options.silent.read_text().splitlines()) if options.silent and options.silent.exists() else set()
    passed: collections.Counter[str] = collections.Counter()
    wrong: list[str] = []
    jobs: list[tuple[float, pathlib.Path, list[str]]] = []
    with concurrent.futures.ThreadPoolExecutor(options.processes) as pool:
        counted = pool.map(lambda file: costs_of(file, options.tool, end), options.files)
        for file, (costs, problem) in zip(options.files, counted, strict=True):
            wrong += [problem] if problem else []
            left = {test: cost for test, cost in costs.items() if test not in known}
            print(f"{file.name:28} {len(costs):4} tests for {options.tool}, {len(left)} of them to be run", flush=True)
            jobs += [(sum(costs[test] for test in part), file, part) for part in parts_of(left, options.tests)]
        jobs.sort(key=lambda job: -job[0])  # long ones come first
        started = {pool.submit(run, options.tool, tests, end): (file, tests) for _, file, tests in jobs}
        for job in concurrent.futures.as_completed(started):
            (file, tests), (count, problem) = started[job], job.result()
            passed[file.name] += count
            wrong += [problem] if problem else []
            if options.silent and not problem:
                with options.silent.open("a") as silent:
                    silent.writelines(f"{test}\n" for test in tests)
    print("\n".join(wrong) or "nothing was found")
    for name, count in sorted(passed.items()):
        print(f"{name:28} {count:4} passed under {options.tool}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
