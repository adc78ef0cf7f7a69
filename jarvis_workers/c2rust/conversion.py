"""The result of a conversion: the state, proof and gates of each function."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from pydantic import TypeAdapter

from jarvis_workers.c2rust.crate_metrics import CrateMetrics
from jarvis_workers.c2rust.rule_counts import CategoryCounts

# A mechanical function is in Rust, one that a model translated, too, and a replaced one, which calls a library; a
# forwarded one is in C, with a Rust signature if it has no `cause`; a pruned one is left out.
FunctionState = Literal["mechanical", "translated", "replaced", "pruned", "forwarded"]
BY_MODEL = ("translated", "replaced")
IN_RUST = ("mechanical", *BY_MODEL)
Proof = Literal["none", "built", "reached", "compared"]
PROOFS: tuple[Proof, ...] = ("none", "built", "reached", "compared")
# The gate of the whole crate on which all others depend.
BUILD = "cargo build"
Cause = Literal["", "refused", "not_chosen", "not_checked", "different", "pruned"]


class GateOutcome(NamedTuple):
    """The outcome of a gate; `detail` is one line, "" if there is nothing to add; `seconds` is CPU time."""

    gate: str
    passed: bool
    detail: str = ""
    seconds: float = 0.0


class Review(NamedTuple):
    """What a model objects to in the accepted body of a function, on one topic; one line per issue."""

    topic: str
    issues: tuple[str, ...]


class PassedParameter(NamedTuple):
    """How a parameter of a Rust signature is passed: its name, its form such as "option ref", the length of a slice."""

    name: str
    form: str
    length: str = ""


@dataclass(frozen=True, slots=True)
class FunctionResult:
    """A function of the project.

    `file` is in display form; lines count from 1.  A function that is not accepted has a `reason` and a `cause`: the
    translator refuses it ("refused"), --only leaves it out ("not_chosen"), nothing proves it ("not_checked"), a gate
    found a difference ("different"), or nothing needs it ("pruned").  The tests execute `lines_run` of its `lines` of C
    code; both are 0 if coverage is unknown.  `mapping` states how the parameters of a Rust signature are passed.  A
    model gave `attempts` answers for it; `not_translated` is the reason why none of them is used.  `reviews` are those
    of the accepted answer.  A replaced function calls `libraries`.  `refused` are the gates that
    refused answers.
    """

    name: str
    file: str
    line: int
    end_line: int
    module: str
    rust_name: str
    rust_signature: str = ""
    state: FunctionState = "forwarded"
    proof: Proof = "none"
    cause: Cause = ""
    reason: str = ""
    gates: tuple[GateOutcome, ...] = ()
    calls: int = 0
    slot: str = ""
    lines: int = 0
    lines_run: int = 0
    mapping: tuple[PassedParameter, ...] = ()
    attempts: int = 0
    not_translated: str = ""
    reviews: tuple[Review, ...] = ()
    libraries: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()

    @property
    def accepted(self) -> bool:
        """Whether the crate has the function in Rust, translated or as a forwarder."""
        return not self.cause

    @property
    def status(self) -> str:
        """The state of an accepted function, the cause of any other."""
        return self.cause or self.state


@dataclass(frozen=True, slots=True)
class SuiteResult:
    """A test command of the project: its outcome with all functions in C, and with all accepted ones in Rust."""

    command: str
    c_seconds: float = 0.0
    rust_seconds: float = 0.0
    deterministic: bool = True
    passed: bool = False


@dataclass(frozen=True, slots=True)
class Conversion:
    """The body of the report: functions in the order of files and lines.

    `wanted` is the weakest proof that is accepted, `accepted` the state of functions with it. `crate` has the checks of
    the user's crate, `remainder` the C files that it still compiles.  `clippy` is the number of warnings of
    cargo-clippy in the crate, `findings` are those of the rules of `jarvis sec`; each is None if not measured. `enums`
    are the planned kinds of enums by name.
    """

    functions: tuple[FunctionResult, ...] = ()
    wanted: Proof = "reached"
    suites: tuple[SuiteResult, ...] = ()
    crate: tuple[GateOutcome, ...] = ()
    remainder: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    not_checked: tuple[tuple[str, str], ...] = ()
    accepted: FunctionState = "mechanical"
    metrics: CrateMetrics | None = None
    clippy: int | None = None
    findings: tuple[CategoryCounts, ...] | None = None
    enums: Mapping[str, str] = field(default_factory=dict)


_ADAPTER = TypeAdapter(Conversion)


def encode_conversion(conversion: Conversion) -> bytes:
    """Return a conversion as JSON."""
    return _ADAPTER.dump_json(conversion)


def decode_conversion(text: bytes) -> Conversion:
    """Return the conversion that `encode_conversion` encoded. Raises ValueError for any other text."""
    return _ADAPTER.validate_json(text)


def is_unproven(function: FunctionResult) -> bool:
    """Return whether a function stays in C although the translator supports it."""
    return function.cause in ("not_checked", "different")


class FailedCheck(NamedTuple):
    """A gate of the crate with its command, or a test command, that fails; "" for none. The line may have times."""

    gate: str
    command: str
    line: str


def failures(conversion: Conversion, say: Callable[..., str] = str.format) -> list[str]:
    """Return the most important failures, one line each: a crate that does not build, and failing tests.

    `say` translates a text and fills in its placeholders.
    """
    return [one.line for one in failed_checks(conversion, say)]


def failed_checks(conversion: Conversion, say: Callable[..., str] = str.format) -> Iterator[FailedCheck]:
    """Yield the failures."""
    commands = sorted((suite.command for suite in conversion.suites), key=len, reverse=True)
    for gate in conversion.crate:
        if not gate.passed:
            command = next((one for one in commands if gate.detail.startswith(f"{one}: ")), "")
            line = (
                say("the crate DOES NOT BUILD: {detail}", detail=gate.detail)
                if gate.gate == BUILD
                else say("{gate} FAILS: {detail}", gate=gate.gate, detail=gate.detail)
            )
            yield FailedCheck(gate.gate, command, line)
    for suite in conversion.suites:
        if not suite.passed:
            yield FailedCheck("", suite.command, say("{command}: FAILS with Rust", command=suite.command))


def proof_of(gates: Sequence[GateOutcome]) -> Proof:
    """Return the proof level of a body from the gates that it passed."""
    passed = {outcome.gate for outcome in gates if outcome.passed}
    if "check" not in passed:
        return "none"
    if passed & {"shadow", "inputs"}:
        return "compared"
    return "reached" if {"reached", "suite"} <= passed else "built"


def suffices(proof: Proof, required: Proof) -> bool:
    """Return whether a proof is at least as strong as the required one."""
    return PROOFS.index(proof) >= PROOFS.index(required)


def state_counts(functions: Iterable[FunctionResult]) -> Counter[str]:
    """Return the number of accepted functions by state, and of the others by cause."""
    return Counter(one.status for one in functions)


# Compare two conversions of a project, function by function.

Verdict = Literal["worse", "better", "changed"]
# In C, translated mechanically, translated by a model; functions that libraries make unnecessary count as replaced.
LEVELS = {"forwarded": 1, "mechanical": 2, **dict.fromkeys((*BY_MODEL, "pruned"), 3)}


@dataclass(frozen=True, slots=True)
class FunctionChange:
    """A function in both conversions whose state or proof is different."""

    before: FunctionResult
    after: FunctionResult

    @property
    def verdict(self) -> Verdict:
        """Worse if state or proof fell, better if only a rise is left, changed if neither."""
        pairs = list(zip(_rank(self.before), _rank(self.after), strict=True))
        if "pruned" in (self.before.status, self.after.status):
            pairs.pop()
        if any(after < before for before, after in pairs):
            return "worse"
        return "better" if any(after > before for before, after in pairs) else "changed"


@dataclass(frozen=True, slots=True)
class ConversionDifference:
    """What differs between two conversions; `failures` are those of the later one that the earlier one has not.

    Functions of the earlier one are `not_checked` if the later one could not read their units.
    """

    changes: tuple[FunctionChange, ...] = ()
    new: tuple[FunctionResult, ...] = ()
    removed: tuple[FunctionResult, ...] = ()
    not_checked: tuple[FunctionResult, ...] = ()
    unchanged: int = 0
    failures: tuple[str, ...] = ()

    def having(self, verdict: Verdict) -> list[FunctionChange]:
        """Return the changes with a verdict."""
        return [one for one in self.changes if one.verdict == verdict]


def compare_conversions(before: Conversion, after: Conversion) -> ConversionDifference:
    """Return the difference, in the order of the functions of the later conversion."""
    old, new = ({one.slot: one for one in side.functions} for side in (before, after))
    changes = tuple(_changes(old, new))
    gone, files = [one for slot, one in old.items() if slot not in new], {file for file, _ in after.not_checked}
    unread = {one.slot for one in gone if _is_unread(one, files)}
    return ConversionDifference(
        changes,
        tuple(one for slot, one in new.items() if slot not in old),
        tuple(one for one in gone if one.slot not in unread),
        tuple(one for one in gone if one.slot in unread),
        len(old.keys() & new.keys()) - len(changes),
        tuple(new_failures(before, after)),
    )


def new_failures(before: Conversion, after: Conversion, say: Callable[..., str] = str.format) -> Iterator[str]:
    """Yield the lines of the failed gates and test commands that did not fail before."""
    earlier = {(one.gate, one.command) for one in failed_checks(before)}
    return (one.line for one in failed_checks(after, say) if (one.gate, one.command) not in earlier)


def _is_unread(function: FunctionResult, files: Collection[str]) -> bool:
    """Return whether a function may be in a unit that was not read: its file is one, or may be included by one."""
    return function.file in files or (bool(files) and not function.file.endswith(".c"))


def _changes(old: Mapping[str, FunctionResult], new: Mapping[str, FunctionResult]) -> Iterator[FunctionChange]:
    for slot, after in new.items():
        before = old.get(slot)
        if before and (before.status, before.proof) != (after.status, after.proof):
            yield FunctionChange(before, after)


def _rank(one: FunctionResult) -> tuple[int, int]:
    return LEVELS.get(one.status, 0), PROOFS.index(one.proof)
