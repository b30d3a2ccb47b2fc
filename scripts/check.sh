#!/usr/bin/env bash
# Builds with the address and undefined-behaviour sanitizers and runs the unit and scenario tests.
# Arguments go to ctest.
set -euo pipefail
cd "$(dirname "$0")/.."

jobs=$(nproc)
scripts/setup.sh
cmake --preset asan
cmake --build --preset asan --parallel "$jobs"
ctest --preset asan --parallel "$jobs" --no-tests=error "$@"
