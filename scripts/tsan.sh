#!/usr/bin/env bash
# Builds and runs under the thread sanitizer the tests labelled `threads`: those without threads of
# CAF's own, because Debian's libcaf is not instrumented and reports races that are none.
# Arguments go to ctest.
set -euo pipefail
cd "$(dirname "$0")/.."

jobs=$(nproc)
scripts/setup.sh
cmake --preset tsan
mapfile -t targets < <(ctest --preset tsan --show-only | sed -n 's/^ *Test *#[0-9]*: */test_/p')
cmake --build --preset tsan --parallel "$jobs" --target "${targets[@]}"
ctest --preset tsan --parallel "$jobs" --no-tests=error "$@"
