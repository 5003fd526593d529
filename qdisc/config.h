/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parameters as netlink attributes: policy, refusals, dump.
 */
#ifndef _ZRTT_CONFIG_H
#define _ZRTT_CONFIG_H

#include <linux/mm.h>
#include <linux/module.h>
#include <net/netlink.h>
#include <net/sch_generic.h>

#include <linux/pkt_sched_zrtt.h>
#include <zrtt/zrtt.h>

/* The contract with tc names what the algorithm has. */
static_assert(ZRTT_P_ONE == TC_ZRTT_P_ONE);
static_assert(ZRTT_Q16_ONE == TC_ZRTT_ALPHA_ONE);
static_assert(ZRTT_MARK_BITS == TC_ZRTT_MARK_BITS_MAX);
static_assert((int)ZRTT_MODE_BLUE == (int)TC_ZRTT_MODE_BLUE);
static_assert((int)ZRTT_CTL_PI2 == (int)TC_ZRTT_CTL_PI2);
static_assert((int)ZRTT_ALPHA_FIXED == (int)TC_ZRTT_ALPHA_FIXED);
static_assert((int)ZRTT_HINT_IGNORE == (int)TC_ZRTT_HINT_IGNORE);
static_assert((int)ZRTT_ATM_PTM == (int)TC_ZRTT_ATM_PTM);
static_assert((int)ZRTT_FAIR_MARK == (int)TC_ZRTT_FAIR_MARK);
static_assert(ZRTT_FAIR_BITS == TC_ZRTT_FAIR_BITS_MAX);
static_assert(ZRTT_WEIGHT_ONE == TC_ZRTT_WEIGHT_ONE);
static_assert(ZRTT_DSCPS == TC_ZRTT_DSCPS);
static_assert((int)ZRTT_LINE_AHEAD == (int)TC_ZRTT_AUTO_INGRESS);
static_assert((int)ZRTT_LINE_LOSS == (int)TC_ZRTT_LINE_LOSS);
static_assert((int)ZRTT_RTT_QUIC == (int)TC_ZRTT_SOURCE_QUIC);

/* What a queue may take of the machine's memory by default: a sixteenth, up to
 * what 100 Gbit/s need for 60 ms of full-sized packets.
 */
#define ZRTT_MEMORY_SHIFT	4
#define ZRTT_MEMORY_MOST	(1U << 30)

static unsigned int ipv4_option = ZRTT_HINT_IPV4_TYPE;

static int zrtt_set_ipv4_option(const char *val, const struct kernel_param *kp)
{
	/* 0 and 1 end and pad the option list */
	return param_set_uint_minmax(val, kp, 2, 255);
}

static const struct kernel_param_ops zrtt_ipv4_option_ops = {
	.set = zrtt_set_ipv4_option,
	.get = param_get_uint,
};
module_param_cb(ipv4_option, &zrtt_ipv4_option_ops, &ipv4_option, 0644);
MODULE_PARM_DESC(ipv4_option, "IPv4 option type of the RTT hint, 2..255 (158)");

#define ZRTT_RANGE(name, lo, hi)						\
	static struct netlink_range_validation zrtt_range_##name = {		\
		.min = (lo), .max = (hi),					\
	}

