"""Random numbers: generators, and operators that draw from them."""

from avida.random._rng import RNG, get_default_rng, set_seed

__all__ = ["RNG", "get_default_rng", "set_seed"]
