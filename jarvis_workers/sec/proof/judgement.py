"""Decide whether the runs of an attempt prove a finding.

A run counts if a sanitizer reported an error that fits the weakness of the finding, whose failing function belongs to
the tree, and which lies at the sink or on the path.  Both runs must report the same error.  An error about memory of
the harness counts only if the harness passed exactly that memory, with its true size, to a function of the API.

An error elsewhere in the function of the sink counts if each pointer and array that its line accesses is on the line of
the sink, too: a model may name the line that computes a pointer, and the sanitizer stops where it is used.  If the sink
is the condition of a loop, an error in its body counts if the condition names each of these, or its index.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from jarvis_workers.sec.proof.proof import (
    HANG,
    HARNESSES,
    MEMORY_GROWTH,
    STACK_OVERFLOW,
    STOPPED_ANYWHERE,
    CallArgument,
    ProofRun,
    ProofTarget,
    SanitizerError,
    StackFrame,
    TreeLine,
)
from jarvis_workers.sec.proof.weaknesses import fits

# The loops of a function: what their conditions name, and the lines between their braces.

KEYWORD = re.compile(r"\b(for|while|do)\b")
WHILE = re.compile(r"\s*while\s*(?=\()")
WORD = re.compile(r"[A-Za-z_]\w*")
CLOSING = {"(": ")", "{": "}", "[": "]"}


class Loop(NamedTuple):
    """A loop: the lines of its head and of its body, counted from 0, and the words of its head."""

    head: range
    body: range
    words: frozenset[str]


def loops_of(code: Sequence[str]) -> Iterator[Loop]:
    """Yield the loops with braces in the lines of a function."""
    text = "\n".join(code)
    for match in KEYWORD.finditer(text):
        first = _bracket(text, match.end())
        if match[1] == "do":
            tail = WHILE.match(text, first.stop) if first else None
            head, body = _bracket(text, tail.end()) if tail else range(0), first
        else:
            head, body = first, _bracket(text, first.stop) if first else range(0)
        if head and body and text[head.start] == "(" and text[body.start] == "{":
            words = frozenset(WORD.findall(text[head.start : head.stop]))
            yield Loop(_lines(text, head), _lines(text, body), words)


def indices_of(line: str, at: int) -> set[str]:
    """Return the words in the brackets that begin at a place of a line."""
    index = _bracket(line, at)
    if not index or line[index.start] != "[":
        return set()
    return {*WORD.findall(line[index.start : index.stop]), *indices_of(line, index.stop)}


def _bracket(text: str, at: int) -> range:
    """Return where the bracket is that opens behind white space, with its contents; empty without one that closes."""
    start = at + len(text[at:]) - len(text[at:].lstrip())
    depth, first, last = 0, text[start : start + 1], CLOSING.get(text[start : start + 1])
    for place in range(start, len(text) if last else 0):
        depth += (text[place] == first) - (text[place] == last)
        if depth == 0:
            return range(start, place + 1)
    return range(0)


def _lines(text: str, place: range) -> range:
    return range(text.count("\n", 0, place.start), text.count("\n", 0, place.stop) + 1)


# The statement of a sink may span lines, and a compiler attributes an access to any of them.
NEAR_SINK = 5
STATEMENT_LINES = 5
# Where the code of the function is not known.
NEAR_CALL = 2
NULL_PAGE = 4096
# Uncontrolled recursion, and memory allocation with an excessive size value.
RECURSION, EXCESSIVE_SIZE = 674, 789
# Whose functions are the code under proof: that of the scan, and the rest of the project.
CODE = ("tree", "project")
# The pointers and arrays that a line accesses: before [ or ->, or behind the * of an expression.
ACCESSED = re.compile(r"\b([A-Za-z_]\w*)\s*(?:\[|->)|(?<![\w)\]])\s*\*+\s*\(?\s*([A-Za-z_]\w*)")
POISONED = "use-after-poison"
UNCHECKED = "the memory belongs to the harness, and was not passed as an argument with its size"

# What the checks around the calls of a harness found about the memory of the tree.
OF_MEMORY = {
    "changed": "the harness changes memory that the tree allocated",
    "unchecked": "it could not be checked whether the harness changes memory that the tree allocated",
}
WHY_UNCHECKED = {
    "changed": "",
    "unchecked": ", since there is too much of it for so many calls; let one call make more of it, such as a parser",
}


@dataclass(frozen=True)
class AttemptJudgement:
    """The error that proves the finding, or the reason why none does; `internal` is why it only reproduces it.

    `moved` says at which line the finding is, if that is not its own.
    """

    error: SanitizerError | None
    reason: str = ""
    internal: str = ""
    moved: str = ""


def judge(runs: Sequence[ProofRun], target: ProofTarget) -> AttemptJudgement:
    """Judge two runs of the same attempt."""
    first, *others = [_judged(run, target) for run in runs]
    for other, run in zip(others, runs[1:], strict=True):
        if first.error and (other.error is None or not _is_same(first.error, other.error)):
            why = f", which {run.ended}" if run.is_unclear else ": it depends on time or chance"
            return AttemptJudgement(None, f"the error occurred in one run, but not in the other{why}")
    return first


def _is_same(first: SanitizerError, other: SanitizerError) -> bool:
    names = {first.name, other.name}
    # Its time may end a loop that allocates before its memory does, on a machine with other work.
    is_stopped = names <= {HANG, MEMORY_GROWTH} or (len(names) == 1 and first.name in STOPPED_ANYWHERE)
    return is_stopped or first.lines() == other.lines()


def _judged(run: ProofRun, target: ProofTarget) -> AttemptJudgement:
    if not run.errors:
        return AttemptJudgement(None, f"no sanitizer reported an error; the run {run.ended}")
    refusals = list[str]()
    weaker: AttemptJudgement | None = None
    for error in run.errors:
        if refusal := _refusal(error, target) or _filled_stack(error, run.arguments) or _misuse(error, run.arguments):
            refusals.append(refusal)
        elif why := _internal_reason(error, run.arguments):
            weaker = weaker or _shows(error, target, why)
        else:
            return _shows(error, target)
    return weaker or AttemptJudgement(None, refusals[-1])


def _shows(error: SanitizerError, target: ProofTarget, internal: str = "") -> AttemptJudgement:
    failing, moved = _failing(error), ""
    if failing and not _is_at(error, failing, target):
        moved = _moved(error, failing, target)
    return AttemptJudgement(_from_function(error, target), internal=internal, moved=moved)


def _from_function(error: SanitizerError, target: ProofTarget) -> SanitizerError:
    """Return a hang or a recursion from the function of the finding on, since what that calls differs in each run."""
    start = next((number for number, frame in enumerate(error.stack) if _is_in_function(frame, target)), None)
    if start is None or not _is_anywhere(error, target):
        return error
    return replace(error, stack=error.stack[start:])


def _internal_reason(error: SanitizerError, arguments: Sequence[CallArgument]) -> str:
    """Return why an error only reproduces the finding, "" if it proves it."""
    if fault := next((one for one in arguments if one.fault in OF_MEMORY), None):
        return f"{OF_MEMORY[fault.fault]} before it calls {fault.function}{WHY_UNCHECKED[fault.fault]}"
    if error.name == POISONED:
        return "the program itself has marked the memory as unusable"
    if _owner(error.allocated) in CODE and _owner(error.freed) == "harness":
        return "the harness frees memory that the tree allocated"
    if _is_of_harness(error) and not any(_is_whole(error, one) for one in arguments):
        return UNCHECKED
    return ""


def _refusal(error: SanitizerError, target: ProofTarget) -> str:
    """Return the reason why an error does not show the finding, "" if it does."""
    failing = _failing(error)
    if failing is None:
        return f"{error.name}: no function of the tree is on its stack"
    if failing.owner == "harness":
        return f"{error.name}: the harness itself fails, in {failing}"
    if not fits(error.lines()[0], target.cwe):
        return f"{error.name} in {failing}: this does not show a weakness of class CWE-{target.cwe}"
    if not _is_at(error, failing, target) and not _moved(error, failing, target):
        return f"{error.name} in {failing}: neither at the sink {_shown(target.sink)} nor on the path to it"
    return ""


def _is_at(error: SanitizerError, failing: StackFrame, target: ProofTarget) -> bool:
    if _is_anywhere(error, target):
        return any(_is_in_function(frame, target) for frame in error.stack)
    if _is_in_function(failing, target) and abs(failing.line - target.sink.line) <= NEAR_SINK:
        return True
    if any(_is_near(failing, step, 1) for step in target.path):
        return True
    owners = (_of_tree(error.allocated), _of_tree(error.freed))
    return any(_is_in_statement(frame, target) for frame in (*error.stack, *filter(None, owners)))


def _is_anywhere(error: SanitizerError, target: ProofTarget) -> bool:
    """Return whether any line of the function of a finding will do: a loop, or a recursion, is stopped on any of them.

    It may also be stopped in what that calls. The last of many allocations is at any line, too; one of excessive size
    is at its own.
    """
    return (
        error.name == HANG
        or (error.name == STACK_OVERFLOW and target.cwe == RECURSION)
        or (error.name == MEMORY_GROWTH and target.cwe != EXCESSIVE_SIZE)
    )


def _failing(error: SanitizerError) -> StackFrame | None:
    return next((frame for frame in error.stack if frame.owner != "system"), None)


def _moved(error: SanitizerError, failing: StackFrame, target: ProofTarget) -> str:
    """Return why an error elsewhere in the function is that at the sink, "" if it is not.

    The failing line itself accesses pointers and arrays, all of which the line of the sink names; or it is in the loop
    whose condition is the sink, which names each of these, or an index of it.
    """
    if error.stack[:1] != (failing,) or not _is_in_function(failing, target):
        return ""
    accessed, sink = _accessed(failing.line, target), target.sink.line
    names, stopped = ", ".join(sorted(accessed)), f"stopped at line {failing.line}"
    if accessed and accessed.keys() <= set(WORD.findall(_line(sink, target))):
        return f"{stopped}, which accesses what line {sink} names: {names}"
    around = (one for one in loops_of(target.code) if sink - target.first in one.head)
    words = frozenset[str]().union(*(one.words for one in around if failing.line - target.first in one.body))
    if accessed and all(words & {name, *index} for name, index in accessed.items()):
        return f"{stopped}, in the loop whose condition at line {sink} decides what it accesses: {names}"
    return ""


def _accessed(line: int, target: ProofTarget) -> dict[str, set[str]]:
    """Return the pointers and arrays that a line accesses, with the words of their indices."""
    text, accessed = _line(line, target), dict[str, set[str]]()
    for match in ACCESSED.finditer(text):
        name = match[1] or match[2]
        accessed.setdefault(name, set()).update(indices_of(text, match.end(1)) if match[1] else ())
    return accessed


def _line(line: int, target: ProofTarget) -> str:
    at = line - target.first
    return target.code[at] if 0 <= at < len(target.code) else ""


def _is_in_function(frame: StackFrame, target: ProofTarget) -> bool:
    return frame.owner == "tree" and frame.file == target.sink.file and target.first <= frame.line <= target.last


def _is_near(frame: StackFrame, place: TreeLine, lines: int) -> bool:
    return frame.owner == "tree" and frame.file == place.file and abs(frame.line - place.line) <= lines


def _is_in_statement(frame: StackFrame, target: ProofTarget) -> bool:
    """Return whether a call is in the statement of the sink, which may span lines."""
    most = STATEMENT_LINES if target.code else NEAR_CALL
    if not _is_near(frame, target.sink, most if _is_in_function(frame, target) else 0):
        return False
    first, behind = sorted((frame.line, target.sink.line))
    return not any(mark in _line(line, target) for line in range(first, behind) for mark in ";{}")


def _misuse(error: SanitizerError, arguments: Sequence[CallArgument]) -> str:
    """Return which argument no documented use passes, "" if there is none."""
    wrong = next((one for one in arguments if one.fault == "invalid"), None)
    if wrong:
        return (
            f"the harness misuses the API: argument {wrong.number} of {wrong.function} is not valid memory of the"
            " size that it is said to have"
        )
    null = next((one for one in arguments if one.fault == "null"), None)
    if null and ("null pointer" in error.name or (error.address is not None and error.address < NULL_PAGE)):
        return f"the harness misuses the API: argument {null.number} of {null.function} is a null pointer"
    return ""


def _filled_stack(error: SanitizerError, arguments: Sequence[CallArgument]) -> str:
    """Return how the harness itself fills the stack that has ended, "" if it does not."""
    if error.name != STACK_OVERFLOW:
        return ""
    if deep := next((one for one in arguments if one.fault == "deep"), None):
        return f"{error.name}: the harness itself fills the stack before it calls {deep.function}"
    own = Counter(frame.function for frame in error.stack if frame.owner == "harness")
    again = next((function for function, number in own.items() if number > 1), None)
    return f"{error.name}: the harness itself recurses, in {again}" if again else ""


def _is_of_harness(error: SanitizerError) -> bool:
    """Return whether the harness allocated, or defines, the object of an error."""
    return bool(
        _owner(error.allocated) == "harness"
        or (error.frame and error.frame[0].owner == "harness")
        or error.variable.endswith(tuple(HARNESSES.values()))
    )


def _owner(stack: Sequence[StackFrame]) -> str:
    """Return whose function allocated or freed memory, "" if that is not known."""
    return next((frame.owner for frame in stack if frame.owner != "system"), "")


def _is_whole(error: SanitizerError, argument: CallArgument) -> bool:
    """Return whether an argument was the object of an error, or its end, with the true size."""
    return error.region is not None and error.region[0] <= argument.start and argument.end == error.region[1]


def _of_tree(stack: Sequence[StackFrame]) -> StackFrame | None:
    return next((frame for frame in stack if frame.owner == "tree"), None)


def _shown(place: TreeLine) -> str:
    return f"{place.file}:{place.line}"