ZRTT_RANGE(mode, 0, __TC_ZRTT_MODE_MAX - 1);
ZRTT_RANGE(limit, TC_ZRTT_LIMIT_MIN, TC_ZRTT_LIMIT_MAX);
ZRTT_RANGE(controller, 0, __TC_ZRTT_CTL_MAX - 1);
ZRTT_RANGE(target, TC_ZRTT_TARGET_MIN, TC_ZRTT_TARGET_MAX);
ZRTT_RANGE(tupdate, TC_ZRTT_TUPDATE_MIN, TC_ZRTT_TUPDATE_MAX);
ZRTT_RANGE(threshold, TC_ZRTT_THRESHOLD_MIN, TC_ZRTT_THRESHOLD_MAX);
ZRTT_RANGE(freeze, TC_ZRTT_FREEZE_MIN, TC_ZRTT_FREEZE_MAX);
ZRTT_RANGE(step, TC_ZRTT_STEP_MIN, TC_ZRTT_STEP_MAX);
ZRTT_RANGE(alpha_law, 0, __TC_ZRTT_ALPHA_MAX - 1);
ZRTT_RANGE(alpha, 0, TC_ZRTT_ALPHA_LIMIT);
ZRTT_RANGE(pth, TC_ZRTT_PTH_MIN, TC_ZRTT_PTH_MAX);
ZRTT_RANGE(feedback, 0, TC_ZRTT_FEEDBACK_MAX);
ZRTT_RANGE(probability, 0, TC_ZRTT_P_ONE);
ZRTT_RANGE(flows, TC_ZRTT_FLOWS_MIN, TC_ZRTT_FLOWS_MAX);
ZRTT_RANGE(hint, 0, __TC_ZRTT_HINT_MAX - 1);
ZRTT_RANGE(bandwidth, 0, TC_ZRTT_BANDWIDTH_MAX);
ZRTT_RANGE(auto, 0, __TC_ZRTT_AUTO_MAX - 1);
ZRTT_RANGE(auto_rate, TC_ZRTT_BANDWIDTH_MIN, TC_ZRTT_AUTO_RATE_MAX);
ZRTT_RANGE(mpu, 0, TC_ZRTT_MPU_MAX);
ZRTT_RANGE(atm, 0, __TC_ZRTT_ATM_MAX - 1);
ZRTT_RANGE(fair, 0, __TC_ZRTT_FAIR_MAX - 1);
ZRTT_RANGE(prefix6, TC_ZRTT_PREFIX6_MIN, TC_ZRTT_PREFIX6_MAX);
ZRTT_RANGE(ceil, 0, TC_ZRTT_CEIL_MAX);

#define ZRTT_U32(name)	NLA_POLICY_FULL_RANGE(NLA_U32, &zrtt_range_##name)
#define ZRTT_FLAG	NLA_POLICY_MAX(NLA_U8, 1)

static const struct nla_policy zrtt_policy[TCA_ZRTT_MAX + 1] = {
	[TCA_ZRTT_MODE]		= ZRTT_U32(mode),
	[TCA_ZRTT_LIMIT]	= ZRTT_U32(limit),
	[TCA_ZRTT_CONTROLLER]	= ZRTT_U32(controller),
	[TCA_ZRTT_TARGET]	= ZRTT_U32(target),
	[TCA_ZRTT_TUPDATE]	= ZRTT_U32(tupdate),
	[TCA_ZRTT_THRESHOLD]	= ZRTT_U32(threshold),
	[TCA_ZRTT_FREEZE]	= ZRTT_U32(freeze),
	[TCA_ZRTT_INCREMENT]	= ZRTT_U32(step),
	[TCA_ZRTT_DECREMENT]	= ZRTT_U32(step),
	[TCA_ZRTT_ALPHA_LAW]	= ZRTT_U32(alpha_law),
	[TCA_ZRTT_ALPHA]	= ZRTT_U32(alpha),
	[TCA_ZRTT_ALPHA_MAX]	= ZRTT_U32(alpha),
	[TCA_ZRTT_PTH]		= ZRTT_U32(pth),
	[TCA_ZRTT_FEEDBACK]	= ZRTT_U32(feedback),
	[TCA_ZRTT_MARK_MAX]	= ZRTT_U32(probability),
	[TCA_ZRTT_FLOWS]	= ZRTT_U32(flows),
	[TCA_ZRTT_HINT]		= ZRTT_U32(hint),
	[TCA_ZRTT_STRIP]	= ZRTT_FLAG,
	[TCA_ZRTT_HANDSHAKE]	= ZRTT_FLAG,
	[TCA_ZRTT_ECN]		= ZRTT_FLAG,
	[TCA_ZRTT_SPLIT_GSO]	= ZRTT_FLAG,
	[TCA_ZRTT_MARK_RTT]	= { .type = NLA_U32 },
	[TCA_ZRTT_TIMESTAMPS]	= ZRTT_FLAG,
	[TCA_ZRTT_QUIC]		= ZRTT_FLAG,
	[TCA_ZRTT_NAMES]	= ZRTT_FLAG,
	[TCA_ZRTT_BANDWIDTH]	= NLA_POLICY_FULL_RANGE(NLA_U64, &zrtt_range_bandwidth),
	[TCA_ZRTT_OVERHEAD]	= { .type = NLA_S32 },
	[TCA_ZRTT_MPU]		= ZRTT_U32(mpu),
	[TCA_ZRTT_ATM]		= ZRTT_U32(atm),
	[TCA_ZRTT_PAD]		= { .type = NLA_REJECT },
	[TCA_ZRTT_MEMORY_LIMIT]	= { .type = NLA_U32 },
	[TCA_ZRTT_LANES]	= ZRTT_FLAG,
	[TCA_ZRTT_L4S]		= ZRTT_FLAG,
	[TCA_ZRTT_FAIR]		= ZRTT_U32(fair),
	[TCA_ZRTT_FAIR_MASK]	= { .type = NLA_U32 },
	[TCA_ZRTT_PREFIX6]	= ZRTT_U32(prefix6),
	[TCA_ZRTT_NAT]		= ZRTT_FLAG,
	[TCA_ZRTT_WEIGHT_MASK]	= { .type = NLA_U32 },
	[TCA_ZRTT_WEIGHT_DSCP]	= NLA_POLICY_EXACT_LEN(TC_ZRTT_DSCPS * sizeof(u16)),
	[TCA_ZRTT_AUTO]		= ZRTT_U32(auto),
	[TCA_ZRTT_AUTO_MIN]	= NLA_POLICY_FULL_RANGE(NLA_U64, &zrtt_range_auto_rate),
	[TCA_ZRTT_AUTO_MAX]	= NLA_POLICY_FULL_RANGE(NLA_U64, &zrtt_range_auto_rate),
	[TCA_ZRTT_CEIL]		= NLA_POLICY_FULL_RANGE(NLA_U64, &zrtt_range_ceil),
};

