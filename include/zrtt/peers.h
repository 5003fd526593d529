/* SPDX-License-Identifier: GPL-2.0 */
/*
 * All queues of a device as one. A link serves them in turn, and a hash puts flows into them,
 * so that the share of a flow would depend on how many others have its queue.
 *
 * Each queue is a peer of the others. At its tick it says what its flows sum up to and how
 * long its head waits. The first tick of a period updates the controller and the law of the
 * device, and each queue takes these over: P_b, the due share, RTT_avg and the mean weight
 * are of all flows. P_b follows the queues that wait. So flows are marked that have
 * more than their due share because few others have their queue, until it is theirs that
 * is empty when the link comes to it, and the link serves the others instead.
 *
 * A rate that the queues shape to is the device's, too. Of the queues that have something to
 * send, each has what its flows are due:
 *
 *   rate_q = rate (dues_q / sum of dues) (1 + lead / span)
 *
 * dues_q is the number of its flows that are held back, and what the others send in terms of
 * the due share; or of its hosts, each by the part of its flows that are in this queue. The
 * sum has, of a queue that takes less than its part, what it takes. What all have sent is on
 * one clock, and lead is how far that is behind time.
 *
 * Nothing is locked here: who calls this does that, once per tick, and for the rate once per
 * ZRTT_SPLIT_NS.
 */
#ifndef _ZRTT_PEERS_H
#define _ZRTT_PEERS_H

#include <linux/types.h>
#include <linux/math64.h>
#include "fixed.h"
#include "flow.h"
#include "host.h"
#include "table.h"
#include "shaper.h"
#include "controller.h"
#include "law.h"
#include "control.h"

/* What a queue said is believed for so many periods: it says it again in each, while it has
 * packets.
 */
#define ZRTT_PEER_PERIODS	2

/* The controller sees the mean over the flows that are held back of their queue's sojourn,
 * and of the longest one this part: it may have that many times what all are to have. By
 * the longest alone the link runs dry: it is that of another queue each time.
 */
#define ZRTT_PEER_LONGEST	2

/* How often a queue looks whether its part of the rate is another; as CAKE, but for the cost
 * of it where there are many queues, which has 0.2 ms.
 */
#define ZRTT_SPLIT_NS		1000000ULL

/* The span in which the sum of all queues is to come back to the rate: of a slow link it is
 * 8 full packets. Time that nobody used is made up for up to a quarter of it.
 */
#define ZRTT_SPLIT_SPAN_NS	16000000ULL
#define ZRTT_SPLIT_SPAN_BYTES	(8 * ZRTT_FULL_PACKET)
#define ZRTT_SPLIT_IDLE_SHIFT	2

#define ZRTT_SPLIT_RATE_LEAST	1000	/* bytes per second: its packets' times fit 64 bits */

/* Of a packet on the link, the rest goes on at the new rate where that is another by more
 * than a quarter. Each time may cost a byte: not for nothing.
 */
#define ZRTT_SPLIT_RETIME_SHIFT	2

#define ZRTT_DUES_FRAC		ZRTT_PART_FRAC
#define ZRTT_DUES_ONE		(1U << ZRTT_DUES_FRAC)
#define ZRTT_DUES_MAX		(1U << 30)	/* of as many flows as a table may have */
#define ZRTT_DUES_PART_FRAC	26	/* of a part of the sum: times 1.25 Tbit/s it fits 64 bits */

/* Of a queue with a part of a host that is held back: with more, BBR leaves 3 % of the rate
 * unused, with less, CUBIC 2 %.
 */
#define ZRTT_DUES_PART		(ZRTT_DUES_ONE / 2)

/* A queue takes all of its part if it was idle for less than this part of the time, and so the
 * time before: one burst does not last as long.
 */
#define ZRTT_SPLIT_IDLE_TIME_SHIFT	3
#define ZRTT_SPLIT_ALL		(1U << ZRTT_DUES_PART_FRAC)

