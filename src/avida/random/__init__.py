"""Random numbers: generators, and operators that draw from them.

Keyed draws. ``keyed_by=images`` makes a draw a property of each sample: it follows from the generator's seed (not from
how far it has been used), the sample's index and epoch, and how many keyed draws that sample and what was made of it
have had since it was read. A loop body with three keyed calls thus uses the draws 0, 1 and 2 of every sample, whatever
the batch size, shards, order, threads or mode, and after a resume. Calls are counted where they are made; a call that
only some batches reach shifts the draws after it, unless it has a name, ``keyed_by=(images, "blur")``: named draws are
not counted. Where the data set is stored does not matter; samples of the same number in two data sets have the same
draws, so that images and their masks stay together. Give each data set a generator of its own to keep them apart.
"""

from avida.random._ops import *  # noqa: F403
from avida.random._rng import RNG as RNG
from avida.random._rng import get_default_rng as get_default_rng
from avida.random._rng import set_seed as set_seed
