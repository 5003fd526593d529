// SPDX-License-Identifier: GPL-2.0
/* sent.h: what had been sent until some time ago. */
#include "unit.h"
#include <zrtt/sent.h>

#define S		1000000U	/* microseconds */
#define TICK_US		16000
#define START_US	(~0U - 5 * S)	/* the clock wraps soon */

static void test_bytes_are_known_for_some_time(void **state)
{
	struct zrtt_sent sent;
	u32 i;

	(void)state;
	zrtt_sent_begin(&sent, ~0U - 5000, START_US);
	for (i = 1; i < ZRTT_SENT_MARKS; i++)
		zrtt_sent_add(&sent, ~0U - 5000 + i * 1000, START_US + i * TICK_US);
	for (i = 0; i < ZRTT_SENT_MARKS - 1; i++) {
		u32 us = START_US + i * TICK_US;

		assert_int_equal(zrtt_sent_until(&sent, us), ~0U - 5000 + i * 1000);
		assert_int_equal(zrtt_sent_until(&sent, us + TICK_US / 2),
				 ~0U - 5000 + i * 1000 + 500);
	}
	/* not later than now, nor earlier than the first */
	assert_int_equal(zrtt_sent_until(&sent, START_US + 9 * S), ~0U - 5000 + i * 1000);
	assert_int_equal(zrtt_sent_until(&sent, START_US - S), ~0U - 5000);
}

/* However often there is a tick, they are 8 ms apart: a second of them is there. */
static void test_bytes_of_a_second_are_known(void **state)
{
	const u32 ticks = 3000;
	struct zrtt_sent sent;
	u32 i;

	(void)state;
	zrtt_sent_begin(&sent, 0, START_US);
	for (i = 1; i <= ticks; i++)
		zrtt_sent_add(&sent, i * 1000, START_US + i * 1000);
	for (i = 0; i <= 1000; i++)
		assert_int_equal(zrtt_sent_until(&sent, START_US + (ticks - i) * 1000),
				 (ticks - i) * 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes_are_known_for_some_time),
		cmocka_unit_test(test_bytes_of_a_second_are_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