/**
 * struct zrtt_peer - what a queue says of itself
 * @next: another queue of the device
 * @flows: what its flows sum up to
 * @hosts: what its hosts do; see zrtt_hosts_sums()
 * @flows_until_ns: when those would be silent for 2 s
 * @sojourn_us: how long its head waits, as controllers see it
 * @packet_us: what a packet adds to that
 * @sojourn_until_ns: when that is too old
 * @rate: of the device, bytes per second, as this queue was told it; 0 = it does not shape
 * @dues_q8: how many due shares it is to have, ZRTT_DUES_FRAC fraction bits
 * @taken_q8: how many of those it takes
 * @share_q26: of the rate it took this when it last asked, ZRTT_DUES_PART_FRAC fraction bits
 * @busy: that was about all of its part
 * @full: the time before, too
 * @begin_ns: when the packet that was next then could begin, by its shaper
 * @active_until_ns: until then it has something to send, or the link is busy with it
 */
struct zrtt_peer {
	struct zrtt_peer *next;
	struct zrtt_sums flows;
	struct zrtt_sums hosts;
	u64 flows_until_ns;
	u32 sojourn_us;
	u32 packet_us;
	u64 sojourn_until_ns;
	u64 rate;
	u32 dues_q8;
	u32 taken_q8;
	u32 share_q26;
	bool busy;
	bool full;
	u64 begin_ns;
	u64 active_until_ns;
};

/**
 * struct zrtt_device - what the queues of a device have in common
 * @peers: the first of them
 * @ctl: P_b
 * @law: the law
 * @hosts_law: of hosts; only their due share is used
 * @tick_ns: when the next tick is due
 * @rate: bytes per second: the least of what the queues were told
 * @cost_q20: nanoseconds that a byte takes, ZRTT_COST_FRAC fraction bits
 * @dues_q8: sum of those that have something to send
 * @taken_q8: the same of what they take
 * @to_split: @rate, corrected for what was sent
 * @split_ns: when these are too old
 * @busy_ns: until when the link is busy with what all queues sent
 */
struct zrtt_device {
	struct zrtt_peer *peers;
	struct zrtt_ctl ctl;
	struct zrtt_law law;
	struct zrtt_law hosts_law;
	u64 tick_ns;
	u64 rate;
	u64 cost_q20;
	u64 dues_q8;
	u64 taken_q8;
	u64 to_split;
	u64 split_ns;
	u64 busy_ns;
};

static inline void zrtt_peer_join(struct zrtt_device *d, struct zrtt_peer *peer)
{
	*peer = (struct zrtt_peer) { .next = d->peers };
	d->peers = peer;
}

static inline void zrtt_peer_leave(struct zrtt_device *d, const struct zrtt_peer *peer)
{
	struct zrtt_peer **at = &d->peers;

	while (*at && *at != peer)
		at = &(*at)->next;
	if (*at)
		*at = peer->next;
}

/* It goes on alone: the others forget what it said. */
static inline void zrtt_peer_mute(struct zrtt_peer *peer)
{
	*peer = (struct zrtt_peer) { .next = peer->next };
}

/* As many as the mean can be taken of: who has more is left out. */
#define ZRTT_COUNTED_MAX	0x7fffffffU

static inline void zrtt_sums_add(struct zrtt_sums *to, const struct zrtt_sums *sums)
{
	if (sums->counted > ZRTT_COUNTED_MAX - to->counted)
		return;
	to->sum_rate += sums->sum_rate;
	to->sum_log_rate += sums->sum_log_rate;
	to->sum_rtt_us += sums->sum_rtt_us;
	to->other_rate += sums->other_rate;
	to->young_rate += sums->young_rate;
	to->sum_log_flow += sums->sum_log_flow;
	to->counted += sums->counted;
	to->with_rtt += sums->with_rtt;
}

/* Sum up what all queues said. Return: their sojourn, as the controller is to see it; @packet_us is
 * what a packet adds to it.
 */
static inline u32 zrtt_device_sum(const struct zrtt_device *d, struct zrtt_sums *flows,
				  struct zrtt_sums *hosts, u32 *packet_us, u64 now_ns)
{
	const struct zrtt_peer *peer;
	u64 sum_us = 0, packets_us = 0;
	u32 mean_us, most_us = 0;

	for (peer = d->peers; peer; peer = peer->next) {
		if (now_ns >= peer->flows_until_ns)
			continue;
		zrtt_sums_add(flows, &peer->flows);
		zrtt_sums_add(hosts, &peer->hosts);
		if (now_ns >= peer->sojourn_until_ns)
			continue;
		sum_us += (u64)peer->sojourn_us * peer->flows.counted;
		packets_us += (u64)peer->packet_us * peer->flows.counted;
		if (peer->sojourn_us > most_us)
			most_us = peer->sojourn_us;
	}
	*packet_us = most_us;
	if (!flows->counted)
		return most_us;
	*packet_us = (u32)div_u64(packets_us, flows->counted);
	mean_us = (u32)div_u64(sum_us, flows->counted);
	most_us /= ZRTT_PEER_LONGEST;
	return mean_us > most_us ? mean_us : most_us;
}

