#!/usr/bin/env bash
# The checks that read code without running it. Arguments: files to give to
# clang-tidy; without any, every .cpp file but the programs of users, which are
# not part of the build.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
files=("$@")
[ $# -gt 0 ] || mapfile -t files < <(git ls-files '*.cpp' \
  ':!benchmarks' ':!examples' ':!tests')
scripts/check_layers.py
scripts/format.sh --check
# The preset without precompiled headers, which clang-tidy cannot read; the
# target is the headers that the build generates.
scripts/build.sh dev popart_opsets_header
printf '%s\0' "${files[@]}" |
  xargs -0 -r -n 1 -P "$(nproc)" clang-tidy --quiet -p build/dev
