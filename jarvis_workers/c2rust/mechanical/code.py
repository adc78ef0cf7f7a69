"""Rust expressions as text with the precedence of their outermost operator, and the layout of whole bodies."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

# Precedence, from the loosest: if, match, blocks, struct literals; then the operators of Rust.
BLOCK, OR_ELSE, AND_ALSO, COMPARE, OR, XOR, AND, SHIFT, ADD, MULTIPLY, CAST, UNARY, ATOM = range(13)
LEVELS = {"||": OR_ELSE, "&&": AND_ALSO, "|": OR, "^": XOR, "&": AND, "<<": SHIFT, ">>": SHIFT, "+": ADD, "-": ADD}
LEVELS |= dict.fromkeys(("*", "/", "%"), MULTIPLY) | dict.fromkeys(("==", "!=", "<", ">", "<=", ">="), COMPARE)

OPPOSITES = {"==": "!=", "!=": "=="}

# `a as u32 < b` would begin generic arguments.
ENDS_WITH_TYPE = re.compile(r" as [\w:* ]+$")
QUOTED = re.compile(r"\"(?:\\.|[^\"\\])*\"|b'(?:\\.|[^'\\])'")
INDENT = "    "
LINE_WIDTH = 110


@dataclass(frozen=True, slots=True)
class Code:
    """A Rust expression.

    `bare` is a literal without its type, for contexts that determine the type; `value` is its value.  `pointer` is the
    operand of a cast between pointers, `negation` the negation of a condition.  With `effects`, it must not be
    evaluated twice.
    """

    text: str
    level: int = ATOM
    effects: bool = False
    value: int | float | None = None
    bare: str = ""
    pointer: str = ""
    negation: str = ""

    @property
    def short(self) -> str:
        """The text for contexts that determine the type of a literal."""
        return self.bare or self.text

    def at(self, level: int) -> str:
        """The text as an operand of an operator with this precedence."""
        return self.text if self.level >= level else f"({self.text})"

    def short_at(self, level: int) -> str:
        return self.bare if self.value is not None and self.bare and self.level >= level else self.at(level)

    def method(self, name: str, *arguments: "Code") -> "Code":
        words = ", ".join(one.short for one in arguments)
        return Code(f"{self.at(ATOM)}.{name}({words})", effects=any(one.effects for one in (self, *arguments)))

    def cast(self, type_: str) -> "Code":
        return Code(f"{self.at(CAST)} as {type_}", CAST, self.effects)

    def with_effects(self) -> "Code":
        return replace(self, effects=True)


def infix(left: Code, operator: str, right: Code) -> Code:
    """Return `left operator right`; at least one operand states its type."""
    level = LEVELS[operator]
    first = left.at(level + (level == COMPARE))
    if operator.startswith("<") and ENDS_WITH_TYPE.search(first):
        first = f"({first})"
    second, effects = right.short_at(level + 1), left.effects or right.effects
    opposite = OPPOSITES.get(operator)
    negation = f"{first} {opposite} {second}" if opposite else ""
    return Code(f"{first} {operator} {second}", level, effects, negation=negation)


def block(statements: Iterable[str], value: Code) -> Code:
    """Return a block with a value, on one line unless one of its statements spans several lines."""
    parts = list(statements)
    if not parts:
        return value
    between = "\n" if any("\n" in part for part in parts) else " "
    return Code(f"{{{between}{between.join(parts)}{between}{value.text}{between}}}", BLOCK, effects=True)


def choice(condition: Code, first: Code, second: Code) -> Code:
    effects = condition.effects or first.effects or second.effects
    return Code(
        f"if {condition.text} {{ {first.text} }} else {{ {second.text if second.value is None else second.short} }}",
        BLOCK,
        effects,
    )


def braces(head: str, lines: Iterable[str]) -> str:
    """Return `head { lines }` over several lines."""
    return "\n".join([f"{head} {{".lstrip(), *lines, "}"])


def wrapped(items: Iterable[str]) -> str:
    """Return items separated by commas, over several lines if they are long."""
    lines = [""]
    for item in items:
        if len(lines[-1]) + len(item) > LINE_WIDTH:
            lines.append("")
        lines[-1] += f"{item}, "
    return "\n".join(line.rstrip() for line in lines).removesuffix(",")


def indented(text: str) -> str:
    """Return lines with the indentation that their enclosing braces require."""
    depth, lines = 0, []
    for line in text.split("\n"):
        words = line.strip()
        plain = QUOTED.sub("", words)
        closing = len(plain) - len(plain.lstrip("}])"))
        lines.append(f"{INDENT * max(depth - closing, 0)}{words}")
        depth += sum(map(plain.count, "{[(")) - sum(map(plain.count, "}])"))
    return "\n".join(lines)
