// SPDX-License-Identifier: GPL-2.0
/* ceil.h, and what fair.h and zrtt.h make of it: what a host has at most. */
#include "unit.h"
#include "weight.h"
#include <zrtt/zrtt.h>

#define SLOTS		64
#define PACKET		1514
#define CEIL		2500000ULL	/* bytes per second, 20 Mbit/s */
#define PERIOD_NS	16000000ULL	/* of P_c */
#define TARGET_NS	(ZRTT_CEIL_TARGET_US * 1000ULL)
#define HOST(n)		(ZRTT_TAG | 0x2000 | (n))
#define FLOW(n)		(ZRTT_TAG | 0x1000 | (n))

static struct zrtt_ceil_params ceil_of(u64 rate)
{
	struct zrtt_ceil_params params = { .rate = rate };
	struct zrtt_params whole;

	zrtt_params_init(&whole);
	zrtt_ceil_derive(&params, &whole.ctl);
	return params;
}

/* A host that sends and is not answered. */
struct sender {
	struct zrtt_ceil_params params;
	struct zrtt_ceil ceil;
	u64 now_ns;
	u64 passed;		/* bytes that were not above the longest queue */
	u64 dropped;		/* bytes that were */
};

static struct sender new_sender(u64 ceil)
{
	return (struct sender) { .params = ceil_of(ceil), .now_ns = 1000 * PERIOD_NS };
}

static void send_packet(struct sender *s, u32 bytes)
{
	zrtt_ceil_join(&s->params, &s->ceil, HOST(1), bytes, s->now_ns);
	if (zrtt_ceil_tick_due(&s->ceil, s->now_ns))
		zrtt_ceil_tick(&s->params, &s->ceil, 0, 0, s->ceil.others_q8, s->now_ns);
	if (zrtt_ceil_exceeds(&s->params, &s->ceil, s->now_ns)) {
		zrtt_ceil_leave(&s->ceil);
		s->dropped += bytes;
	} else {
		s->passed += bytes;
	}
}

/* Full packets at @rate, bytes per second. */
static void send_at(struct sender *s, double rate, double seconds)
{
	u64 gap_ns = (u64)(PACKET / rate * 1e9), end_ns = s->now_ns + (u64)(seconds * 1e9);

	for (; s->now_ns < end_ns; s->now_ns += gap_ns)
		send_packet(s, PACKET);
}

/* The virtual queue */

static void below_the_ceiling_nothing_is_marked(void **state)
{
	struct sender s = new_sender(CEIL);

	(void)state;
	send_at(&s, 0.95 * CEIL, 30);
	assert_int_equal(s.ceil.base_q30, 0);
	assert_int_equal(s.dropped, 0);
	assert_false(s.ceil.held);
}

static void above_it_marks_grow(void **state)
{
	struct sender s = new_sender(CEIL);
	u32 before;

	(void)state;
	send_at(&s, 1.2 * CEIL, 2);
	assert_true(s.ceil.held);
	before = s.ceil.base_q30;
	assert_true(before > 0);
	send_at(&s, 1.2 * CEIL, 2);
	assert_true(s.ceil.base_q30 > before);
}

/* Half a second of the ceiling passes at once, and then the ceiling. */
static void who_does_not_answer_has_the_ceiling(void **state)
{
	static const double rates[] = { 1.1, 2, 50 };
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(rates); i++) {
		struct sender s = new_sender(CEIL);

		send_at(&s, rates[i] * CEIL, 20);
		assert_near(s.passed / (20.5 * CEIL), 1, 0.002);
	}
}

/* As on a link, the root of P_c halves each 537 ms from when the virtual queue is empty. */
static void idle_host_is_forgiven(void **state)
{
	struct sender s = new_sender(CEIL);
	struct zrtt_ceil c;
	u32 before;

	(void)state;
	send_at(&s, 2 * CEIL, 20);
	before = s.ceil.ctl.p_q30;
	c = s.ceil;
	zrtt_ceil_join(&s.params, &c, HOST(1), PACKET, c.empty_ns + (1ULL << ZRTT_IDLE_HALVING_SHIFT));
	assert_near(c.ctl.p_q30, before / 4.0, before / 1000.0);
	s.now_ns += 3000000000ULL;
	send_packet(&s, PACKET);
	assert_true(s.ceil.ctl.p_q30 < before / 64);
	assert_near(zrtt_ceil_wait_ns(&s.ceil, s.now_ns), PACKET * 1e9 / CEIL, 1);
}

