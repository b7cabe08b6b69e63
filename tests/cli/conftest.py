"""What the tests of examples share."""

import pytest
import torch


@pytest.fixture
def one_thread():
    """PyTorch's threads spin while they wait for each other, which is slow beside other tests."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
