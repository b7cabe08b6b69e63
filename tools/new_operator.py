"""Writes the three files of a new image operator: a body, a declaration on the loop family of pixels, and a test.

usage: new_operator.py NAME [--folder native/ops/image] [--module experimental]
"""

import argparse
import keyword
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).parent.parent

HEADER = """\
// The arithmetic of @name@.
#pragma once
#include "device/pixel.h"

namespace avida::ops {

// A body of each_pixel: from 3 channels to 3. GPUs compile it from `header`. As a template of the type of a channel, it
// also runs on vectors of floats, with + - * / only: ops/color/color_matrix.h.
struct @Name@ {
  static constexpr const char* header = "@folder@/@name@.h";
  static constexpr int in = 3, out = 3;

  AVIDA_HD AVIDA_INLINE static Pixel<3> run(const Pixel<3>& x, float strength) {
    const float gray = 0.299f * x[0] + 0.587f * x[1] + 0.114f * x[2];
    return {{x[0] + strength * (gray - x[0]), x[1] + strength * (gray - x[1]), x[2] + strength * (gray - x[2])}};
  }
};

}  // namespace avida::ops
"""

DECLARATION = """\
#include "@folder@/@name@.h"

#include "loops/pixels/each_pixel.h"
#include "operator/declare.h"

namespace avida::ops {
namespace {

struct @Name@Args {  // one for each sample
  float strength = 0.5f;
};

// Made once for each sample of a call.
class @Name@Plan {
 public:
  explicit @Name@Plan(const Sample<@Name@Args>& sample)
      : grid_(pixel_grid(sample.in[0])), strength_(sample.args.strength) {
    if (grid_.channels != @Name@::in) refuse("expected 3 channels (RGB), got ", grid_.channels);
  }

  int64_t rows() const { return grid_.blocks(); }
  void run(const Sample<@Name@Args>& sample) const { each_pixel<@Name@>(sample, grid_, strength_); }

 private:
  const PixelGrid grid_;
  const float strength_;
};

}  // namespace

@macro@(@in_module@@name@, @Name@Args) {
  op.doc("Blends every pixel with its gray value.")
      .input("input", "The images, videos or volumes, in RGB.", {"HWC", "FHWC", "DHWC", "CHW", "FCHW", "CDHW"})
      .arg("strength", &@Name@Args::strength, "The weight of the gray value: 0 keeps the image, 1 removes all colour.")
      .example("avida.@python@(image, strength=0.8)")
      .each_sample<@Name@Plan>()
      .chains();
}

}  // namespace avida::ops
"""

TEST = '''\
"""@python@ against NumPy, and what it refuses."""

import numpy as np
import pytest

import avida as ndd
from tests.op_case import FLOATS, INTEGERS, op_case


@op_case("@python@", layout="HWC", dtypes=[*INTEGERS, *FLOATS], strength=[0.0, 0.3, 1.0], atol=1)
def reference(x, strength):
    pixels = x.astype(np.float32)
    red, green, blue = np.moveaxis(pixels, -1, 0)
    gray = np.float32(0.299) * red + np.float32(0.587) * green + np.float32(0.114) * blue
    made = pixels + np.float32(strength) * (gray[..., None] - pixels)
    return made.astype(x.dtype) if x.dtype.kind == "f" else made.round().astype(x.dtype)


def test_four_channels_are_refused():
    image = ndd.as_tensor(np.zeros((2, 5, 4), np.uint8), layout="HWC")
    with pytest.raises(RuntimeError, match="expected 3 channels"):
        ndd.@python@(image).evaluate()
'''


def camel_case(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def files_of(name: str, folder: pathlib.Path, module: str) -> dict[pathlib.Path, str]:
    """The texts of the three files by path."""
    words = {
        "name": name,
        "Name": camel_case(name),
        "folder": folder.relative_to("native").as_posix(),
        "macro": "AVIDA_OP_IN" if module else "AVIDA_OP",
        "in_module": f"{module}, " if module else "",
        "python": f"{module}.{name}" if module else name,
    }
    templates = {
        folder / f"{name}.h": HEADER,
        folder / f"{name}.cpp": DECLARATION,
        pathlib.Path(f"tests/ops/test_{name}.py"): TEST,
    }
    return {path: re.sub(r"@(\w+)@", lambda found: words[found[1]], text) for path, text in templates.items()}


def problem(name: str, folder: pathlib.Path, module: str) -> str | None:
    """Why these names cannot be used."""
    if not re.fullmatch(r"[a-z]\w*", name, re.ASCII) or keyword.iskeyword(name):
        return f"expected the name of a Python function in lower case, got '{name}'. Pass NAME=my_operator."
    if folder.parts[:2] != ("native", "ops") or not (ROOT / folder).is_dir():
        return f"expected a folder of operators, got '{folder}'. Pass one of native/ops, as in IN=native/ops/image."
    if module and not (ROOT / "src" / "avida" / module / "_ops.py").exists():
        return f"expected a module that has operators, got '{module}'. Pass one of src/avida, as in MODULE=noise."
    for path in files_of(name, folder, module):
        if (ROOT / path).exists():
            return f"{path} exists already. Choose another name."
    struct = re.compile(rf"\b(struct|class) {camel_case(name)}(Args|Plan)?\b")
    for path in sorted((ROOT / "native").rglob("*.*")):
        if path.suffix in (".h", ".cpp") and (found := struct.search(path.read_text())):
            return f"{path.relative_to(ROOT)} has a '{found[0]}' already. Choose another name."
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name")
    parser.add_argument("--folder", type=pathlib.Path, default="native/ops/image")
    parser.add_argument("--module", default="", help="the Python module, where it is not avida itself")
    options = parser.parse_args()
    if found := problem(options.name, options.folder, options.module):
        print(found, file=sys.stderr)
        return 2
    files = files_of(options.name, options.folder, options.module)
    for path, text in files.items():
        (ROOT / path).write_text(text)
    # Where lines break depends on the length of the name.
    formatters = {".py": ["ruff", "format", "-q"], ".h": ["clang-format", "-i"], ".cpp": ["clang-format", "-i"]}
    for path in files:
        command, *arguments = formatters[path.suffix]
        subprocess.run([pathlib.Path(sys.executable).with_name(command), *arguments, ROOT / path], check=True)
        print(f"{path}: {len((ROOT / path).read_text().splitlines())} lines")
    print("Edit them, then `make generate`.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
