#!/usr/bin/env bash
# Configures and builds a preset of CMakePresets.json, quietly: what CMake says
# is shown when it fails, what Ninja does when somebody watches.
#   scripts/build.sh <preset> [target...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
preset=$1
shift
mkdir -p build
log=build/configure-$preset.log
cmake --preset "$preset" >"$log" 2>&1 || {
  cat "$log" >&2
  exit 1
}
arguments=()
[ $# -eq 0 ] || arguments+=(--target "$@")
[ -t 1 ] || arguments+=(-- --quiet)
export NINJA_STATUS='  building %f/%t '
cmake --build --preset "$preset" "${arguments[@]}"
