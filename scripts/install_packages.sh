#!/bin/bash
# Installs what is missing of the Debian packages named in the given lists (default:
# scripts/packages.txt). Asks for nothing and prints nothing where all are there.
#
#   scripts/install_packages.sh [LIST...]
set -euo pipefail

fail() {
  echo "install_packages.sh: $*" >&2
  exit 2
}

lists=("$@")
if [[ ${#lists[@]} -eq 0 ]]; then
  lists=("$(dirname "${BASH_SOURCE[0]}")/packages.txt")
fi

missing_packages() {
  local wanted installed
  wanted=$(grep -hv '^#' "${lists[@]}" | sort -u)
  # dpkg-query complains about packages that it has never heard of.
  # shellcheck disable=SC2016,SC2086
  installed=$(dpkg-query --show --showformat='${db:Status-Status} ${Package}\n' $wanted 2>/dev/null |
    sed -n 's/^installed //p' | sort -u) || true
  comm -23 <(echo "$wanted") <(echo "$installed")
}

command -v apt-get >/dev/null || fail "found no apt-get; needs Debian 12 (bookworm)"
mapfile -t missing < <(missing_packages)
if [[ ${#missing[@]} -eq 0 ]]; then exit 0; fi

# shellcheck disable=SC1091
release=$(. /etc/os-release && echo "${ID-unknown} ${VERSION_ID-}")
[[ $release == "debian 12" ]] ||
  fail "found $release, needs debian 12; missing packages: ${missing[*]}"
as_root=()
if [[ $EUID -ne 0 ]]; then
  command -v sudo >/dev/null ||
    fail "needs root or sudo to install the missing packages: ${missing[*]}"
  as_root=(sudo)
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt_get() {
  ${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive \
    apt-get --quiet=2 --option DPkg::Lock::Timeout=300 "$@" >>"$log" 2>&1
}
install() { apt_get install --yes --no-install-recommends "${missing[@]}"; }

echo "Installing ${#missing[@]} packages of Debian: ${missing[*]}" >&2
# The lists of packages may be missing, or so old that the mirror has newer ones.
if ! install; then
  : >"$log"
  if ! { apt_get update && install; }; then
    cat "$log" >&2
    fail "apt-get could not install: ${missing[*]}"
  fi
fi
