#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Installs what the laboratory needs of Debian and is not there yet. The kernels
# and their headers it fetches itself, when it first needs one. Arguments are
# further packages; after --only, these are all; after --check, too, and it only says
# which are missing.
set -euo pipefail

check=
only=
case ${1-} in
--check)
	check=1
	only=1
	shift
	command -v dpkg-query >/dev/null || exit 0 # each program will speak for itself
	;;
--only)
	only=1
	shift
	;;
esac

packages="
	python3 gcc libc6-dev make kmod git
	iproute2 busybox-static
	qemu-system-x86 seabios
	xz-utils zstd flex bison bc
	python3-matplotlib
	$*
"
[ -z "$only" ] || packages="$*"

missing=
for package in $packages; do
	status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
	[ "$status" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ -n "$check" ] || [ "$(id -u)" -ne 0 ]; then
	echo "missing; run as root: apt-get install --no-install-recommends$missing" >&2
	exit 1
fi
echo "installing$missing" >&2
export DEBIAN_FRONTEND=noninteractive
export LC_ALL=C
apt-get -qq update

# install FD: tells FD how far it is
install() {
	# shellcheck disable=SC2086 # a list of words
	apt-get -qq -y -o DPkg::Lock::Timeout=600 -o APT::Status-Fd="$1" \
		install --no-install-recommends $missing >/dev/null
}

# On a terminal, one line says how far it is.
if [ -t 2 ]; then
	install 3 3>&1 | while IFS=: read -r _ _ percent what; do
		printf '\r\033[K%3.0f%% %.60s' "$percent" "$what" >&2
	done
	printf '\r\033[K' >&2
else
	install 1
fi
