#!/usr/bin/env bash
# The product in one command: builds sluice, starts the sandbox (a believable GitHub, Vercel and
# gateway on loopback) with faults on, and a node on an empty folder; backfills several tenants,
# kills the node with -9 in the middle, starts it again, and ends with the sandbox's ledger.
# Needs no account and no terminal, leaves nothing behind, and fails when anything is lost.
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
node= sandbox=
cleanup() {
  for process in $node $sandbox; do kill -9 "$process" 2>/dev/null || true; done
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

# await_port FILE PROCESS: the port that the process wrote down
await_port() {
  for _ in $(seq 200); do
    if [[ -s $1 ]]; then break; fi
    kill -0 "$2" 2>/dev/null || die "$(basename "$1" .port) did not start"
    sleep 0.05
  done
  [[ -s $1 ]] || die "$(basename "$1" .port) is not ready after 10 s"
  cat "$1"
}

start_node() {
  rm -f "$folder/node.port"
  "$sluice" node --data "$folder/data" --listen 127.0.0.1:0 --port-file "$folder/node.port" \
    2>>"$folder/log" &
  node=$!
  local port
  port=$(await_port "$folder/node.port" "$node")
  SLUICE_URL=http://127.0.0.1:$port
  export SLUICE_URL
  note "node $node is ready on $SLUICE_URL"
}

say "start the sandbox: four GitHub tenants, one Vercel tenant, and everything that goes wrong"
"$sluice" sandbox --listen 127.0.0.1:0 --port-file "$folder/sandbox.port" \
  --tenants 4 --repos 3 --pulls 700 --issues 300 --releases 60 --vercel-tenants 1 \
  --rate-limit 20000 --token-ttl-s 3 --shift 2 \
  --provider-5xx 0.02 --truncated 0.01 --html 0.01 --provider-latency-ms 20 \
  --gateway-5xx 0.01 --gateway-429 0.002 --lost-answers 0.001 --gateway-latency-ms 5 \
  >"$folder/sandbox.log" 2>&1 &
sandbox=$!
at=http://127.0.0.1:$(await_port "$folder/sandbox.port" "$sandbox")
note "expiring tokens, 5xx, truncated and HTML pages, lists that shift, a gateway that pushes back"
export SLUICE_GATEWAY_URL=$at/gateway SLUICE_GATEWAY_API_KEY=sandbox-key
export SLUICE_GITHUB_URL=$at/github SLUICE_VERCEL_URL=$at/vercel

say "start a node on an empty folder"
start_node

say "trigger a backfill of each tenant"
for tenant in conn-1:github conn-2:github conn-3:github vconn-1:vercel; do
  "$sluice" trigger --installation "${tenant%:*}" --provider "${tenant#*:}" \
    --org "org-${tenant%:*}" --depth 90
done

# What a person would watch: the last tenant's units, over the restart.
"$sluice" trigger --installation conn-4 --provider github --org org-conn-4 --depth 90 --follow \
  >"$folder/follow.log" 2>&1 &
follower=$!
if [[ -t 1 ]]; then tail -f "$folder/follow.log" --pid "$follower" & fi

sleep 3
say "kill -9, in the middle"
"$sluice" runs --limit 5
kill -9 "$node"
wait "$node" 2>/dev/null || true
node=
note "what was acknowledged until now: $(curl -sS "$at/ledger" | grep -o '"distinct":[0-9]*')"
"$sluice" journal verify --data "$folder/data" || die "the journal is not sound after kill -9"

say "start the node again on the same folder: nothing is triggered again"
# The follower asks on the same port.
port=${SLUICE_URL##*:}
"$sluice" node --data "$folder/data" --listen "127.0.0.1:$port" 2>>"$folder/log" &
node=$!

say "the backfills go on"
ended=no
for _ in $(seq 600); do
  if answer=$(curl -sS "$SLUICE_URL/runs?workflow=backfill.run" 2>/dev/null); then
    if ! grep -qE '"status":"(pending|running|recovering|parked)"' <<<"$answer"; then
      ended=yes
      break
    fi
  fi
  sleep 0.2
done
[[ $ended == yes ]] || die "the backfills did not end within two minutes"
wait "$follower" || die "the followed backfill did not succeed: $(tail -n 3 "$folder/follow.log")"
tail -n 14 "$folder/follow.log"
"$sluice" runs --workflow backfill.run
if grep -qE '"status":"(partial|failed|cancelled)"' <<<"$answer"; then
  die "a backfill did not complete"
fi

say "stop in order"
kill -TERM "$node"
code=0
wait "$node" || code=$?
node=
((code == 0)) || die "the node ended with $code"
"$sluice" journal verify --data "$folder/data" || die "the journal is not sound"

say "the sandbox's ledger"
ledger=$(curl -sS "$at/ledger?scope=connections")
number() { grep -o "\"$1\":[0-9]*" <<<"$ledger" | head -n 1 | cut -d : -f 2; }
for name in expected distinct duplicates missing corrupted tokens_issued unauthorized \
  provider_faults gateway_faults lost_answers; do
  printf '   %-16s %8d\n' "$name" "$(number "$name")"
done
(($(number missing) == 0 && $(number corrupted) == 0)) || die "events are missing or corrupted"
(($(number expected) > 0)) || die "nothing was expected"
say "missing 0, corrupted 0"