/* None of a sparse flow's is dropped; what it had is not held against the host for long. */
static void virtual_queue_has_an_end(void **state)
{
	struct sender s = new_sender(CEIL);
	u32 i;

	(void)state;
	for (i = 0; i < 100000; i++)
		zrtt_ceil_join(&s.params, &s.ceil, HOST(1), 65536, s.now_ns);
	assert_true(zrtt_ceil_wait_ns(&s.ceil, s.now_ns) <= 2 * TARGET_NS + 65536 * 1000000000ULL / CEIL);
	/* nor can a packet be so long that its time does not fit */
	s.ceil.empty_ns = s.now_ns;
	zrtt_ceil_join(&s.params, &s.ceil, HOST(1), ~0U, s.now_ns);
	assert_near(zrtt_ceil_wait_ns(&s.ceil, s.now_ns), ZRTT_SHAPER_BYTES_MAX * 1e9 / CEIL, 1000);
}

static void slow_ceiling_has_room_for_a_window(void **state)
{
	struct zrtt_ceil_params slow = ceil_of(1000), fast = ceil_of(CEIL);

	(void)state;
	assert_int_equal(fast.ctl.target_us, ZRTT_CEIL_TARGET_US);
	assert_int_equal(slow.ctl.target_us, 6 * PACKET * 1000);
	assert_int_equal(ceil_of(12000).ctl.target_us, 6 * PACKET * 1000 / 12);
	assert_int_equal(fast.epoch_bytes, (u64)(CEIL * (double)(1 << ZRTT_EPOCH_SHIFT) / 1e9));
	assert_near(fast.log_rate, zrtt_log2(fast.epoch_bytes), 0);
	assert_int_equal(ceil_of(0).cost_q20, 0);
	assert_int_equal(ceil_of(0).log_rate, 0);
}

/* Else hosts would have that as a due share. */
static void nothing_is_left_of_a_ceiling_that_is_taken_away(void **state)
{
	struct zrtt_ceil_params params = ceil_of(CEIL);
	struct zrtt_params whole;

	(void)state;
	zrtt_params_init(&whole);
	params.rate = 0;
	zrtt_ceil_derive(&params, &whole.ctl);
	assert_int_equal(params.log_rate, 0);
	assert_int_equal(params.epoch_bytes, 0);
	assert_int_equal(params.cost_q20, 0);
}

/* Whatever finds P_b, with its gains and what follows from them. */
static void p_c_is_found_by_pi2(void **state)
{
	struct zrtt_ceil_params params = { .rate = CEIL };
	struct zrtt_ctl_params derived;
	struct zrtt_params whole;

	(void)state;
	zrtt_params_init(&whole);
	whole.ctl.kind = ZRTT_CTL_BLUE;
	zrtt_ceil_derive(&params, &whole.ctl);
	assert_int_equal(params.ctl.kind, ZRTT_CTL_PI2);
	derived = params.ctl;
	zrtt_ctl_derive(&derived);
	assert_memory_equal(&params.ctl, &derived, sizeof(derived));
}

static void new_host_of_a_slot_owes_nothing(void **state)
{
	struct sender s = new_sender(CEIL);

	(void)state;
	send_at(&s, 2 * CEIL, 20);
	zrtt_ceil_join(&s.params, &s.ceil, HOST(2), PACKET, s.now_ns);
	assert_int_equal(s.ceil.ctl.p_q30, 0);
	assert_int_equal(s.ceil.tag, HOST(2));
	assert_near(zrtt_ceil_wait_ns(&s.ceil, s.now_ns), PACKET * 1e9 / CEIL, 1);
}

