// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: packets of any length that come and leave as the shaper lets them,
 * on links of any kind whose rate changes.
 *
 * Time is counted in a second way: what the link has sent since it last stood still.
 */
#include <linux/types.h>
#include <linux/pkt_sched_zrtt.h>
#include <zrtt/shaper.h>

#include "draw.h"
#include "expect.h"

#define LINK_BYTES_MAX	64
#define SEGS_MAX	65535
#define EVENTS		4	/* three of four are packets */

static unsigned __int128 q20(u64 x)
{
	return (unsigned __int128)x << ZRTT_COST_FRAC;
}

static struct zrtt_shaper_params draw_link(struct draw *d)
{
	u32 overheads = TC_ZRTT_OVERHEAD_MAX - TC_ZRTT_OVERHEAD_MIN;
	struct zrtt_shaper_params link = {
		.overhead = (s32)draw_between(d, 0, overheads) + TC_ZRTT_OVERHEAD_MIN,
		.mpu = draw_between(d, 0, TC_ZRTT_MPU_MAX),
		.atm = draw_index(d, __TC_ZRTT_ATM_MAX),
		.raw = draw_index(d, 2),
	};
	u64 rate = draw_u64(d);

	if (link.raw)
		link.overhead = 0;
	if (rate)
		link.rate = TC_ZRTT_BANDWIDTH_MIN + rate % (TC_ZRTT_BANDWIDTH_MAX -
							    TC_ZRTT_BANDWIDTH_MIN + 1);
	zrtt_shaper_derive(&link);
	return link;
}

static u32 draw_packet(struct draw *d, const struct zrtt_shaper_params *link)
{
	u32 link_len = draw_index(d, LINK_BYTES_MAX), segs = draw_between(d, 1, SEGS_MAX);
	u32 len = (u32)draw_u64(d);
	u32 bytes = zrtt_shaper_bytes(link, len, link_len, segs);

	expect(bytes <= ZRTT_SHAPER_BYTES_MAX, "longer than anything");
	expect(bytes == ZRTT_SHAPER_BYTES_MAX || bytes >= link->mpu, "below the MPU");
	if (segs == 1 && len < ~0U)
		expect(zrtt_shaper_bytes(link, len + 1, link_len, 1) >= bytes,
		       "shorter on the link if it is longer");
	if (link->raw && !link->atm && len >= link->mpu * segs &&
	    len < ZRTT_SHAPER_BYTES_MAX)
		expect(bytes == len, "not as long as the kernel counts");
	return bytes;
}

/* A packet that came at @came_ns leaves. */
static void check_leave(const struct zrtt_shaper_params *link, struct zrtt_shaper *s,
			u32 bytes, u64 came_ns, u64 now_ns)
{
	struct zrtt_shaper before = *s;
	u64 begin_ns = before.next_ns > came_ns ? before.next_ns : came_ns;
	unsigned __int128 cost_q20 = bytes;

	cost_q20 = cost_q20 * link->cost_q20 + before.rest_q20;

	zrtt_shaper_leave(link, s, bytes, came_ns, now_ns);
	expect(cost_q20 >> 64 == 0, "its time does not fit");
	expect(s->rest_q20 >> ZRTT_COST_FRAC == 0, "a rest of more than a nanosecond");
	expect(s->next_ns >= now_ns - ZRTT_SHAPER_LATE_NS ||
	       now_ns < ZRTT_SHAPER_LATE_NS, "more is made up for than may be");
	if (now_ns - begin_ns <= ZRTT_SHAPER_LATE_NS)
		expect(q20(s->next_ns - begin_ns) + s->rest_q20 == cost_q20,
		       "the link is not busy for as long as it takes");
}

/* What was on the link is, but for less than a byte and a nanosecond, still to be sent. */
static void check_change(struct zrtt_shaper *s, const struct zrtt_shaper_params *from,
			 const struct zrtt_shaper_params *to, u64 now_ns)
{
	u64 left_ns = s->next_ns > now_ns ? s->next_ns - now_ns : 0;
	unsigned __int128 left, want;

	zrtt_shaper_change(s, from, to, now_ns);
	expect(s->next_ns >= now_ns, "done before it changed");
	left = q20(s->next_ns - now_ns);
	if (!from->rate || !to->rate) {
		expect(!left, "nothing takes its time");
		return;
	}
	want = q20(left_ns) * to->cost_q20 / from->cost_q20;
	expect(left <= want, "more is left than was");
	expect(left + to->cost_q20 + (1U << ZRTT_COST_FRAC) > want, "less is left than was");
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct draw d = { .at = data, .left = size };
	struct zrtt_shaper_params link = draw_link(&d), other;
	u64 now_ns = draw_u64(&d) >> 2, came_ns;
	struct zrtt_shaper s = {};

	while (d.left) {
		if (!draw_index(&d, EVENTS)) {
			other = draw_link(&d);
			check_change(&s, &link, &other, now_ns);
			link = other;
			continue;
		}
		now_ns += draw_gap_ns(&d);
		came_ns = now_ns - draw_u64(&d) % (now_ns + 1);
		if (!zrtt_shaper_ready(&s, now_ns))
			now_ns = s.next_ns;
		check_leave(&link, &s, draw_packet(&d, &link), came_ns, now_ns);
	}
	return 0;
}