/**
 * zrtt_peer_tick() - a tick of one of the queues
 * @params: parameters of the controller
 * @law_params: of the law
 * @d: device
 * @peer: the queue, its @flows and @hosts up to date
 * @law: its law, which has counted weights of packets
 * @sojourn_us: see zrtt_tick()
 * @backlog_pkts: see there
 * @now_ns: clock
 *
 * @d->ctl, @d->law and @d->hosts_law are those of the queue from now on.
 */
static inline void zrtt_peer_tick(const struct zrtt_ctl_params *params,
				  const struct zrtt_law_params *law_params,
				  struct zrtt_device *d, struct zrtt_peer *peer,
				  const struct zrtt_law *law, u32 sojourn_us,
				  u32 backlog_pkts, u64 now_ns)
{
	u64 period_ns = zrtt_ctl_period_us(params) * 1000ULL, late_ns;
	struct zrtt_sums flows = {}, hosts = {};
	u32 packet_us;

	peer->flows_until_ns = now_ns + ((u64)ZRTT_LIVE_EPOCHS << ZRTT_EPOCH_SHIFT);
	peer->sojourn_us = zrtt_ctl_sojourn(params, &d->ctl, sojourn_us, backlog_pkts);
	peer->packet_us = zrtt_ctl_packet_us(sojourn_us, backlog_pkts);
	peer->sojourn_until_ns = now_ns + ZRTT_PEER_PERIODS * period_ns;
	d->law.sum_p_q30 += law->sum_p_q30;
	d->law.weighed += law->weighed;
	d->law.sum_bytes += law->sum_bytes;
	d->law.sum_squares += law->sum_squares;
	if (now_ns < d->tick_ns)
		return;

	sojourn_us = zrtt_device_sum(d, &flows, &hosts, &packet_us, now_ns);
	late_ns = zrtt_ctl_late_ns(params, d->tick_ns, now_ns);
	if (!sojourn_us && d->tick_ns)
		zrtt_ctl_forget(params, &d->ctl, now_ns - d->tick_ns);
	zrtt_control(params, law_params, &d->ctl, &d->law, &flows,
		     zrtt_mean_rate_of_hosts(&flows, &hosts), sojourn_us, packet_us,
		     sojourn_us, sojourn_us ? late_ns : 0);
	zrtt_law_due(&d->hosts_law, &hosts, d->ctl.p_q30);
	d->tick_ns = now_ns + period_ns;
}

/**
 * zrtt_peer_dues() - how many due shares is a queue to have?
 * @held_q8: its flows or hosts that are held back, ZRTT_DUES_FRAC fraction bits
 * @other_rate: rates of the others
 * @due: the due share, bytes per epoch, 0 = not known
 * @least_q8: to be had whatever these say: a queue may just have woken
 *
 * Return: ZRTT_DUES_FRAC fraction bits
 */
static inline u32 zrtt_peer_dues(u64 held_q8, u64 other_rate, u32 due, u32 least_q8)
{
	u64 dues_q8 = held_q8;

	if (due)
		dues_q8 += div_u64(other_rate << ZRTT_DUES_FRAC, due);
	if (dues_q8 > ZRTT_DUES_MAX)
		return ZRTT_DUES_MAX;
	return dues_q8 < least_q8 ? least_q8 : (u32)dues_q8;
}

static inline bool zrtt_peer_active(const struct zrtt_peer *peer, u64 now_ns)
{
	return peer->rate && now_ns < peer->active_until_ns;
}

static inline u64 zrtt_device_span_ns(const struct zrtt_device *d)
{
	return ZRTT_SPLIT_SPAN_NS +
	       (ZRTT_SPLIT_SPAN_BYTES * d->cost_q20 >> ZRTT_COST_FRAC);
}