/* Where others have three quarters, a quarter is left. */
static void queues_of_a_device_share_a_ceiling(void **state)
{
	struct sender s = new_sender(CEIL);

	(void)state;
	s.ceil.tag = HOST(1);
	s.ceil.others_q8 = 192;
	send_at(&s, CEIL, 20);
	assert_near(s.passed / (20.5 * CEIL / 4), 1, 0.01);
}

/* However long a packet is at what is left of a ceiling, it passes where none is before it: as what
 * GSO makes of a window does, below mq. Of many the ceiling passes.
 */
static void packet_is_not_too_long_by_itself(void **state)
{
	static const u64 ceils[] = { CEIL, 20000 };
	struct sender s;
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(ceils); i++) {
		s = new_sender(ceils[i]);
		s.ceil.tag = HOST(1);
		s.ceil.others_q8 = i ? 0 : 255;
		send_packet(&s, 65536);
		assert_int_equal(s.passed, 65536);
		send_packet(&s, 65536);
		assert_int_equal(s.dropped, 65536);
	}
	/* 0.66 s are longer than the target, 0.33 s before one are not */
	s = new_sender(200000);
	for (i = 0; i < 2; i++) {
		send_packet(&s, 65536);
		assert_int_equal(s.dropped, 0);
	}
	send_packet(&s, 65536);
	assert_int_equal(s.dropped, 65536);
	s = new_sender(CEIL);
	s.ceil.tag = HOST(1);
	s.ceil.others_q8 = 255;
	for (i = 0; i < 100000; i++, s.now_ns += 5000000)
		send_packet(&s, 65536);
	assert_near(s.passed / (500 * CEIL / 256.0), 1, 0.03);
}

/* What is dropped has taken nothing, whatever the queue was and has become since it came. */
static void dropped_packet_takes_nothing(void **state)
{
	struct sender s = new_sender(CEIL);
	u64 before_ns;

	(void)state;
	zrtt_ceil_join(&s.params, &s.ceil, HOST(1), PACKET, s.now_ns);
	before_ns = s.ceil.empty_ns;
	/* others have most of the ceiling by now */
	zrtt_ceil_join(&s.params, &s.ceil, HOST(1), PACKET, s.now_ns);
	zrtt_ceil_tick(&s.params, &s.ceil, 0, 0, 250, s.now_ns);
	zrtt_ceil_leave(&s.ceil);
	assert_int_equal(s.ceil.empty_ns, before_ns);
	while (!zrtt_ceil_full(&s.params, &s.ceil, s.now_ns))
		zrtt_ceil_join(&s.params, &s.ceil, HOST(1), PACKET, s.now_ns);
	before_ns = s.ceil.empty_ns;
	zrtt_ceil_join(&s.params, &s.ceil, HOST(1), PACKET, s.now_ns);
	zrtt_ceil_leave(&s.ceil);
	assert_int_equal(s.ceil.empty_ns, before_ns);
}

/* A host has sent above a low ceiling for long, and has a high one now; or the other way round. */
static void host_has_its_new_ceiling_at_once(void **state)
{
	static const u64 low[] = { 1000, 20000, CEIL / 2 };
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(low); i++) {
		struct sender s = new_sender(low[i]);
		u64 wait_ns;

		send_at(&s, 10 * low[i], 60);
		wait_ns = zrtt_ceil_wait_ns(&s.ceil, s.now_ns);
		s.params = ceil_of(CEIL);
		s.passed = s.dropped = 0;
		send_packet(&s, 1);
		/* it owes as many bytes */
		assert_near(zrtt_ceil_wait_ns(&s.ceil, s.now_ns) * 1e-9 * CEIL,
			    wait_ns * 1e-9 * low[i], 2 + wait_ns * 1e-9 * CEIL / 4096);
		send_at(&s, 0.9 * CEIL, 2);
		assert_int_equal(s.dropped, 0);
		send_at(&s, 2 * CEIL, 30);
		s.params = ceil_of(low[i]);
		s.passed = 0;
		send_at(&s, 2 * CEIL, 20);
		assert_true(s.passed <= low[i] * 20.5 + 6 * PACKET);
	}
}

