"""Random numbers and strings as arguments: boundary values, constants of the function, literals of its file."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from jarvis_workers.source.clang.c_types import CType
from jarvis_workers.source.clang.syntax_tree import SyntaxNode, walk

MOST_ELEMENTS = 48
CALM = 16
EDGES = (0, 0, 1, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 63, 64, 100, 127, 128, 255, 256, -1, -2)
NUMBERS = (0.0, 1.0, -1.0, 0.5, 2.0, -2.5, 3.0, 10.0, 100.0, 0.1, 1e-3, 1e6, -1e9)
MOST_WHOLE = 64
TEXTS = (b"", b"a", b"0", b"12", b"-7", b"1.5", b"true", b"abc", b"a b", b"/a/b", b"x=1", b"hello world")
SMALL = ("bool", "integer", "enum")


def function_constants(tree: SyntaxNode) -> tuple[int, ...]:
    """Return the integer constants in a function, and their neighbours."""
    values = {node.value for node in walk(tree) if isinstance(node.value, int)}
    return tuple(sorted({value + step for value in values for step in (-1, 0, 1)}))


@dataclass(frozen=True)
class InputValues:
    """Generates random values, including those likely to reach branches: a function's constants, its file's literals.

    Calm values are small and not negative, except for constants of the function.
    """

    random: Random
    constants: Sequence[int]
    literals: Sequence[bytes]
    calm: bool = False

    def count(self) -> int:
        """Return a random number of elements."""
        return self.random.choice((0, 1, 1, 2, 3, 5, 8, 16, self.random.randint(1, MOST_ELEMENTS)))

    def integer(self, type_: CType) -> int:
        """Return a random value of an integer type."""
        random, choice = self.random, self.random.random()
        if type_.kind == "bool":
            return random.randint(0, 1)
        if choice < (0.15 if self.calm else 0.3) and self.constants:
            value = random.choice(self.constants)
        elif self.calm:
            value = random.choice((0, 1, 1, 2, random.randint(0, CALM)))
        elif choice < 0.6:
            value = random.choice(EDGES)
        elif choice < 0.9:
            value = random.randint(0, 126)
        else:
            value = random.getrandbits(8 * type_.size)
        bits = 8 * type_.size
        value &= (1 << bits) - 1
        return value - (1 << bits) if (type_.signed and value >> (bits - 1)) else value

    def bits(self, type_: CType) -> int:
        """Return the bits of a floating-point number."""
        random, choice = self.random, self.random.random()
        if choice < 0.2 and self.constants:
            value = as_float(random.choice(self.constants))
        elif choice < 0.6:
            value = random.choice(NUMBERS)
        else:
            value = float(random.randint(-2, MOST_WHOLE)) if choice < 0.8 else random.uniform(-100, 100)
        code, whole = ("<f", "<I") if type_.size == 4 else ("<d", "<Q")
        return int(struct.unpack(whole, struct.pack(code, value))[0])

    def text(self) -> bytes:
        """Return a string without its final zero."""
        random, choice = self.random, self.random.random()
        if choice < 0.3 and self.literals:
            return b"".join(random.choices(self.literals, k=random.choice((1, 1, 2, 3))))
        if choice < 0.55:
            return random.choice(TEXTS)
        alphabet = random.choice((b"ab", b"0123456789.-+eE", bytes(range(32, 127)), bytes(range(1, 256))))
        return bytes(random.choice(alphabet) for _ in range(random.choice((1, 3, 8, 20, 40))))


def as_float(value: int) -> float:
    """Return a constant as a number that a float can hold."""
    return float(max(-(1 << 64), min(value, 1 << 64)))
