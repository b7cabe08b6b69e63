"""``python -m avida``: the command line."""

import sys

from avida._cli import main

if __name__ == "__main__":
    sys.exit(main())
