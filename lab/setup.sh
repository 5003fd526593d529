#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Installs what the laboratory needs of Debian and is not there yet. The kernels
# and their headers it fetches itself, when it first needs one. Arguments are
# further packages.
set -euo pipefail

packages="
	python3 gcc libc6-dev make kmod git
	iproute2 busybox-static
	qemu-system-x86 seabios
	xz-utils flex bison bc
	python3-matplotlib
	$*
"

missing=
for package in $packages; do
	status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
	[ "$status" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

echo "installing$missing" >&2
if [ "$(id -u)" -ne 0 ]; then
	echo "setup: not root; run as root: apt-get install --no-install-recommends$missing" >&2
	exit 1
fi
export DEBIAN_FRONTEND=noninteractive
apt-get -qq update
# shellcheck disable=SC2086 # a list of words
apt-get -qq -y -o DPkg::Lock::Timeout=600 install --no-install-recommends $missing >/dev/null
