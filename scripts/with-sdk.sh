#!/usr/bin/env bash
# Runs a command with build/sdk enabled: scripts/with-sdk.sh python3 program.py
set -euo pipefail
unset POPLAR_SDK_ENABLED # the caller may have enabled this or another one
source "$(dirname "${BASH_SOURCE[0]}")/../build/sdk/enable.sh"
exec "$@"
