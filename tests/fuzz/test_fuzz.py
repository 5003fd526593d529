# SPDX-License-Identifier: GPL-2.0
"""A slice of fuzzing, the same in each run, and proof that it would find a bug."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from lab.host.process import outside_make

HERE = Path(__file__).resolve().parent
INCLUDE = HERE.parents[1] / "include"
RUNS = 100_000
"""Of a target whose corpus reaches each branch before; `make fuzz` has a thousand times as many."""
RUNS_WITH_BUG = 3_000_000
"""It ends at the bug. Where chance was needed, the corpus has what finds it; the others take
3,000 runs at most, whatever the seed, and a change of the code may change that."""
LIMIT_S = 3600
"""A busy machine does a thousand runs a second, an idle one ten times as many."""
TARGETS = sorted(source.stem.removeprefix("fuzz_") for source in HERE.glob("fuzz_*.c"))


@dataclass(frozen=True)
class Bug:
    """What stands in a header, and what would be wrong there."""

    name: str
    target: str
    right: str
    wrong: str
    header: str = ""  # the one that the target is called after
    sanitized: bool = False
    """Only sanitizers find it, or find it much sooner. What a check finds without them it finds with
    them, too, and building without takes half the time."""

    def plant(self, include: Path) -> None:
        """Into a copy of the headers."""
        shutil.copytree(INCLUDE / "zrtt", include / "zrtt")
        header = include / "zrtt" / f"{self.header or self.target}.h"
        text = header.read_text()
        assert text.count(self.right) == 1
        header.write_text(text.replace(self.right, self.wrong))


BUGS = [
    Bug("reads beyond an option", "hint", "if (off + len > have)", "if (0)"),
    Bug("reads a length that is not there", "hint", "if (off + 1 >= have)", "if (0)"),
    Bug("believes a length beyond the area", "hint", "len < 2 || off + len > total", "len < 2"),
    Bug("steps by less than it read", "hint", "if (len < 2 ||", "if (len < 1 ||"),
    Bug("reads on and on", "hint", "have = ZRTT_HINT_SCAN_BYTES;", "have += 0;"),
    Bug("takes any length", "hint", "if (len != fmt->len)", "if (0)"),
    Bug("takes a reserved value", "hint", "!hint->units || hint->units >", "!hint->units && 0 >"),
    Bug("takes another's experiment", "hint", "zrtt_hint_get16(value) != fmt->exid", "0"),
    Bug("goes on behind the end", "hint", "if (type == fmt->end)", "if (0)"),
    Bug("knows one IPv4 type only", "hint", ".type = type, ", ".type = type ? 158 : 0, "),
    Bug("builds little-endian", "hint", "p[0] = (__u8)(v >> 8);", "p[0] = (__u8)v;"),
    Bug("reads IPv4 options that are not there", "packet", "zrtt_has(b, off, len) ?", "1 ?", sanitized=True),
    Bug("reads IPv6 options that are not there", "packet", "zrtt_has(b, area_off, have) ?", "1 ?", sanitized=True),
    Bug("reads TCP options that are not there", "packet", "!zrtt_has(b, off, len)) {", "0) {"),
    Bug("reads ports that are not there", "packet", "if (!zrtt_has(b, off, 4))", "if (0)"),
    Bug("times by what is not there", "packet", "off + ZRTT_TIMESTAMPS_LEN <= len", "off < len", sanitized=True),
    Bug("looks for what it need not", "packet", "return wanted->hint &&", "return wanted &&"),
    Bug("finds the hint elsewhere", "packet", "(u16)(area_off + hint->off)", "(u16)area_off"),
    Bug("announces the wrong header", "packet", "p->nexthdr_off = (u16)off;", "p->nexthdr_off++;"),
    Bug(
        "gives later fragments ports",
        "packet",
        "if (!(zrtt_hint_get16(ip + 6) & ZRTT_IPV4_FRAGMENT))",
        "if (!(zrtt_hint_get16(ip + 6) & 0x2000))",
    ),
    Bug(
        "is quick with fragments",
        "packet",
        "zrtt_hint_get16(ip + 6) & ZRTT_IPV4_FRAGMENT ||",
        "0 ||",
    ),
    Bug(
        "is quick with what is not there",
        "packet",
        "b->len < off + ZRTT_IPV4_BYTES + ZRTT_TCP_BYTES",
        "0",
    ),
    Bug("reads a tunnel that is not there", "packet", "!zrtt_has(b, off, version == 4 ? ZRTT_IPV4_BYTES : ZRTT_IPV6_BYTES)", "0"),
    Bug(
        "reads Ethernet that is not there",
        "packet",
        "zrtt_has(b, off, ZRTT_ETHERNET_BYTES)",
        "1",
        sanitized=True,
    ),
    Bug("says that a part is enough", "packet", "return !head.cut;", "return true;"),
    Bug("goes on behind a length of 1", "packet", "if (step < 2)", "if (!step)"),
    Bug("hashes what is not there", "packet", "if (version == 4)", "if (0)", "hash", sanitized=True),
    Bug("shifts by any exponent", "fixed", "if (exponent >= 16)", "if (0)"),
    Bug("adds below 0", "fixed", "if (sum < 0)", "if (0)"),
    Bug("averages in 32 bits", "fixed", "((s64)x - avg)", "((s32)x - (s32)avg)"),
    Bug("is never frozen", "controller", "now_ns - ctl->changed_ns <=", "0 * now_ns >"),
    Bug("owes one more", "controller", "steps = 1 + (", "steps = 2 + ("),
    Bug("winds up", "controller", ">> ZRTT_PI2_DECAY_SHIFT", ">> 30"),
    Bug("wraps a few packets", "controller", "(u64)target_us * ", "target_us * ", sanitized=True),
    Bug("wraps a slope", "controller", "(s64)standing_us - ctl->s", "standing_us - ctl->s", sanitized=True),
    Bug("stands beyond its ring", "controller", "ctl->at + 1 < ZRTT_", "ctl->at < ZRTT_"),
    Bug("takes the mean for the least", "controller", "least_us = ctl->recent_us[i];", "least_us = (least_us + ctl->recent_us[i]) / 2;"),
    Bug("aims above the cap", "controller", "if (fill_us > most_us)", "if (0)"),
    Bug("follows beyond what it takes", "controller", "ctl->p_avg_q30 < ZRTT_FOLLOW_P ?", "1 ?"),
    Bug("heeds all of young flows", "controller", "if (young_q16 > ZRTT_YOUNG_MAX_Q16)", "if (0)"),
    Bug("lets a burst count", "controller", "error : ctl->aim_us", "error : error"),
    Bug("takes queueing for flying", "halves", "state < ZRTT_PROBE_FLYING", "state < ZRTT_PROBE_QUEUED"),
    Bug("takes a newer echo for its own", "halves", "if (pkt->tsecr != half->tsval)", "if (0)"),
    Bug("never forgets", "halves", "if (!windows)", "if (conn)"),
    Bug("believes any clock", "halves", "excess->back_us <= answer->gap_us", "0 * excess->back_us <= answer->gap_us", "oneway"),
    Bug("times what is sent again", "halves", "conn->probe[way] = ZRTT_PROBE_NONE;", "(void)way;", "acks"),
    Bug("takes any acknowledgment", "halves", "if (pkt->tsecr - tsval <= ZRTT_PROBE_TICKS)", "if (1)", "acks"),
    Bug("takes one answer for a pair's least", "halves", "least_us = zrtt_half_us(half);", "least_us = gap_us / 2;"),
    Bug("adds what a pair knows", "halves", "if (there_us > pair_us)", "if (0)", "oneway"),
    Bug("takes another's clock", "halves", "if (oneway->tag != tag) {", "if (!oneway->tag) {", "oneway", sanitized=True),
    Bug("leaves its set", "zrtt", "t->mask & ~(ZRTT_WAYS - 1)", "t->mask", "table", sanitized=True),
    Bug("takes what is in use", "zrtt", "if (f->live || t->unused ||", "if (t->unused ||", "table"),
    Bug("forgets to sum", "zrtt", "t->sum_rtt_us += (s64)sign *", "t->sum_rtt_us +=", "table"),
    Bug("moves a flow and keeps it", "zrtt", "f->live = 0;\n\tf->tag = 0;\n\tif", "f->live = 0;\n\tif", "table"),
    Bug("moves to the wrong end", "zrtt", "zrtt_list_add_oldest(t, copy);", "zrtt_list_add(t, copy);", "table"),
    Bug("takes a flow off the wrong list", "zrtt", "zrtt_list_del(t->from, f);", "zrtt_list_del(t, f);", "table"),
    Bug("counts what it has no room for", "zrtt", "\t\tzrtt_flow_discount(t, f);\n\t\tif", "\t\tif", "table"),
    Bug("resets the table", "zrtt", ".table = vars->table, .hosts", ".table.slots = vars->table.slots, .hosts", "state"),
    Bug("counts and stays in the sums", "zrtt", "t->counted += sign;", "t->counted += 1;", "table"),
    Bug("counts without a rate", "zrtt", "zrtt_flow_goes_on(t, f) && f->rate &&", "zrtt_flow_goes_on(t, f) &&", "update"),
    Bug("changes what counts in the sums", "zrtt", "\tzrtt_flow_enlist(t, f, log_rate);\n", "\tzrtt_flow_enlist(t, f, log_rate);\n\tf->counts = f->hit;\n", "update"),
    Bug("divides the due share by all", "zrtt", "sums->sum_log_rate, sums->counted)", "sums->sum_log_rate, sums->with_rtt + 1)", "law"),
    Bug("penalises without end", "zrtt", "zrtt_clamp_between(f->penalty_q16 + (s32)step_q16, ZRTT_PENALTY_MIN,\n\t\t\t\t\t    ZRTT_PENALTY_MAX)", "f->penalty_q16 + (s32)step_q16", "law"),
    Bug("takes a drop from what an update counted", "zrtt", "f->bytes -= bytes < f->bytes ? bytes : f->bytes;", "f->bytes -= bytes;", "flow"),
    Bug("forgets a hit at once", "zrtt", "f->hit = 1;", "f->hit = 0;", "flow"),
    Bug(
        "names ports that are not there",
        "packet",
        "= p->l4_off && p->proto !=",
        "= p->proto !=",
        "names",
    ),
    Bug(
        "takes 16 bytes of any packet",
        "packet",
        "len = zrtt_name_addr_bytes(name);",
        "len = 16;",
        "names",
    ),
    Bug("lets credit pile up", "zrtt", "f->acc_q30 <= ZRTT_CREDIT_MAX", "1", "verdict"),
    Bug("charges while the queue falls", "zrtt", "likely(!vars->ctl.falls)", "1", "judge"),
    Bug("lets pass more than a bucket", "zrtt", "verdict = ZRTT_DROP;\n\n\tif (zrtt_is", "verdict = ZRTT_PASS;\n\n\tif (zrtt_is", "judge"),
    Bug("wraps a negative length", "shaper", "s64 sum = (s64)len +", "s64 sum = len +"),
    Bug("counts a link header twice", "shaper", "if (params->raw)", "if (0)"),
    Bug("lets a packet be endless", "shaper", "bytes < ZRTT_SHAPER_BYTES_MAX", "1"),
    Bug("makes up for an hour", "shaper", "if (begin_ns + ZRTT_SHAPER_LATE_NS < now_ns)", "if (0)"),
    Bug(
        "drops the rest",
        "shaper",
        "bytes * params->cost_q20 + s->rest_q20",
        "bytes * params->cost_q20",
    ),
    Bug("starts anew at a change", "shaper", "bytes * to->", "(bytes & 0) * to->"),
    Bug("owes at the old rate", "shaper", "bytes * to->", "bytes * (to->rate ? from : to)->"),
    Bug("lets a virtual queue grow on and on", "ceil", "if (!zrtt_ceil_full(params, c, now_ns))", "if (1)"),
    Bug("lets pass twice what a ceiling does", "ceil", "> params->ctl.target_us * 1000ULL", "> params->ctl.target_us * 2000ULL", sanitized=True),
    Bug("has a host owe for another", "ceil", "*c = (struct zrtt_ceil) { .tag = tag };", "c->tag = tag;"),
    Bug("gives back what it did not take", "ceil", "\tc->taken_ns = 0;\n\tif", "\tif"),
    Bug("owes for long at a high ceiling what it sent at a low one", "ceil", "wait_ns && c->epoch_bytes <", "0 && c->epoch_bytes <"),
    Bug("wraps what weights are multiplied by", "ceil", "base_q30 < ~0U ? (u32)base_q30 : ~0U", "(u32)base_q30", sanitized=True),
    Bug("marks at any P_i", "zrtt", "ect && marks ?", "ect ?", "verdict"),
    Bug("lets a flow overtake its own", "lane", "own && zrtt_flow_queued(t, f)", "own && 0 * zrtt_flow_queued(t, f)"),
    Bug("lets small packets overtake those in sparse", "lane", "lane == ZRTT_LANE_SPARSE)\n\t\treturn lane;", "lane == ZRTT_LANE_SPARSE)\n\t\treturn own;"),
    Bug("lets a flow overtake what returns", "lane", "lane == ZRTT_LANE_SPARSE)\n\t\treturn lane;", "lane == ZRTT_LANE_SPARSE || lane <= ZRTT_LANE_THIN)\n\t\treturn ZRTT_LANE_SPARSE;"),
    Bug("lets a flow overtake its own in the large lane", "lane", "if (lane == ZRTT_LANE_SELDOM || ", "if (lane == ZRTT_LANE_LARGE || lane == ZRTT_LANE_SELDOM || "),
    Bug("lets the large lane be ahead of bulk without bound", "lane", "lanes->large_ahead += bytes;", ""),
    Bug("goes first, before its own", "lane", "ZRTT_LANE_SELDOM && zrtt_flow_queued(t, f)", "ZRTT_LANE_SELDOM && 0 * zrtt_flow_queued(t, f)"),
    Bug("goes first without end", "lane", "lanes->seldom_bytes += bytes;", "lanes->seldom_bytes += 0 * bytes;"),
    Bug("lets a flow of a large due share overtake its own", "lane", "ZRTT_LANE_RETURNING_LARGE : ZRTT_LANE_BULK", "ZRTT_LANE_SPARSE : ZRTT_LANE_BULK"),
    Bug("has a sparse lane when it is off", "lane", "zrtt_lanes_rate(lanes, due) : 0;\n\tif", "zrtt_lanes_rate(lanes, due) : 1;\n\tif"),
    Bug("lets others go on and on", "lane", "unlikely(ahead > lanes->lead)", "unlikely(0 * ahead > lanes->lead)"),
    Bug("does not see that bulk waits", "lane", "if (!others_wait)", "if (1 || !others_wait)"),
    Bug("goes past what is spoofed", "lane", "f->rate >= rate || unlikely(f->last & ZRTT_LAST_BULK)", "f->rate >= rate"),
    Bug("does not note who is in a lane", "lane", "f->last = ++t->lanes[lane].in & ZRTT_LAST_MASK;", "++t->lanes[lane].in;"),
    Bug("takes the last packet for gone", "lane", "< lane->in - lane->out;", "+ 1 < lane->in - lane->out;", "table"),
    Bug("counts as few packets as a flow can", "lane", "< lane->in - lane->out;", "< ((lane->in - lane->out) & ZRTT_LAST_MASK);", "table"),
    Bug("lets ECT(1) overtake what is in bulk", "lane", "f->lane == ZRTT_LANE_L4S || !zrtt_flow_queued(t, f)", "f->lane >= ZRTT_LANE_L4S || !zrtt_flow_queued(t, f)"),
    Bug("lets ECT(1) overtake what returns", "lane", "f->lane == ZRTT_LANE_THIN || f->lane == ZRTT_LANE_L4S", "f->lane <= ZRTT_LANE_L4S"),
    Bug("lets ECT(1) overtake what was spoofed", "lane", "if (f->last & ZRTT_LAST_BULK)\n\t\treturn ZRTT_LANE_BULK;\n\tif (f->lane", "if (f->lane"),
    Bug("forgets what bulk is owed", "lane", "zrtt_l4s_owe(l, bytes);", "zrtt_l4s_owe(l, 0 * bytes);", "l4s"),
    Bug("gives the lane to ECT(0)", "zrtt", "f->ect0 = ecn == ZRTT_ECT_0;", "f->ect0 = 0;", "arrive"),
    Bug("leaves sparse a tenth beside the lane", "lane", "sparse ? 1 :", "sparse ? 9 :", "l4s"),
    Bug("gives the lane to who lost it", "lane", "l4s &= params->l4s && !f->barred;", "l4s &= params->l4s;", "arrive"),
    Bug("forgets whose slot is taken", "lane", "\tzrtt_flow_lose(t, f);\n\tzrtt_flow_begin", "\tzrtt_flow_begin", "table"),
    Bug("forgets what was spoofed in its name", "lane", "if ((f->last & ZRTT_LAST_BULK) && zrtt_spoofed_queued(t, f->tag))", "if (0)", "table"),
    Bug("forgets it while flows are moved", "lane", "\tzrtt_flow_lose(t, copy);\n\tzrtt_flow_copy(t, copy, f);\n\tf->live = 0;", "\tzrtt_flow_copy(t, copy, f);\n\tf->live = 0;", "table"),
    Bug("forgets it at a resize", "lane", "t->left = from->mask + 1;\n\tzrtt_lanes_lose(t);", "t->left = from->mask + 1;", "table"),
    Bug("lets who was lost go first", "lane", "t->lost = zrtt_table_lost(t);", "t->lost = 0 * zrtt_table_lost(t);", "table"),
    Bug("does not note who was lost", "lane", "\tt->lost = true;\n", "", "table"),
    Bug("lets a flow overtake what was spoofed", "lane", "f->last |= ZRTT_LAST_BULK;\n\tspoofed", "f->last |= 0;\n\tspoofed", "arrive"),
    Bug("lets what was spoofed overtake the flow", "lane", "\tspoofed->last |= ZRTT_LAST_BULK;\n", "", "arrive"),
    Bug("counts who has left", "fair", "\tif (sign < 0)\n\t\tzrtt_member_leave(t->groups, m);", "\tif (sign < 0)\n\t\treturn;", "table"),
    Bug("is in a mean that it left", "fair", "\t\t\tg->counted--;\n", "", "host"),
    Bug("takes a host for the one before", "fair", "g->generation == m->generations[end] ? g : NULL", "1 ? g : NULL", "host"),
    Bug("joins whoever has the slot", "fair", "if (!m->hosts[end] || g->tag != m->hosts[end])", "if (!m->hosts[end])", "host"),
    Bug("moves a flow without its hosts", "fair", "= m ? *m : (struct zrtt_member) {};", "= m ? (struct zrtt_member) {} : (struct zrtt_member) {};", "table"),
    Bug("lets one host take the slot of the other", "fair", "end = (m->end + i) % ZRTT_HOST_ENDS;", "end = (m->end + 1 + i) % ZRTT_HOST_ENDS;"),
    Bug("charges a host for what was dropped", "fair", "zrtt_flow_dropped(zrtt_member_host(hosts, m), bytes);", "zrtt_flow_dropped(zrtt_member_host(hosts, m), 0 * bytes);"),
    Bug("keeps the hosts of a flow whose slot was taken", "fair", "return m->tag == tag && (!tags[0]", "return tag && (!tags[0]"),
    Bug("keeps the host at the other end", "fair", "m->hosts[0] && tags[1] == m->hosts[1])", "m->hosts[0])"),
    Bug("is quick with hosts that are gone", "fair", "unlikely(!zrtt_hosts_met(", "unlikely(0 * !zrtt_hosts_met(", "arrive"),
    Bug("forgets the largest rate", "line", "if (rate > params->max)", "if (0)"),
    Bug("goes on with old answers", "line", "\tanswers->count = 0;\n\tif (params", "\tif (params"),
    Bug("keeps what is old", "line", "answers->from &= ~(1U << i);", "answers->count += 0;", "answers"),
    Bug("marks beyond its ring", "line", "(sent->head + 1) % ZRTT_SENT_MARKS;", "sent->head + 1;", "sent"),
    Bug("says what nobody said", "line", "list[j] = list[j - 1];", "list[j] = (struct zrtt_line_answer) {};", "answers"),
    Bug("fills a queue", "line", "line->measured -\n", "line->measured +\n"),
    Bug("grows to less", "line", "rate += rate * epochs", "rate -= rate * epochs"),
    Bug("has more for the least than for the largest", "line", "if (!line->least || line->least > line->measured)", "if (!line->least)"),
    Bug("does not know that time wraps", "line", "if ((s32)age_us <= 0)", "if (us >= later->us)", "sent"),
    Bug("changes in the middle", "line", "if (span_us < ZRTT_LINE_EPOCH_US ||", "if (0 * span_us ||"),
    Bug("loses more than passed", "line", "again = bytes < (u32)-gap ? bytes : (u32)-gap;", "again = (u32)-gap;", "resent"),
    Bug("has a hole without an end", "line", "if (flow->holes > ZRTT_RESENT_REACH)", "if (0)", "resent"),
    Bug("trusts a flow that jumped", "line", "\tflow->whole = false;\n", "", "resent"),
    Bug("leads by more than it may", "line", "bytes < ZRTT_RESENT_LEAD_MAX - flow->lead ?", "1 ?", "resent"),
    Bug("steps back to what is sent again", "line", "flow->next += bytes - again;", "flow->next = seq + bytes;", "resent"),
    Bug("lets nobody count who is alone", "line", "n > 1 ? (n + 3) / 4 : 0", "(n + 3) / 4", "loss"),
    Bug("lowers the rate in vain again and again", "line", "return loss->vain >= ZRTT_LOSS_VAIN;", "return 0;", "loss"),
    Bug("tries ever more", "line", "loss->tries < ZRTT_LOSS_TRIES * ZRTT_LOSS_TRY_SHIFT", "1", "loss"),
    Bug("believes that a path loses any part", "line", "own_q16 < ZRTT_LOSS_OWN_MAX_Q16 ? own_q16 : ZRTT_LOSS_OWN_MAX_Q16", "own_q16", "loss"),
    Bug("reads a header that is not there", "quic", "have < off + 2 ||", "0 ||", sanitized=True),
    Bug("reads behind a connection ID", "quic", "|| off + found->dcid_len >= have)", ")", sanitized=True),
    Bug("reads a number that is not there", "quic", "|| have - *off < len)", ")", sanitized=True),
    Bug("takes the types of v2 for those of v1", "quic", "- (version == ZRTT_QUIC_V2)", "- 0"),
    Bug("finds a packet behind the datagram", "quic", "return found->end <= len;", "return true;"),
    Bug("takes a timer for the path", "quic", "gap > ZRTT_QUIC_GAP_MOST)", "0 * gap)", "spin"),
    Bug("answers the second Initial", "quic", "if (f->quic == ZRTT_QUIC_CLIENT && f->spin_run)", "if (0)", "spin"),
    Bug("times what is still queued", "quic", "!f->spin_run || gap <= ZRTT_QUIC_GAP_CLIENT", "gap <= ZRTT_QUIC_GAP_CLIENT", "spin", sanitized=True),
    Bug("takes any edge for one", "quic", "if (!edge)", "if (0 * edge)", "spin"),
    Bug("does not know that a period wraps", "quic", "f->syn_at = now - ZRTT_SPIN_MOST - 1;", "f->syn_at += 0;", "spin"),
    Bug("goes on after a silence", "quic", "\t\tzrtt_quic_spins(f);\n\t} else", "\t} else", "flow"),
    Bug("has joined where it was only put", "fair", "hosts->groups[slot].generation - 1;", "m->generations[end];"),
    Bug("has a due share of nothing", "fair", "if (log_mean && law->log_due < ZRTT_FAIR_LOG_LEAST)", "if (0)"),
    Bug("says what it has twice", "joint", "\tzrtt_joint_unsay(j, part);\n\tfor (", "\tfor ("),
    Bug("takes back what is forgotten", "joint", "if (j->window - part->window < ZRTT_JOINT_WINDOWS)", "if (1)"),
    Bug("leaves what it said of a host that it lost", "joint", "if (part->generation) {", "if (0) {", "fair"),
    Bug("takes another's slot for its own", "joint", "j->generation == part->generation ? j : NULL", "j"),
    Bug("counts a host that does not", "joint", "h->counts ? part->share_q8 : 0;", "h ? part->share_q8 : 0;", "host"),
    Bug("takes out another part than it put in", "joint", "if (sign > 0) {", "if (sign) {", "host"),
]
ENDLESS_LOOP = Bug("never ends", "hint", "if (len < 2 ||", "if (")


def fuzz(
    target: str, out: Path, *more: str, runs: int = RUNS
) -> subprocess.CompletedProcess[str]:
    """Builds a target and runs the slice, from the corpus in git."""
    command = ["make", "-C", str(HERE), f"TARGETS={target}", f"OUT={out}", f"RUNS={runs}", *more]
    return subprocess.run(
        command, env=outside_make(), capture_output=True, text=True, check=False, timeout=LIMIT_S
    )


def fuzz_with(bug: Bug, folder: Path, *more: str) -> str:
    """What libFuzzer says of it."""
    bug.plant(folder)
    # Nobody reads where the bug is, which takes a program of its own to say.
    quickly = ["OPTIMISE=-O0 -g0", "ASAN_OPTIONS=symbolize=0", "UBSAN_OPTIONS=symbolize=0"]
    if not bug.sanitized:
        quickly.append("SANITIZE=fuzzer")
    words = [*quickly, f"INCLUDE={folder}", *more]
    done = fuzz(bug.target, folder, *words, runs=RUNS_WITH_BUG)
    assert done.returncode != 0
    return done.stderr


@pytest.mark.parametrize("target", TARGETS)
def test_target_stands_the_slice(target: str, tmp_path: Path) -> None:
    done = fuzz(target, tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"stat::number_of_executed_units: {RUNS}\n" in done.stderr


@pytest.mark.skipif(
    subprocess.run(["setarch", "-R", "true"], check=False, capture_output=True).returncode != 0,
    reason="addresses cannot be fixed here",
)
def test_slice_is_the_same_in_each_run(tmp_path: Path) -> None:
    found = set()
    for _ in range(2):
        assert fuzz("halves", tmp_path).returncode == 0
        corpus = tmp_path / "corpus"
        found.add(frozenset(path.name for path in (corpus / "halves").iterdir()))
        shutil.rmtree(corpus)
    assert len(found) == 1
    assert found != {frozenset()}


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: f"{bug.target} {bug.name}")
def test_slice_finds_bug(bug: Bug, tmp_path: Path) -> None:
    said = fuzz_with(bug, tmp_path)
    assert "Test unit written to" in said, said
    assert "libFuzzer: timeout" not in said, said


def test_slice_finds_endless_loop(tmp_path: Path) -> None:
    said = fuzz_with(ENDLESS_LOOP, tmp_path, "TIMEOUT=1")
    assert "libFuzzer: timeout" in said, said
