"""The gates of a patch: their names in order, and their results."""

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter

from jarvis_workers.sec.fix.older_errors import OlderError

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
