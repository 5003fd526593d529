// SPDX-License-Identifier: GPL-2.0
/* answers.h: what the answers of an epoch say as a whole. */
#include "unit.h"
#include <zrtt/answers.h>

#define S		1000000U	/* microseconds */
#define START_US	(~0U - 5 * S)	/* the clock wraps soon */

static struct zrtt_line_answer answer_of(u32 left_us, u32 excess_us, u32 host)
{
	return (struct zrtt_line_answer) { left_us, 10000 + excess_us, excess_us, host, 0 };
}

static void test_hosts_have_one_voice_each(void **state)
{
	struct zrtt_line_answers answers = {};
	struct zrtt_line_answer answer;
	u32 i, hosts;

	(void)state;
	for (i = 0; i < 10; i++) {	/* connections of one */
		answer = answer_of(1000, 90000, 1);
		zrtt_line_answer(&answers, i, &answer);
	}
	answer = answer_of(1000, 500, 2);
	zrtt_line_answer(&answers, 12, &answer);
	answer = zrtt_line_agree(&answers, &hosts);
	assert_int_equal(answer.excess_us, 500);
	assert_int_equal(hosts, 2);
	/* a quarter may say too little */
	for (i = 0; i < 2; i++) {
		answer = answer_of(1000, 90000, 3 + i);
		zrtt_line_answer(&answers, 13 + i, &answer);
	}
	answer = zrtt_line_agree(&answers, &hosts);
	assert_int_equal(answer.excess_us, 90000);
	assert_int_equal(hosts, 4);
	/* eight connections of one with short queues are one of eight, and the third of these decides */
	answers = (struct zrtt_line_answers) {};
	for (i = 0; i < 8; i++) {
		answer = answer_of(1000, i, 1);
		zrtt_line_answer(&answers, i, &answer);
	}
	for (i = 0; i < 7; i++) {
		answer = answer_of(1000, 1000 + i, 2 + i);
		zrtt_line_answer(&answers, 8 + i, &answer);
	}
	answer = zrtt_line_agree(&answers, &hosts);
	assert_int_equal(answer.excess_us, 1001);
	assert_int_equal(hosts, 8);
}

static void test_later_probes_count(void **state)
{
	struct zrtt_line_answers answers = {};
	struct zrtt_line_answer answer;
	u32 i, hosts;

	(void)state;
	for (i = 0; i < 8; i++) {
		answer = answer_of(START_US + i * S, i * 1000, i);
		zrtt_line_answer(&answers, i, &answer);
	}
	answer = zrtt_line_agree(&answers, &hosts);
	/* those that half of all are behind, or less: of five the second decides */
	assert_int_equal(answer.excess_us, 4000);
	assert_int_equal(hosts, 5);
	/* of one pair, too, in whatever order they come */
	answers = (struct zrtt_line_answers) {};
	answer = answer_of(2000, 50, 1);
	zrtt_line_answer(&answers, 5, &answer);
	answer = answer_of(1000, 10, 1);
	zrtt_line_answer(&answers, 5, &answer);
	answer = zrtt_line_agree(&answers, &hosts);
	assert_int_equal(answer.excess_us, 50);
	assert_int_equal(hosts, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hosts_have_one_voice_each),
		cmocka_unit_test(test_later_probes_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