/* A host of any past, at any time: where zrtt_ceil_add() is said to be enough, it is. */
static void short_cut_of_a_packet_leads_to_the_same(void **state)
{
	const struct zrtt_ceil_params params = ceil_of(CEIL);
	u32 i, taken = 0;
	u64 seed = 7;

	(void)state;
	for (i = 0; i < 100000; i++) {
		u64 now_ns = 1000 * PERIOD_NS, late_ns = unit_spread(&seed, 0, ~0U);
		u32 tag = HOST(unit_between(&seed, 1, 2)), p_q30 = unit_between(&seed, 1, 2);
		struct zrtt_ceil c = {
			.tag = HOST(1), .p_q30 = 1, .epoch_bytes = params.epoch_bytes,
			.empty_ns = now_ns - late_ns + unit_spread(&seed, 0, ~0U),
			.tick_ns = now_ns + PERIOD_NS / 2 - unit_between(&seed, 0, PERIOD_NS),
		}, joined;

		zrtt_ctl_set(&c.ctl, ZRTT_P_ONE / 3);
		joined = c;
		if (!zrtt_ceil_goes_on(&c, tag, p_q30, now_ns))
			continue;
		taken++;
		zrtt_ceil_add(&params, &c, PACKET, now_ns);
		zrtt_ceil_join(&params, &joined, tag, PACKET, now_ns);
		assert_memory_equal(&c, &joined, sizeof(c));
		assert_int_equal(c.p_q30, p_q30);
		assert_false(zrtt_ceil_tick_due(&c, now_ns));
	}
	/* and often it is */
	assert_true(taken > 5000);
}

/* A queue of hosts with a ceiling, in which nothing waits. */
static struct zrtt_vars *new_vars(struct zrtt_params *params, u64 ceil)
{
	struct zrtt_vars *vars = calloc(1, sizeof(*vars));

	zrtt_params_init(params);
	params->fair = ZRTT_FAIR_SRCHOST;
	params->ceil.rate = ceil;
	zrtt_params_derive(params);
	zrtt_table_init(&vars->table, calloc(SLOTS, sizeof(struct zrtt_flow)), SLOTS);
	vars->table.members = calloc(SLOTS, sizeof(struct zrtt_member));
	zrtt_table_init(&vars->hosts.table, calloc(SLOTS, sizeof(struct zrtt_flow)), SLOTS);
	vars->hosts.groups = calloc(SLOTS, sizeof(struct zrtt_group));
	vars->hosts.ceils = calloc(SLOTS, sizeof(struct zrtt_ceil));
	vars->table.groups = vars->hosts.groups;
	return vars;
}

static void free_vars(struct zrtt_vars *vars)
{
	free(vars->table.slots);
	free(vars->table.members);
	free(vars->hosts.table.slots);
	free(vars->hosts.groups);
	free(vars->hosts.ceils);
	free(vars);
}

/* Return: whether it passed. */
static bool pass(const struct zrtt_params *params, struct zrtt_vars *vars, u32 flow, u32 host,
		 u32 bytes, u64 *rnd, u64 now_ns)
{
	const struct zrtt_arrival pkt = {
		.tag = FLOW(flow), .bytes = bytes, .host_bytes = bytes, .hosts = { HOST(host) },
		.weight_q8 = ZRTT_WEIGHT_ONE, .host_weight = 1, .segs = 1,
	};
	struct zrtt_stats stats = {};
	struct zrtt_flow *f;

	if (zrtt_tick_due(vars, now_ns))
		zrtt_tick(params, vars, 0, 0, now_ns);
	f = zrtt_arrive(params, vars, &stats, &pkt, (u32)unit_random(rnd), now_ns);
	return zrtt_mark_or_drop(params, vars, f, &pkt, (u32)unit_random(rnd), now_ns) !=
	       ZRTT_DROP;
}

/* P_b and P_c */

