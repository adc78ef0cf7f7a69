"""The paths that leave a sequence of statements, and the limit on their number."""

from jarvis_workers.dataflow.state.context import AnalysisContext
from jarvis_workers.dataflow.state.path import PathState

PATHS = 4
# From this step of a function on, the lower limit applies.
NARROW_FROM, PATHS_WHEN_NARROW = 100, 2
# From this step on, only one path continues, and calls are not followed: the rest of a long function is worth more.
SINGLE_FROM = 200
# The same limits in evaluations: an expression or a callee may cost as much as many steps. In the C code of three
# projects, no finding needed more.
COSTLY_FROM, SPENT_FROM = 2_000, 4_000


# The kinds of exit from a sequence of statements; the kind of a goto is its label, which differs from these.
BREAK, CONTINUE, RETURN, THROW = "break", "continue", "return", "throw "


class Ends:
    """The paths that reach the end of a sequence of statements (`out`), and those that leave early, by kind of exit."""

    __slots__ = ("left", "out")

    def __init__(self, out: list[PathState]) -> None:
        self.out = out
        self.left: dict[str, list[PathState]] = {}

    def add(self, way: str, paths: list[PathState]) -> None:
        if paths:
            self.left.setdefault(way, []).extend(paths)

    def labels(self) -> dict[str, list[PathState]]:
        """Return the paths that jump to a label."""
        return {way: paths for way, paths in self.left.items() if way not in (BREAK, CONTINUE, RETURN, THROW)}

    def take(self, inner: "Ends", *but: str) -> None:
        """Add the early exits of nested statements, except for some kinds."""
        for way, paths in inner.left.items():
            if way not in but:
                self.left.setdefault(way, []).extend(paths)


def few(paths: list[PathState]) -> list[PathState]:
    """Remove ended and duplicate paths, then limit the number of paths."""
    if len(paths) == 1 and not paths[0].ended:
        return paths
    states: list[PathState] = []
    for path in paths:
        if path.ended:
            continue
        for other in states:
            if other.same_as(path):
                other.doubt = min(other.doubt, path.doubt)
                break
        else:
            states.append(path)
    if len(states) <= 1:
        return states
    most = _most(states[0].machine)
    if len(states) <= most:
        return states
    return _varied(sorted(_joined(states), key=lambda one: -len(one.objects)), most)


def _most(machine: AnalysisContext) -> int:
    steps, evaluated = machine.execution.steps, machine.evaluated
    if steps < NARROW_FROM and evaluated < COSTLY_FROM:
        return PATHS
    return PATHS_WHEN_NARROW if steps < SINGLE_FROM and evaluated < SPENT_FROM else 1


def _varied(paths: list[PathState], most: int) -> list[PathState]:
    """Return `most` of the paths, preferring those whose pointers or results differ from all earlier paths."""
    seen: set[tuple[object, ...]] = set()
    first: list[PathState] = []
    rest: list[PathState] = []
    for path in paths:
        where = path.pointers(), path.returned.range, path.returned.null, *path.results.values()
        (rest if where in seen else first).append(path)
        seen.add(where)
    if len(paths) > most:
        paths[0].machine.execution.pruned = True
    return (first + rest)[:most]


def _joined(paths: list[PathState]) -> list[PathState]:
    """Join paths that differ only in numeric ranges."""
    result: list[PathState] = []
    for path in paths:
        for other in result:
            if other.joins(path):
                break
        else:
            result.append(path)
    return result
