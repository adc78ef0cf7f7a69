"""Follow a request through the calls that pass it on, by reading the source: how much back and forth is there?

    python -m tests.support.request_walk ROOT MODULE:FUNCTION:PARAMETER [UNTIL]

Calls are followed depth first in the order of the source, all branches one after the other, each function once. An
*event* is a call that passes on the parameter, a part of it, or what is made of it. A *stay* is a sequence of events
that enter the same file; a stay in a file that was left before is a *return*, and one in a higher layer a *climb*.
"""

import re
import sys
import tomllib
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path

from tests.support.project_index import Function, Project
from tests.support.value_walk import Callee, CutOff, Event, Value, Walker

EVENTS = 400
# Where a request is made and read; what gets it elsewhere carries it out.
RESOLVING = (
    "jarvis_cli",
    *(f"jarvis_workers.{name}" for name in ("api", "runs", "settings")),
    *(f"jarvis_workers.sec.{name}" for name in ("commands", "fix_runs", "rulesets", "run_reports", "runs", "triage")),
    *(f"jarvis_workers.{name}" for name in ("assistant.chat", "assistant.commands", "c2rust.commands", "c2rust.runs")),
)


@dataclass(frozen=True)
class Walk:
    """The way of a request; `layers` are the packages of the project, the highest first."""

    events: Sequence[Event]
    layers: Sequence[Sequence[str]] = ()

    @property
    def stays(self) -> list[Event]:
        """The first event of each stay."""
        return [next(events) for _, events in groupby(self.events, key=lambda event: event.path)]

    @property
    def returns(self) -> int:
        return len(self.stays) - len({stay.path for stay in self.stays})

    @property
    def climbs(self) -> int:
        return sum(self._rank(after) < self._rank(before) for before, after in pairwise(self.stays))

    def visits(self, path: str) -> int:
        """Return the number of stays in a file."""
        return Counter(stay.path for stay in self.stays)[path]

    def until(self, function: str) -> "Walk":
        """Return the way before a function is entered. Raises StopIteration if it never is."""
        end = next(number for number, event in enumerate(self.events) if event.function == function)
        return Walk(self.events[:end], self.layers)

    def _rank(self, event: Event) -> int:
        """Return the layer of a module; what no layer has is above all."""
        names = (rank for rank, layer in enumerate(self.layers) for name in layer if _is_in(event.module, name))
        return next(names, -1)

    def __str__(self) -> str:
        """Return a line for each stay, then the numbers."""
        seen: Counter[str] = Counter()
        lines = []
        for path, group in groupby(self.events, key=lambda event: event.path):
            seen[path] += 1
            functions = ", ".join(event.function for event in group)
            lines.append(f"{path:<50} {f'visit {seen[path]}' if seen[path] > 1 else '':<9} {functions}")
        numbers = f"{len(self.events)} events, {len(self.stays)} stays in {len(seen)} files"
        return "\n".join([*lines, f"{numbers}: {self.returns} returns, {self.climbs} climbs"])


def walk(root: Path, start: str, limit: int = EVENTS, within: tuple[str, ...] = RESOLVING) -> Walk:
    """Walk from MODULE:FUNCTION:PARAMETER through the packages `within`, to at most so many events."""
    module, name, parameter = start.split(":")
    project = Project(root)
    function = project.find(f"{module}.{name}")
    if not isinstance(function, Function):
        raise ValueError(f"{start}: no such function")
    walker = Walker(project, within, limit)
    with suppress(CutOff):
        walker.enter(Callee(function), [(parameter, Value(passes=True))])
    return Walk(walker.events, _layers(root))


def _is_in(module: str, package: str) -> bool:
    return f"{module}.".startswith(f"{package}.")


def _layers(root: Path) -> list[list[str]]:
    """Return the layers of the project as its import contracts have them."""
    contracts = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    found = next((one for one in contracts if one["type"] == "layers"), {"layers": ()})
    holders = [f"{one}." for one in found.get("containers", ())] or [""]
    return [[holder + name for holder in holders for name in re.findall(r"[\w.]+", one)] for one in found["layers"]]


if __name__ == "__main__":
    way = walk(Path(sys.argv[1]), sys.argv[2])
    print(way.until(sys.argv[3]) if sys.argv[3:] else way)
