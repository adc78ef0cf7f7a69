"""What fuzzing finds: an error of a sanitizer in code of the tree, as a candidate with a title and a weakness.

Two errors have one root if they are of one kind and at one line of the tree, whatever called it.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from jarvis_workers.paths import plain
from jarvis_workers.sec.cwe import category_of
from jarvis_workers.sec.evidence import EVIDENCE_MAX
from jarvis_workers.sec.finding import FUZZ_CRASH, Candidate
from jarvis_workers.sec.proof.judgement import NULL_PAGE
from jarvis_workers.sec.proof.proof import HANG, ProofRun, SanitizerError, StackFrame
from jarvis_workers.sec.proof.weaknesses import weakness_of
from jarvis_workers.sec.severity import SEVERITIES

ACCESS = re.compile(r"(READ|WRITE)(?: of size (\d+))?")
NUMBER = re.compile(r"-?\d+")
VERBS = {"READ": "reading", "WRITE": "writing"}
# The program stops at the error: nobody doubts that it exists.
CONFIDENCE = 0.95
LOW, MEDIUM, HIGH = SEVERITIES
# Writes, and wrong frees, may change anything; other errors of memory and endless loops stop the program.
CHANGING = ("use-after", "double-free", "bad-free", "free on address", "negative-size-param", "insufficient space")
STOPPING = ("FPE", "division by zero", "null pointer", "SEGV", "stack-overflow", "out of bounds", "alloc", HANG)
SUGGESTION = "See the proof: with its input, the sanitizer stops the code here."
MADE = "Fuzzing of {target} made an input that gets here: {command}"


class ErrorRoot(NamedTuple):
    """The kind of an error and its place in the tree; a hang has no place, since it is stopped anywhere."""

    name: str
    place: str

    @classmethod
    def of(cls, lines: Sequence[str]) -> "ErrorRoot":
        """Return the root of an error from its lines, as `SanitizerError.lines` returns them."""
        name = NUMBER.sub("0", ACCESS.sub("", lines[0])).strip() if lines else ""
        return cls(name, lines[1].partition(" ")[2] if len(lines) > 1 and name != HANG else "")


def tree_frame(error: SanitizerError, runs: Sequence[ProofRun]) -> StackFrame | None:
    """Return where an error of the first run is in the tree, None if another's function fails.

    Below it may be functions of the project that the scan does not select.
    A hang is in the innermost function of the tree that is on the stack of every run.
    """
    if error.name != HANG:
        frame = next((one for one in error.stack if one.owner not in ("system", "project")), None)
        return frame if frame and frame.owner == "tree" else None
    stacks = [_hanging(run) for run in runs]
    return next((one for one in error.stack if one.owner == "tree" and all(one.function in s for s in stacks)), None)


def candidate_of(error: SanitizerError, frame: StackFrame, code: str, target: str, command: str) -> Candidate | None:
    """Return the candidate for an error in a function of the tree, None if no weakness is known of its kind."""
    cwe = weakness_of(error.name, error.access, is_null=_is_null(error))
    if not cwe:
        return None
    return Candidate(
        language="c/cpp",
        category=category_of(cwe),
        pattern=FUZZ_CRASH,
        file=frame.file,
        line=frame.line,
        evidence=plain(" ".join(code.split()))[:EVIDENCE_MAX],
        description=f"{title_of_error(error, frame)}. {MADE.format(target=target, command=command)}.",
        suggestion=SUGGESTION,
        confidence=CONFIDENCE,
        cwe=cwe,
    )


def title_of_error(error: SanitizerError, frame: StackFrame) -> str:
    """Return the title of a finding, such as "heap-buffer-overflow reading 4 bytes in parse_header"."""
    name = "a loop without an end" if error.name == HANG else error.name
    return " ".join(filter(None, (name, _access(error.access), f"in {plain(frame.function)}")))


def severity_of_error(error: SanitizerError) -> str:
    """Return the severity of an error, by what it may do to the program."""
    if any(name in error.name for name in CHANGING):
        return HIGH
    if any(name in error.name for name in ("overflow", "underflow")) and error.access.startswith("WRITE"):
        return HIGH
    is_access = bool(error.access) or any(name in error.name for name in STOPPING)
    return MEDIUM if is_access else LOW


def _access(text: str) -> str:
    match = ACCESS.match(text)
    if match is None:
        return ""
    size = int(match[2] or 0)
    return f"{VERBS[match[1]]} {size} {'byte' if size == 1 else 'bytes'}" if size else VERBS[match[1]]


def _is_null(error: SanitizerError) -> bool:
    return error.address is not None and error.address < NULL_PAGE


def _hanging(run: ProofRun) -> set[str]:
    return {frame.function for error in run.errors if error.name == HANG for frame in error.stack}
