"""Compare the runs of a stored proof, on another version of the tree, with the error that was found before."""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from jarvis_workers.sec.proof.proof import HANG, STACK_OVERFLOW
from jarvis_workers.sec.proof.run_tool import AttemptResult

LINE = re.compile(r":\d+$")

Outcome = Literal["fires", "other_error", "silent", "unclear", "not_run"]


class Repetition(NamedTuple):
    """The outcome, the reason for it if no error was reported, and the error that was reported."""

    outcome: Outcome
    reason: str = ""
    stack: tuple[str, ...] = ()


def compare(result: AttemptResult, stack: Sequence[str]) -> Repetition:
    """Return whether the runs end with the same error; line numbers may differ, since the tree may have changed."""
    if result.problem:
        return Repetition("not_run", result.problem)
    found = [error.lines() for error in result.runs[0].errors]
    again = [error.lines() for run in result.runs[1:] for error in run.errors]
    same = next((lines for lines in found if _is_same(lines, stack)), None)
    if same and (not result.runs[1:] or any(_is_same(lines, stack) for lines in again)):
        return Repetition("fires", stack=same)
    if errors := found or again:
        return Repetition("other_error", stack=errors[-1])
    if unclear := next((run for run in result.runs if run.is_unclear), None):
        return Repetition("unclear", f"the run {unclear.ended}")
    return Repetition("silent", f"the run {result.runs[0].ended}")


def _is_same(lines: Sequence[str], stack: Sequence[str]) -> bool:
    if [*lines[:1], *stack[:1]] == [HANG, HANG]:  # what the loop calls when it is stopped, differs
        return _functions(lines)[-len(stack) + 1 :] == _functions(stack)
    if [*lines[:1], *stack[:1]] == [STACK_OVERFLOW, STACK_OVERFLOW]:  # so does where the stack ends
        return set(_functions(stack)) <= set(_functions(lines))
    return error_key(lines) == error_key(stack)


def _functions(lines: Sequence[str]) -> list[str]:
    """Return the functions of a stack without their numbers."""
    return [LINE.sub("", line.partition(" ")[2]) for line in lines[1:]]


def error_key(lines: Sequence[str]) -> tuple[str, ...]:
    """Return the kind of an error, and the functions of its stack."""
    name = lines[0].partition(" ")[0] if lines else ""
    return (name, *(LINE.sub("", line) for line in lines[1:] if line.startswith("#")))
