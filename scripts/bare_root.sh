#!/bin/bash
# Runs a command of this repository on a Debian 12 that has nothing but its essential packages: the
# honest check that scripts/packages*.txt are complete.
#
#   sudo scripts/bare_root.sh DIR COMMAND [ARGUMENT...]
#   sudo scripts/bare_root.sh /var/tmp/bare ./quickstart.sh --set training.epochs=1
#   sudo scripts/bare_root.sh /var/tmp/bare ./test.sh
#
# DIR/base is the fresh system (debootstrap --variant=minbase, made once and never changed), DIR/root
# its copy in which the command runs, made anew each time: a clean clone of HEAD in /root/tributary,
# nothing of this machine but what it takes to reach the package mirror (apt's sources, keys and
# proxy, the name servers, the certificates). Uncommitted changes are not in it. DIR/root stays for a
# look around:
#
#   sudo scripts/bare_root.sh --again DIR COMMAND...      goes on in DIR/root as it is
#
# The command has its own mounts and processes: whatever ends it, none is left behind. The exit code
# is the command's. Needs root, debootstrap, git, and about 4 GB in DIR.
set -euo pipefail

fail() {
  echo "bare_root.sh: $*" >&2
  exit 2
}

again=no
if [[ ${1-} == --again ]]; then
  again=yes
  shift
fi
[[ $# -ge 2 ]] || fail "usage: scripts/bare_root.sh [--again] DIR COMMAND [ARGUMENT...]"
[[ $EUID -eq 0 ]] || fail "needs root"

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
mkdir -p "$1"
dir=$(cd "$1" && pwd)
shift
base=$dir/base
root=$dir/root

# The mirror that this machine takes Debian 12 from.
debian_mirror() {
  # shellcheck disable=SC2016
  apt-get indextargets --format '$(REPO_URI)' 'Identifier: Packages' 'Codename: bookworm' |
    sort -u | head -n 1
}

# What it takes to reach the package mirror as this machine does.
copy_network_settings() {
  local target=$1
  cp -L /etc/resolv.conf "$target/etc/resolv.conf"
  cp -L /etc/hosts "$target/etc/hosts"
  rm -f "$target"/etc/apt/sources.list
  local file
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources} \
    /etc/apt/keyrings/* /etc/apt/trusted.gpg.d/*; do
    [[ -f $file ]] && install -D -m 644 "$file" "$target$file"
  done
  apt-config dump | grep -E '^Acquire::(https?::Proxy|Check-)' \
    >"$target/etc/apt/apt.conf.d/90this-machine" || true
  if [[ -f /etc/ssl/certs/ca-certificates.crt ]]; then
    install -D -m 644 /etc/ssl/certs/ca-certificates.crt \
      "$target/etc/ssl/certs/ca-certificates.crt"
  fi
}

make_base() {
  command -v debootstrap >/dev/null || fail "needs the package debootstrap"
  local mirror
  mirror=$(debian_mirror)
  [[ -n $mirror ]] || fail "apt's sources name no mirror of Debian 12 (bookworm)"
  rm -rf --one-file-system "$base" "$base.part"
  # Made under another name, so that a base that exists is whole.
  debootstrap --variant=minbase bookworm "$base.part" "$mirror"
  copy_network_settings "$base.part"
  mv "$base.part" "$base"
}

make_root() {
  [[ -d $base ]] || make_base
  rm -rf --one-file-system "$root"
  cp -a "$base" "$root"
  git clone --quiet --no-hardlinks "$repository" "$root/root/tributary"
}

if [[ $again == yes ]]; then
  [[ -d $root/root/tributary ]] || fail "$root: no root to go on in"
else
  make_root
fi

# Runs inside the new namespaces, with $1 the root and the command behind it.
# shellcheck disable=SC2016
enter_root='
  set -e
  root=$1
  shift
  mount -t proc proc "$root/proc"
  mount --rbind /dev "$root/dev"
  mount -t tmpfs tmpfs "$root/dev/shm"
  exec chroot "$root" /bin/bash -c "cd /root/tributary && exec \"\$@\"" bash "$@"
'
proxies=()
for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY; do
  if [[ -n ${!name-} ]]; then proxies+=("$name=${!name}"); fi
done
exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 TERM="${TERM-dumb}" \
  ${proxies[@]+"${proxies[@]}"} \
  unshare --mount --propagation private --pid --fork --kill-child \
  bash -c "$enter_root" bash "$root" "$@"
