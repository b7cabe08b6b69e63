"""Settings of all tests."""

import faulthandler
import os
import signal
import stat
from collections import Counter, defaultdict
from typing import TextIO

import hypothesis
import pytest

# A change is judged by the same examples every time, however slow the machine. HYPOTHESIS_SEARCH=1 looks for new ones.
slow = [hypothesis.HealthCheck.too_slow]
hypothesis.settings.register_profile("same", derandomize=True, deadline=None, suppress_health_check=slow)
hypothesis.settings.register_profile("search", deadline=None, suppress_health_check=slow)
hypothesis.settings.load_profile("search" if os.environ.get("HYPOTHESIS_SEARCH") else "same")

HANGING = 1200  # seconds, for a test; it gives its processes 600
stderr_key = pytest.StashKey[TextIO]()


def pytest_configure(config):
    signal.signal(signal.SIGINT, signal.default_int_handler)  # in a background job it is ignored, also by children
    config.stash[stderr_key] = os.fdopen(os.dup(2), "w")  # while a test runs, pytest captures what is written to 2
    if hasattr(config, "workerinput"):
        # Through these pipes xdist sees that a worker has ended, unless a child of the worker still has them open.
        pipes = [fd for fd in range(3, 100) if is_pipe(fd)]
        os.register_at_fork(after_in_child=lambda: [os.close(pipes.pop()) for _ in pipes[:]])


def is_pipe(descriptor):
    try:
        return stat.S_ISFIFO(os.fstat(descriptor).st_mode)
    except OSError:
        return False


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """A test that hangs ends its process, which shows where each thread is. So it fails alone, and the others go on."""
    faulthandler.dump_traceback_later(HANGING, exit=True, file=item.config.stash[stderr_key])
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


def pytest_terminal_summary(terminalreporter):
    """How many broken files were tried, and what came of them."""
    totals: dict[str, Counter[str]] = defaultdict(Counter)
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, value in getattr(report, "user_properties", ()):
                if name == "fuzz" and report.when == "call":
                    totals[value[0]].update(value[1])
    for kind, counts in totals.items():
        found = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items()))
        terminalreporter.write_line(f"fuzz {kind}: {counts.total()} files: {found}")
