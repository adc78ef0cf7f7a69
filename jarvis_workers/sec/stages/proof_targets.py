"""Where the error of a sanitizer must lie to prove a finding."""

from collections.abc import Callable
from dataclasses import replace

from jarvis_workers.paths import from_shown, plain
from jarvis_workers.sec.finding import Candidate
from jarvis_workers.sec.judge.slices import CodeIndex
from jarvis_workers.sec.proof.crashes import Crash, ErrorRoot, candidate_of, severity_of_error, tree_frame
from jarvis_workers.sec.proof.proof import HANG, Attempt, Proof, ProofTarget, SanitizerError, TreeLine
from jarvis_workers.sec.proof.run_tool import AttemptResult, report_on
from jarvis_workers.sec.trace import read_trail
from jarvis_workers.source.languages import is_test


def target_of(candidate: Candidate, index: CodeIndex) -> ProofTarget:
    """Return where the sanitizer's error must lie; reads files."""
    file, sink = index.file(candidate.file), TreeLine(candidate.file, candidate.line)
    around = file.at(candidate.line) if file else None
    steps = read_trail(candidate.trail) if candidate.trail else ()
    first, last = (around.first, around.last) if around else (candidate.line, candidate.line)
    path = tuple(TreeLine(step.file, step.line) for step in steps)
    lines = file.masked.decode(errors="replace").split("\n")[first - 1 : last] if file else []
    return ProofTarget(sink, candidate.cwe, first, last, path, tuple(lines))


# Judge an error that a run has reached as a finding of its own, whatever the run was made to show.

OUTSIDE = "not in the code of the tree, or in that of its tests"
NO_WEAKNESS = "{name} shows no weakness for certain"
BY_ATTEMPT = "An attempt to show another finding gets here: {command}"


def recorder(index: CodeIndex) -> Callable[[Attempt, AttemptResult], tuple[Crash, ...]]:
    """Return the function that returns the errors that an attempt proves, as findings of their own; it reads files."""

    def crashes(attempt: Attempt, result: AttemptResult) -> tuple[Crash, ...]:
        origin = BY_ATTEMPT.format(command=attempt.command)
        judged = (crash_of(attempt, result, error, index, origin) for error in errors_by_root(result).values())
        return tuple(one for one in judged if isinstance(one, Crash))

    return crashes


def errors_by_root(result: AttemptResult) -> dict[ErrorRoot, SanitizerError]:
    """Return the first error of each root that the first run has reported, in their order."""
    errors = dict[ErrorRoot, SanitizerError]()
    for error in (error for run in result.runs[:1] for error in run.errors):
        errors.setdefault(ErrorRoot.of(error.lines()), error)
    return errors


def crash_of(
    attempt: Attempt, result: AttemptResult, error: SanitizerError, index: CodeIndex, origin: str
) -> Crash | str:
    """Return an error of the first run as a finding, or why it is none; `origin` says where its input is from."""
    frame = tree_frame(error, result.runs)
    if frame is None or is_test(from_shown(frame.file)):
        return OUTSIDE
    file = index.file(frame.file)
    if error.name == HANG and file:  # where a loop is stopped depends on time
        frame = frame._replace(line=file.at(frame.line).first)
    code = file.raw[frame.line - 1] if file and 0 < frame.line <= len(file.raw) else ""
    candidate = candidate_of(error, frame, code, origin)
    if candidate is None:
        return NO_WEAKNESS.format(name=plain(error.name))
    proof = proof_of_root(attempt, result, ErrorRoot.of(error.lines()), target_of(candidate, index))
    return Crash(candidate, proof, severity_of_error(error)) if proof.state == "proved" else proof.reason


def proof_of_root(attempt: Attempt, result: AttemptResult, root: ErrorRoot, target: ProofTarget) -> Proof:
    """Return what the errors of one root show of a finding."""
    if not result.runs:
        return Proof("failed", reason=result.problem)
    runs = []
    for run in result.runs:
        errors = tuple(one for one in run.errors if ErrorRoot.of(one.lines()) == root)
        runs.append(replace(run, errors=errors))
    return report_on(attempt, replace(result, runs=tuple(runs)), target).proofs[0]
