"""Where a reader stands: a few integers, whatever the size of the data set."""

from avida._core import ReaderState as ReaderState
