"""Writes the headers that NVRTC compiles as a C++ file, so that the library has them: embed_headers.py OUTPUT."""

import pathlib
import sys

from check_layers import NATIVE, read_by_nvrtc

LONGEST = 8000  # characters of a literal; compilers take longer ones, but linters and editors do not


def literal(text: str) -> str:
    pieces = [text[i : i + LONGEST] for i in range(0, len(text), LONGEST)]
    return "\n".join(f'R"header({piece})header"' for piece in pieces) or '""'


def main() -> None:
    headers = sorted(path for path in NATIVE.rglob("*.h") if read_by_nvrtc(path))
    rows = [f'    {{"{path.relative_to(NATIVE)}", {literal(path.read_text())}}},\n' for path in headers]
    pathlib.Path(sys.argv[1]).write_text(
        '#include "gpu/headers.h"\n\nnamespace avida {\n\n'
        "std::span<const std::pair<const char*, const char*>> device_headers() {\n"
        "  static constexpr std::pair<const char*, const char*> headers[] = {\n"
        + "".join(rows)
        + "  };\n  return headers;\n}\n\n}  // namespace avida\n"
    )


if __name__ == "__main__":
    main()
