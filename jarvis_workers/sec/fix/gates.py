"""The gates of a patch: their names in order, and their results."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, Protocol

from pydantic import BaseModel, ConfigDict, TypeAdapter

from jarvis_workers.paths import plain
from jarvis_workers.sec.proof.proof import ProofRun
from jarvis_workers.sec.proof.run_tool import error_key
from jarvis_workers.source.languages import is_test, language_of
from jarvis_workers.source.lazy_regex import lazy

# Errors that stand without a patch, and that the input of a proof reaches with it.

FRAME = re.compile(r"#0 (?P<function>.*) (?P<file>[^ ]+):(?P<line>\d+)")
REACHED = (
    "it fixes its finding; the input of the proof then triggers an older error, which also occurs without the patch: {}"
)
# Returns the code on a line of a file of the scanned directory, "" if there is none.
CodeAt = Callable[[str, int], str]


class OlderError(BaseModel):
    """An error without the patch: a sanitizer's stack, the code on its line, and the finding that it proves, or ""."""

    model_config = ConfigDict(frozen=True)

    stack: tuple[str, ...]
    code: str
    finding: str = ""

    def __str__(self) -> str:
        finding = f" (finding {self.finding})" if self.finding else ""
        function, file, line = place_of(self.stack)
        return f"{self.stack[0]} in {function}, {file}:{line}{finding}"


def place_of(stack: Sequence[str]) -> tuple[str, str, int]:
    """Return function, file and line of the failing function; the file is "" if no function is known."""
    match = next(filter(None, map(FRAME.fullmatch, stack)), None)
    return (match["function"], match["file"], int(match["line"])) if match else ("", "", 0)


def at_different_lines(errors: Iterable[OlderError]) -> list[OlderError]:
    """Return the first error of each line: two sanitizers may report the same one."""
    return list({place_of(one.stack): one for one in reversed([*errors])}.values())[::-1]


def older_error(stack: Sequence[str], code_at: CodeAt, finding: str = "") -> OlderError | None:
    """Return an error without the patch, None if its line is not in the tree."""
    _, file, line = place_of(stack)
    code = code_at(file, line) if file else ""
    return OlderError(stack=tuple(stack), code=code, finding=finding) if code else None