#define ZRTT_REFUSAL(attr, text)						\
	case TCA_ZRTT_##attr:							\
		NL_SET_ERR_MSG_MOD(extack, text);				\
		break

/* Tell the user whose value was refused what it must be. */
static void zrtt_explain(struct netlink_ext_ack *extack, u32 attr)
{
	switch (attr) {
	ZRTT_REFUSAL(MODE, "mode must be zrtt, paper, mrtt, prto or blue");
	ZRTT_REFUSAL(LIMIT, "limit must be 1 to 1000000 packets");
	ZRTT_REFUSAL(CONTROLLER, "controller must be blue, pblue or pi2");
	ZRTT_REFUSAL(TARGET, "target must be 100us to 1s");
	ZRTT_REFUSAL(TUPDATE, "tupdate must be 1ms to 1s");
	ZRTT_REFUSAL(THRESHOLD, "threshold must be 1 to 1000000 packets");
	ZRTT_REFUSAL(FREEZE, "freeze must be 1ms to 10s");
	ZRTT_REFUSAL(INCREMENT, "increment must be above 0 and at most 100%");
	ZRTT_REFUSAL(DECREMENT, "decrement must be above 0 and at most 100%");
	ZRTT_REFUSAL(ALPHA_LAW, "alpha must be capped, paper or 0 to 4");
	ZRTT_REFUSAL(ALPHA, "alpha must be capped, paper or 0 to 4");
	ZRTT_REFUSAL(ALPHA_MAX, "alpha_max must be 0 to 4");
	ZRTT_REFUSAL(PTH, "pth must be 0.01% to 100%");
	ZRTT_REFUSAL(FEEDBACK, "feedback must be 0 to 3");
	ZRTT_REFUSAL(MARK_MAX, "mark_max must be 0% to 100%");
	ZRTT_REFUSAL(FLOWS, "flows must be a power of two, 64 to 4194304");
	ZRTT_REFUSAL(HINT, "hint must be clamp, trust or ignore");
	ZRTT_REFUSAL(STRIP, "strip must be 0 or 1");
	ZRTT_REFUSAL(HANDSHAKE, "handshake must be 0 or 1");
	ZRTT_REFUSAL(ECN, "ecn must be 0 or 1");
	ZRTT_REFUSAL(SPLIT_GSO, "split_gso must be 0 or 1");
	ZRTT_REFUSAL(MARK_RTT, "mark_rtt must be 0 to 16 adjacent bits");
	ZRTT_REFUSAL(TIMESTAMPS, "timestamps must be 0 or 1");
	ZRTT_REFUSAL(QUIC, "quic must be 0 or 1");
	ZRTT_REFUSAL(NAMES, "names must be 0 or 1");
	ZRTT_REFUSAL(LANES, "lanes must be 0 or 1");
	ZRTT_REFUSAL(L4S, "l4s must be 0 or 1");
	ZRTT_REFUSAL(FAIR, "fair must be flow, srchost, dsthost, dualhost or mark");
	ZRTT_REFUSAL(FAIR_MASK, "fair mark must be 1 to 24 adjacent bits, of fair mark alone");
	ZRTT_REFUSAL(PREFIX6, "prefix6 must be 1 to 128 bits");
	ZRTT_REFUSAL(NAT, "nat must be 0 or 1");
	ZRTT_REFUSAL(WEIGHT_MASK, "weight mark must be 0 to 8 adjacent bits");
	ZRTT_REFUSAL(WEIGHT_DSCP, "weight dscp must be 0.0625 to 64 for each code point");
	ZRTT_REFUSAL(BANDWIDTH, "bandwidth must be 8kbit to 1tbit, or 0");
	ZRTT_REFUSAL(AUTO, "bandwidth auto must be off, egress or ingress");
	ZRTT_REFUSAL(AUTO_MIN, "min must be 8kbit to 10gbit, and not above max");
	ZRTT_REFUSAL(AUTO_MAX, "max must be 8kbit to 10gbit");
	ZRTT_REFUSAL(CEIL, "ceil must be 8kbit to 100gbit, or 0");
	ZRTT_REFUSAL(OVERHEAD, "overhead must be raw or -64 to 256 bytes");
	ZRTT_REFUSAL(MPU, "mpu must be 0 to 256 bytes");
	ZRTT_REFUSAL(ATM, "atm must be none, atm or ptm");
	ZRTT_REFUSAL(MEMORY_LIMIT,
		     "memory_limit must be above 0 and at most the machine's memory");
	}
}

