"""Assign the arguments of a generated call to locations: lines of a plan for registers, then for the stack."""

from dataclasses import dataclass, field

from jarvis_workers.c2rust.shapes import VECTOR_REGISTERS

STACK_WORDS = 8
POINTER_BYTES = 8


class Ungenerated(Exception):
    """Raised if an argument cannot be generated; the message is the reason on one line."""


@dataclass
class RegisterArguments:
    """Arguments by register, in the order of the parameters; the rest is on the stack."""

    generals: int
    vectors: int = VECTOR_REGISTERS
    stack: int = STACK_WORDS
    lines: list[str] = field(default_factory=list)

    def general(self, line: str) -> None:
        """Add a line for a general register."""
        if self.generals:
            self.generals -= 1
        else:
            line = self._on_stack({"g": "s", "G": "S"}[line[0]] + line[1:])
        self.lines.append(line)

    def vector(self, line: str) -> None:
        """Add a line for a vector register."""
        if self.vectors:
            self.vectors -= 1
        else:
            line = self._on_stack("s" + line[1:])
        self.lines.append(line)

    def record(self, number: int, words: str) -> None:
        """Add the words of an object: "r", "x" and "m" for a general register, a vector register, the stack."""
        generals, vectors = words.count("r"), words.count("x")
        if generals > self.generals or vectors > self.vectors:
            words, generals, vectors = "m" * len(words), 0, 0
        self.generals, self.vectors = self.generals - generals, self.vectors - vectors
        for at, kind in enumerate(words):
            line = f"{kind} {number} {at * POINTER_BYTES}"
            self.lines.append(self._on_stack(line) if kind == "m" else line)

    def _on_stack(self, line: str) -> str:
        if not self.stack:
            raise Ungenerated("it has too many parameters")
        self.stack -= 1
        return line
