#!/bin/bash
# Configures a preset of CMakePresets.json, if that was not done yet, and builds it. Silent where
# nothing is to be done; the whole output where something fails.
#
#   scripts/build.sh PRESET [TARGET...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
preset=$1
shift
directory=build/$preset

log=$(mktemp)
trap 'rm -f "$log"' EXIT
if [[ ! -f $directory/build.ninja ]]; then
  echo "Configuring the preset $preset" >&2
  if ! cmake --preset "$preset" >"$log" 2>&1; then
    cat "$log" >&2
    exit 1
  fi
fi

# Ninja itself runs CMake again where a CMakeLists.txt has changed.
if ninja -C "$directory" -n "$@" >"$log" 2>&1 && grep -q 'no work to do' "$log"; then exit 0; fi
echo "Building the preset $preset (the first time takes some minutes)" >&2
if [[ -t 2 ]]; then
  # Ninja's own progress line, on standard error.
  cmake --build "$directory" ${1+--target "$@"} >&2
elif ! cmake --build "$directory" ${1+--target "$@"} >"$log" 2>&1; then
  cat "$log" >&2
  exit 1
fi
