# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# A machine with this file system, on which the recipes are installed, and whose
# settings may be changed.
[ -d /tmp/etc ] || {
	cp -a /etc /tmp/etc
	cp -a "$LAB/root/etc/." /tmp/etc/
	mount --bind /tmp/etc /etc
	# tc looks for its plugin where there is none, unless it is told
	printf '#!/bin/sh\nTC_LIB_DIR=%s exec %s "$@"\n' "$TC_LIB_DIR" "$(command -v tc)" \
		>"$LAB/root/usr/local/sbin/tc"
	chmod +x "$LAB/root/usr/local/sbin/tc"
	mount --bind "$LAB/root/usr/local" /usr/local
}
export PATH="/usr/local/sbin:$PATH"

# settings FILE: the block of that name, with folders made as needed
settings() {
	mkdir -p "$(dirname "$1")"
	cp "$LAB/recipe-$(basename "$1")" "$1"
}
