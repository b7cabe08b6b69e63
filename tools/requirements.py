"""Prints requirements from pyproject.toml, one per line: of the extras named, and "dependencies" for the project's own.

python tools/requirements.py dependencies test
"""

import pathlib
import sys
import tomllib

project = tomllib.loads((pathlib.Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]
groups = {"dependencies": project["dependencies"], **project["optional-dependencies"]}
for name in sys.argv[1:]:
    print("\n".join(groups[name]))
