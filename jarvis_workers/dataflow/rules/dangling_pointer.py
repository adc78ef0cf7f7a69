"""flow_dangling_pointer: a struct of the caller, or a static variable, refers to released memory when a function ends.

Code that releases everything a struct has would never be right otherwise, so that only two cases count: the function
has allocated the memory and stored it in the struct, or another path through it sets the pointer after the release.
"""

from collections.abc import Iterator, Sequence

from jarvis_workers.dataflow.events import on_exit
from jarvis_workers.dataflow.ir.stmt import LoweredFunction
from jarvis_workers.dataflow.memory.ownership import MAINS
from jarvis_workers.dataflow.state.path import FlowRule, PathState
from jarvis_workers.dataflow.state.values import PathEvent, Place

RULE = FlowRule("flow_dangling_pointer")
DANGLING = 0.58


@on_exit
def _dangling(finished: Sequence[PathState], function: LoweredFunction) -> None:
    """Report the pointers to released memory that the paths to the end of a function leave behind."""
    if function.name in MAINS:
        # The program ends.
        return
    for path in finished:
        for place, freed, is_made_here in _left_behind(path):
            if freed.file is None and (is_made_here or any(_is_set_again(one, place, path) for one in finished)):
                text = f"{_shown(place)} still points to it when the function ends"
                RULE.report(path, freed.line, text, since=freed, sure=DANGLING)


def _left_behind(path: PathState) -> Iterator[tuple[Place, PathEvent, bool]]:
    """Yield cells of objects of the caller that point to released memory, its release, and whether it was made here."""
    for place, value in path.cells.items():
        memory = path.object_of(value)
        if memory is None or memory.freed is None or memory.freed.about is None or not _outlives(place):
            continue
        if place[0] not in path.objects and value.at == (0, 0):
            # A static variable may hand memory to a callee that releases it.
            is_made_here = memory.kind == "heap" and memory.made is not None and place[0].startswith("o:")
            yield place, memory.freed, is_made_here


def _outlives(place: Place) -> bool:
    """Return whether a cell is a variable or field that does not end with the function."""
    return place[0].startswith("g:") or (place[0].startswith("o:") and place[1].startswith("."))


def _is_set_again(other: PathState, place: Place, path: PathState) -> bool:
    """Return whether another path has released the same memory, and has set the pointer since."""
    released = path.cells[place].target or ""
    memory = other.objects.get(released)
    now = other.cells.get(place)
    return memory is not None and memory.freed is not None and now is not None and now.target != released


def _shown(place: Place) -> str:
    return place[1].lstrip(".") or place[0].rpartition(":")[2]
