/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The algorithm as one piece, for who drives it: a packet is parsed (packet.h), arrives (arrive.h)
 * and is judged (judge.h); a tick passes (tick.h).
 */
#ifndef _ZRTT_ZRTT_H
#define _ZRTT_ZRTT_H

#include "packet.h"
#include "halves.h"
#include "acks.h"
#include "oneway.h"
#include "tick.h"
#include "arrive.h"
#include "judge.h"

#endif
