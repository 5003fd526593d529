// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <curses.h>

#include "clock.h"
#include "exit.h"
#include "screen.h"
#include "view.h"

#define LIST_MIN	3	/* shown of each list, however small the screen is */
#define LIST_HEADER	2	/* lines above them */
#define MS_PER_S	1000

/* What is listed, in the order that a key goes through. */
enum listed {
	LISTED_BOTH,
	LISTED_HOSTS,
	LISTED_FLOWS,
	LISTED,
};

struct screen {
	const struct options *options;
	struct snapshot before;
	struct snapshot now;
	enum order order;
	enum listed listed;
	unsigned long refreshes;
	int top;		/* first line shown */
	bool paused;
	bool quit;
};

static void refresh_snapshot(struct screen *screen)
{
	const char *why;

	snapshot_free(&screen->before);
	screen->before = screen->now;
	why = snapshot_take(&screen->now, &screen->options->devices, true);
	if (why) {
		endwin();
		errx(EXIT_TROUBLE, "%s", why);
	}
	screen->refreshes++;
}

static char *render(const struct screen *screen, const struct lists *lists)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		err(EXIT_TROUBLE, "memory");
	if (!screen->now.count)
		fputs("no zrtt yet\n", out);
	view_print(out, &screen->before, &screen->now, lists);
	fclose(out);
	return text;
}

static int count_lines(const char *text)
{
	int lines = 0;

	while ((text = strchr(text, '\n'))) {
		text++;
		lines++;
	}
	return lines;
}

static bool has_hosts(const struct snapshot *snapshot)
{
	size_t i;

	for (i = 0; i < snapshot->count; i++) {
		if (snapshot->instances[i].host_count)
			return true;
	}
	return false;
}

/* Lists of so many, or of as many as the options say. */
static struct lists lists_of(const struct screen *screen, size_t most)
{
	enum listed listed = has_hosts(&screen->now) ? screen->listed : LISTED_BOTH;
	const struct options *options = screen->options;
	struct lists lists = {
		.order = screen->order,
		.flows = options->flows < 0 ? most : (size_t)options->flows,
		.hosts = options->hosts < 0 ? most : (size_t)options->hosts,
	};

	if (listed == LISTED_HOSTS)
		lists.flows = 0;
	if (listed == LISTED_FLOWS)
		lists.hosts = 0;
	return lists;
}

static size_t lines_of_list(size_t count, size_t most)
{
	size_t shown = count < most ? count : most;

	return shown ? shown + LIST_HEADER : 0;
}

static size_t lines_of_lists(const struct snapshot *snapshot, const struct lists *lists)
{
	size_t i, lines = 0;

	for (i = 0; i < snapshot->count; i++)
		lines += lines_of_list(snapshot->instances[i].flow_count, lists->flows) +
			 lines_of_list(snapshot->instances[i].host_count, lists->hosts);
	return lines;
}

/* As long as fills the screen: what short ones leave is for the others. */
static struct lists lists_that_fit(const struct screen *screen)
{
	struct lists lists = { }, longer;
	char *text = render(screen, &lists);
	int most, free_lines = LINES - 1 - count_lines(text);

	free(text);
	lists = lists_of(screen, LIST_MIN);
	for (most = LIST_MIN + 1; most < LINES; most++) {
		longer = lists_of(screen, most);
		if ((int)lines_of_lists(&screen->now, &longer) > free_lines)
			break;
		lists = longer;
	}
	return lists;
}

static void draw_line(int row, const char *line, size_t len, attr_t attributes)
{
	attrset(attributes);
	mvaddnstr(row, 0, line, (int)len < COLS ? (int)len : COLS);
	attrset(A_NORMAL);
}

static void draw_title(const struct screen *screen)
{
	char title[256], when[32];
	struct tm tm;
	int len;

	localtime_r(&screen->now.when.tv_sec, &tm);
	strftime(when, sizeof(when), "%T", &tm);
	len = snprintf(title, sizeof(title),
		       "zrtt-mon %s%s   q quit  p pause  h hosts  sort: r rate, t RTT, P P_i",
		       when, screen->paused ? " paused" : "");
	attrset(A_REVERSE);
	mvhline(0, 0, ' ', COLS);
	draw_line(0, title, len, A_REVERSE);
}

static void draw(struct screen *screen)
{
	char *text, *line, *end;
	struct lists lists;
	int row, lines;

	flows_sort(&screen->now, screen->order);
	lists = lists_that_fit(screen);
	text = render(screen, &lists);
	lines = count_lines(text);
	if (screen->top > lines - (LINES - 1))
		screen->top = lines - (LINES - 1);
	if (screen->top < 0)
		screen->top = 0;
	erase();
	draw_title(screen);
	row = 1 - screen->top;
	for (line = text; (end = strchr(line, '\n')); line = end + 1, row++) {
		if (row >= 1 && row < LINES)
			draw_line(row, line, end - line, *line == ' ' ? A_NORMAL : A_BOLD);
	}
	free(text);
	refresh();
}

static void handle_key(struct screen *screen, int key)
{
	switch (key) {
	case 'q':
		screen->quit = true;
		break;
	case 'p':
		screen->paused = !screen->paused;
		break;
	case 'h':
		screen->listed = (screen->listed + 1) % LISTED;
		break;
	case 'r':
		screen->order = ORDER_RATE;
		break;
	case 't':
		screen->order = ORDER_RTT;
		break;
	case 'P':
		screen->order = ORDER_PROB;
		break;
	case KEY_UP:
		screen->top--;
		break;
	case KEY_DOWN:
		screen->top++;
		break;
	case KEY_PPAGE:
		screen->top -= LINES - 1;
		break;
	case KEY_NPAGE:
		screen->top += LINES - 1;
		break;
	}
}

/* Until @until_s, or for ever while it is paused. */
static void handle_keys(struct screen *screen, double until_s)
{
	struct pollfd keyboard = { .fd = STDIN_FILENO, .events = POLLIN };
	double left_s;
	int key;

	while (!screen->quit) {
		left_s = until_s - clock_s();
		if (!screen->paused && left_s <= 0)
			return;
		/* A resized terminal interrupts it. */
		poll(&keyboard, 1, screen->paused ? -1 : left_s * MS_PER_S + 1);
		if (keyboard.revents & (POLLHUP | POLLERR))
			screen->quit = true;
		while ((key = getch()) != ERR) {
			handle_key(screen, key);
			draw(screen);
		}
	}
}

void screen_run(const struct options *options)
{
	struct screen screen = { .options = options, .order = options->order };

	if (!newterm(NULL, stdout, stdin))
		errx(EXIT_TROUBLE, "unknown terminal: check TERM, or use zrtt-mon | cat");
	cbreak();
	noecho();
	curs_set(0);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	while (!screen.quit) {
		refresh_snapshot(&screen);
		draw(&screen);
		if (screen.refreshes == options->count)
			break;
		handle_keys(&screen, screen.now.at_s + options->interval_s);
	}
	endwin();
	snapshot_free(&screen.before);
	snapshot_free(&screen.now);
}
