#!/usr/bin/env bash
# Puts the packages from PyPI that an example and tests are about into
# build/venv, which sees Debian's packages too. Without network it says so, and
# they are skipped.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# docs/dependencies.md says why these versions
wheels=("transformers==4.26.1" "timm==0.9.16")

mark=build/venv/installed
[ "$(cat "$mark" 2>/dev/null)" != "${wheels[*]}" ] || exit 0
echo "Installing ${wheels[*]} into build/venv ..."
mkdir -p build
if /usr/bin/python3 -m venv --system-site-packages build/venv \
  >build/install-wheels.log 2>&1 &&
  build/venv/bin/python3 -m pip install --retries 1 --timeout 20 \
    "${wheels[@]}" >>build/install-wheels.log 2>&1; then
  echo "${wheels[*]}" >"$mark"
else
  echo "No ${wheels[*]} from PyPI (build/install-wheels.log says why):" \
    "the example and the tests that need them will be skipped."
fi
