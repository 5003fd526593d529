// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <stddef.h>
#include <string.h>

#include <netlink/attr.h>
#include <netlink/msg.h>

#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

#include "decode.h"

#define HOSTS_END	(offsetof(struct tc_zrtt_xstats, hosts_evicted) + sizeof(__u64))
#define LANES_END	(offsetof(struct tc_zrtt_xstats, lane) + \
			 sizeof(((struct tc_zrtt_xstats *)0)->lane))

/*
 * Attributes are parsed without a policy, which would refuse the whole message
 * for one attribute that another kernel version encodes differently.
 */
struct object {
	struct tcmsg *tcm;
	struct nlattr *attrs[TCA_MAX + 1];
};

static bool parse(struct nlmsghdr *message, struct object *object, const char *kind)
{
	object->tcm = nlmsg_data(message);
	if (nlmsg_parse(message, sizeof(*object->tcm), object->attrs, TCA_MAX, NULL))
		return false;
	return object->attrs[TCA_KIND] && !nla_strcmp(object->attrs[TCA_KIND], kind);
}

static void parse_nest(struct nlattr *nest, struct nlattr **attrs, int max)
{
	memset(attrs, 0, sizeof(*attrs) * (max + 1));
	if (nest)
		nla_parse_nested(attrs, max, nest, NULL);
}

/* @to stays as it is if the attribute is missing or too short. */
static bool take(void *to, size_t size, const struct nlattr *attr)
{
	if (!attr || (size_t)nla_len(attr) < size)
		return false;
	memcpy(to, nla_data(attr), size);
	return true;
}

#define TAKE(to, attr)	take(&(to), sizeof(to), attr)

static void decode_stats(struct nlattr *nest, struct instance *instance)
{
	struct nlattr *stats[TCA_STATS_MAX + 1];
	struct gnet_stats_basic basic = { };

	parse_nest(nest, stats, TCA_STATS_MAX);
	nla_memcpy(&basic, stats[TCA_STATS_BASIC], sizeof(basic));
	instance->bytes = basic.bytes;
	if (!TAKE(instance->packets, stats[TCA_STATS_PKT64]))
		instance->packets = basic.packets;
	TAKE(instance->queue, stats[TCA_STATS_QUEUE]);
	/* The structure only grows: shorter is older, longer is newer. */
	nla_memcpy(&instance->xstats, stats[TCA_STATS_APP], sizeof(instance->xstats));
	instance->has_lanes = stats[TCA_STATS_APP] &&
			      (size_t)nla_len(stats[TCA_STATS_APP]) >= LANES_END;
	instance->has_hosts = stats[TCA_STATS_APP] &&
			      (size_t)nla_len(stats[TCA_STATS_APP]) >= HOSTS_END;
	if (!instance->xstats.dq_rate64)
		instance->xstats.dq_rate64 = instance->xstats.dq_rate;
}

static __u32 flows_unknown(const struct tc_zrtt_xstats *st)
{
	__u64 known = (__u64)st->flows_hinted + st->flows_marked +
		      st->flows_timestamps + st->flows_handshake + st->flows_quic;

	return known < st->flows ? st->flows - known : 0;
}

bool decode_qdisc(struct nlmsghdr *message, struct instance *instance)
{
	struct nlattr *options[TCA_ZRTT_MAX + 1];
	struct object qdisc;

	if (message->nlmsg_type != RTM_NEWQDISC || !parse(message, &qdisc, "zrtt"))
		return false;
	*instance = (struct instance){
		.ifindex = qdisc.tcm->tcm_ifindex,
		.handle = qdisc.tcm->tcm_handle,
		.parent = qdisc.tcm->tcm_parent,
	};
	decode_stats(qdisc.attrs[TCA_STATS2], instance);
	instance->flows_unknown = flows_unknown(&instance->xstats);
	parse_nest(qdisc.attrs[TCA_OPTIONS], options, TCA_ZRTT_MAX);
	TAKE(instance->target_us, options[TCA_ZRTT_TARGET]);
	TAKE(instance->bandwidth, options[TCA_ZRTT_BANDWIDTH]);
	TAKE(instance->prefix6, options[TCA_ZRTT_PREFIX6]);
	TAKE(instance->nat, options[TCA_ZRTT_NAT]);
	return true;
}

static void decode_addresses(struct nlattr **attrs, struct flow *flow)
{
	const struct nlattr *src = attrs[TCA_ZRTT_FLOW_SRC];
	const struct nlattr *dst = attrs[TCA_ZRTT_FLOW_DST];
	size_t len = src ? nla_len(src) : 0;

	if (len != sizeof(struct in_addr) && len != sizeof(struct in6_addr))
		return;
	if (!take(flow->src, len, src) || !take(flow->dst, len, dst))
		return;
	flow->address_len = len;
	TAKE(flow->protocol, attrs[TCA_ZRTT_FLOW_PROTOCOL]);
	flow->has_ports = TAKE(flow->sport, attrs[TCA_ZRTT_FLOW_SPORT]) &&
			  TAKE(flow->dport, attrs[TCA_ZRTT_FLOW_DPORT]);
	flow->sport = ntohs(flow->sport);
	flow->dport = ntohs(flow->dport);
}

