"""An error of a sanitizer in code of the tree that no finding names, as a candidate with a title and a weakness.

Fuzzing finds such errors, and attempts to show other findings.

Two errors have one root if they are of one kind and at one line of the tree, whatever called it.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from jarvis_workers.paths import plain
from jarvis_workers.sec.cwe import category_of
from jarvis_workers.sec.evidence import EVIDENCE_MAX
from jarvis_workers.sec.finding import FUZZ_CRASH, Candidate
from jarvis_workers.sec.proof.judgement import NULL_PAGE
from jarvis_workers.sec.proof.proof import HANG, MEMORY_GROWTH, Attempt, Proof, ProofRun, SanitizerError, StackFrame
from jarvis_workers.sec.proof.weaknesses import fits, weakness_of
from jarvis_workers.sec.severity import SEVERITIES

ACCESS = re.compile(r"(READ|WRITE)(?: of size (\d+))?")
NUMBER = re.compile(r"-?\d+")
ACCESS_TITLE = re.compile(r" (?:reading|writing)(?: \d+ bytes?)?$")
VERBS = {"READ": "reading", "WRITE": "writing"}
# The program stops at the error: nobody doubts that it exists.
CONFIDENCE = 0.95
LOW, MEDIUM, HIGH = SEVERITIES
# Writes, and wrong frees, may change anything; other errors of memory and endless loops stop the program.
CHANGING = ("use-after", "double-free", "bad-free", "free on address", "negative-size-param", "insufficient space")
STOPPING = (
    "FPE",
    "division by zero",
    "null pointer",
    "SEGV",
    "stack-overflow",
    "out of bounds",
    "alloc",
    HANG,
    MEMORY_GROWTH,
)
SUGGESTION = "See the proof: with its input, the sanitizer stops the code here."
HANG_TITLE = "a loop without an end"


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


class Crash(NamedTuple):
    """An error that was proved, as a finding of its own, and the severity of that."""

    candidate: Candidate
    proof: Proof
    severity: str

    def to_json(self) -> dict[str, Any]:
        """Return the error as a JSON object, without the attempt."""
        proof = self.proof._replace(attempt=None).to_json()
        return {"candidate": list(self.candidate), "proof": proof, "severity": self.severity}

    @classmethod
    def from_json(cls, row: Mapping[str, Any], attempt: Attempt | None) -> "Crash":
        """Return the error that `to_json` wrote."""
        proof = Proof.from_json(row["proof"])._replace(attempt=attempt)
        return cls(Candidate(*row["candidate"]), proof, row["severity"])


def candidate_of(error: SanitizerError, frame: StackFrame, code: str, origin: str) -> Candidate | None:
    """Return the candidate for an error in a function of the tree, None if no weakness is known of its kind.

    `origin` says where its input is from.
    """
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
        description=f"{title_of_error(error, frame)}. {origin}.",
        suggestion=SUGGESTION,
        confidence=CONFIDENCE,
        cwe=cwe,
    )


def repeats_error(crash: Candidate, stack: Sequence[str]) -> bool:
    """Return whether a candidate is the error of a proof: one of the same kind at the same line.

    Two loops without an end are the same in the same function.
    """
    name, frame = _name(crash), "".join(stack[1:2]).partition(" ")[2]
    function, _, place = frame.rpartition(" ")
    if tuple(stack[:1]) == (HANG,):
        title = f"{HANG_TITLE} in {plain(function)}. "
        return place.rpartition(":")[0] == crash.file and crash.description.startswith(title)
    return place == f"{crash.file}:{crash.line}" and ErrorRoot.of((name,)).name == ErrorRoot.of(stack[:1]).name


def repeats_finding(crash: Candidate, finding: Candidate) -> bool:
    """Return whether the error of a candidate is at the line of a finding, and shows its weakness."""
    is_there = (crash.file, crash.line) == (finding.file, finding.line)
    title = crash.description.partition(". ")[0]
    access = next((kind for kind, verb in VERBS.items() if f" {verb} " in title), "")
    return is_there and fits(f"{_name(crash)} {access}", finding.cwe)


def _name(crash: Candidate) -> str:
    """Return the name of an error from its title."""
    return ACCESS_TITLE.sub("", crash.description.partition(". ")[0].rpartition(" in ")[0])


def title_of_error(error: SanitizerError, frame: StackFrame) -> str:
    """Return the title of a finding, such as "heap-buffer-overflow reading 4 bytes in parse_header"."""
    name = HANG_TITLE if error.name == HANG else error.name
    return " ".join(filter(None, (name, _access(error.access), f"in {plain(frame.function)}")))


def severity_of_error(error: SanitizerError) -> str:
    """Return the severity of an error, by what it may do to the program."""
    if any(name in error.name for name in CHANGING):
        return HIGH
    if any(name in error.name for name in ("overflow", "underflow")) and error.access.startswith("WRITE"):
        return HIGH
    is_access = bool(error.access) or any(name in error.name for name in STOPPING)
    return MEDIUM if is_access else LOW


def severity_of_line(line: str) -> str:
    """Return the severity of an error by the first line of its proof."""
    access = ACCESS.search(line)
    at = access.start() if access else len(line)
    return severity_of_error(SanitizerError(line[:at].strip(), line[at:]))


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
