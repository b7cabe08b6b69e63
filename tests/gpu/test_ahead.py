"""Random programs that use a GPU see the same however far ahead their loops are prepared."""

import pytest
from hypothesis import given, settings

from tests.ahead.data import make_files
from tests.ahead.programs import programs
from tests.ahead.test_random_programs import PROGRAMS, check


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return make_files(tmp_path_factory.mktemp("images"))


@given(program=programs(gpu=True))
@settings(max_examples=PROGRAMS)
def test_same_bits(data, program):
    check(data, program)