static void zrtt_get_u32(struct nlattr **tb, u32 attr, u32 *value)
{
	if (tb[attr])
		*value = nla_get_u32(tb[attr]);
}

static void zrtt_get_flag(struct nlattr **tb, u32 attr, bool *value)
{
	if (tb[attr])
		*value = nla_get_u8(tb[attr]);
}

/* Bytes. */
static u64 zrtt_machine_memory(void)
{
	return (u64)totalram_pages() << PAGE_SHIFT;
}

/* The default of memory_limit, bytes. */
static u32 zrtt_memory_limit(void)
{
	return min_t(u64, zrtt_machine_memory() >> ZRTT_MEMORY_SHIFT, ZRTT_MEMORY_MOST);
}

/* Return: whether each weight is one. */
static bool zrtt_weights_valid(const struct zrtt_params *params)
{
	u32 i;

	for (i = 0; i < ZRTT_DSCPS; i++)
		if (params->weight_q8[i] < TC_ZRTT_WEIGHT_MIN ||
		    params->weight_q8[i] > TC_ZRTT_WEIGHT_MAX)
			return false;
	return true;
}

/* What a policy cannot say of hosts and weights. Return: the attribute at fault, or 0. */
static u32 zrtt_find_host_fault(const struct zrtt_params *params)
{
	bool by_mark = params->fair == ZRTT_FAIR_MARK;

	if (by_mark != !!params->fair_mask ||
	    !zrtt_mask_fits(params->fair_mask, TC_ZRTT_FAIR_BITS_MAX))
		return TCA_ZRTT_FAIR_MASK;
	if (!zrtt_mask_fits(params->weight_mask, TC_ZRTT_WEIGHT_BITS_MAX))
		return TCA_ZRTT_WEIGHT_MASK;
	if (params->ceil.rate && params->ceil.rate < TC_ZRTT_BANDWIDTH_MIN)
		return TCA_ZRTT_CEIL;
	return zrtt_weights_valid(params) ? 0 : TCA_ZRTT_WEIGHT_DSCP;
}

