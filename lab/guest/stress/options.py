# SPDX-License-Identifier: GPL-2.0
"""Random TCA_OPTIONS, valid and invalid."""

from __future__ import annotations

from random import Random

from lab.guest.stress import contract
from lab.guest.stress.contract import ATTRIBUTES, NUMBER, Attribute, Values

NET_BYTEORDER = 0x4000
ATTRIBUTES_MAX = 12
LARGE_TABLE = 1 << 18
"""Slots; to clear more takes the guest long, so it is rarely asked for."""
LARGE_SHARE = 0.005


MASKS = {"MARK_RTT": (0, 16), "FAIR_MASK": (16, 24), "WEIGHT_MASK": (24, 32)}
"""Bits of the packet mark that each has mostly: they must not have the same."""


def _mask(rng: Random, name: str) -> int:
    low, high = MASKS[name] if rng.random() < 0.9 else (0, 32)
    bits = rng.randint(name == "FAIR_MASK", min(high - low, contract.MASK_BITS[name]))
    return ((1 << bits) - 1) << rng.randint(low, high - bits)


def _weights(rng: Random) -> int:
    one, least, most = contract.WEIGHT
    some = {rng.randrange(contract.DSCPS): rng.randint(least, most) for _ in range(3)}
    return contract.of_weights([some.get(dscp, one) for dscp in range(contract.DSCPS)])


def _slots(rng: Random, attribute: Attribute) -> int:
    most = attribute.high if rng.random() < LARGE_SHARE else LARGE_TABLE
    return 1 << rng.randint(attribute.low.bit_length() - 1, most.bit_length() - 1)


def _value(rng: Random, attribute: Attribute) -> int:
    """An accepted value: either end of the range as often as all between."""
    if attribute.name in MASKS:
        return _mask(rng, attribute.name)
    if attribute.name == "WEIGHT_DSCP":
        return _weights(rng)
    if attribute.name == "FLOWS":
        return _slots(rng, attribute)
    between = rng.randint(attribute.low, attribute.high)
    # most parameters span magnitudes: small values are where the limits are
    small = min(attribute.high, attribute.low + rng.getrandbits(rng.randint(1, 20)))
    return rng.choice((attribute.low, attribute.high, between, small)) % attribute.values


def valid(rng: Random) -> Values:
    """Some parameters, each with a value that it accepts."""
    numbers = rng.sample(sorted(ATTRIBUTES), rng.randint(0, ATTRIBUTES_MAX))
    values = {number: _value(rng, ATTRIBUTES[number]) for number in numbers}
    fair, mask = NUMBER["FAIR"], NUMBER["FAIR_MASK"]
    values.pop(mask, None)
    if values.get(fair) == contract.FAIR_MARK:
        values[mask] = _mask(rng, "FAIR_MASK")
    return _of_line(_of_ceil(values))


def _of_ceil(values: Values) -> Values:
    """The values, where those that a ceiling needs go together, whatever there was before."""
    ceil, fair, l4s = (NUMBER[name] for name in ("CEIL", "FAIR", "L4S"))
    if values.get(ceil):
        values[l4s] = 0
        if values.get(fair) not in contract.FAIR_ONE_END:
            values[fair] = contract.FAIR_ONE_END[0]
    elif {fair, l4s} & set(values):
        values[ceil] = 0
    return values


def _of_line(values: Values) -> Values:
    """The values, where those of the line go together, whatever there was before."""
    auto, least, largest = (NUMBER[name] for name in ("AUTO", "AUTO_MIN", "AUTO_MAX"))
    if least in values or largest in values:
        ends = sorted(values.get(end, contract.AUTO_RATE_MAX) for end in (least, largest))
        values |= dict(zip((least, largest), ends, strict=True))
        values.setdefault(auto, 1)
    if values.get(NUMBER["TIMESTAMPS"]) == 0:
        values[auto] = 0
    if values.get(auto):
        values.pop(NUMBER["BANDWIDTH"], None)
    return values


def with_timestamps(rng: Random) -> Values:
    """The same, with the table that a namespace shares."""
    return {**valid(rng), NUMBER["TIMESTAMPS"]: 1}


def _bad_value(rng: Random, attribute: Attribute) -> int:
    """A value that is most likely refused: out of range or of the wrong form."""
    anything = rng.getrandbits(8 * attribute.size)
    between = rng.randint(attribute.low, attribute.high)
    ends = (attribute.low - 1, attribute.high + 1)
    return rng.choice((*ends, anything, between)) % attribute.values


def _attribute(rng: Random) -> bytes:
    """One attribute, mostly well-formed."""
    number = rng.choice(sorted(ATTRIBUTES))
    attribute = ATTRIBUTES[number]
    payload = _value(rng, attribute).to_bytes(attribute.size, "little")
    match rng.choices(("good", "value", "length", "type", "flag", "nest"), (70, 18, 3, 3, 3, 3)):
        case ["value"]:
            payload = _bad_value(rng, attribute).to_bytes(attribute.size, "little")
        case ["length"]:
            payload = rng.randbytes(rng.choice((0, 1, 2, 3, 5, 8, 64, 300)))
        case ["type"]:
            number = rng.choice((0, max(ATTRIBUTES) + 1, rng.randint(0, contract.TYPE_MASK)))
        case ["flag"]:
            number |= rng.choice((contract.NESTED, NET_BYTEORDER))
        case ["nest"]:
            number |= contract.NESTED
            payload = b"".join(_attribute(rng) for _ in range(rng.randint(0, 3)))
    return contract.encode(number, payload)


def _damage(rng: Random, data: bytearray) -> None:
    """In place: bytes changed, lost, or too many."""
    match rng.randrange(4):
        case 0:
            del data[rng.randrange(len(data)) :]
        case 1:
            data += rng.randbytes(rng.randint(1, 8))
        case 2:  # a length
            data[:2] = rng.getrandbits(16).to_bytes(2, "little")
        case 3:
            for _ in range(rng.randint(1, 4)):
                data[rng.randrange(len(data))] = rng.getrandbits(8)


def anything(rng: Random) -> bytes:
    """Some attributes, each perhaps wrong, and perhaps damaged as a whole."""
    if rng.random() < 0.3:
        data = bytearray(contract.encode_values(valid(rng)))
    else:
        number = rng.choice((1, 1, 2, rng.randint(0, ATTRIBUTES_MAX)))
        data = bytearray().join(_attribute(rng) for _ in range(number))
    if data and rng.random() < 0.15:
        _damage(rng, data)
    return bytes(data)


def message(rng: Random, whole: bytes) -> bytes:
    """A netlink message damaged below its header, whose length stays true mostly."""
    head, body = whole[:16], bytearray(whole[16:])
    _damage(rng, body)
    length = 16 + len(body) if rng.random() < 0.9 else rng.randint(0, 64)
    return length.to_bytes(4, "little") + head[4:] + bytes(body)
