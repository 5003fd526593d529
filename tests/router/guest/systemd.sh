# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# docs/recipes.md: at boot, by a systemd that runs as process 1 of a namespace of its
# own, with udev and networkd, and with no unit but those that are needed.
# shellcheck source=tests/router/guest/installed.sh
. "$LAB/installed.sh"
settings /etc/default/zrtt-eth0
mount -t cgroup2 cgroup /sys/fs/cgroup
rm -rf /etc/systemd/system /etc/systemd/network
units=/etc/systemd/system
mkdir -p $units /etc/systemd/network
cp /lib/systemd/system/systemd-udevd* $units
printf '[Match]\nName=eth0\n[Network]\nAddress=10.9.0.1/24\n' >/etc/systemd/network/eth0.network
# one that does as it is told where there is a device
cat >"$LAB/zrtt-agent" <<'END'
#!/bin/sh
[ -e "/sys/class/net/$2" ] || exit 2
END
chmod +x "$LAB/zrtt-agent"
sed "s|@SBINDIR@|$LAB|" "$LAB/agent.service" >$units/zrtt-agent@.service
for name in sysinit basic shutdown network network-online; do
	echo '[Unit]' >$units/$name.target
done
cat >$units/networkd.service <<END
[Service]
Type=notify
ExecStart=/lib/systemd/systemd-networkd
END
cat >$units/experiment.service <<END
[Unit]
Wants=systemd-udevd.service
After=systemd-udevd.service
[Service]
Type=oneshot
Environment=LAB=$LAB PATH=$PATH
ExecStart=/bin/sh -eu $LAB/systemd_inside.sh
StandardOutput=file:/tmp/systemd.out
StandardError=file:/tmp/systemd.out
ExecStopPost=/bin/touch /tmp/systemd.done
END
cat >$units/experiment.target <<END
[Unit]
Wants=experiment.service
END
SYSTEMD_UNIT_PATH=$units:/usr/local/lib/systemd/system unshare -pfm --mount-proc \
	/lib/systemd/systemd --system --unit=experiment.target >/tmp/systemd.log 2>&1 &
for _ in $(seq 60); do
	[ ! -e /tmp/systemd.done ] || break
	sleep 1
done
part systemd.log
cat /tmp/systemd.log
cat /tmp/systemd.out
ip link del eth0
