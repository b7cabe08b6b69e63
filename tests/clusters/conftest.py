"""One Ray for all modules."""

import pytest

from tests.clusters.local_ray import local_ray


@pytest.fixture(scope="package")
def nodes():
    with local_ray() as nodes:
        yield nodes
