# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# The RTT that a handshake shows: 40 ms of path, not the queue here.
pair
tc -n b qdisc add dev b0 root netem delay 40ms
tc -n a qdisc add dev a0 root zrtt
bulk 10
stats handshake.seen a a0
tc -n a qdisc replace dev a0 root handle 5: pfifo
tc -n a qdisc replace dev a0 root handle 6: zrtt nohandshake
bulk 10
stats handshake.off a a0
tc -n a qdisc del dev a0 root

# 40 frames of 1000 bytes are 320 ms at 1 Mbit/s
slow a a0 1mbit mode blue handshake threshold 1000000
inject a0 40 <"$LAB/load"
bulk 1
stats handshake.queued a a0
