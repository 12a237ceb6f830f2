#!/usr/bin/env bash
# Runs the two commands of the README, or another one, where nothing is installed that they do not bring:
#
#   bash scripts/fresh-machine.sh                     npm start, until a block is accepted, and npm test
#   bash scripts/fresh-machine.sh COMMAND ARGUMENT…   this command
#
# The machine is a Debian in a folder, with the packages that every Debian has: no compiler, no Vulkan, no git, no ps. It gets this
# machine's Node.js, npm's settings, and what is committed here, in a path with a blank, for a user who is not root. Making it takes
# half a minute; it is kept for the next time. The processes and mounts have namespaces of their own, so none outlives the command.
#
# It needs Linux, root's rights (CAP_SYS_ADMIN), debootstrap, and the package registries that this machine uses.
#
#   FRESH_FOLDER   where it is kept: ~/.cache/pickaxe-fresh-machine
#   FRESH_USER     rig, or root
#   FRESH_TZ, FRESH_LANG   UTC and C.UTF-8
set -euo pipefail
cd "$(dirname "$0")/.."

suite=bookworm
folder=${FRESH_FOLDER:-${XDG_CACHE_HOME:-$HOME/.cache}/pickaxe-fresh-machine}
user=${FRESH_USER:-rig}
home=/home/rig
[ "$user" != root ] || home=/root
place="$home/my rigs/pickaxe"
root=$folder/root

fail() {
  echo "error: $*" >&2
  exit 2
}

[ "$(uname)" = Linux ] && [ "$(id -u)" = 0 ] || fail 'this takes Linux and root'
command -v debootstrap >/dev/null || fail 'this takes debootstrap: apt-get install debootstrap'
unshare --mount --pid --fork true 2>/dev/null || fail 'this takes namespaces (CAP_SYS_ADMIN)'

# npm's settings may have secrets.
mkdir -p "$folder" && chmod 700 "$folder"
# A second run waits: there is one machine.
exec 9>"$folder/lock"
flock 9

if [ ! -e "$folder/made" ]; then
  rm -rf "$root"
  registry=$(awk '/^URIs:/ { print $2; exit }' /etc/apt/sources.list.d/debian.sources 2>/dev/null || true)
  [ -n "$registry" ] || registry=$(grep -m1 -E "^deb .* $suite " /etc/apt/sources.list | grep -oE 'https?://[^ ]+') ||
    fail "apt names no registry of Debian's $suite"
  debootstrap --variant=minbase --include=ca-certificates $suite "$root" "$registry" >"$folder/debootstrap.log" 2>&1 ||
    fail "debootstrap failed: $folder/debootstrap.log"
  chroot "$root" useradd --create-home --uid 1000 rig
  touch "$folder/made"
fi

# Node.js and npm, with npm's settings and the certificates by which this machine reaches npm's registry.
install "$(readlink -f "$(command -v node)")" "$root/usr/bin/node"
npm=$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")
rm -rf "$root/usr/lib/node_modules" && mkdir -p "$root/usr/lib/node_modules" "$root/usr/etc"
cp -r "$npm" "$root/usr/lib/node_modules/npm"
ln -sf ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/bin/npm"
cp /etc/resolv.conf /etc/hosts "$root/etc/"
cp "${NODE_EXTRA_CA_CERTS:-/etc/ssl/certs/ca-certificates.crt}" "$root/etc/ssl/certs/ca-certificates.crt"
: >"$root/usr/etc/npmrc"
for file in "$(npm config get globalconfig)" "$(npm config get userconfig)"; do
  [ ! -f "$file" ] || grep -v '^ *nodedir' "$file" >>"$root/usr/etc/npmrc" || true
done
npm_registry=$(npm config get registry)

rm -rf "${root:?}$home/my rigs" && mkdir -p "$root$place"
git archive HEAD | tar -x -C "$root$place"
chroot "$root" chown -R "$user:" "$home/my rigs"

inside='
set -eu
root=$0 user=$1 home=$2 place=$3
shift 3
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys" 2>/dev/null || mount --rbind -o ro /sys "$root/sys"
mount -t tmpfs -o mode=755 dev "$root/dev"
for each in null zero full random urandom tty; do
  : >"$root/dev/$each"
  mount --bind "/dev/$each" "$root/dev/$each"
done
mkdir "$root/dev/shm" "$root/dev/pts"
mount -t tmpfs -o mode=1777 shm "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
# This shell is process 1, which takes over what is orphaned: npm would leave it as a zombie.
chroot --userspec="$user" "$root" /usr/bin/env -i PATH=/usr/local/bin:/usr/bin:/bin HOME="$home" USER="$user" \
  TERM=dumb TZ="$FRESH_TZ" LANG="$FRESH_LANG" NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt \
  npm_config_registry="$NPM_REGISTRY" sh -c '\''cd "$0" && exec "$@"'\'' "$place" "$@"
'
run() {
  local status=0 begun=$SECONDS
  FRESH_TZ=${FRESH_TZ:-UTC} FRESH_LANG=${FRESH_LANG:-C.UTF-8} NPM_REGISTRY=$npm_registry \
    unshare --mount --pid --fork --kill-child bash -c "$inside" "$root" "$user" "$home" "$place" "$@" || status=$?
  echo "--- on a fresh machine: $*: exit code $status after $((SECONDS - begun)) s" >&2
  return "$status"
}

if [ $# -gt 0 ]; then
  run "$@"
  exit
fi
run npm start -- --blocks 1
run npm test
