#!/usr/bin/env bash
# Builds the release preset and runs every test. Arguments go to ctest: scripts/test.sh -L unit
set -euo pipefail
cd "$(dirname "$0")/.."

jobs=$(nproc)
scripts/setup.sh
cmake --preset release
cmake --build --preset release --parallel "$jobs"
ctest --preset release --parallel "$jobs" --no-tests=error "$@"