/* 1 + lead / span, Q16 */
static inline u64 zrtt_device_factor(struct zrtt_device *d, u64 now_ns)
{
	s64 span_ns = (s64)zrtt_device_span_ns(d);
	s64 lead_ns = (s64)(now_ns - d->busy_ns);

	if (lead_ns > span_ns >> ZRTT_SPLIT_IDLE_SHIFT)
		lead_ns = span_ns >> ZRTT_SPLIT_IDLE_SHIFT;
	if (lead_ns < -span_ns)
		lead_ns = -span_ns;
	d->busy_ns = now_ns - lead_ns;
	return div64_u64((u64)(span_ns + lead_ns) << ZRTT_Q16, span_ns);
}

/* Look who has something to send, and what there is to be split. All queues go by one look:
 * who asks first in each round must not see less of what the others sent.
 */
static inline void zrtt_device_look(struct zrtt_device *d, u64 now_ns)
{
	const struct zrtt_peer *peer;

	d->rate = 0;
	d->dues_q8 = 0;
	d->taken_q8 = 0;
	for (peer = d->peers; peer; peer = peer->next) {
		if (peer->rate && (!d->rate || peer->rate < d->rate))
			d->rate = peer->rate;
		if (!zrtt_peer_active(peer, now_ns))
			continue;
		d->dues_q8 += peer->dues_q8;
		d->taken_q8 += peer->taken_q8;
	}
	d->cost_q20 = d->rate ?
		div64_u64(ZRTT_NS_PER_S << ZRTT_COST_FRAC, d->rate) : 0;
	d->to_split = d->rate * zrtt_device_factor(d, now_ns) >> ZRTT_Q16;
	d->split_ns = now_ns + ZRTT_SPLIT_NS;
}

/* How long a link of @rate is busy with @sent bytes, nanoseconds; those of a second count, or
 * ZRTT_SHAPER_BYTES_MAX if that is more.
 */
static inline u64 zrtt_sent_ns(u64 rate, u64 cost_q20, u64 sent)
{
	u64 most = rate > ZRTT_SHAPER_BYTES_MAX ? rate : ZRTT_SHAPER_BYTES_MAX;

	return (sent < most ? sent : most) * cost_q20 >> ZRTT_COST_FRAC;
}

/**
 * zrtt_peer_took() - how much did a queue take of its part since it asked last?
 * @d: device
 * @peer: the queue, which asks next
 * @link: the link behind, with that part
 * @sent: bytes that it sent since
 * @begin_ns: when its next packet may begin, by its shaper; at least @peer->begin_ns if any left
 *
 * Time is its shaper's, which each packet is on for as long as it takes. One that was away for
 * the span is to have all of its part, until it is known what it takes.
 */
static inline void zrtt_peer_took(const struct zrtt_device *d, struct zrtt_peer *peer,
				  const struct zrtt_shaper_params *link, u64 sent, u64 begin_ns)
{
	u64 busy_ns = zrtt_sent_ns(link->rate, link->cost_q20, sent);
	u64 time_ns = begin_ns - peer->begin_ns, rate;
	bool busy, away;

	if ((s64)time_ns <= 0)
		return;
	if (busy_ns > time_ns)
		busy_ns = time_ns;
	busy = busy_ns >= time_ns - (time_ns >> ZRTT_SPLIT_IDLE_TIME_SHIFT);
	away = !busy && time_ns > zrtt_device_span_ns(d);
	peer->full = away || (busy && peer->busy);
	peer->busy = away || busy;
	rate = link->rate * div64_u64(busy_ns << ZRTT_Q16, time_ns) >> ZRTT_Q16;
	peer->share_q26 = rate < d->rate ?
		(u32)div64_u64(rate << ZRTT_DUES_PART_FRAC, d->rate) : ZRTT_SPLIT_ALL;
}

/* What a queue takes is in the sum if the others know that it has something to send. */
static inline void zrtt_peer_take(struct zrtt_device *d, struct zrtt_peer *peer, bool in_sum)
{
	u64 taken_q8 = peer->share_q26 * d->taken_q8 >> ZRTT_DUES_PART_FRAC;
	u64 others_q8 = d->taken_q8 > peer->taken_q8 ? d->taken_q8 - peer->taken_q8 : 0;

	if (peer->full || taken_q8 > peer->dues_q8)
		taken_q8 = peer->dues_q8;
	peer->taken_q8 = (u32)taken_q8;
	if (in_sum)
		d->taken_q8 = others_q8 + taken_q8;
}

