#!/usr/bin/env bash
# Builds and runs the fuzzers of tests/fuzz: fuzz.sh [target|all] [minutes], one minute each by
# default. New inputs gather in build/fuzz/corpus, findings in build/fuzz/findings; a finding is run
# again with build/fuzz/tests/fuzz/fuzz_<target> <file>. `fuzz.sh <target> 0` only runs the corpora.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${1-all}
minutes=${2-1}
if [[ ! $minutes =~ ^[0-9]+$ ]]; then
  echo "usage: scripts/fuzz.sh [target|all] [minutes]" >&2
  exit 2
fi

mapfile -t known < <(sed -n 's/^sluice_fuzz(\([a-z_]*\).*/\1/p' tests/fuzz/CMakeLists.txt)
if [[ $target == all ]]; then
  targets=("${known[@]}")
elif [[ " ${known[*]} " == *" $target "* ]]; then
  targets=("$target")
else
  echo "fuzz: no target '$target'; there are ${known[*]}" >&2
  exit 2
fi

cmake --preset fuzz
cmake --build --preset fuzz --parallel "$(nproc)" --target "${targets[@]/#/fuzz_}"

verdict=0
report=()
for name in "${targets[@]}"; do
  grown=build/fuzz/corpus/$name
  mkdir -p "$grown" build/fuzz/findings
  log=build/fuzz/$name.log
  limits=(-max_len=8192 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1
    "-artifact_prefix=build/fuzz/findings/$name-")
  if ((minutes == 0)); then limits+=(-runs=0); else limits+=("-max_total_time=$((minutes * 60))"); fi
  [[ ! -f tests/fuzz/$name.dict ]] || limits+=("-dict=tests/fuzz/$name.dict")
  outcome=ok
  nice -n 15 "build/fuzz/tests/fuzz/fuzz_$name" "${limits[@]}" "$grown" "tests/fuzz/corpus/$name" \
    >"$log" 2>&1 || outcome=FOUND
  [[ $outcome == ok ]] || verdict=1
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  report+=("$(printf '%-14s %-6s %10s runs' "$name" "$outcome" "${runs:-?}")")
done

printf '%s\n' "${report[@]}"
exit "$verdict"
