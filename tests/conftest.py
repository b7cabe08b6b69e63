"""Settings of all tests."""

import os

import hypothesis

# A change is judged by the same examples every time, however slow the machine. HYPOTHESIS_SEARCH=1 looks for new ones.
slow = [hypothesis.HealthCheck.too_slow]
hypothesis.settings.register_profile("same", derandomize=True, deadline=None, suppress_health_check=slow)
hypothesis.settings.register_profile("search", deadline=None, suppress_health_check=slow)
hypothesis.settings.load_profile("search" if os.environ.get("HYPOTHESIS_SEARCH") else "same")
