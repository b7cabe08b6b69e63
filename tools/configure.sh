#!/usr/bin/env bash
# Configures a build with the virtual environment's CMake, Ninja, Python and nanobind.
# usage: configure.sh VENV_BIN BUILD_FOLDER [CMAKE_OPTION...]
set -euo pipefail
bin=$(realpath -s "$1") folder=$2
shift 2
"$bin/cmake" --fresh -S . -B "$folder" -G Ninja --log-level=WARNING \
  -DCMAKE_MAKE_PROGRAM="$bin/ninja" -DPython_EXECUTABLE="$bin/python" \
  -Dnanobind_DIR="$("$bin/python" -m nanobind --cmake_dir)" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON "$@" >/dev/null
