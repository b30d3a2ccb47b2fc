#!/usr/bin/env bash
# Shows the durable core: builds sluice, starts a node, starts runs, kills the node with -9 in the
# middle, starts it again and checks that each run went on at its next step. Needs no terminal,
# leaves nothing behind, and ends with an error when anything is not as it should be.
set -euo pipefail
cd "$(dirname "$0")/.."

bold= dim= off=
if [[ -t 1 && -z ${NO_COLOR-} ]]; then bold=$'\e[1m' dim=$'\e[2m' off=$'\e[0m'; fi

say() { printf '\n%s== %s%s\n' "$bold" "$*" "$off"; }
note() { printf '%s   %s%s\n' "$dim" "$*" "$off"; }
die() {
  printf '\nWRONG: %s\n' "$*" >&2
  [[ -s $folder/log ]] && tail -n 5 "$folder/log" >&2
  exit 1
}

folder=$(mktemp -d)
node=
cleanup() {
  if [[ -n $node ]]; then kill -9 "$node" 2>/dev/null || true; fi
  rm -rf "$folder"
}
trap cleanup EXIT

say "build (only what is new)"
scripts/setup.sh
cmake --preset release >"$folder/build.log" 2>&1 &&
  cmake --build --preset release --parallel "$(nproc)" --target sluice >>"$folder/build.log" 2>&1 ||
  { tail -n 30 "$folder/build.log" >&2; exit 1; }
sluice=$PWD/build/release/app/sluice
"$sluice" version

start_node() {
  rm -f "$folder/port"
  "$sluice" node --data "$folder/data" --listen 127.0.0.1:0 --port-file "$folder/port" \
    2>>"$folder/log" &
  node=$!
  for _ in $(seq 200); do
    if [[ -s $folder/port ]]; then break; fi
    kill -0 "$node" 2>/dev/null || die "the node did not start"
    sleep 0.05
  done
  [[ -s $folder/port ]] || die "the node is not ready after 10 s"
  SLUICE_URL=http://127.0.0.1:$(<"$folder/port")
  export SLUICE_URL
  note "node $node is ready on $SLUICE_URL"
}

# post PATH JSON: the answer
post() { curl -sS --fail-with-body -H 'Content-Type: application/json' -d "$2" "$SLUICE_URL$1"; }

# member NAME: the first string member of that name in the JSON on standard input
member() { grep -o "\"$1\":\"[^\"]*\"" | head -n 1 | cut -d '"' -f 4; }

launch() { post /runs "{\"workflow\":\"$1\",\"input\":$2}" | member runId; }
status_of() { curl -sS "$SLUICE_URL/runs/$1" | member status; }
result_of() { curl -sS "$SLUICE_URL/runs/$1" | grep -o '"result":{[^}]*}' | head -n 1 | cut -d : -f 2-; }

# steps_of RUN: one line `name time` for each step that is done
steps_of() {
  curl -sS "$SLUICE_URL/runs/$1" | tr '{' '\n' | grep '"ordinal"' | grep '"status":"done"' |
    sed 's/.*"name":"\([^"]*\)".*"at":"\([^"]*\)".*/\1 \2/' || true
}
count() { grep -c . "$1" || true; }

say "start a node on an empty folder"
start_node

say "start runs over HTTP"
runs=() names=() wants=()
add_run() { # NAME WORKFLOW INPUT RESULT
  runs+=("$(launch "$2" "$3")")
  names+=("$1") wants+=("$4")
  note "POST /runs $2 $3"
}
add_run "counter to 10" example.counter '{"steps":10,"pauseMs":300}' '{"sum":55,"steps":10}'
add_run "counter to 20" example.counter '{"steps":20,"pauseMs":200}' '{"sum":210,"steps":20}'
add_run "counter to 40" example.counter '{"steps":40,"pauseMs":100}' '{"sum":820,"steps":40}'
add_run "order A-17" example.order '{"order":"A-17","items":3}' \
  '{"approved":true,"parcel":"stock for A-17, 30 credits, 3 items"}'

sleep 1.5
say "they are under way"
"$sluice" runs

say "kill -9"
for i in "${!runs[@]}"; do steps_of "${runs[i]}" >"$folder/before.$i"; done
kill -9 "$node"
wait "$node" 2>/dev/null || true
note "node $node is gone, in the middle of everything"
node=

say "what the journal holds"
"$sluice" journal stats --data "$folder/data"
"$sluice" journal verify --data "$folder/data" || die "the journal is not sound after kill -9"

say "start the node again on the same folder"
start_node

say "a person approves the order"
"$sluice" event order.approved A-17 --data '{"by":"demo"}'

say "every run goes on at its next step"
for _ in $(seq 300); do
  open=0
  for run in "${runs[@]}"; do
    case $(status_of "$run") in completed) ;; *) open=$((open + 1)) ;; esac
  done
  if ((open == 0)); then break; fi
  sleep 0.1
done
"$sluice" runs

say "the result"
printf '%-15s %-10s %12s %12s %9s  %s\n' RUN STATUS "STEPS BEFORE" "STEPS AFTER" REPEATED RESULT
wrong=0
for i in "${!runs[@]}"; do
  steps_of "${runs[i]}" >"$folder/after.$i"
  before=$(count "$folder/before.$i") after=$(count "$folder/after.$i")
  # A step that ran again would have a newer record: its line from before would be missing.
  repeated=$(grep -Fxvc -f "$folder/after.$i" "$folder/before.$i" || true)
  state=$(status_of "${runs[i]}") result=$(result_of "${runs[i]}")
  printf '%-15s %-10s %12d %12d %9d  %s\n' "${names[i]}" "$state" "$before" $((after - before)) \
    "$repeated" "$result"
  if [[ $state != completed || $result != "${wants[i]}" ]] || ((repeated != 0 || before == 0)); then
    wrong=1
  fi
done
((wrong == 0)) || die "a run is not as it should be"

say "stop in order"
kill -TERM "$node"
code=0
wait "$node" || code=$?
node=
((code == 0)) || die "the node ended with $code"
"$sluice" journal verify --data "$folder/data" || die "the journal is not sound"

say "nothing lost"
