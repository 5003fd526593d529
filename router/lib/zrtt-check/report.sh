# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# zrtt-check, output: lines of text, or an object of JSON.
json=0
failed=0
between=
DEV= # that findings are about; empty: the machine

have() {
	command -v "$1" >/dev/null 2>&1
}

# plain TEXT: names of devices may have any bytes, and go to terminals
plain() {
	printf %s "$1" | tr '\n\t' '  ' | tr -c ' -~' '?'
}

quoted() {
	printf '"%s"' "$(plain "$1" | sed 's/[\\"]/\\&/g')"
}

begin() {
	[ $json -eq 0 ] || printf '{"findings":['
}

# finding LEVEL TEXT [ADVICE]: print a finding about DEV
finding() {
	[ "$1" != FAIL ] || failed=1
	if [ $json -eq 0 ]; then
		printf '%-4s  %s\n' "$1" "$(plain "${DEV:+$DEV: }$2${3:+  ($3)}")"
		return
	fi
	printf '%s{"level":%s,"device":%s,"text":%s,"advice":%s}' "$between" \
		"$(quoted "$1")" "$(quoted "$DEV")" "$(quoted "$2")" "$(quoted "${3:-}")"
	between=,
}

finish() {
	if [ $json -eq 1 ]; then
		[ $failed -eq 0 ] && usable=true || usable=false
		printf '],"usable":%s}\n' "$usable"
	fi
	exit $failed
}
