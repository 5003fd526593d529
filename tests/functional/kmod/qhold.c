// SPDX-License-Identifier: GPL-2.0
/*
 * qhold: for how long the lock of a device's root qdisc is held by what changes it.
 *
 *	insmod qhold.ko dev=q0
 *	tc qdisc change dev q0 root zrtt flows 1048576
 *	cat /sys/module/qhold/parameters/holds /sys/module/qhold/parameters/longest_ns
 *	rmmod qhold
 *
 * Probes where spin_lock_bh() begins and where spin_unlock_bh() does: that is how
 * sch_tree_lock() and a reset take the lock; packets take it otherwise. On a single
 * processor nobody waits for it, and what is between the two is time that it is held.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/nsproxy.h>
#include <linux/rtnetlink.h>
#include <linux/timekeeping.h>
#include <net/net_namespace.h>
#include <net/sch_generic.h>

static char *dev = "";
module_param(dev, charp, 0444);
MODULE_PARM_DESC(dev, "device whose root qdisc it is");

static unsigned long longest_ns;
module_param(longest_ns, ulong, 0444);
MODULE_PARM_DESC(longest_ns, "the longest hold; to be read");

static unsigned int holds;
module_param(holds, uint, 0444);
MODULE_PARM_DESC(holds, "number of holds; to be read");

static spinlock_t *lock;
static u64 begun_ns;

/* The first argument of the function that is probed. */
static bool qhold_is_ours(struct pt_regs *regs)
{
	return regs_get_kernel_argument(regs, 0) == (unsigned long)lock;
}

static int qhold_locked(struct kprobe *probe, struct pt_regs *regs)
{
	if (qhold_is_ours(regs))
		begun_ns = ktime_get_mono_fast_ns();
	return 0;
}

static int qhold_unlocked(struct kprobe *probe, struct pt_regs *regs)
{
	unsigned long ns;

	/* that of a hold which began before we came is none */
	if (!qhold_is_ours(regs) || !begun_ns)
		return 0;
	ns = ktime_get_mono_fast_ns() - begun_ns;
	begun_ns = 0;
	holds++;
	longest_ns = max(longest_ns, ns);
	return 0;
}

static struct kprobe qhold_lock_probe = {
	.symbol_name = "_raw_spin_lock_bh",
	.pre_handler = qhold_locked,
};

static struct kprobe qhold_unlock_probe = {
	.symbol_name = "_raw_spin_unlock_bh",
	.pre_handler = qhold_unlocked,
};

static struct kprobe *qhold_probes[] = { &qhold_lock_probe, &qhold_unlock_probe };

static int __init qhold_init(void)
{
	struct net_device *found;
	int err = -ENODEV;

	rtnl_lock();
	found = __dev_get_by_name(current->nsproxy->net_ns, dev);
	if (found) {
		lock = qdisc_lock(rtnl_dereference(found->qdisc));
		err = register_kprobes(qhold_probes, ARRAY_SIZE(qhold_probes));
	}
	rtnl_unlock();
	if (err)
		pr_err("qhold: no device %s, or no probes: %d\n", dev, err);
	return err;
}
module_init(qhold_init);

static void __exit qhold_exit(void)
{
	unregister_kprobes(qhold_probes, ARRAY_SIZE(qhold_probes));
}
module_exit(qhold_exit);

MODULE_DESCRIPTION("Holds of a qdisc's lock");
MODULE_LICENSE("GPL");
