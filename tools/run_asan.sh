#!/usr/bin/env bash
# Builds the core with AddressSanitizer and UBSan beside the ordinary one, and runs tests with it.
# usage: run_asan.sh VENV_BIN PYTEST_ARGUMENT...
set -euo pipefail
bin=$1
shift
[[ -e build/asan/build.ninja ]] || tools/configure.sh "$bin" build/asan -DAVIDA_SANITIZE=ON
"$bin/cmake" --build build/asan

# A package of links to the sources, with the sanitized module in the place of the ordinary one.
rm -rf build/asan/site
mkdir build/asan/site
cp -rs "$PWD/src/avida" build/asan/site/
rm -f build/asan/site/avida/_core.*.so
cp build/asan/_core.*.so build/asan/site/avida/

# The sanitizers must be loaded before Python, and libstdc++ with them, whose exceptions they intercept.
preload=
for library in libasan.so libubsan.so libstdc++.so.6; do
  preload+="$(realpath "$("${CXX:-g++}" -print-file-name=$library)") "
done
# Python's own small allocator hides errors from the sanitizers; Python never frees all it has, so leaks say nothing.
# Reports go to files, since pytest's workers swallow what a dying process prints.
report=$PWD/build/asan/report
rm -f "$report".*
status=0
PYTHONPATH=$PWD/build/asan/site PYTHONMALLOC=malloc LD_PRELOAD=$preload \
  ASAN_OPTIONS=detect_leaks=0:log_path=$report UBSAN_OPTIONS=print_stacktrace=1:log_path=$report \
  "$bin/python" -m pytest -n 2 "$@" || status=$?
if compgen -G "$report.*" >/dev/null; then
  head -n 40 "$report".*
  exit 1
fi
exit $status