static void larger_of_the_two_counts(void **state)
{
	const struct zrtt_ceil_params params = ceil_of(CEIL);
	struct zrtt_ceil c = { .tag = HOST(1) };
	u64 now_ns = PERIOD_NS;

	(void)state;
	/* all flows of the host have 4 times P_b */
	zrtt_ceil_tick(&params, &c, ZRTT_P_ONE / 100, 2 << ZRTT_Q16, 0, now_ns);
	assert_near(c.base_q30, ZRTT_P_ONE / 25, ZRTT_P_ONE / 1e5);
	assert_false(c.held);
	zrtt_ctl_set(&c.ctl, ZRTT_P_ONE / 4);
	c.empty_ns = now_ns + PERIOD_NS + TARGET_NS / 2;
	zrtt_ceil_tick(&params, &c, ZRTT_P_ONE / 100, 2 << ZRTT_Q16, 0, now_ns + PERIOD_NS);
	assert_near(c.base_q30, ZRTT_P_ONE / 4, ZRTT_P_ONE / 100);
	assert_true(c.held);
	/* out of range is bounded, not wrapped */
	zrtt_ceil_tick(&params, &c, ZRTT_P_ONE, 100 << ZRTT_Q16, 0, now_ns + 2 * PERIOD_NS);
	assert_int_equal(c.base_q30, ~0U);
}

/* Twice the target is there only if nothing of it may be dropped: then no more goes ahead. */
static void sparse_flows_above_the_ceiling_fill_it(void **state)
{
	const struct zrtt_ceil_params params = ceil_of(CEIL);
	struct zrtt_ceil c = { .tag = HOST(1) };
	u64 now_ns = PERIOD_NS;

	(void)state;
	while (!zrtt_ceil_exceeds(&params, &c, now_ns))
		zrtt_ceil_join(&params, &c, HOST(1), PACKET, now_ns);
	assert_false(zrtt_ceil_full(&params, &c, now_ns));
	while (!zrtt_ceil_full(&params, &c, now_ns))
		zrtt_ceil_join(&params, &c, HOST(1), PACKET, now_ns);
	assert_near(zrtt_ceil_wait_ns(&c, now_ns), 2 * TARGET_NS, PACKET * 1e9 / CEIL);
	zrtt_ceil_join(&params, &c, HOST(1), PACKET, now_ns);
	assert_false(zrtt_ceil_full(&params, &c, now_ns + TARGET_NS));
}

/* Between two updates of P_c weights follow P_b as it is, and so does their mean. */
static void p_b_is_followed_at_once(void **state)
{
	static const u32 steps_q30[] = { 0, ZRTT_P_ONE / 1000, ZRTT_P_ONE / 50, ZRTT_P_ONE / 100 };
	struct zrtt_params params;
	struct zrtt_vars *vars = new_vars(&params, 100 * CEIL);
	u64 rnd = 7, now_ns = 100 * PERIOD_NS;
	u32 i, packets;

	(void)state;
	pass(&params, vars, 0, 1, PACKET, &rnd, now_ns);
	for (i = 0; i < ARRAY_LEN(steps_q30); i++) {
		vars->ctl.p_q30 = vars->law.p_q30 = steps_q30[i];
		vars->law.sum_p_q30 = vars->law.weighed = 0;
		for (packets = 0; packets < 10; packets++)
			pass(&params, vars, 0, 1, PACKET, &rnd, now_ns);
		assert_int_equal(vars->law.weighed, 10);
		assert_near(vars->law.sum_p_q30 / 10.0, steps_q30[i], steps_q30[i] / 100.0);
	}
	free_vars(vars);
}

/* What a flow's P_i is by P_b: the same whether hosts have a ceiling or not. */
static void ceiling_that_holds_nobody_changes_nothing(void **state)
{
	const struct zrtt_ceil_params params = ceil_of(100 * CEIL);
	struct zrtt_law plain = { .log_norm = -(3 << ZRTT_Q16), .p_q30 = ZRTT_P_ONE / 50,
				  .log_due = 17 << ZRTT_Q16 }, capped;
	struct zrtt_law_params law_params = { .feedback = 2, .tuned = true };
	struct zrtt_flow f = { .rate = 1 << 16, .penalty_q16 = 1 << ZRTT_Q16 };
	struct zrtt_ceil c = {};
	double want, got;

	(void)state;
	zrtt_ceil_tick(&params, &c, plain.p_q30, -(2 << ZRTT_Q16), 0, PERIOD_NS);
	capped = plain;
	zrtt_ceil_law(&c, &capped);
	/* of new flows, too */
	assert_int_equal(capped.log_first, plain.log_first + (2 << ZRTT_Q16));
	want = weight_value(zrtt_weight(&law_params, &plain, &f)) * plain.p_q30;
	got = weight_value(zrtt_weight(&law_params, &capped, &f)) * c.base_q30;
	assert_near(got / want, 1, 0.001);
	assert_int_equal(capped.gain_q16, plain.gain_q16);
}

