#!/usr/bin/env bash
# Runs a command with build/sdk enabled: scripts/with-sdk.sh python3 program.py
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../build/sdk/enable.sh"
exec "$@"
