"""Mutate usable inputs to reach more of a function: numbers, bytes, texts, and operands of comparisons.

If an input contains one of two unequal operands of a comparison, it is replaced by the other operand or a neighbouring
value (input-to-state correspondence, REDQUEEN, NDSS 2019).  Inputs that reached new code are the parents.
"""

import re
import struct
from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

from jarvis_workers.c2rust.input_values import EDGES, NUMBERS, as_float

# Arguments as hexadecimal numbers with the types that they are extended from, and bytes of objects.
VALUE = re.compile(r"^([gsv]) ([0-9a-f]+)(| bool| [iu](?:8|16))$")
BYTES = re.compile(r"^w (\d+) ((?:[0-9a-f]{2})+)$")
OBJECT = re.compile(r"^o (\d+)$")
WORD = 8
SIZES = (1, 1, 2, 4, 4, 8)
# Shares: operands of comparisons, zeros that become something else; and most changes of an input.
OPERANDS, ZEROS, MOST_CHANGES = 0.6, 0.15, 3


class Operands(NamedTuple):
    """Two unequal operands of a comparison, with their size in bytes."""

    size: int
    one: int
    other: int


class ParentInput(NamedTuple):
    """An input, as lines of a plan, and the operands of its comparisons."""

    text: str
    operands: tuple[Operands, ...] = ()


def mutated_inputs(
    parents: Sequence[ParentInput], constants: Sequence[int], random: Random, count: int
) -> Iterator[str]:
    """Yield at most a given number of mutated inputs, without duplicates."""
    seen = {one.text for one in parents}
    for number in range(count if parents else 0):
        parent = parents[number % len(parents)]
        text = _Mutation(parent, constants, random).text()
        if text not in seen:
            seen.add(text)
            yield text


class _Mutation:
    """An input that is being mutated."""

    def __init__(self, parent: ParentInput, constants: Sequence[int], random: Random) -> None:
        self._lines, self._operands = parent.text.splitlines(), parent.operands
        self._constants, self._random = constants, random

    def text(self) -> str:
        """Return the mutated input."""
        for _ in range(self._random.randint(1, MOST_CHANGES)):
            if not (self._operands and self._random.random() < OPERANDS and self._use_operands()):
                self._change()
        return "".join(f"{line}\n" for line in self._lines)

    def _use_operands(self) -> bool:
        """Replace one operand of a comparison by the other; return whether the input contains it."""
        size, one, other = self._random.choice(self._operands)
        if self._random.random() < 0.5:
            one, other = other, one
        other += self._random.choice((0, 0, 0, 1, -1))
        places = list(self._places(size, one))
        if not places:
            return False
        number, at = self._random.choice(places)
        self._write(number, at, size, other)
        return True

    def _places(self, size: int, value: int) -> Iterator[tuple[int, int]]:
        """Yield the lines and offsets that contain a value."""
        pattern = value.to_bytes(WORD, "little")[:size]
        for number, line in enumerate(self._lines):
            if (match := VALUE.match(line)) and _low(int(match[2], 16), size) == value:
                yield number, 0
            elif match := BYTES.match(line):
                content = bytes.fromhex(match[2])
                at = content.find(pattern)
                while at >= 0:
                    yield number, at
                    at = content.find(pattern, at + 1)

    def _write(self, number: int, at: int, size: int, value: int) -> None:
        """Write the low bytes of a value."""
        line = self._lines[number]
        if match := VALUE.match(line):
            self._lines[number] = f"{match[1]} {_extended(value, match[3]):x}{match[3]}"
        elif match := BYTES.match(line):
            content = bytearray.fromhex(match[2])
            content[at : at + size] = _low(value, size).to_bytes(size, "little")
            self._lines[number] = f"w {match[1]} {content.hex()}"

    def _change(self) -> None:
        """Change an argument or bytes at random."""
        random = self._random
        changeable = [at for at, line in enumerate(self._lines) if VALUE.match(line) or BYTES.match(line)]
        objects = [at for at, line in enumerate(self._lines) if OBJECT.match(line)]
        if objects and (not changeable or random.random() < ZEROS):
            self._fill_zeros(random.choice(objects))
        elif changeable:
            self._change_line(random.choice(changeable))

    def _fill_zeros(self, number: int) -> None:
        size, room = self._random.choice(SIZES), int(self._lines[number].split()[1])
        if room >= size:
            at = self._random.randrange(min(room // size, 64)) * size
            value = _low(self._value(0), size).to_bytes(size, "little")
            self._lines.insert(number + 1, f"w {at} {value.hex()}")

    def _change_line(self, number: int) -> None:
        random, line = self._random, self._lines[number]
        if match := VALUE.match(line):
            value = int(match[2], 16)
            changed = self._floating() if match[1] == "v" else self._value(value)
            self._lines[number] = f"{match[1]} {_extended(changed, match[3]):x}{match[3]}"
            return
        match = BYTES.match(line)
        assert match is not None
        content = bytearray.fromhex(match[2])
        size = min(random.choice(SIZES), len(content))
        at = random.randrange(len(content) // size) * size
        action = random.random()
        if action < 0.7:
            value = int.from_bytes(content[at : at + size], "little")
            content[at : at + size] = _low(self._value(value), size).to_bytes(size, "little")
        elif action < 0.85:
            length = random.randint(1, len(content))
            copied, to = random.randrange(len(content)), random.randrange(len(content))
            part = content[copied : copied + length]
            content[to : to + len(part)] = part[: len(content) - to]
        else:
            del content[at : at + random.randint(1, size)]
        self._lines[number] = f"w {match[1]} {content.hex()}" if content else f"w {match[1]} 00"

    def _floating(self) -> int:
        """Return the bits of a double."""
        value = self._random.choice((*NUMBERS, *map(as_float, self._constants)))
        return int.from_bytes(struct.pack("<d", value), "little")

    def _value(self, value: int) -> int:
        random = self._random
        return random.choice(
            (
                value + 1,
                value - 1,
                value + random.randint(-16, 16),
                value ^ 1 << random.randrange(32),
                random.choice(EDGES),
                random.randrange(256),
                random.choice(self._constants or EDGES),
                random.choice(self._constants or EDGES),
            )
        )


def _extended(value: int, type_: str) -> int:
    """Return the bits of a register that holds a value of a small type."""
    if type_ == " bool":
        return value & 1
    size = int(type_[2:] or 64) // 8
    low = _low(value, size)
    return _low(low - (1 << 8 * size) if type_[:2] == " i" and low >> (8 * size - 1) else low, WORD)


def _low(value: int, size: int) -> int:
    return value & ((1 << 8 * size) - 1)
