"""Settings of all tests."""

import os

import hypothesis

# A change is judged by the same examples every time. HYPOTHESIS_SEARCH=1 looks for new ones.
hypothesis.settings.register_profile("same", derandomize=True)
if not os.environ.get("HYPOTHESIS_SEARCH"):
    hypothesis.settings.load_profile("same")