/* Hosts */

/* Two flows of a host that answer nothing, at 3 and 1 times the ceiling, and one of another host at
 * half of it, each a packet in turn. Return: what passed of them in 30 s, in ceilings.
 */
static void run_three(struct zrtt_params *params, struct zrtt_vars *vars, double *shares)
{
	static const double rates[] = { 3, 1, 0.5 };
	u64 rnd = 7, now_ns, next_ns[3] = {}, begin_ns = 100 * PERIOD_NS;
	const u64 seconds = 30;
	u64 passed[3] = {};
	u32 i;

	for (now_ns = begin_ns; now_ns < begin_ns + seconds * 1000000000ULL; now_ns += 50000) {
		for (i = 0; i < 3; i++) {
			if (now_ns < next_ns[i])
				continue;
			next_ns[i] = (next_ns[i] ? next_ns[i] : now_ns) +
				     (u64)(PACKET * 1e9 / (rates[i] * CEIL));
			if (pass(params, vars, i, i == 2 ? 2 : 1, PACKET, &rnd, now_ns))
				passed[i] += PACKET;
		}
	}
	for (i = 0; i < 3; i++)
		shares[i] = passed[i] / (double)(CEIL * seconds);
}

static void host_has_its_ceiling_and_its_flows_share_it(void **state)
{
	struct zrtt_params params;
	struct zrtt_vars *vars = new_vars(&params, CEIL);
	const struct zrtt_member *m;
	double shares[3];

	(void)state;
	run_three(&params, vars, shares);
	assert_near(shares[0] + shares[1], 1, 0.05);
	/* they send 3 to 1 */
	assert_near(shares[0] / shares[1], 1, 0.8);
	assert_near(shares[2], 0.5, 0.001);
	/* who is held by his ceiling is not held by others */
	m = zrtt_flow_member(&vars->table, zrtt_flow_lookup(&vars->table, FLOW(0)));
	assert_true(zrtt_host_held(&vars->hosts, m));
	assert_false(zrtt_member_host(&vars->hosts, m)->hit);
	free_vars(vars);
}

/* Its penalty, the number of its flows, its weight, and what all flows of all hosts have. */
static void flows_of_a_host_have_much_of_their_p_in_common(void **state)
{
	const s32 octave = 1 << ZRTT_Q16;
	const struct zrtt_law law = { .log_norm = -octave };
	struct zrtt_params params;
	struct zrtt_vars *vars = new_vars(&params, CEIL);
	u64 rnd = 7, now_ns = 100 * PERIOD_NS;
	struct zrtt_member *m;
	struct zrtt_ceil *ceil;

	(void)state;
	pass(&params, vars, 0, 1, PACKET, &rnd, now_ns);
	m = zrtt_flow_member(&vars->table, zrtt_flow_lookup(&vars->table, FLOW(0)));
	ceil = zrtt_host_ceil(&vars->hosts, m);
	vars->hosts.groups[m->slots[0]].counted = 16;
	zrtt_member_host(&vars->hosts, m)->penalty_q16 = octave / 2;
	m->host_weight = 4;
	zrtt_host_ceil_arrive(&params.ceil, &vars->hosts, m, &law, PACKET, ceil->tick_ns);
	/* 16^1.5 and 4^-1.5 */
	assert_near(ceil->log_part, -octave + octave / 2 + 6 * octave - 3 * octave, octave / 1000);
	/* once per period */
	m->host_weight = 1;
	zrtt_host_ceil_arrive(&params.ceil, &vars->hosts, m, &law, PACKET, ceil->tick_ns - 1);
	assert_near(ceil->log_part, 2.5 * octave, octave / 1000);
	free_vars(vars);
}

