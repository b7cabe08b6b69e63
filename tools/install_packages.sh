#!/usr/bin/env bash
# Installs the system packages that are missing where it may, and otherwise names them. Silent when all is there.
# usage: install_packages.sh PYTHON PACKAGE...
set -euo pipefail
python=$1
shift

if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
  echo "avida needs Python 3.11 or newer, and \"$python\" is not: set one with PYTHON=..." >&2
  exit 1
fi

installed() { [[ $(dpkg-query -W -f '${Status}' "$1" 2>/dev/null) == "install ok installed" ]]; }
find_missing() {
  missing=()
  for package in "$@"; do
    command -v "$package" >/dev/null || installed "$package" || missing+=("$package")
  done
  # Debian keeps these parts of its Python in packages of their own.
  "$python" -c 'import ensurepip' 2>/dev/null || missing+=(python3-venv)
  local header='import sysconfig; open(sysconfig.get_path("include") + "/Python.h")'
  "$python" -c "$header" 2>/dev/null || missing+=(python3-dev)
}

find_missing "$@"
((${#missing[@]})) || exit 0
as_root=(env)
[[ $(id -u) == 0 ]] || as_root=(sudo -n)
if command -v apt-get >/dev/null && "${as_root[@]}" true 2>/dev/null; then
  echo "Installing system packages: ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
  find_missing "$@"
fi
if ((${#missing[@]})); then
  echo "These system packages are missing; install them and try again: ${missing[*]}" >&2
  exit 1
fi
