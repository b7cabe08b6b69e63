"""The harness that reads broken files sees what it has to see."""

from tests.fuzz import harness


def test_what_is_found_is_told() -> None:
    """A crash, a hang, too much memory and a wrong result are each seen, and the files behind them tried."""
    report = harness.run("tests.fuzz.faults", "", range(6))
    assert report.counts == {"fine": 2, "crash": 1, "hang": 1, "memory": 1, "failure": 1}
    assert any(problem.startswith("-m tests.fuzz.harness tests.fuzz.faults  1 2: crash") for problem in report.problems)