static void without_a_ceiling_nobody_is_held(void **state)
{
	struct zrtt_params params;
	struct zrtt_vars *vars = new_vars(&params, 0);
	double shares[3];

	(void)state;
	free(vars->hosts.ceils);
	vars->hosts.ceils = NULL;
	run_three(&params, vars, shares);
	assert_near(shares[0] + shares[1], 4, 0.001);
	free_vars(vars);
}

/* The least of due share and ceiling is what a host is to have, and what it sends ahead of bulk. */
static void ceiling_is_a_due_share(void **state)
{
	struct zrtt_ceil_params params = ceil_of(CEIL), none = {};
	struct zrtt_hosts hosts = {};

	(void)state;
	zrtt_hosts_bound(&hosts, 1000, &params);
	assert_near(hosts.ahead_most, 0.75 * params.epoch_bytes, 1);
	assert_int_equal(zrtt_hosts_log_due(&hosts), params.log_rate);
	hosts.law.due = params.epoch_bytes / 2;
	hosts.law.log_due = zrtt_log2(hosts.law.due);
	zrtt_hosts_bound(&hosts, 1000, &params);
	assert_int_equal(hosts.ahead_most, params.epoch_bytes / 2);
	assert_int_equal(zrtt_hosts_log_due(&hosts), hosts.law.log_due);
	hosts.law.log_due = params.log_rate + (1 << ZRTT_Q16);
	assert_int_equal(zrtt_hosts_log_due(&hosts), params.log_rate);
	zrtt_hosts_bound(&hosts, 1000, &none);
	assert_int_equal(zrtt_hosts_log_due(&hosts), hosts.law.log_due);
}

/* Of the ceiling a queue has what the others do not use, and no less than by its flows. */
static void others_leave_what_they_do_not_use(void **state)
{
	struct zrtt_ceil_params params = ceil_of(CEIL);
	struct zrtt_group g = { .others.rate = params.epoch_bytes / 4 };

	(void)state;
	assert_int_equal(zrtt_host_ceil_others(&params, &g), 0);
	g.others_q8 = 128;
	assert_near(zrtt_host_ceil_others(&params, &g), 64, 1);
	g.others.rate = params.epoch_bytes;
	assert_near(zrtt_host_ceil_others(&params, &g), 128, 1);
	g.others_q8 = 255;
	assert_int_equal(zrtt_host_ceil_others(&params, &g), 255);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(below_the_ceiling_nothing_is_marked),
		cmocka_unit_test(above_it_marks_grow),
		cmocka_unit_test(who_does_not_answer_has_the_ceiling),
		cmocka_unit_test(idle_host_is_forgiven),
		cmocka_unit_test(virtual_queue_has_an_end),
		cmocka_unit_test(slow_ceiling_has_room_for_a_window),
		cmocka_unit_test(nothing_is_left_of_a_ceiling_that_is_taken_away),
		cmocka_unit_test(p_c_is_found_by_pi2),
		cmocka_unit_test(new_host_of_a_slot_owes_nothing),
		cmocka_unit_test(queues_of_a_device_share_a_ceiling),
		cmocka_unit_test(packet_is_not_too_long_by_itself),
		cmocka_unit_test(dropped_packet_takes_nothing),
		cmocka_unit_test(host_has_its_new_ceiling_at_once),
		cmocka_unit_test(short_cut_of_a_packet_leads_to_the_same),
		cmocka_unit_test(larger_of_the_two_counts),
		cmocka_unit_test(p_b_is_followed_at_once),
		cmocka_unit_test(sparse_flows_above_the_ceiling_fill_it),
		cmocka_unit_test(ceiling_that_holds_nobody_changes_nothing),
		cmocka_unit_test(host_has_its_ceiling_and_its_flows_share_it),
		cmocka_unit_test(flows_of_a_host_have_much_of_their_p_in_common),
		cmocka_unit_test(without_a_ceiling_nobody_is_held),
		cmocka_unit_test(ceiling_is_a_due_share),
		cmocka_unit_test(others_leave_what_they_do_not_use),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
