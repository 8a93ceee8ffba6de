#!/usr/bin/env bash
# Installs the Debian packages that the named groups need and that are missing.
# Says nothing and asks for nothing when all of them are there.
#   scripts/install-dependencies.sh build run test ...
set -euo pipefail

# OpenBLAS is named because python3-torch alone is content with the reference
# BLAS, which is many times slower. What each package is for:
# docs/dependencies.md.
declare -A packages=(
  [build]="g++ ccache clang libclang-14-dev cmake ninja-build python3-dev pybind11-dev libdnnl-dev libfmt-dev libspdlog-dev nlohmann-json3-dev libcli11-dev libopenmpi-dev openmpi-bin libonnx-dev libprotobuf-dev"
  [run]="python3-torch python3-numpy python3-tqdm libopenblas0-pthread"
  [digits]="python3-sklearn"
  [test]="libgtest-dev python3-pytest python3-onnx python3-torchvision python3-pil clang-format"
  [bench]="python3-torchvision python3-venv libopenblas0-openmp"
  [lint]="clang-format clang-tidy libomp-dev"
  [pypi]="python3-venv"
)

fail() {
  printf 'install-dependencies: %s\n' "$@" >&2
  exit 1
}

wanted=()
for group in "$@"; do
  [ -n "${packages[$group]:-}" ] ||
    fail "no group '$group'; there are: ${!packages[*]}"
  read -ra names <<<"${packages[$group]}"
  wanted+=("${names[@]}")
done
[ ${#wanted[@]} -gt 0 ] || exit 0

command -v dpkg-query >/dev/null && command -v apt-get >/dev/null ||
  fail "this is not a Debian system; install what stands for these packages" \
    "and run cmake --preset release yourself: ${wanted[*]}"

missing=()
for name in "${wanted[@]}"; do
  state=$(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null || true)
  [ "$state" = installed ] || missing+=("$name")
done
[ ${#missing[@]} -gt 0 ] || exit 0

asRoot=()
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null ||
    fail "packages are missing, and this needs root or sudo. As root, run:" \
      "  apt-get install --no-install-recommends ${missing[*]}"
  asRoot=(sudo)
fi
apt() {
  "${asRoot[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq -o DPkg::Lock::Timeout=120 "$@"
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo "Installing ${missing[*]} ..."
apt update >"$log" 2>&1 || {
  cat "$log" >&2
  fail "'apt-get update' failed; is the network or the package mirror down?"
}
for name in "${missing[@]}"; do
  apt-cache show "$name" >/dev/null 2>&1 ||
    fail "the package '$name' is in none of this system's package sources;" \
      "Aspen is made for Debian 12 (bookworm), section main"
done
apt install -y --no-install-recommends "${missing[@]}" >"$log" 2>&1 || {
  tail -n 20 "$log" >&2
  fail "could not install: ${missing[*]}" \
    "the end of apt's output is above; mend it, then run make again"
}
