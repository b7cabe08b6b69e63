"""The images that the programs read."""

import pytest

from tests.ahead.data import make_files


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    return make_files(tmp_path_factory.mktemp("images"))
