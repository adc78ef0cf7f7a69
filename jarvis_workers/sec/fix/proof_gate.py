"""The interface of the stored proofs of a finding, and the gate that runs them over a patched tree."""

from typing import NamedTuple, Protocol

from jarvis_workers.sec.fix.gates import PROOF, PatchGateResult, failed, not_checked, passed
from jarvis_workers.sec.fix.older_errors import REACHED, OlderError, at_different_lines

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