static inline u32 zrtt_dues_part(u32 dues_q8, u64 sum_q8)
{
	return dues_q8 < sum_q8 ? (u32)div64_u64((u64)dues_q8 << ZRTT_DUES_PART_FRAC, sum_q8) :
				  ZRTT_SPLIT_ALL;
}

/* Of the rate: its dues, and all that others leave. But several that took little may want more
 * at once: beyond its dues of all, each may have twice what it took.
 */
static inline u32 zrtt_peer_part(const struct zrtt_device *d, const struct zrtt_peer *peer)
{
	u32 part = zrtt_dues_part(peer->dues_q8, d->taken_q8 - peer->taken_q8 + peer->dues_q8);
	u32 least = zrtt_dues_part(peer->dues_q8, d->dues_q8);

	if (least < 2 * peer->share_q26)
		least = 2 * peer->share_q26;
	return part < least ? part : least;
}

/**
 * zrtt_peer_split() - the part of the rate that a queue has
 * @d: device
 * @peer: the queue, which has something to send; see zrtt_peer_took()
 * @sent: bytes that it sent since it asked last
 * @now_ns: clock
 *
 * Its active_until_ns is to follow. Return: bytes per second, ZRTT_SPLIT_RATE_LEAST or more.
 */
static inline u64 zrtt_peer_split(struct zrtt_device *d, struct zrtt_peer *peer, u64 sent,
				  u64 now_ns)
{
	bool woke = !zrtt_peer_active(peer, now_ns);
	u64 rate;

	if (woke)
		peer->active_until_ns = now_ns + 1;
	d->busy_ns += zrtt_sent_ns(d->rate, d->cost_q20, sent);
	zrtt_peer_take(d, peer, !woke);
	if (woke || now_ns >= d->split_ns)
		zrtt_device_look(d, now_ns);
	rate = d->to_split * zrtt_peer_part(d, peer) >> ZRTT_DUES_PART_FRAC;
	if (rate > d->rate)
		rate = d->rate;
	return rate < ZRTT_SPLIT_RATE_LEAST ? ZRTT_SPLIT_RATE_LEAST : rate;
}

/* How long the link is busy with @bytes, nanoseconds. */
static inline u64 zrtt_link_ns(const struct zrtt_shaper_params *link, u32 bytes)
{
	return bytes * link->cost_q20 >> ZRTT_COST_FRAC;
}

/**
 * zrtt_split_due() - is a queue to ask for its part of the rate?
 * @s: its shaper
 * @link: the link behind, with the part that it has
 * @bytes: of the packet that is next
 * @split_ns: ZRTT_SPLIT_NS after it asked last
 * @now_ns: clock
 *
 * It is if that packet leaves now and takes so long that it would be forgotten meanwhile.
 */
static inline bool zrtt_split_due(const struct zrtt_shaper *s,
				  const struct zrtt_shaper_params *link, u32 bytes,
				  u64 split_ns, u64 now_ns)
{
	return now_ns >= split_ns ||
	       (zrtt_shaper_ready(s, now_ns) && zrtt_link_ns(link, bytes) > ZRTT_SPLIT_NS);
}

/* Until when it has something to send, whatever comes: then it asks again, or is empty. */
static inline u64 zrtt_split_until_ns(const struct zrtt_shaper *s,
				      const struct zrtt_shaper_params *link, u32 bytes,
				      u64 now_ns)
{
	u64 from_ns = zrtt_shaper_ready(s, now_ns) ? now_ns + zrtt_link_ns(link, bytes) :
						     s->next_ns;

	return from_ns + 2 * ZRTT_SPLIT_NS;
}

/**
 * zrtt_split_take() - a queue goes on with another part of the rate
 * @s: its shaper
 * @link: the link behind, with the part of before; set
 * @rate: what zrtt_peer_split() says
 * @now_ns: clock
 */
static inline void zrtt_split_take(struct zrtt_shaper *s, struct zrtt_shaper_params *link,
				   u64 rate, u64 now_ns)
{
	struct zrtt_shaper_params to = *link;
	u64 least = rate < link->rate ? rate : link->rate;
	u64 most = rate < link->rate ? link->rate : rate;

	to.rate = rate;
	zrtt_shaper_derive(&to);
	if (!zrtt_shaper_ready(s, now_ns) &&
	    most - least > most >> ZRTT_SPLIT_RETIME_SHIFT)
		zrtt_shaper_change(s, link, &to, now_ns);
	*link = to;
}

#endif
