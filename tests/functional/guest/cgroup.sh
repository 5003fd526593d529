# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Tables are charged to the memory cgroup of who asks for them, and one that it does not
# let in is refused; without rights on the machine there is a bound beside.
mount -t cgroup2 none /sys/fs/cgroup
echo +memory >/sys/fs/cgroup/cgroup.subtree_control
mkdir /sys/fs/cgroup/small
echo 100M >/sys/fs/cgroup/small/memory.max

# inside COMMAND...: in the cgroup
inside() {
	sh -c 'echo $$ >/sys/fs/cgroup/small/cgroup.procs; exec "$@"' inside "$@" || echo "rc=$?"
}

charged() {
	part "cgroup.$1"
	cat /sys/fs/cgroup/small/memory.current
}

ip link add d0 type dummy
ip link add d1 type dummy
charged nothing
inside tc qdisc add dev d0 root zrtt flows 524288 limit 88
charged table
inside tc qdisc change dev d0 root zrtt flows 262144 names timestamps
charged names
part cgroup.before
tc -j qdisc show dev d0
echo
part cgroup.change
inside tc qdisc change dev d0 root zrtt flows 4194304 limit 99
part cgroup.add
inside tc qdisc add dev d1 root zrtt flows 4194304
inside tc qdisc add dev d1 root zrtt flows 1048576 names
part cgroup.after
tc -j qdisc show dev d0
echo
charged refused
part cgroup.events
cat /sys/fs/cgroup/small/memory.events
tc qdisc del dev d0 root
charged given_back

# lo of a namespace of its own; on the machine it has no rights
part cgroup.unprivileged
unshare -Urn sh -c 'tc qdisc add dev lo root zrtt flows 65536 && echo added
	tc qdisc change dev lo root zrtt flows 131072 limit 99 || echo "rc=$?"
	tc qdisc replace dev lo root pfifo
	tc qdisc replace dev lo root zrtt flows 4194304 || echo "rc=$?"'

# what was set by others stays, whatever else is changed
unshare -Urn sh -c 'echo $$ >/tmp/pid
	until [ -e /tmp/set ]; do sleep 0.01; done
	tc qdisc change dev lo root zrtt limit 77 flows 131072 || echo "rc=$?"
	tc qdisc change dev lo root zrtt flows 262144 limit 99 || echo "rc=$?"
	tc -j qdisc show dev lo' >/tmp/kept 2>&1 &
until [ -s /tmp/pid ]; do sleep 0.01; done
nsenter --net="/proc/$(cat /tmp/pid)/ns/net" tc qdisc add dev lo root zrtt flows 131072
touch /tmp/set
wait $!
part cgroup.kept
cat /tmp/kept
