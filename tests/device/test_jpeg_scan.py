"""Kernels read ordinary JPEG files themselves: what they give back to the CPU would show in no result."""

import ctypes
import io
import os
import pathlib
import subprocess

import numpy as np
import pytest
from PIL import Image

from .nvrtc import NATIVE

OPTIONS = ["-std=c++20", "-O1", "-fPIC", "-shared", "-ffp-contract=off", f"-I{NATIVE}"]

CODE = """
#include <memory>
#include "loops/decoding/plain_jpeg.h"
#include "device/launch.h"
#include "loops/decoding/jpeg_item.h"

// -1: not an ordinary file; else whether it would go back to the CPU.
extern "C" int gives_back(const uint8_t* file, size_t size) {
  using namespace avida;
  const auto plain = codecs::read_plain_jpeg({file, size});
  if (!plain) return -1;
  std::vector<JpegBits> bits(plain->intervals());
  std::vector<uint32_t> bytes(plain->room() / 4 + 1);
  if (!plain->copy_bytes(reinterpret_cast<uint8_t*>(bytes.data()), bits.data())) return 1;
  const std::unique_ptr<short[]> numbers(new short[plain->samples()]());
  std::vector<short> steps(static_cast<size_t>(plain->groups) * plain->scan.blocks);
  int failed = 0;
  const JpegReader::Params params{reinterpret_cast<uint8_t*>(bytes.data()), &plain->scan, bits.data(), numbers.get(),
                                  steps.data(), &failed};
  auto shared = std::make_unique<JpegReader::Shared>();
  for (size_t i = 0; i < bits.size(); i++) run_phases<JpegReader>(params, *shared, static_cast<long>(i));
  const short* from = numbers.get();
  for (const auto& plane : plain->plane) {
    std::vector<uint8_t> made(plane.samples());
    for (long i = 0; i < plane.samples() / 64; i++)
      JpegBlocks::run({made.data(), from, static_cast<int>(plane.stride / 8), &failed}, i);
    from += plane.samples();
  }
  return failed;
}
"""


@pytest.fixture(scope="module")
def gives_back(tmp_path_factory):
    code = tmp_path_factory.mktemp("jpeg_scan") / "read.cpp"
    code.write_text("#include <vector>\n" + CODE)
    library = code.with_suffix(".so")
    sources = [
        str(pathlib.Path(NATIVE, name))
        for name in (
            "loops/decoding/plain_jpeg.cpp",
            "codecs/jpeg/sequential_header.cpp",
            "core/error.cpp",
        )
    ]
    subprocess.run([os.environ.get("CXX", "c++"), *OPTIONS, str(code), *sources, "-o", str(library)], check=True)
    run = ctypes.CDLL(str(library)).gives_back
    return lambda file: run(file, ctypes.c_size_t(len(file)))


def jpeg(height: int, width: int, **options: object) -> bytes:
    y, x = np.mgrid[:height, :width]
    waves = np.stack([np.sin(x / (3 + 5 * c) + y / (7 + c)) * 90 + 128 for c in range(3)], -1)
    noise = np.random.default_rng(height * width).normal(0, 12, waves.shape)
    file = io.BytesIO()
    Image.fromarray(np.clip(waves + noise, 0, 255).astype(np.uint8)).save(file, "JPEG", **options)
    return file.getvalue()


@pytest.mark.parametrize(
    "options", [{}, {"optimize": True}, {"restart_marker_blocks": 3}], ids=["", "codes", "restarts"]
)
@pytest.mark.parametrize("subsampling", range(3))
def test_ordinary_files_are_not_given_back(gives_back, subsampling, options):
    for height, width in ((1, 1), (33, 200), (240, 321), (600, 811)):
        for quality in (30, 75, 95):
            assert gives_back(jpeg(height, width, subsampling=subsampling, quality=quality, **options)) == 0


def test_broken_files_are(gives_back):
    good = jpeg(97, 131)
    assert gives_back(good) == 0
    assert gives_back(good[: len(good) // 2]) == 1
    assert gives_back(good[:-40] + good[-20:]) == 1
    assert gives_back(jpeg(97, 131, progressive=True)) == -1
