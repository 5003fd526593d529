# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Hints are blanked on request.
pair
tc -n a qdisc add dev a0 root zrtt strip
listen b b0 1000 /tmp/got
inject a0 <"$LAB/strip"
wait $!
part strip.received
cat /tmp/got
stats strip.stats a a0
tc -n a qdisc change dev a0 root zrtt hint ignore
inject a0 <"$LAB/strip"
stats strip.ignored a a0
