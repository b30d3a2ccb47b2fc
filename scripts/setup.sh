#!/usr/bin/env bash
# Installs the Debian packages that sluice is built from, as far as they are missing.
# Run again, it finds nothing to do and needs neither network nor rights.
set -euo pipefail

# The one list of what a machine needs.
packages=(
  clang-19 lld-19 libclang-rt-19-dev clang-format-19 clang-tidy-19
  cmake ninja-build ccache pkg-config
  libcaf-dev
  libboost1.81-dev # by this name: libboost-dev is 1.74 and removes it
  libssl-dev libcurl4-openssl-dev liblmdb-dev libjemalloc-dev
  libsimdjson-dev libfmt-dev libtomlplusplus-dev libcli11-dev libspdlog-dev
  libhowardhinnant-date-dev libxxhash-dev
  catch2 librapidcheck-dev
  curl ca-certificates
)

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $status == installed ]] || missing+=("$package")
done

if ((${#missing[@]} == 0)); then
  echo "setup: all ${#packages[@]} packages are there"
  exit 0
fi

as_root=()
if ((EUID != 0)); then
  command -v sudo >/dev/null || {
    echo "setup: run as root or install sudo; missing: ${missing[*]}" >&2
    exit 1
  }
  as_root=(sudo)
fi

echo "setup: installing ${missing[*]}"
"${as_root[@]}" apt-get update
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install --yes --no-install-recommends "${missing[@]}"
