#!/usr/bin/env bash
# Formats the C++ files that git does not ignore; with --check, only names those that are not.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if [ "${1:-}" = --check ]; then
  mode=(--dry-run -Werror --ferror-limit=1)
else
  mode=(-i)
fi
git ls-files -z --cached --others --exclude-standard '*.hpp' '*.cpp' '*.h' | xargs -0 -r -n 16 clang-format "${mode[@]}"