/* Clear what is not the host's. */
static void cut_prefix(__u8 *address, __u32 prefix)
{
	size_t i;

	for (i = 0; i < sizeof(struct in6_addr); i++) {
		if (prefix < 8 * (i + 1))
			address[i] &= prefix > 8 * i ? 0xff << (8 * (i + 1) - prefix) : 0;
	}
}

/* @flow has its addresses. Behind NAT they may be others than those of hosts. */
static void decode_host(struct nlattr **attrs, const struct instance *qdisc,
			struct flow *flow)
{
	struct host *host = &flow->host;
	__u8 end;

	TAKE(host->number, attrs[TCA_ZRTT_FLOW_HOST]);
	TAKE(host->rate, attrs[TCA_ZRTT_FLOW_HOST_RATE]);
	TAKE(host->due, attrs[TCA_ZRTT_FLOW_HOST_DUE]);
	TAKE(host->flows, attrs[TCA_ZRTT_FLOW_HOST_FLOWS]);
	TAKE(host->penalty, attrs[TCA_ZRTT_FLOW_HOST_PENALTY]);
	host->has_mark = TAKE(host->mark, attrs[TCA_ZRTT_FLOW_HOST_MARK]);
	if (qdisc->nat || !TAKE(end, attrs[TCA_ZRTT_FLOW_HOST_END]))
		return;
	host->is_source = end == TC_ZRTT_END_SOURCE;
	host->address_len = flow->address_len;
	host->prefix6 = qdisc->prefix6;
	memcpy(host->address, host->is_source ? flow->src : flow->dst, sizeof(flow->src));
	if (host->address_len == sizeof(struct in6_addr))
		cut_prefix(host->address, host->prefix6);
}

bool decode_class(struct nlmsghdr *message, const struct instance *qdisc,
		  struct flow *flow)
{
	struct nlattr *attrs[TCA_ZRTT_FLOW_MAX + 1];
	struct object class;

	if (message->nlmsg_type != RTM_NEWTCLASS || !parse(message, &class, "zrtt"))
		return false;
	if (class.tcm->tcm_ifindex != qdisc->ifindex ||
	    TC_H_MAJ(class.tcm->tcm_parent) != qdisc->handle)
		return false;
	*flow = (struct flow){ .handle = class.tcm->tcm_handle };
	parse_nest(class.attrs[TCA_OPTIONS], attrs, TCA_ZRTT_FLOW_MAX);
	TAKE(flow->rtt_us, attrs[TCA_ZRTT_FLOW_RTT]);
	TAKE(flow->source, attrs[TCA_ZRTT_FLOW_SOURCE]);
	TAKE(flow->rate, attrs[TCA_ZRTT_FLOW_RATE]);
	TAKE(flow->prob, attrs[TCA_ZRTT_FLOW_PROB]);
	decode_addresses(attrs, flow);
	decode_host(attrs, qdisc, flow);
	return true;
}

/* The tc_ratespec at @offset of attribute @parms; its 64 bits, if it needs them, in @rate64. */
static __u64 decode_rate(struct nlattr *nest, int parms, size_t offset, int rate64)
{
	struct nlattr *options[TCA_HTB_MAX + 1];	/* more than tbf has */
	struct tc_ratespec spec = { };
	__u64 rate;

	parse_nest(nest, options, TCA_HTB_MAX);
	if (options[parms] && (size_t)nla_len(options[parms]) >= offset + sizeof(spec))
		memcpy(&spec, (char *)nla_data(options[parms]) + offset, sizeof(spec));
	return TAKE(rate, options[rate64]) ? rate : spec.rate;
}

__u64 decode_shaper(struct nlmsghdr *message)
{
	struct object object;

	if (message->nlmsg_type == RTM_NEWTCLASS && parse(message, &object, "htb"))
		return decode_rate(object.attrs[TCA_OPTIONS], TCA_HTB_PARMS,
				   offsetof(struct tc_htb_opt, ceil), TCA_HTB_CEIL64);
	if (message->nlmsg_type == RTM_NEWQDISC && parse(message, &object, "tbf"))
		return decode_rate(object.attrs[TCA_OPTIONS], TCA_TBF_PARMS,
				   offsetof(struct tc_tbf_qopt, rate), TCA_TBF_RATE64);
	return 0;
}
