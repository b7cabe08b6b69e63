"""Random numbers: generators, and operators that draw from them."""

from avida.random._ops import *  # noqa: F403
from avida.random._rng import RNG as RNG
from avida.random._rng import get_default_rng as get_default_rng
from avida.random._rng import set_seed as set_seed
