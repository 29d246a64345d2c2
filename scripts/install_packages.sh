#!/usr/bin/env bash
# Installs the Debian 12 packages that a build needs and are not there yet. Asks sudo when not root.
#   scripts/install_packages.sh          what a build and the quickstart need
#   scripts/install_packages.sh --tests  also what tests need: benchmarks, the cross compiler, the emulator,
#                                        the formatter, Python's environments, a Vulkan driver of the processor
#   scripts/install_packages.sh --ci     also the second compiler, the checkers, a browser and what simulates hardware
set -euo pipefail

packages=(
  git ca-certificates g++ cmake ninja-build ccache pkg-config
  libfmt-dev libhwy-dev nlohmann-json3-dev libcli11-dev libgtest-dev libssl-dev
  python3 python3-pip
)
tests=(
  libbenchmark-dev g++-12-aarch64-linux-gnu qemu-user clang-format-19 python3-venv python3-jsonschema
  mesa-vulkan-drivers libvulkan1
)
case ${1:-} in
  "") ;;
  --tests) packages+=("${tests[@]}") ;;
  --ci) packages+=("${tests[@]}" clang-19 clang-tidy-19 libclang-rt-19-dev chromium iverilog verilator make yosys) ;;
  *)
    echo "usage: $0 [--tests|--ci]" >&2
    exit 2
    ;;
esac

# Any cargo from 1.80 on builds the tokenizers crate. Debian's plain `cargo` is older; `cargo-web` is not.
cargo_is_recent() {
  local minor
  minor=$(cargo --version 2>/dev/null | sed -n 's/^cargo 1\.\([0-9]*\).*/\1/p')
  [[ -n $minor && $minor -ge 80 ]]
}
if ! cargo_is_recent; then packages+=(cargo-web rustc-web); fi

# A program the user already has, from wherever, needs no package.
has_program() {
  case $1 in
    git) command -v git ;;
    cmake) cmake --version | grep -Eq 'version (3\.(2[5-9]|[3-9][0-9])|[4-9])' ;;
    ninja-build) command -v ninja ;;
    ccache) command -v ccache ;;
    python3) command -v python3 ;;
    python3-pip) python3 -m pip --version ;;
    python3-venv) python3 -c 'import ensurepip, venv' ;;
    *) return 1 ;;
  esac >/dev/null 2>&1
}

missing=()
for package in "${packages[@]}"; do
  if has_program "$package"; then continue; fi
  if [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]]; then continue; fi
  missing+=("$package")
done
if [[ ${#missing[@]} -eq 0 ]]; then
  echo "packages: all there"
  exit 0
fi

as_root=()
if [[ $(id -u) -ne 0 ]]; then
  if ! command -v sudo >/dev/null; then
    echo "missing packages, and neither root nor sudo is at hand; as root, run:" >&2
    echo "  apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 2
  fi
  as_root=(sudo)
fi
echo "packages: installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
