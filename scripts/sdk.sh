#!/usr/bin/env bash
# Builds the libraries and packages and lays them out as build/sdk.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/build.sh release sdk
cmake --install build/release --prefix build/sdk >build/install-sdk.log || {
  tail -n 20 build/install-sdk.log >&2
  exit 1
}
