"""torchvision is imported before avida looks for it."""

from tests.torchvision import oracle as oracle
