"""Prints the lines of each room beside its budget in tools/line_budget.toml, and fails where a room has outgrown it.

The rooms are the folders that the budget names; a folder that it does not name belongs to the room around it. Whoever
needs more raises a number, so that growth is a line of the change that reviewers see. Files that `make generate` writes
do not count. ``--write`` sets every number to what is there, rounded up to tens.
"""

import pathlib
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable

ROOT = pathlib.Path(__file__).parent.parent
BUDGET = ROOT / "tools" / "line_budget.toml"
SOURCES = {".cpp", ".h", ".py", ".pyi", ".sh", ".md"}
GENERATED = {"_ops.py", "_readers.py", "_core.pyi", "gallery.md"}
HEAD = "# The most lines that each room may have; see count_lines.py.\n"


def room_of(name: str, rooms: Iterable[str]) -> str:
    """The innermost of the rooms that a file is in."""
    return max((room for room in rooms if room == "." or name.startswith(f"{room}/")), key=len)


def count_lines(rooms: Iterable[str]) -> Counter[str]:
    """The lines of each room, in files that git tracks or would track."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    lines = Counter(dict.fromkeys(rooms, 0))
    for name in names:
        file = ROOT / name
        if file.suffix in SOURCES and file.name not in GENERATED and file.is_file():
            lines[room_of(name, rooms)] += file.read_bytes().count(b"\n")
    return lines


def main() -> int:
    budget: dict[str, int] = tomllib.loads(BUDGET.read_text())
    lines = count_lines(budget)
    if sys.argv[1:] == ["--write"]:
        budget = {room: -(-lines[room] // 10) * 10 for room in budget}
        BUDGET.write_text(HEAD + "".join(f'"{room}" = {most}\n' for room, most in budget.items()))
    for room, most in budget.items():
        print(f"{room:24}{lines[room]:8,} of {most:8,}")
    print(f"{'all':24}{sum(lines.values()):8,} of {sum(budget.values()):8,}")
    outgrown = [room for room, most in budget.items() if lines[room] > most]
    for room in outgrown:
        print(
            f"{room} has {lines[room]:,} lines, expected at most {budget[room]:,}: make it smaller, or raise its "
            f"number in tools/line_budget.toml and say why in the commit",
            file=sys.stderr,
        )
    return bool(outgrown)


if __name__ == "__main__":
    sys.exit(main())