/* What a policy cannot say. Return: the attribute at fault, or 0. */
static u32 zrtt_find_fault(const struct zrtt_params *params)
{
	const struct zrtt_shaper_params *shaper = &params->shaper;

	if (!is_power_of_2(params->flows))
		return TCA_ZRTT_FLOWS;
	if (!params->memory_limit || params->memory_limit > zrtt_machine_memory())
		return TCA_ZRTT_MEMORY_LIMIT;
	if (!zrtt_mask_fits(params->mark_mask, TC_ZRTT_MARK_BITS_MAX))
		return TCA_ZRTT_MARK_RTT;
	if (shaper->rate && shaper->rate < TC_ZRTT_BANDWIDTH_MIN)
		return TCA_ZRTT_BANDWIDTH;
	if (params->line.min > params->line.max)
		return TCA_ZRTT_AUTO_MIN;
	if (shaper->overhead < TC_ZRTT_OVERHEAD_MIN ||
	    shaper->overhead > TC_ZRTT_OVERHEAD_MAX)
		return TCA_ZRTT_OVERHEAD;
	return zrtt_find_host_fault(params);
}

/* Has each flow one host? */
static bool zrtt_has_one_end(const struct zrtt_params *params)
{
	return zrtt_has_hosts(params) && params->fair != ZRTT_FAIR_DUALHOST;
}

static void zrtt_explain_mode(struct netlink_ext_ack *extack, u32 attr)
{
	switch (attr) {
	case TCA_ZRTT_LANES:
		NL_SET_ERR_MSG_MOD(extack, "lanes need mode zrtt");
		break;
	case TCA_ZRTT_L4S:
		NL_SET_ERR_MSG_MOD(extack, "l4s needs mode zrtt");
		break;
	case TCA_ZRTT_FAIR:
		NL_SET_ERR_MSG_MOD(extack, "fair needs mode zrtt");
		break;
	default:
		NL_SET_ERR_MSG_MOD(extack, "weight needs mode zrtt");
	}
}

/* Values that are right, each for itself, but not together. Return: -EINVAL, or 0. */
static int zrtt_refuse_together(const struct zrtt_params *params, struct nlattr **tb,
				struct netlink_ext_ack *extack)
{
	const struct { bool on; u32 attr; } needs[] = {
		{ params->lanes, TCA_ZRTT_LANES },
		{ params->l4s, TCA_ZRTT_L4S },
		{ zrtt_has_hosts(params), TCA_ZRTT_FAIR },
		{ params->weighted, TCA_ZRTT_WEIGHT_MASK },
	};
	u32 fields = params->mark_mask & params->fair_mask;
	u32 i;

	fields |= (params->mark_mask | params->fair_mask) & params->weight_mask;
	if (fields) {
		NL_SET_ERR_MSG_MOD(extack, "mark_rtt, fair mark and weight mark must not share bits");
		return -EINVAL;
	}
	if (params->line.kind != ZRTT_LINE_NONE && !params->timestamps) {
		NL_SET_ERR_MSG_MOD(extack, "bandwidth auto needs timestamps");
		NL_SET_BAD_ATTR(extack, tb[TCA_ZRTT_TIMESTAMPS]);
		return -EINVAL;
	}
	/* Who sends all parameters, as they are dumped, says that there is no auto. */
	if (params->line.kind == ZRTT_LINE_NONE && !tb[TCA_ZRTT_AUTO] &&
	    (tb[TCA_ZRTT_AUTO_MIN] || tb[TCA_ZRTT_AUTO_MAX])) {
		NL_SET_ERR_MSG_MOD(extack, "min and max need bandwidth auto");
		NL_SET_BAD_ATTR(extack, tb[TCA_ZRTT_AUTO_MIN] ?: tb[TCA_ZRTT_AUTO_MAX]);
		return -EINVAL;
	}
	if (params->ceil.rate && (!zrtt_has_one_end(params) || params->l4s)) {
		NL_SET_ERR_MSG_MOD(extack, "ceil needs fair srchost, dsthost or mark, and no l4s");
		NL_SET_BAD_ATTR(extack, tb[TCA_ZRTT_CEIL]);
		return -EINVAL;
	}
	for (i = 0; i < ARRAY_SIZE(needs) && params->mode != ZRTT_MODE_ZRTT; i++) {
		if (!needs[i].on)
			continue;
		zrtt_explain_mode(extack, needs[i].attr);
		NL_SET_BAD_ATTR(extack, tb[needs[i].attr]);
		return -EINVAL;
	}
	return 0;
}

