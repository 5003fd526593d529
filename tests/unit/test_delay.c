// SPDX-License-Identifier: GPL-2.0
/* delay.h: the excess of an empty line, and what of it is noise. */
#include "unit.h"
#include <zrtt/delay.h>

#define S		1000000U	/* microseconds */
#define MBIT		125000ULL	/* bytes per second */
#define EPOCH_US	25000
#define START_US	(~0U - 5 * S)	/* the clock wraps soon */

static void begin(struct zrtt_delay *delay, u32 *now_us)
{
	*now_us = START_US;
	zrtt_delay_begin(delay, START_US);
	delay->noise.since_us = START_US;
}

/* For a second the excess is @us on average, and the line is measured at @rate, all of which it is sent. */
static void vary_for_a_second(struct zrtt_delay *delay, u32 us, u64 rate, bool ahead, u32 *now_us)
{
	u32 i;

	for (i = 0; i < S / EPOCH_US; i++) {
		*now_us += EPOCH_US;
		delay->us = i % 2 ? us / 2 : us + us / 2;
		zrtt_delay_vary(delay, rate, rate, ahead, *now_us);
	}
}

/* Noise that begins lowers the rate within the second in which its mean is not yet known. What comes
 * from a line before the queue is not lowered by that.
 */
static void test_noise_that_lowered_the_rate_is_learnt(void **state)
{
	u32 ahead;

	(void)state;
	for (ahead = 0; ahead < 2; ahead++) {
		struct zrtt_delay delay;
		u32 now_us;

		begin(&delay, &now_us);
		vary_for_a_second(&delay, 1000, 20 * MBIT, ahead, &now_us);
		vary_for_a_second(&delay, 1000, 20 * MBIT, ahead, &now_us);
		vary_for_a_second(&delay, 8000, 14 * MBIT, ahead, &now_us);
		assert_int_equal(delay.noise.us, 0);
		vary_for_a_second(&delay, 8000, 13 * MBIT, ahead, &now_us);
		assert_int_equal(delay.noise.us, ahead ? 0 : 12000);
	}
}

/* A queue that was emptied was one: its rate is what the next one is compared with. */
static void test_queue_that_went_is_no_noise(void **state)
{
	struct zrtt_delay delay;
	u32 now_us;

	(void)state;
	begin(&delay, &now_us);
	vary_for_a_second(&delay, 12000, 20 * MBIT, false, &now_us);
	vary_for_a_second(&delay, 4000, 14 * MBIT, false, &now_us);
	vary_for_a_second(&delay, 4000, 14 * MBIT, false, &now_us);
	assert_int_equal(delay.noise.us, 0);
	vary_for_a_second(&delay, 4000, 10 * MBIT, false, &now_us);
	assert_int_equal(delay.noise.us, 6000);
}

/* An empty line has the least excess of this window and the one before. */
static void test_least_of_two_windows_is_no_queue(void **state)
{
	struct zrtt_delay delay;
	u32 now_us = START_US;

	(void)state;
	zrtt_delay_begin(&delay, now_us);
	assert_int_equal(zrtt_delay_above(&delay, 5000, now_us), 0);
	assert_int_equal(zrtt_delay_above(&delay, 9000, now_us), 4000);
	delay.queued = true;
	assert_int_equal(zrtt_delay_above(&delay, 9000, now_us + ZRTT_DELAY_WINDOW_US), 4000);
	assert_true(delay.queued);
	now_us += ZRTT_DELAY_WINDOW_US + 1;
	assert_int_equal(zrtt_delay_above(&delay, 8000, now_us), 3000);
	assert_false(delay.queued);
	assert_int_equal(zrtt_delay_above(&delay, 4000, now_us), 0);
	assert_int_equal(zrtt_delay_above(&delay, 8000, now_us), 4000);
	now_us += ZRTT_DELAY_WINDOW_US + 1;
	assert_int_equal(zrtt_delay_above(&delay, 7000, now_us), 3000);
	now_us += ZRTT_DELAY_WINDOW_US + 1;
	assert_int_equal(zrtt_delay_above(&delay, 7500, now_us), 500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_noise_that_lowered_the_rate_is_learnt),
		cmocka_unit_test(test_queue_that_went_is_no_noise),
		cmocka_unit_test(test_least_of_two_windows_is_no_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
