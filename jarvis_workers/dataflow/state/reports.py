"""Record findings with their confidence and trace."""

from jarvis_workers.dataflow.queries.pretty import text_of
from jarvis_workers.dataflow.state.path import PathState
from jarvis_workers.dataflow.state.values import PathEvent

STATIONS = 40
# The rules whose findings depend on nothing but the path from their source to their sink.
WITHOUT_CALLERS = frozenset(("flow_unchecked_null",))
LEAST, MOST = 0.4, 0.95
# Rules of which readers called fewer than one in six findings from 0.7 true, in 24 real projects (docs/precision.md):
# their confidence goes up to DOUBTED_MOST instead of MOST.
DOUBTED = frozenset(
    (
        "flow_buffer_overflow",
        "flow_buffer_overread",
        "flow_buffer_underread",
        "flow_buffer_underwrite",
        "flow_divide_by_zero",
        "flow_double_free",
        "flow_handle_leak",
        "flow_integer_overflow",
        "flow_memory_leak",
        "flow_null_dereference",
        "flow_offset_free",
        "flow_uninitialized",
        "flow_use_after_free",
    )
)
DOUBTED_MOST = 0.68
# The highest confidence where an undecided branch between cause and effect may exclude the effect, or where it is in a
# callee: readers found one in six of such NULL pointers in real code to be possible, and fewer of the others.
INDIRECT = {
    "flow_null_dereference": 0.44,
    "flow_uninitialized": 0.44,
    "flow_use_after_free": 0.53,
    "flow_handle_leak": 0.53,
    "flow_buffer_overflow": 0.53,
    "flow_buffer_overread": 0.53,
    "flow_buffer_underread": 0.53,
    "flow_buffer_underwrite": 0.53,
}
PER_CALL = 0.02
FEW_BRANCHES, MANY_BRANCHES = 4, 11
PER_BRANCH, PER_BRANCH_MORE = 0.02, 0.04


def report(
    path: PathState,
    pattern: str,
    line: int,
    text: str,
    *,
    sure: float,
    since: PathEvent | None = None,
    at: int | None = None,
) -> None:
    """Record a finding; of several on a line keep the one with the highest confidence, then the shortest trace.

    `since` is the event that its trace begins with; `at` is the reported line, if it is not `line`.
    """
    machine, frame = path.machine, path.frame
    if machine.rule is not None and pattern != machine.rule.id:
        return
    if machine.mode.quiet or (pattern in WITHOUT_CALLERS and _is_reported_there(path, since)):
        return
    if at is None:
        at = line if frame.file is None or frame.call_line is None else frame.call_line
    stations = [*_since(path.trail, since), (frame.file, line, text)]
    sure -= _doubted(path.doubt) + PER_CALL * frame.depth + (since.doubt if since is not None else 0)
    confidence = _measured(pattern, max(LEAST, min(MOST, sure)))
    if pattern in INDIRECT and not _is_straight(path, since):
        confidence = min(confidence, INDIRECT[pattern])
    previous = machine.findings.get((pattern, at))
    if previous is None or (confidence, -len(stations)) > (previous[0], -len(previous[1])):
        machine.findings[pattern, at] = (confidence, stations)


def _measured(pattern: str, sure: float) -> float:
    """Return the confidence by what was measured in real code; the order of findings of a rule stays the same."""
    share = (sure - LEAST) / (MOST - LEAST)
    return round(LEAST + share * (DOUBTED_MOST - LEAST) if pattern in DOUBTED else sure, 2)


def _is_reported_there(path: PathState, since: PathEvent | None) -> bool:
    """Return whether a defect begins and ends in one function of another file, whose own analysis reports it."""
    frame = path.frame
    if frame.file is None or since is None or since.file != frame.file:
        return False
    function = frame.function
    return function.line <= since.line <= function.end and path.machine.is_root_elsewhere(function)


def _is_straight(path: PathState, since: PathEvent | None) -> bool:
    """Return whether nothing undecided lies between the event `since` and this place in the same function."""
    at = path.trail
    for _ in range(STATIONS):
        if at is None or at is since:
            break
        if at.undecided:
            return False
        at = at.before
    return not path.frame.depth


def _doubted(branches: int) -> float:
    """Return the loss of confidence due to undecided branches on the path."""
    more = min(max(branches - FEW_BRANCHES, 0), MANY_BRANCHES - FEW_BRANCHES)
    return PER_BRANCH * min(branches, FEW_BRANCHES) + PER_BRANCH_MORE * more


def _since(trail: PathEvent | None, since: PathEvent | None) -> list[tuple[str | None, int, str]]:
    """Return the last events of a trace, after the event `since`."""
    result: list[tuple[str | None, int, str]] = []
    at = trail
    while at is not None and at is not since and len(result) < STATIONS:
        result.append((at.file, at.line, _event_text(at)))
        at = at.before
    if since is not None:
        if at is not since:
            result = [one for one in result if one[1] >= since.line or one[0] != since.file]
        result.append((since.file, since.line, _event_text(since)))
    return result[::-1]


def _event_text(step: PathEvent) -> str:
    return step.note if step.about is None else step.note.replace("{}", text_of(step.about), 1)
