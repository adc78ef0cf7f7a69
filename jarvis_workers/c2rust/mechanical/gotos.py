"""Jumps within a sequence of statements as labelled blocks (forward) and labelled loops (backward).

A label ends a block that starts at the first statement that jumps forward to it, and starts a loop that ends after the
last statement that jumps back to it.  Blocks may start earlier and loops may end later, so that they nest.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from jarvis_workers.c2rust.mechanical.context import Unstructured
from jarvis_workers.source.clang.syntax_tree import SyntaxNode, walk

# More blocks and loops of one sequence are not nested one by one.
MOST_INTERVALS = 200


@dataclass(slots=True)
class Interval:
    """The statements from `start` to `end` (exclusive), in a block or loop with the C label."""

    label: str
    start: int
    end: int
    loop: bool

    def crosses(self, other: "Interval") -> bool:
        """Whether the other interval starts inside this one and ends after it."""
        return self.start < other.start < self.end < other.end


def goto_counts(nodes: Iterable[SyntaxNode | None]) -> dict[str, int]:
    """Return the number of `goto` statements per label."""
    counts: dict[str, int] = {}
    for node in nodes:
        for one in walk(node) if node is not None else ():
            if one.kind == "goto":
                counts[one.name] = counts.get(one.name, 0) + 1
    return counts


def intervals(
    labels: Sequence[Sequence[str]], statements: Sequence[SyntaxNode], total: dict[str, int]
) -> list[Interval]:
    """Return the blocks and loops of a sequence.

    Raises Unstructured if there are other jumps to the labels. `labels` are those of each statement, `total` counts all
    `goto` statements of the body.
    """
    counts = [goto_counts([one]) for one in statements]
    found: list[Interval] = []
    for position, names in enumerate(labels):
        for name in names:
            jumping = [number for number, inside in enumerate(counts) if name in inside]
            if sum(counts[number][name] for number in jumping) != total.get(name, 0):
                raise Unstructured
            if jumping and jumping[0] < position:
                found.append(Interval(name, jumping[0], position, loop=False))
            if jumping and jumping[-1] >= position:
                found.append(Interval(name, position, jumping[-1] + 1, loop=True))
    if len(found) > MOST_INTERVALS:
        raise Unstructured
    while any([_nest(one, other) for one in found for other in found]):
        pass
    return sorted(found, key=lambda one: (one.start, -one.end))


def _nest(first: Interval, second: Interval) -> bool:
    """Extend two intervals so that they nest; return whether one of them changed."""
    if not first.crosses(second):
        return False
    if not second.loop:
        second.start = first.start
    elif first.loop:
        first.end = second.end
    else:
        raise Unstructured
    return True
