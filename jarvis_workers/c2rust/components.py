"""Strongly connected components by Tarjan's algorithm, without recursion, since call graphs exceed Python's stack."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field


def strong_components(nodes: Iterable[int], successors: Mapping[int, Sequence[int]]) -> list[tuple[int, ...]]:
    """Return the components, each sorted, successors first; all successors must be nodes.

    See Tarjan, "Depth-first search and linear graph algorithms", 1972.
    """
    search = _Search(successors)
    for node in nodes:
        if node not in search.index:
            search.visit(node)
    return search.components


@dataclass(slots=True)
class _Search:
    successors: Mapping[int, Sequence[int]]
    index: dict[int, int] = field(default_factory=dict)
    low: dict[int, int] = field(default_factory=dict)
    stack: list[int] = field(default_factory=list)
    on_stack: set[int] = field(default_factory=set)
    components: list[tuple[int, ...]] = field(default_factory=list)

    def visit(self, root: int) -> None:
        path = [(root, iter(self._enter(root)))]
        while path:
            node, rest = path[-1]
            for successor in rest:
                if successor not in self.index:
                    path.append((successor, iter(self._enter(successor))))
                    break
                if successor in self.on_stack:
                    self.low[node] = min(self.low[node], self.index[successor])
            else:
                path.pop()
                if path:
                    parent = path[-1][0]
                    self.low[parent] = min(self.low[parent], self.low[node])
                self._leave(node)

    def _enter(self, node: int) -> Sequence[int]:
        self.index[node] = self.low[node] = len(self.index)
        self.stack.append(node)
        self.on_stack.add(node)
        return self.successors.get(node, ())

    def _leave(self, node: int) -> None:
        if self.low[node] != self.index[node]:
            return
        component: list[int] = []
        while not component or component[-1] != node:
            component.append(self.stack.pop())
        self.on_stack.difference_update(component)
        self.components.append(tuple(sorted(component)))
