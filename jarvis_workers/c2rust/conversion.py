"""The result of moving functions to Rust: state, proof and gates of each, as values."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from pydantic import TypeAdapter

# A function that is mechanical is Rust in the crate; one that is forwarded is still C.
FunctionState = Literal["mechanical", "forwarded"]
Proof = Literal["none", "built", "reached", "compared"]
PROOFS: tuple[Proof, ...] = ("none", "built", "reached", "compared")
Cause = Literal["", "refused", "not_checked", "different"]


class GateOutcome(NamedTuple):
    """The outcome of a gate; `detail` is one line, "" if there is nothing to add; `seconds` are of CPU."""

    gate: str
    passed: bool
    detail: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class FunctionResult:
    """A function of the project.

    `file` is in its form for display; lines count from 1.  A forwarded function has the `reason`, and its `cause`: the
    translator refuses it ("refused"), nothing proves it ("not_checked"), or a gate found a difference ("different").
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


@dataclass(frozen=True, slots=True)
class SuiteResult:
    """A test command of the project: how it ended with all functions in C, and with all accepted ones in Rust."""

    command: str
    c_seconds: float = 0.0
    rust_seconds: float = 0.0
    deterministic: bool = True
    passed: bool = False


@dataclass(frozen=True, slots=True)
class Conversion:
    """The body of the report: functions in the order of files and lines.

    `wanted` is the weakest proof that is accepted; `crate` says how the user's crate was checked, `remainder` names the
    C files that it still compiles.
    """

    functions: tuple[FunctionResult, ...] = ()
    wanted: Proof = "reached"
    suites: tuple[SuiteResult, ...] = ()
    crate: tuple[GateOutcome, ...] = ()
    remainder: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    not_checked: tuple[tuple[str, str], ...] = ()


_ADAPTER = TypeAdapter(Conversion)


def encode_conversion(conversion: Conversion) -> bytes:
    """Return a conversion as JSON."""
    return _ADAPTER.dump_json(conversion)


def decode_conversion(text: bytes) -> Conversion:
    """Return the conversion that `encode_conversion` encoded. Raises ValueError for other text."""
    return _ADAPTER.validate_json(text)


def failures(conversion: Conversion) -> list[str]:
    """Return what must not be overlooked: a crate that does not build, tests that fail; one line each."""
    lines = [f"the crate DOES NOT BUILD: {gate.detail or gate.gate}" for gate in conversion.crate if not gate.passed]
    return lines + [f"{suite.command}: FAILS with Rust" for suite in conversion.suites if not suite.passed]


def proof_of(gates: Sequence[GateOutcome]) -> Proof:
    """Return what the gates that a body passed prove of it."""
    passed = {outcome.gate for outcome in gates if outcome.passed}
    if "check" not in passed:
        return "none"
    if passed & {"shadow", "inputs"}:
        return "compared"
    return "reached" if {"reached", "suite"} <= passed else "built"


def suffices(proof: Proof, wanted: Proof) -> bool:
    """Return whether a proof is at least the wanted one."""
    return PROOFS.index(proof) >= PROOFS.index(wanted)


def state_counts(functions: Iterable[FunctionResult]) -> Counter[str]:
    """Count functions: "mechanical", and the forwarded ones by cause."""
    return Counter(one.state if one.state == "mechanical" else one.cause for one in functions)
