"""Broken files by the thousand, in processes with a limit on memory and on the time that one file may take.

A module that has files to try defines ``examine(kind, number)``: it makes the broken file with that number, reads it,
and returns a word for what came of it, such as "read" or "refused". Anything but an ordinary error has to raise.
"""

from __future__ import annotations

import importlib
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

SANITIZED = "libasan" in os.environ.get("LD_PRELOAD", "")
SECONDS = 60 if SANITIZED else 5  # of CPU time, for one file: the machine may be busy
DECODE_MEMORY = 256 << 20  # what avida.set_decode_limits is told
MEMORY = DECODE_MEMORY + (256 << 20)  # what the process may take beyond what it has before the first file
FILES = int(os.environ.get("AVIDA_FUZZ_FILES", "100"))
BLOCK = min(FILES, 500)


@dataclass
class Report:
    """What came of some files."""

    counts: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)


def blocks() -> list[range]:
    """The numbers of the files to try, some for each process."""
    return [range(first, min(first + BLOCK, FILES)) for first in range(0, FILES, BLOCK)]


def check(module: str, kind: str, numbers: range, record_property: Callable[[str, object], None]) -> None:
    """Fails where a file was not read or refused within the limits. Records the counts, which `make fuzz` prints."""
    report = run(module, kind, numbers)
    record_property("fuzz", (kind, dict(report.counts)))
    assert not report.problems, "\n".join(report.problems)
    assert report.counts.total() == len(numbers)


def run(module: str, kind: str, numbers: range) -> Report:
    """Examines files in a process, and in another one from the next file on when it ends early."""
    report = Report()
    first = numbers.start
    while first < numbers.stop:
        command = [sys.executable, "-m", "tests.fuzz.harness", module, kind, str(first), str(numbers.stop)]
        ran = subprocess.run(command, capture_output=True, text=True, env=environment())
        outcomes = ran.stdout.split()
        report.counts.update(outcomes)
        first += len(outcomes)
        if ran.returncode == 0:
            break
        how = ending(ran)
        report.counts[how.split(":")[0]] += 1
        report.problems.append(f"{' '.join(command[1:5])} {first} {first + 1}: {how}")
        first += 1
    return report


def environment() -> dict[str, str]:
    """With one thread, so that a file's time and memory are its own. Sanitizers report to stderr."""
    limits = f"hard_rss_limit_mb={4 * MEMORY >> 20}:max_allocation_size_mb={MEMORY >> 20}:allocator_may_return_null=1"
    return {
        **os.environ,
        "AVIDA_NUM_THREADS": "1",
        "MALLOC_ARENA_MAX": "1",  # those of other threads would count as memory
        "ASAN_OPTIONS": f"detect_leaks=0:{limits}",
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }


def ending(ran: subprocess.CompletedProcess[str]) -> str:
    if ran.returncode in (-signal.SIGPROF, -signal.SIGALRM):
        return f"hang: more than {SECONDS} s"
    if ran.returncode < 0:
        return f"crash: {signal.Signals(-ran.returncode).name} {ran.stderr[-500:]}"
    if "ERROR: AddressSanitizer" in ran.stderr or "runtime error:" in ran.stderr:
        return f"crash: {ran.stderr[-4000:]}"
    last = ran.stderr.strip().splitlines()[-1:] or [f"exit status {ran.returncode}"]
    return f"{'memory' if 'MemoryError' in last[0] else 'failure'}: {last[0]}"


def check_not_for_memory(error: Exception) -> None:
    """Raises where a file was refused only because the memory for it could not be had."""
    if re.search("memory|alloc", str(error), re.IGNORECASE) and "set_decode_limits" not in str(error):
        raise MemoryError(str(error)) from error


def main(module: str, kind: str, first: str, stop: str) -> None:
    import avida

    examine = importlib.import_module(module).examine
    avida.set_decode_limits(memory=DECODE_MEMORY)
    avida.zeros(shape=[1]).evaluate()  # starts the threads, whose stacks count
    if not SANITIZED:
        used = int(pathlib.Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for number in range(int(first), int(stop)):
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        signal.setitimer(signal.ITIMER_REAL, 60 * SECONDS)  # for what waits without using the CPU
        outcome = examine(kind, number)
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        print(outcome, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
