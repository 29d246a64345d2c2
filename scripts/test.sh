#!/usr/bin/env bash
# Builds the release preset and runs the tests labelled fast and ci.
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ ${CAPRA_SKIP_INSTALL:-} != 1 ]]; then scripts/install_packages.sh --tests; fi
cmake --preset release -DCAPRA_TESTS=ON >/dev/null
cmake --build --preset release
scripts/get_model.sh >/dev/null
scripts/get_judges.sh >/dev/null
ctest --preset release -L '^(fast|ci)$' -j "$(nproc)" "$@"