/* Who is fair to others than marks has no mask. */
static void zrtt_get_hosts(struct nlattr **tb, struct zrtt_params *params)
{
	zrtt_get_u32(tb, TCA_ZRTT_FAIR, &params->fair);
	if (tb[TCA_ZRTT_FAIR])
		params->fair_mask = 0;
	zrtt_get_u32(tb, TCA_ZRTT_FAIR_MASK, &params->fair_mask);
	zrtt_get_u32(tb, TCA_ZRTT_PREFIX6, &params->prefix6);
	zrtt_get_flag(tb, TCA_ZRTT_NAT, &params->nat);
	if (tb[TCA_ZRTT_CEIL])
		params->ceil.rate = nla_get_u64(tb[TCA_ZRTT_CEIL]);
	zrtt_get_u32(tb, TCA_ZRTT_WEIGHT_MASK, &params->weight_mask);
	if (tb[TCA_ZRTT_WEIGHT_DSCP])
		nla_memcpy(params->weight_q8, tb[TCA_ZRTT_WEIGHT_DSCP],
			   sizeof(params->weight_q8));
}

/* A line whose rate is given is one, and whose rate is to be found is another. */
static void zrtt_get_line(struct nlattr **tb, struct zrtt_params *params)
{
	struct zrtt_line_params *line = &params->line;

	if (tb[TCA_ZRTT_BANDWIDTH])
		line->kind = ZRTT_LINE_NONE;
	zrtt_get_u32(tb, TCA_ZRTT_AUTO, &line->kind);
	if (tb[TCA_ZRTT_AUTO_MIN])
		line->min = nla_get_u64(tb[TCA_ZRTT_AUTO_MIN]);
	if (tb[TCA_ZRTT_AUTO_MAX])
		line->max = nla_get_u64(tb[TCA_ZRTT_AUTO_MAX]);
	if (line->kind != ZRTT_LINE_NONE && !tb[TCA_ZRTT_TIMESTAMPS])
		params->timestamps = true;
}

static void zrtt_get_shaper(struct nlattr **tb, struct zrtt_shaper_params *shaper)
{
	if (tb[TCA_ZRTT_BANDWIDTH])
		shaper->rate = nla_get_u64(tb[TCA_ZRTT_BANDWIDTH]);
	if (tb[TCA_ZRTT_OVERHEAD]) {
		shaper->overhead = nla_get_s32(tb[TCA_ZRTT_OVERHEAD]);
		shaper->raw = shaper->overhead == TC_ZRTT_OVERHEAD_RAW;
		if (shaper->raw)
			shaper->overhead = 0;
	}
	zrtt_get_u32(tb, TCA_ZRTT_MPU, &shaper->mpu);
	zrtt_get_u32(tb, TCA_ZRTT_ATM, &shaper->atm);
}

