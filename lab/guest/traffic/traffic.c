// SPDX-License-Identifier: GPL-2.0
/*
 * traffic: runs all traffic of a laboratory guest, senders and receivers.
 *
 *	traffic SPEC RESULT
 *
 * One thread, one epoll loop, few system calls: those are what costs time in a
 * guest. Sockets are opened in the network namespace of their host by setns().
 *
 * SPEC is text, one thing per line, times in milliseconds since the start:
 *
 *	receiver NETNS			where the receivers of the lines below live
 *	measure FROM TO			the interval between the two readings
 *	phase TIME			within it: a reading in between
 *	sample PERIOD			also read goodput every PERIOD; 0 = never
 *	at TIME COMMAND...		run a shell command; after a reading of that time
 *	flow NETNS ADDRESS PORT CC START STOP SNDBUF HINT FACTOR ECT1
 *	idle ON OFF			of the flow above: sends so long, then not, and again
 *	reverse ... as flow, but the receiver's side sends
 *	udp NETNS ADDRESS PORT INTERVAL_NS FROM TO ECT1 BYTES
 *	spoof NETNS PORT KIND INTERVAL_NS FROM TO ECT	in the name of that flow
 *	thin NETNS ADDRESS PORT HOW BYTES INTERVAL_NS FROM TO SEED
 *	server PORT				of all short flows
 *	short NETNS ADDRESS CC START BYTES HINT ECT1	by START
 *
 * At STOP a flow is reset; -1 = never. KIND is syn, data or nothing; one packet if
 * INTERVAL_NS is 0. HOW is steady, query or ping (thin.c). HINT is none, packet or sampled; FACTOR is what a sender multiplies
 * its RTT with before it states it, in thousandths: 1000 is honest. ECT1 is 1 if data are to
 * leave as ECT(1), else 0. RESULT is JSON.
 *
 * Each kind of traffic is a file of its own with the same few functions:
 *
 *	KIND_parse()	takes a line of the specification, if it is for it
 *	KIND_open()	opens what waits for the others, before the clock starts
 *	KIND_tend()	does what is due, returns when the next will be
 *	KIND_dispatch()	does what a socket or timer has become ready for
 *	KIND_...()	figures, as JSON
 */
#define _GNU_SOURCE
#include <err.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "flow.h"
#include "net.h"
#include "short.h"
#include "spoof.h"
#include "thin.h"
#include "udp.h"

#define MAX_COMMANDS	1024
#define MAX_READINGS	64
#define MAX_EVENTS	256
#define PROGRESS_STEPS	20

struct command {
	int64_t at_ms;
	char text[LINE_LEN];
};

/* Lines of JSON that grow while the traffic runs. */
struct notes {
	FILE *stream;
	char *text;
	size_t len;
};

static struct command commands[MAX_COMMANDS];
static int n_commands;
static int64_t readings_ms[MAX_READINGS];	/* the first and last bound the measured time */
static int n_readings;
static int64_t measure_from_ms, measure_to_ms, sample_ms;
static struct notes samples, readings;
static int64_t epoch_ms;

static int64_t clock_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

static int64_t now_ms(void)
{
	return clock_ms() - epoch_ms;
}

/* -- specification -------------------------------------------------------- */

static bool parse_command(const char *line)
{
	struct command *c = &commands[n_commands];

	if (sscanf(line, "at %" SCNd64 " %511[^\n]", &c->at_ms, c->text) != 2)
		return false;
	if (n_commands == MAX_COMMANDS - 1)
		errx(2, "more than %d commands", MAX_COMMANDS - 1);
	if (n_commands && c->at_ms < c[-1].at_ms)
		errx(2, "commands out of order: %s", line);
	n_commands++;
	return true;
}

static void add_reading(int64_t at_ms, const char *line)
{
	if (n_readings == MAX_READINGS)
		errx(2, "more than %d readings", MAX_READINGS);
	if (n_readings && at_ms <= readings_ms[n_readings - 1])
		errx(2, "readings out of order: %s", line);
	readings_ms[n_readings++] = at_ms;
}

static bool parse_times(const char *line)
{
	int64_t at_ms;

	if (sscanf(line, "measure %" SCNd64 " %" SCNd64, &measure_from_ms, &measure_to_ms) == 2)
		add_reading(measure_from_ms, line);
	else if (sscanf(line, "phase %" SCNd64, &at_ms) == 1)
		add_reading(at_ms, line);
	else if (sscanf(line, "sample %" SCNd64, &sample_ms) != 1)
		return false;
	return true;
}

static void parse_spec(const char *path)
{
	char receiver[NAME_LEN] = "";
	char line[LINE_LEN];
	FILE *spec = fopen(path, "r");

	if (!spec)
		err(2, "%s", path);
	while (fgets(line, sizeof(line), spec)) {
		if (sscanf(line, "receiver %31s", receiver) != 1 &&
		    !flow_parse(line, receiver) && !flow_parse_idle(line) &&
		    !udp_parse(line, receiver) &&
		    !spoof_parse(line) && !thin_parse(line, receiver) &&
		    !short_parse(line, receiver) &&
		    !parse_command(line) && !parse_times(line))
			errx(2, "bad line: %s", line);
	}
	fclose(spec);
	if (!flow_count() || !receiver[0] || !n_readings)
		errx(2, "%s: no flow, no receiver or nothing to measure", path);
	add_reading(measure_to_ms, "measure");
}

