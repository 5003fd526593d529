// SPDX-License-Identifier: GPL-2.0
/* packet.h: which packets take the quick way; that it leads to the same place is
 * checked for every frame of these tests.
 */
#include "packet_check.h"

static bool is_plain(const struct frame *f, const struct zrtt_wanted *wanted)
{
	const struct zrtt_bytes bytes = { .data = f->bytes, .len = f->len };
	struct zrtt_packet p;

	return zrtt_packet_plain(&p, &bytes, zrtt_hint_get16(f->bytes + ETH_TYPE),
				 ETH_BYTES, wanted);
}

static void assert_plain(struct frame f, bool plain)
{
	static const u8 payload[100];
	const struct zrtt_wanted hints = {
		.hint = true, .ipv4_option = ZRTT_HINT_IPV4_TYPE,
	};

	frame_add(&f, payload, sizeof(payload));
	assert_int_equal(is_plain(&f, &hints), plain);
	parse(&f);
	parse_part(&f, f.len, &hints);
}

static void most_packets_are_plain(void **state)
{
	(void)state;
	assert_plain(ipv4_tcp(NULL, 0), true);
	assert_plain(ipv4_tcp(timestamps, sizeof(timestamps)), true);
	assert_plain(ipv4_and_tcp_options(hint_v4, sizeof(hint_v4), NULL, 0), true);
	assert_plain(ipv4_and_tcp_options(hint_v4, sizeof(hint_v4), timestamps,
					  sizeof(timestamps)), true);
}

static void what_may_need_a_closer_look_is_not(void **state)
{
	const u8 no_hint[] = { 0x9e, 4, 0, 0 };

	(void)state;
	assert_plain(ipv4_tcp(hint_tcp, sizeof(hint_tcp)), false);
	assert_plain(ipv4_and_tcp_options(broken, sizeof(broken), NULL, 0), false);
	assert_plain(ipv4_and_tcp_options(padding, 4, NULL, 0), false);
	assert_plain(ipv4_and_tcp_options(no_hint, sizeof(no_hint), NULL, 0), false);
}

static void timestamps_are_looked_at_if_wanted(void **state)
{
	struct frame f = ipv4_tcp(timestamps, sizeof(timestamps));
	static const u8 payload[100];

	(void)state;
	frame_add(&f, payload, sizeof(payload));
	assert_false(is_plain(&f, &all_wanted));
	assert_timed(&f, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(most_packets_are_plain),
		cmocka_unit_test(what_may_need_a_closer_look_is_not),
		cmocka_unit_test(timestamps_are_looked_at_if_wanted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