/* The parameters that @opt asks for, on top of what is in @params. */
static int zrtt_parse(struct zrtt_params *params, struct nlattr *opt,
		      struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_ZRTT_MAX + 1];
	u32 fault, flows = params->flows;
	int err;

	err = nla_parse(tb, TCA_ZRTT_MAX, nla_data(opt), nla_len(opt),
			zrtt_policy, extack);
	if (err) {
		if (extack && extack->bad_attr)
			zrtt_explain(extack, nla_type(extack->bad_attr));
		return err;
	}

	if (tb[TCA_ZRTT_MODE])
		zrtt_params_preset(params, nla_get_u32(tb[TCA_ZRTT_MODE]));
	zrtt_get_u32(tb, TCA_ZRTT_LIMIT, &params->limit);
	zrtt_get_u32(tb, TCA_ZRTT_MEMORY_LIMIT, &params->memory_limit);
	zrtt_get_u32(tb, TCA_ZRTT_CONTROLLER, &params->ctl.kind);
	zrtt_get_u32(tb, TCA_ZRTT_TARGET, &params->ctl.target_us);
	zrtt_get_u32(tb, TCA_ZRTT_TUPDATE, &params->ctl.tupdate_us);
	zrtt_get_u32(tb, TCA_ZRTT_THRESHOLD, &params->ctl.threshold);
	zrtt_get_u32(tb, TCA_ZRTT_FREEZE, &params->ctl.freeze_us);
	zrtt_get_u32(tb, TCA_ZRTT_INCREMENT, &params->ctl.increment_q30);
	zrtt_get_u32(tb, TCA_ZRTT_DECREMENT, &params->ctl.decrement_q30);
	zrtt_get_u32(tb, TCA_ZRTT_ALPHA_LAW, &params->law.alpha_kind);
	zrtt_get_u32(tb, TCA_ZRTT_ALPHA, &params->law.alpha_q16);
	zrtt_get_u32(tb, TCA_ZRTT_ALPHA_MAX, &params->law.alpha_max_q16);
	zrtt_get_u32(tb, TCA_ZRTT_PTH, &params->law.pth_q30);
	zrtt_get_u32(tb, TCA_ZRTT_FEEDBACK, &params->law.feedback);
	zrtt_get_u32(tb, TCA_ZRTT_MARK_MAX, &params->law.mark_max_q30);
	zrtt_get_u32(tb, TCA_ZRTT_FLOWS, &params->flows);
	zrtt_get_u32(tb, TCA_ZRTT_HINT, &params->hint);
	zrtt_get_u32(tb, TCA_ZRTT_MARK_RTT, &params->mark_mask);
	zrtt_get_flag(tb, TCA_ZRTT_STRIP, &params->strip);
	zrtt_get_flag(tb, TCA_ZRTT_HANDSHAKE, &params->handshake);
	zrtt_get_flag(tb, TCA_ZRTT_TIMESTAMPS, &params->timestamps);
	zrtt_get_flag(tb, TCA_ZRTT_QUIC, &params->quic);
	zrtt_get_flag(tb, TCA_ZRTT_ECN, &params->ecn);
	zrtt_get_flag(tb, TCA_ZRTT_SPLIT_GSO, &params->split_gso);
	zrtt_get_flag(tb, TCA_ZRTT_NAMES, &params->names);
	zrtt_get_flag(tb, TCA_ZRTT_LANES, &params->lanes);
	zrtt_get_flag(tb, TCA_ZRTT_L4S, &params->l4s);
	zrtt_get_hosts(tb, params);
	zrtt_get_shaper(tb, &params->shaper);
	zrtt_get_line(tb, params);
	zrtt_params_derive(params);

	fault = zrtt_find_fault(params);
	if (fault) {
		zrtt_explain(extack, fault);
		NL_SET_BAD_ATTR(extack, tb[fault]);
		return -EINVAL;
	}
	err = zrtt_refuse_together(params, tb, extack);
	if (err)
		return err;
	if (params->flows != flows && params->flows > TC_ZRTT_FLOWS_UNPRIV &&
	    !capable(CAP_NET_ADMIN)) {
		NL_SET_ERR_MSG(extack,
			       "sch_zrtt: flows above 65536 need CAP_NET_ADMIN in the initial user namespace");
		return -EPERM;
	}
	return 0;
}