def errors_before(run: ProofRun, own: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield the errors that a run reported before the finding's own error, or without it."""
    for error in run.errors:
        if error_key(lines := error.lines()) == error_key(own):
            return
        yield lines


def reached(
    runs: Iterable[ProofRun], own: Sequence[str], older: Iterable[OlderError], code_at: CodeAt
) -> tuple[OlderError, ...]:
    """Return the errors that runs over a patched tree report; none unless all are older, and none the own one."""
    by_key = {(error_key(one.stack), one.code): one for one in reversed([*older])}
    found = dict[OlderError, None]()
    for stack in (error.lines() for run in runs for error in run.errors):
        _, file, line = place_of(stack)
        one = by_key.get((error_key(stack), code_at(file, line)))
        if one is None or error_key(stack) == error_key(own):
            return ()
        found[one] = None
    return tuple(found)


GateState = Literal["passed", "failed", "not checked"]
# The model is asked again after a failure, but not if the tree or the machine is at fault.
GateFault = Literal["patch", "edit", "tree", ""]

APPLIES = "applies"
FILES = "files"
FUNCTION = "function"
BUILD = "build"
PROOF = "proof"
RULE = "rule"
TESTS = "tests"
GATES = (APPLIES, FILES, FUNCTION, BUILD, PROOF, RULE, TESTS)
# What a gate that passed says of the patch.
MEANS = {
    APPLIES: "the patch applies",
    FILES: "it changes source files only",
    FUNCTION: "it keeps the function",
    BUILD: "it builds",
    PROOF: "the proof no longer fires",
    RULE: "the rule is silent there, and no other finding is new",
    TESTS: "the tests pass",
}


class PatchGateResult(BaseModel):
    """The result of a gate; `reason` says why it failed, or what was not checked.

    `fault` is "patch" if the patch is at fault, "edit" if a refused edit has left it as it was, "tree" if no patch
    of this tree could pass. `older` are the errors that the gate `proof` has accepted.
    """

    model_config = ConfigDict(frozen=True)

    gate: str
    state: GateState
    reason: str = ""
    fault: GateFault = ""
    older: tuple[OlderError, ...] = ()


RESULTS = TypeAdapter(tuple[PatchGateResult, ...])


def passed(gate: str, remark: str = "") -> PatchGateResult:
    """Return the result of a gate that passed; `remark` says what it could not check."""
    return PatchGateResult(gate=gate, state="passed", reason=remark)


def failed(gate: str, reason: str) -> PatchGateResult:
    """Return the result of a gate that the patch fails."""
    return PatchGateResult(gate=gate, state="failed", reason=reason, fault="patch")


def edit_refused(gate: str, reason: str) -> PatchGateResult:
    """Return the result for a patch that a refused edit has left as it was."""
    return PatchGateResult(gate=gate, state="failed", reason=reason, fault="edit")


def impossible(gate: str, reason: str) -> PatchGateResult:
    """Return the result of a gate that no patch can pass here."""
    return PatchGateResult(gate=gate, state="failed", reason=reason, fault="tree")


def not_checked(gate: str, reason: str) -> PatchGateResult:
    """Return the result of a gate that could not say anything, which is no failure."""
    return PatchGateResult(gate=gate, state="not checked", reason=reason)


def failure_of(results: Sequence[PatchGateResult]) -> PatchGateResult | None:
    """Return the gate that failed, or None."""
    return next((result for result in results if result.state == "failed"), None)


# The gates `applies` and `files`: the change is a patch, and only of source files that it may touch.

MOST_FILES = 10
MOST_LINES = 400
CRLF, LF = b"\r\n", b"\n"
HEAD_BYTES = 4_096
# Sources that build a project, by name.
BUILD_SOURCES = frozenset({"build.rs"})
GENERATED_NAME = re.compile(r"(?:^|/)(?:lex\.yy|moc_[^/]*|[^/]*(?:\.tab|\.pb|\.pb-c|\.yy|_wrap|_generated))\.\w+\Z")
# Bison, flex, protoc, SWIG, gperf, re2c and bindgen write such a comment at the top.
GENERATED_TEXT = lazy(
    rb"(?i)@generated|(?:automatically|auto-?)\W*generated|generated (?:automatically|by)\b"
    rb"|do not edit\b|bison implementation|produced by gperf"
)


class FileContents(NamedTuple):
    """A changed file: its content before and after; None where there is no file."""

    before: bytes | None
    after: bytes | None


Changes = Mapping[str, FileContents]


def check_applies(changes: Changes) -> PatchGateResult:
    """Return the result of the gate `applies`, but for the program that applies the patch."""
    if not changes:
        return failed(APPLIES, "nothing was changed; edit the files with patch")
    for path, file in changes.items():
        if file.before is not None and file.after is not None and (why := _line_ends(file.before, file.after)):
            return failed(APPLIES, f"{plain(path)}: {why}")
    lines = sum(abs(_lines(file.after) - _lines(file.before)) for file in changes.values())
    if lines > MOST_LINES:
        return failed(APPLIES, f"the patch adds or removes {lines:,} lines, limit {MOST_LINES}; fix only this finding")
    return passed(APPLIES)


def check_files(changes: Changes, below: str = "") -> PatchGateResult:
    """Return the result of the gate `files`; nothing outside the directory `below` may change, "" is the whole tree."""
    if len(changes) > MOST_FILES:
        return failed(FILES, f"the patch changes {len(changes)} files, limit {MOST_FILES}")
    for path, file in sorted(changes.items()):
        if why := _refused(path, file, below):
            return failed(FILES, f"{plain(path)}: {why}")
    return passed(FILES)


def why_not_fixable(path: str, content: bytes | None) -> str:
    """Return why a finding in this file is not fixed there, or ""."""
    if content is None:
        return "there is no such file in these sources"
    if b"\0" in content:
        return "the file is binary"
    if is_test(path.encode("utf-8", "surrogateescape")):
        return "it is test code"
    return _generated(path, content)


def _refused(path: str, file: FileContents, below: str) -> str:
    name = path.rpartition("/")[2]
    if below and not path.startswith(f"{below}/"):
        return f"it is outside of the scanned directory {plain(below)}"
    if is_test(path.encode("utf-8", "surrogateescape")):
        return "it is test code; a fix does not change tests"
    if name in BUILD_SOURCES or language_of(path.encode("utf-8", "surrogateescape")) is None:
        return "it is not a source file; a fix changes no build files, scripts and documents"
    if file.before is None:
        return "it is a new file; a fix changes existing files"
    if file.after is None:
        return "the file is removed"
    return _generated(path, file.before)


def _generated(path: str, content: bytes) -> str:
    if GENERATED_NAME.search(path) or GENERATED_TEXT.search(content[:HEAD_BYTES]):
        return "it is generated; the fix belongs into what it is generated from"
    return ""


def _line_ends(before: bytes, after: bytes) -> str:
    """Return what is wrong with the line ends of a changed file, or ""."""
    had, has = _style(before), _style(after)
    names = {CRLF: "CRLF", LF: "LF"}
    if had in names and has != had:
        mixed = names.get(has, "mixed ones")
        return f"its line ends were {names[had]}, and the patch has {mixed}; keep them"
    return ""


def _style(content: bytes) -> bytes:
    """Return the line end of all lines of a file, or b"" if it has several or none."""
    windows, all_lines = content.count(CRLF), content.count(LF)
    if not all_lines or 0 < windows < all_lines:
        return b""
    return CRLF if windows else LF


def _lines(content: bytes | None) -> int:
    return (content or b"").count(LF)


# The interface of the stored proofs of a finding, and the gate that runs them over a patched tree.

NO_PROOF = "no proof is stored for this finding"
NO_BENIGN = "no benign input is known whose result could change; --test finds patches that refuse valid input"


class ProofOutcome(NamedTuple):
    """The result of proofs over a patched tree.

    `failure` says why the defect remains, "" if the proofs are silent. `benign_works` is whether benign inputs have the
    same result as without the patch, None if none is known. `problem` says why the proofs could not run, "" if they
    could. `older` are errors that stand without the patch, and that the inputs reach with it.
    """

    failure: str = ""
    benign_works: bool | None = None
    problem: str = ""
    older: tuple[OlderError, ...] = ()


class PatchProofRunner(Protocol):
    """Runs the stored proofs of a finding over a patched tree."""

    def run(self, root: str) -> ProofOutcome | None:
        """Build and run the proofs over a copy of the tree at `root`; None if the finding has no proof."""


def check_proof(runner: PatchProofRunner, root: str) -> PatchGateResult:
    """Return the result of the gate `proof`."""
    outcome = runner.run(root)
    if outcome is None:
        return not_checked(PROOF, NO_PROOF)
    if outcome.failure:
        return failed(PROOF, outcome.failure)
    if outcome.problem:
        return not_checked(PROOF, f"the proof did not run: {outcome.problem}")
    if outcome.benign_works is False:
        return failed(PROOF, "benign inputs are refused or changed as well; refuse only those that are not valid")
    remarks = [REACHED.format(one) for one in at_different_lines(outcome.older)]
    remarks += [] if outcome.benign_works else [NO_BENIGN]
    return passed(PROOF, "; ".join(remarks)).model_copy(update={"older": outcome.older})
