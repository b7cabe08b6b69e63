"""The names that the package exports."""

import avida


def test_public_names_are_exported():
    """A type checker lets users of an installed package use only what `__all__` names."""
    apart = {"torchcodec", "torchvision"}  # names of other libraries, which are imported by themselves
    assert {name for name in vars(avida) if not name.startswith("_")} - apart == set(avida.__all__)
