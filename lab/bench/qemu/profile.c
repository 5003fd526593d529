// SPDX-License-Identifier: GPL-2.0
/*
 * profile: a plugin of QEMU that counts which instructions qbench's calls execute.
 *
 *	qemu-system-x86_64 ... -plugin libprofile.so,out=FILE
 *
 * Each reading of the time stamp counter by a module switches counting on or off:
 * qbench reads it before and after each call, and no other module does. At the
 * end the file has a line per instruction, its address and how often it was run.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is used of <qemu-plugin.h>, which Debian does not ship. */
struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef uint64_t qemu_plugin_id_t;
typedef void (*plugin_translated)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void (*plugin_executed)(unsigned int cpu, void *data);
typedef void (*plugin_ended)(qemu_plugin_id_t id, void *data);

#define PLUGIN_NO_REGISTERS	0

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, plugin_translated call);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, plugin_executed call,
					  int registers, void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    plugin_executed call, int registers, void *data);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, plugin_ended call, void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

#define KERNEL_TEXT	0xffffffff80000000ULL	/* x86-64, without kaslr */
#define MODULES		0xffffffffa0000000ULL

static const uint8_t rdtsc[] = { 0x0f, 0x31 };

/* Instructions that are executed one after the other. */
struct block {
	struct block *next;
	uint64_t runs;
	size_t len;
	uint64_t addresses[];
};

static struct block *blocks;
static const char *out;
static bool counting;

static void block_runs(unsigned int cpu, void *data)
{
	struct block *block = data;

	(void)cpu;
	block->runs += counting;
}

static void clock_is_read(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	counting = !counting;
}

static void block_translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t len = qemu_plugin_tb_n_insns(tb);
	struct block *block = calloc(1, sizeof(*block) + len * sizeof(block->addresses[0]));

	(void)id;
	if (!block)
		abort();
	block->len = len;
	for (size_t i = 0; i < len; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		block->addresses[i] = qemu_plugin_insn_vaddr(insn);
		if (block->addresses[i] < KERNEL_TEXT) {
			free(block);
			return;
		}
		if (block->addresses[i] >= MODULES && qemu_plugin_insn_size(insn) == sizeof(rdtsc) &&
		    !memcmp(qemu_plugin_insn_data(insn), rdtsc, sizeof(rdtsc)))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, clock_is_read,
							       PLUGIN_NO_REGISTERS, NULL);
	}
	block->next = blocks;
	blocks = block;
	qemu_plugin_register_vcpu_tb_exec_cb(tb, block_runs, PLUGIN_NO_REGISTERS, block);
}

static void write_counts(qemu_plugin_id_t id, void *data)
{
	FILE *file = fopen(out, "w");

	(void)id;
	(void)data;
	if (!file) {
		perror(out);
		return;
	}
	for (struct block *block = blocks; block; block = block->next)
		for (size_t i = 0; block->runs && i < block->len; i++)
			fprintf(file, "%" PRIx64 " %" PRIu64 "\n", block->addresses[i],
				block->runs);
	fclose(file);
}

__attribute__((visibility("default")))
int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
	(void)info;
	if (argc != 1 || strncmp(argv[0], "out=", 4)) {
		fprintf(stderr, "profile: out=FILE is missing\n");
		return -1;
	}
	out = strdup(argv[0] + 4);
	qemu_plugin_register_vcpu_tb_trans_cb(id, block_translated);
	qemu_plugin_register_atexit_cb(id, write_counts, NULL);
	return 0;
}
