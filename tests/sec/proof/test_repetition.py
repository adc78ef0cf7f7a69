"""Whether a stored proof still fires on another version of the tree; a run that shows nothing is not silent."""

import pytest

from jarvis_workers.sec.proof.proof import NORMAL_END, ProofRun, SanitizerError, StackFrame
from jarvis_workers.sec.proof.run_tool import AttemptResult, Outcome, compare


def error(name: str, line: int = 7) -> SanitizerError:
    return SanitizerError(name, "WRITE of size 1", (StackFrame("copy", "copy.c", line, "tree"),))


STACK = error("heap-buffer-overflow").lines()
MOVED = ProofRun("was stopped by a sanitizer", "", (error("heap-buffer-overflow", line=9),))
OTHER = ProofRun("was stopped by a sanitizer", "", (error("SEGV"),))
SILENT = ProofRun(NORMAL_END, "")
HANGING = ProofRun("ended: stopped at its limit of wall time", "", is_unclear=True)
RUNS: dict[Outcome, list[tuple[ProofRun, ...]]] = {
    "fires": [(MOVED, MOVED), (MOVED,)],
    "other_error": [(MOVED, OTHER), (OTHER, OTHER), (SILENT, OTHER), (MOVED, SILENT), (HANGING, MOVED)],
    "silent": [(SILENT, SILENT)],
    "unclear": [(HANGING, HANGING), (SILENT, HANGING), (HANGING, SILENT)],
}


@pytest.mark.parametrize(("outcome", "runs"), [(outcome, runs) for outcome, some in RUNS.items() for runs in some])
def test_the_outcome_of_a_repetition(outcome: Outcome, runs: tuple[ProofRun, ...]) -> None:
    assert compare(AttemptResult(runs), STACK).outcome == outcome


def test_an_unclear_outcome_says_how_the_run_ended() -> None:
    assert compare(AttemptResult((SILENT, HANGING)), STACK).reason == f"the run {HANGING.ended}"
    assert compare(AttemptResult(problem="no gcc"), STACK) == ("not_run", "no gcc", ())


def test_a_hang_fires_again_wherever_its_loop_is_stopped() -> None:
    loop, main = StackFrame("loop", "a.c", 3, "tree"), StackFrame("main", "main.c", 9, "tree")
    stack = SanitizerError("hang", stack=(loop, main)).lines()
    callee = SanitizerError("hang", stack=(StackFrame("step", "b.c", 1, "tree"), loop._replace(line=4), main))
    elsewhere = SanitizerError("hang", stack=(main,))

    again, other = ProofRun("", "", (callee,)), ProofRun("", "", (elsewhere,))
    assert compare(AttemptResult((again, again)), stack).outcome == "fires"
    assert compare(AttemptResult((other, other)), stack).outcome == "other_error"


def test_a_recursion_fires_again_wherever_the_stack_ends() -> None:
    walk, main = StackFrame("walk", "a.c", 3, "tree"), StackFrame("main", "main.c", 9, "tree")
    stack = SanitizerError("stack-overflow", stack=(walk, walk, main)).lines()
    moved = SanitizerError("stack-overflow", stack=(StackFrame("name", "b.c", 1, "tree"), walk._replace(line=4), main))
    other = SanitizerError("stack-overflow", stack=(StackFrame("name", "b.c", 1, "tree"), main))

    assert compare(AttemptResult((ProofRun("", "", (moved,)),)), stack).outcome == "fires"
    assert compare(AttemptResult((ProofRun("", "", (other,)),)), stack).outcome == "other_error"
