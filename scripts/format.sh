#!/usr/bin/env bash
# Formats every C++ source. With --check changes nothing and fails when something would change.
set -euo pipefail
cd "$(dirname "$0")/.."

case ${1-} in
'') mode=(-i) ;;
--check) mode=(--dry-run --Werror) ;;
*)
  echo "usage: scripts/format.sh [--check]" >&2
  exit 2
  ;;
esac

mapfile -t files < <(find . \( -path ./build -o -path ./.git -o -name node_modules \) -prune -o \
  -type f \( -name '*.cpp' -o -name '*.hpp' \) -print | sort)
clang-format-19 "${mode[@]}" "${files[@]}"
echo "format: ${#files[@]} files are in order"
