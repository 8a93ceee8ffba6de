#!/usr/bin/env bash
# Formats the tracked C++ files; with --check, only names those that are not.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if [ "${1:-}" = --check ]; then
  mode=(--dry-run -Werror --ferror-limit=1)
else
  mode=(-i)
fi
git ls-files -z '*.hpp' '*.cpp' '*.h' | xargs -0 -r -n 16 clang-format "${mode[@]}"
