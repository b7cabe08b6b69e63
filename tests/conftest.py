"""Settings of all tests."""

import os
from collections import Counter, defaultdict

import hypothesis

# A change is judged by the same examples every time, however slow the machine. HYPOTHESIS_SEARCH=1 looks for new ones.
slow = [hypothesis.HealthCheck.too_slow]
hypothesis.settings.register_profile("same", derandomize=True, deadline=None, suppress_health_check=slow)
hypothesis.settings.register_profile("search", deadline=None, suppress_health_check=slow)
hypothesis.settings.load_profile("search" if os.environ.get("HYPOTHESIS_SEARCH") else "same")


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