static int zrtt_dump_params(struct sk_buff *skb, const struct zrtt_params *params)
{
	const struct { u16 attr; u32 value; } words[] = {
		{ TCA_ZRTT_MODE, params->mode },
		{ TCA_ZRTT_LIMIT, zrtt_params_limit(params) },
		{ TCA_ZRTT_CONTROLLER, params->ctl.kind },
		{ TCA_ZRTT_TARGET, params->ctl.target_us },
		{ TCA_ZRTT_TUPDATE, params->ctl.tupdate_us },
		{ TCA_ZRTT_THRESHOLD, params->ctl.threshold },
		{ TCA_ZRTT_FREEZE, params->ctl.freeze_us },
		{ TCA_ZRTT_INCREMENT, params->ctl.increment_q30 },
		{ TCA_ZRTT_DECREMENT, params->ctl.decrement_q30 },
		{ TCA_ZRTT_ALPHA_LAW, params->law.alpha_kind },
		{ TCA_ZRTT_ALPHA, params->law.alpha_q16 },
		{ TCA_ZRTT_ALPHA_MAX, params->law.alpha_max_q16 },
		{ TCA_ZRTT_PTH, params->law.pth_q30 },
		{ TCA_ZRTT_FEEDBACK, params->law.feedback },
		{ TCA_ZRTT_MARK_MAX, params->law.mark_max_q30 },
		{ TCA_ZRTT_FLOWS, params->flows },
		{ TCA_ZRTT_HINT, params->hint },
		{ TCA_ZRTT_MARK_RTT, params->mark_mask },
		{ TCA_ZRTT_MPU, params->shaper.mpu },
		{ TCA_ZRTT_ATM, params->shaper.atm },
		{ TCA_ZRTT_MEMORY_LIMIT, params->memory_limit },
		{ TCA_ZRTT_FAIR, params->fair },
		{ TCA_ZRTT_FAIR_MASK, params->fair_mask },
		{ TCA_ZRTT_PREFIX6, params->prefix6 },
		{ TCA_ZRTT_WEIGHT_MASK, params->weight_mask },
		{ TCA_ZRTT_AUTO, params->line.kind },
	};
	s32 overhead = params->shaper.overhead;
	struct nlattr *opts;
	u32 i;

	if (params->shaper.raw)
		overhead = TC_ZRTT_OVERHEAD_RAW;
	opts = nla_nest_start_noflag(skb, TCA_OPTIONS);
	if (!opts)
		return -EMSGSIZE;
	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (nla_put_u32(skb, words[i].attr, words[i].value))
			goto cancel;
	if (nla_put_u8(skb, TCA_ZRTT_STRIP, params->strip) ||
	    nla_put_u8(skb, TCA_ZRTT_HANDSHAKE, params->handshake) ||
	    nla_put_u8(skb, TCA_ZRTT_TIMESTAMPS, params->timestamps) ||
	    nla_put_u8(skb, TCA_ZRTT_QUIC, params->quic) ||
	    nla_put_u8(skb, TCA_ZRTT_ECN, params->ecn) ||
	    nla_put_u8(skb, TCA_ZRTT_SPLIT_GSO, params->split_gso) ||
	    nla_put_u8(skb, TCA_ZRTT_NAMES, params->names) ||
	    nla_put_u8(skb, TCA_ZRTT_LANES, params->lanes) ||
	    nla_put_u8(skb, TCA_ZRTT_L4S, params->l4s) ||
	    nla_put_u8(skb, TCA_ZRTT_NAT, params->nat) ||
	    nla_put(skb, TCA_ZRTT_WEIGHT_DSCP, sizeof(params->weight_q8),
		    params->weight_q8) ||
	    nla_put_u64_64bit(skb, TCA_ZRTT_BANDWIDTH, params->shaper.rate,
			      TCA_ZRTT_PAD) ||
	    nla_put_u64_64bit(skb, TCA_ZRTT_AUTO_MIN, params->line.min, TCA_ZRTT_PAD) ||
	    nla_put_u64_64bit(skb, TCA_ZRTT_AUTO_MAX, params->line.max, TCA_ZRTT_PAD) ||
	    nla_put_u64_64bit(skb, TCA_ZRTT_CEIL, params->ceil.rate, TCA_ZRTT_PAD) ||
	    nla_put_s32(skb, TCA_ZRTT_OVERHEAD, overhead))
		goto cancel;
	return nla_nest_end(skb, opts);

cancel:
	nla_nest_cancel(skb, opts);
	return -EMSGSIZE;
}

#endif
