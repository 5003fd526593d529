/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MONITOR_TEXT_H
#define _MONITOR_TEXT_H

#include <stdio.h>

#include <linux/pkt_sched_zrtt.h>

#define TEXT_MAX	32

/*
 * Each of these writes to TEXT_MAX bytes and returns them. Numbers have three
 * significant digits.
 */

/* 17.3k; with the unit B 17.3 kB, with the text " packets" 17.3k packets. */
const char *text_number(char *text, double number, const char *unit);

/* Of microseconds: 250 us, 14.8 ms, 1.02 s. */
const char *text_time(char *text, __u32 us);

/* Bits per second, of bytes per second. */
const char *text_rate(char *text, double bytes_per_s);

/* Percent, of Q30. */
const char *text_prob(char *text, __u32 prob);

/* A handle or a parent as tc writes it. */
const char *text_handle(char *text, __u32 handle);

/* Names of the lanes: "sparse", "bulk", "l4s". */
extern const char *const text_lanes[__TC_ZRTT_LANE_MAX];

/* What the rate of a line whose rate is found does, of enum tc_zrtt_line: "grow". */
const char *text_line(__u32 state);

/* Print printable ASCII as JSON and Prometheus want it between quotes. */
void text_escape(FILE *out, const char *text);

#endif
