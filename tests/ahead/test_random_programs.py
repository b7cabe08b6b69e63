"""Random programs see the same results, errors, states and effects however far ahead their loops are prepared.

AVIDA_AHEAD_PROGRAMS=5000 runs more of them, HYPOTHESIS_SEARCH=1 other ones each time.
"""

import os

import hypothesis
from hypothesis import given, settings

from tests.ahead.programs import programs
from tests.ahead.running import Run, difference

PROGRAMS = int(os.environ.get("AVIDA_AHEAD_PROGRAMS", "150"))


def check(data, program, depths=(0, 1, 3)):
    text = program.text()
    hypothesis.note("\n".join(f"{number:3} {line}" for number, line in enumerate(text.splitlines(), 1)))
    logs = {ahead: Run(data, ahead).run(text) for ahead in depths}
    assert not difference(logs), difference(logs)


@given(program=programs(gpu=False))
@settings(max_examples=PROGRAMS)
def test_same_bits(data, program):
    check(data, program)
