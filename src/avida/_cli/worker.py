"""What a worker process of a script under ``avida run`` imports as its main module: the script, with the aliases.

Processes that are not forked import the main module anew.
"""

import importlib
import os
import sys

from avida._cli.run import SCRIPT, load

if __name__ == "__mp_main__":
    importlib.import_module("avida.as_dali")
    sys.argv[0] = __file__ = os.environ[SCRIPT]
    for part in load(__file__):
        exec(part, globals())
