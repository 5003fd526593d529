# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Links go down and up, and change their size, below zrtt under load.
# shellcheck source=tests/functional/guest/loaded.sh
. "$LAB/loaded.sh"

# sent: packets that left out0 so far
sent() {
	tc -n r -s -j qdisc show dev out0 | grep -o '"packets":[0-9]*' | head -n 1 | cut -d : -f 2
}

# goes_on PACKETS: whether more were sent, and timestamps were seen on both sides
goes_on() {
	[ "$(sent)" -gt "$1" ] && shows r out0 '"flows_timestamps":[1-9]'
}

# works NAME PORT: transfers go on
works() {
	begin 10.0.1.2 "$2"
	stats "links.$1.before" r out0
	becomes goes_on "$(sent)"
	stats "links.$1" r out0
}

rounds=$(cat "$LAB/rounds")
for _ in $(seq "$rounds"); do
	for dev in out0 in0; do
		ip -n r link set $dev down
		ip -n r link set $dev up
		sleep 0.1
	done
done
works updown 5001
for _ in $(seq "$rounds"); do
	for dev in out0 in0; do
		for bytes in 68 1280 9000 1500; do
			ip -n r link set $dev mtu $bytes
		done
		ip -n r link set $dev txqueuelen 10
		ip -n r link set $dev txqueuelen 1000
		sleep 0.1
	done
done
works resized 5002
end

# figures of what stands still agree
ip -n a link set a0 down
ip -n b link set b0 down
sleep 1
stats links.out r out0
stats links.in r in0
