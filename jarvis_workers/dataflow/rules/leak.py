"""flow_memory_leak and flow_handle_leak: what a path has allocated or opened, and still owns at its end."""

from collections.abc import Sequence

from jarvis_workers.dataflow.events import Release, on_exit, on_release
from jarvis_workers.dataflow.ir.stmt import LoweredFunction
from jarvis_workers.dataflow.memory.ownership import MAINS, OWNED
from jarvis_workers.dataflow.queries.pretty import text_of
from jarvis_workers.dataflow.state.path import DOUBTED, SOMETIMES, FlowRule, PathState, is_straight
from jarvis_workers.dataflow.state.sizes import limits_of
from jarvis_workers.dataflow.state.values import IS_NULL, Object, Place

MEMORY = FlowRule("flow_memory_leak", DOUBTED)
HANDLE = FlowRule("flow_handle_leak", DOUBTED, SOMETIMES)
LEAK = 0.8
# The end of the program releases what it has.
LEAK_AT_EXIT = 0.5
LENT = -0.15
# Nothing undecided lies between the allocation and the end, and no other code got the memory: on such paths, six real
# projects have no leak at all.
OWN_MEMORY = 0.88


@on_exit
def _leaks(paths: Sequence[PathState], function: LoweredFunction) -> None:
    if function.partial:
        # What is not read may release what is left.
        return
    for path in paths:
        _leaks_of(path, function.end)
    own = [(path, one, one.made) for path in paths for one in path.objects.values() if one.made and not one.made.file]
    released = {made.line for _, target, made in own if target.freed is not None}
    for path, target, made in own:
        if made.line in released:
            # A path releases it; those that do not are reported, or have nothing to release.
            is_reported = bool(target.family) or target.lost or target.freed is not None
            path.machine.prove("followed_leak", made.line, holds=is_reported)


@on_release
def _released_around(path: PathState, release: Release) -> None:
    """Report what only the memory that is released refers to."""
    around, key = release.target, release.value.target
    if around is None or around.kind != "heap" or around.lost or release.family != "malloc":
        return
    inside = {value.target for cell, value in path.cells.items() if cell[0] == key and value.null != IS_NULL}
    elsewhere = {value.target for cell, value in path.cells.items() if cell[0] != key}
    for inner in sorted(one for one in inside - elsewhere if one is not None):
        target = path.objects.get(inner)
        if target is not None and _is_owned(target) and target.kind == "heap":
            text = (
                f"{target.name or 'its member'} is not released before {text_of(release.e)}, which alone refers to it"
            )
            MEMORY.report(path, release.line, text, since=target.made, sure=LEAK + (LENT if target.lent else 0.0))


def _is_owned(target: Object) -> bool:
    is_left = not target.lost and target.freed is None and target.made is not None
    return is_left and target.kind in OWNED and bool(target.family)


def _leaks_of(path: PathState, line: int) -> None:
    sure = LEAK_AT_EXIT if path.frame.function.name in MAINS else LEAK
    left = {key: target for key, target in path.objects.items() if _is_owned(target)}
    if not left:
        return
    holders: dict[str | None, list[Place]] = {}
    for cell, value in path.cells.items():
        holders.setdefault(value.target, []).append(cell)
    for key, target in left.items():
        made, cells = target.made, holders.get(key, [])
        if made is None or any(path.objects[name].kind == "heap" for name, _ in cells if name in path.objects):
            # What is lost with the memory around it is reported there.
            continue
        rule = MEMORY if target.kind == "heap" else HANDLE
        text = f"{target.name or 'the resource'} is not released on this path, which ends here"
        is_made_here = made.file is None and key not in path.machine.handed_back
        at = made.line if is_made_here else path.machine.made_at.get(key) or line
        if path.left_at and target.kind == "heap" and any(_is_number(path, cell) for cell in cells):
            # The number that the pointer has become looks like a use of it.
            at = path.left_at
        is_kept = rule is MEMORY and sure == LEAK and is_straight(path, made)
        likely = sure + LENT if target.lent else OWN_MEMORY if is_kept else sure
        rule.report(path, line, text, since=made, sure=likely, at=at)


def _is_number(path: PathState, cell: Place) -> bool:
    local = next((one for one in path.frame.types.values() if one.place == cell), None)
    return local is not None and limits_of(path.machine.plain(local.kind)) is not None