/* -- the run -------------------------------------------------------------- */

static FILE *next_note(struct notes *notes)
{
	if (!notes->stream)
		notes->stream = open_memstream(&notes->text, &notes->len);
	else
		fputs(",\n", notes->stream);
	if (!notes->stream)
		err(1, "memory");
	return notes->stream;
}

static void take_sample(int64_t now)
{
	FILE *out = next_note(&samples);

	fprintf(out, "[%" PRId64 ",", now);
	flow_print_bytes(out);
	fputs("]", out);
}

static void take_reading(int64_t now)
{
	FILE *out = next_note(&readings);

	fprintf(out, "{\"ms\": %" PRId64 ", \"flows\": [", now);
	flow_print_bytes(out);
	fputs("], \"udp\": [", out);
	udp_print_frames(out);
	fputs("], \"short\": ", out);
	short_print_bytes(out);
	fputs(", \"short_of\": [", out);
	short_print_bytes_of_hosts(out);
	fputs("]}", out);
}

static void run_command(const char *text)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		err(1, "fork");
	if (!pid) {
		execl("/bin/sh", "sh", "-c", text, NULL);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) < 0 || status)
		errx(1, "failed: %s", text);
}

static int64_t tend_readings(int64_t now)
{
	static int next;

	if (next < n_readings && now >= readings_ms[next]) {
		if (!next) {
			measure_from_ms = now;
			flow_read(false);
		}
		take_reading(now);
		next++;
	}
	return next < n_readings ? readings_ms[next] : NEVER;
}

static int64_t tend_samples(int64_t now)
{
	static int64_t next;

	if (!sample_ms)
		return NEVER;
	if (now >= next) {
		take_sample(now);
		next += sample_ms;
	}
	return next;
}

static int64_t tend_commands(int64_t now)
{
	static int next;

	while (next < n_commands && now >= commands[next].at_ms)
		run_command(commands[next++].text);
	return next < n_commands ? commands[next].at_ms : NEVER;
}

static void show_progress(int64_t now)
{
	static int64_t shown;
	int64_t step = now * PROGRESS_STEPS / measure_to_ms;

	if (step == shown)
		return;
	shown = step;
	printf("PROGRESS %" PRId64 " %" PRId64 "\n", now, measure_to_ms);
	fflush(stdout);
}

/* A command at the time of a reading comes after it. */
static int64_t tend(int64_t now)
{
	int64_t next = flow_tend(now);

	next = min64(next, udp_tend(now));
	next = min64(next, spoof_tend(now));
	next = min64(next, thin_tend(now));
	next = min64(next, short_tend(now));
	next = min64(next, tend_readings(now));
	next = min64(next, tend_samples(now));
	next = min64(next, tend_commands(now));
	show_progress(now);
	return next;
}

static void dispatch(const struct epoll_event *event)
{
	enum role role = event->data.u64 >> 32;
	uint32_t index = event->data.u64;

	switch (role) {
	case ROLE_FLOW_LISTENER:
	case ROLE_FLOW_SENDER:
	case ROLE_FLOW_RECEIVER:
		flow_dispatch(role, index);
		break;
	case ROLE_UDP_TIMER:
		udp_dispatch(index);
		break;
	case ROLE_SPOOF_TIMER:
		spoof_dispatch(index);
		break;
	case ROLE_THIN_TIMER:
		thin_dispatch(index);
		break;
	case ROLE_SHORT_LISTENER:
	case ROLE_SHORT_SENDER:
	case ROLE_SHORT_RECEIVER:
		short_dispatch(role, index, now_ms());
		break;
	}
}

static void run(void)
{
	struct epoll_event events[MAX_EVENTS];
	int64_t now;
	int i, n;

	while ((now = now_ms()) < measure_to_ms) {
		int64_t wait = tend(now) - now_ms();

		n = next_event(events, MAX_EVENTS, wait);
		for (i = 0; i < n; i++)
			dispatch(&events[i]);
	}
	measure_to_ms = now;
	flow_read(true);
	tend(now);
}

static const char *text_of(struct notes *notes)
{
	if (!notes->stream)
		return "";
	if (fclose(notes->stream))
		err(1, "memory");
	return notes->text;
}

static void write_result(const char *path)
{
	FILE *out = fopen(path, "w");

	if (!out)
		err(1, "%s", path);
	fprintf(out, "{\"from_ms\": %" PRId64 ", \"to_ms\": %" PRId64 ",\n\"flows\": [\n",
		measure_from_ms, measure_to_ms);
	flow_print(out);
	fprintf(out, "],\n\"readings\": [%s],\n", text_of(&readings));
	fputs("\"spoofed\": [", out);
	spoof_print(out);
	fputs("],\n\"shorts\": [", out);
	short_print(out);
	fprintf(out, "],\n\"samples\": [%s]}\n", text_of(&samples));
	if (fclose(out))
		err(1, "%s", path);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		errx(2, "usage: traffic SPEC RESULT");
	parse_spec(argv[1]);
	allow_sockets();
	flow_open();
	udp_open();
	thin_open();
	short_open();
	epoch_ms = clock_ms();
	run();
	write_result(argv[2]);
	return 0;
}
