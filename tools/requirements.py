"""Prints requirements from pyproject.toml, one per line.

    python tools/requirements.py dependencies test

Names are those of extras; "dependencies" stands for what the project needs to run, "build" for what building it needs.
"""

import pathlib
import sys
import tomllib

settings = tomllib.loads((pathlib.Path(__file__).parent.parent / "pyproject.toml").read_text())
groups = {
    "build": settings["build-system"]["requires"],
    "dependencies": settings["project"]["dependencies"],
    **settings["project"]["optional-dependencies"],
}
for name in sys.argv[1:]:
    print("\n".join(groups[name]))
