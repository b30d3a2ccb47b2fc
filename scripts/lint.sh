#!/usr/bin/env bash
# Runs clang-tidy over the sources that differ from main, or over all of them.
# usage: scripts/lint.sh [--all | <commit to compare with>]
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ ${1-} == --all ]]; then
  mapfile -t files < <(git ls-files '*.cpp')
else
  base=$(git merge-base HEAD "${1-main}")
  mapfile -t files < <({
    git diff --name-only --diff-filter=d "$base" -- '*.cpp'
    git ls-files --others --exclude-standard '*.cpp'
  } | sort -u)
fi
if ((${#files[@]} == 0)); then
  echo "lint: nothing to look at"
  exit 0
fi

# Without unity builds, so that every source has a compile command of its own.
cmake --preset dev -B build/lint -DSLUICE_UNITY=OFF >/dev/null
printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "$(nproc)" clang-tidy-19 -p build/lint --quiet
echo "lint: ${#files[@]} files looked at"
