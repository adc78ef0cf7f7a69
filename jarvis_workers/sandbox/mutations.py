"""Mutate inputs for fuzzing: the same sequence of inputs for the same seeds and the same number.

The operations are those of the "havoc" stage of AFL (Zalewski, Technical whitepaper for afl-fuzz, 2014), and numbers
in digits, since many formats are texts.  This file is also part of a program in the sandbox: it imports the standard
library alone.
"""

import re
from collections.abc import Callable, Sequence
from random import Random

INPUT_MAX = 32_000
# Most inputs are changed in few places, some in many.
OPERATIONS = (1, 1, 2, 4, 8, 16)
BLOCK_MAX, ARITHMETIC_MAX = 256, 35
REPEATS = (2, 8, 64, 512, 4096)
# The limits of signed and unsigned numbers of 8, 16, 32 and 64 bits, as in AFL.
LIMITS = tuple(sorted({(1 << bits) + step for bits in (0, 7, 8, 15, 16, 31, 32, 63) for step in (-2, -1, 0, 1)}))
WIDTHS = (1, 2, 4, 8)
DIGITS = re.compile(rb"\d+")


class Mutator:
    """Makes inputs from `pool`, to which the caller may add inputs that reach something new."""

    def __init__(self, seeds: Sequence[bytes], number: int) -> None:
        self.pool = [seed[:INPUT_MAX] for seed in seeds] or [b""]
        self._random = Random(number)

    def mutate(self) -> bytes:
        """Return a changed input of the pool."""
        content = self._random.choice(self.pool)
        for _ in range(self._random.choice(OPERATIONS)):
            content = self._random.choice(CHANGES)(self._random, content, self.pool)
        return content[:INPUT_MAX]


def _place(chance: Random, content: bytes, width: int = 1) -> int:
    return chance.randrange(max(1, len(content) - width + 1))


def _block(chance: Random, content: bytes) -> tuple[int, int]:
    start = _place(chance, content)
    return start, min(len(content), start + chance.randint(1, BLOCK_MAX))


def _flip_bit(chance: Random, content: bytes, pool: Sequence[bytes]) -> bytes:
    at = _place(chance, content)
    changed = bytes(byte ^ (1 << chance.randrange(8)) for byte in content[at : at + 1])
    return content[:at] + changed + content[at + 1 :]


def _set_byte(chance: Random, content: bytes, pool: Sequence[bytes]) -> bytes:
    at = _place(chance, content)
    return content[:at] + bytes([chance.randrange(256)]) + content[at + 1 :]


def _set_limit(chance: Random, content: bytes, pool: Sequence[bytes]) -> bytes:
    width = chance.choice(WIDTHS)
    value = chance.choice(LIMITS) % (1 << 8 * width)
    return _with_number(chance, content, value, width)


def _add(chance: Random, content: bytes, pool: Sequence[bytes]) -> bytes:
    width = chance.choice(WIDTHS)
    at = _place(chance, content, width)
    value = int.from_bytes(content[at : at + width], "big") + chance.randint(-ARITHMETIC_MAX, ARITHMETIC_MAX)
    return content[:at] + (value % (1 << 8 * width)).to_bytes(width, "big") + content[at + width :]


def _with_number(chance: Random, content: bytes, value: int, width: int) -> bytes:
    at, is_little = _place(chance, content, width), chance.random() < 0.5
    return content[:at] + value.to_bytes(width, "little" if is_little else "big") + content[at + width :]


def _set_digits(chance: Random, content: bytes, pool: Sequence[bytes]) -> bytes:
    numbers = list(DIGITS.finditer(content))
    if not numbers:
        return _set_limit(chance, content, pool)
    chosen, value = chance.choice(numbers), chance.choice(LIMITS)
    sign = b"-" if chance.random() < 0.25 else b""
    return content[: chosen.start()] + sign + b"%d" % value + content[chosen.end() :]


def _remove(chance: Random, content: bytes, pool: Sequence[bytes]) -> bytes:
    start, end = _block(chance, content)
    return content[:start] + content[end:]


def _truncate(chance: Random, content: bytes, pool: Sequence[bytes]) -> bytes:
    return content[: _place(chance, content)]


def _copy(chance: Random, content: bytes, pool: Sequence[bytes]) -> bytes:
    (start, end), at = _block(chance, content), _place(chance, content)
    return content[:at] + content[start:end] + content[at:]


def _repeat(chance: Random, content: bytes, pool: Sequence[bytes]) -> bytes:
    start, end = _block(chance, content)
    end = min(end, start + chance.choice((1, 1, 4, BLOCK_MAX)))
    return content[:start] + content[start:end] * chance.choice(REPEATS) + content[end:]


def _insert(chance: Random, content: bytes, pool: Sequence[bytes]) -> bytes:
    at = _place(chance, content)
    return content[:at] + chance.randbytes(chance.randint(1, 16)) + content[at:]


def _splice(chance: Random, content: bytes, pool: Sequence[bytes]) -> bytes:
    other = chance.choice(pool)
    return content[: _place(chance, content)] + other[_place(chance, other) :]


def _paste(chance: Random, content: bytes, pool: Sequence[bytes]) -> bytes:
    other, at = chance.choice(pool), _place(chance, content)
    start, end = _block(chance, other)
    return content[:at] + other[start:end] + content[at:]


CHANGES: tuple[Callable[[Random, bytes, Sequence[bytes]], bytes], ...] = (
    _flip_bit,
    _set_byte,
    _set_limit,
    _add,
    _set_digits,
    _remove,
    _truncate,
    _copy,
    _repeat,
    _insert,
    _splice,
    _paste,
)
