"""The interface of a stored proof, as the gates of a patch need it."""

from typing import NamedTuple, Protocol

from jarvis_workers.sec.fix.gates import PROOF, PatchGateResult, failed, not_checked, passed

NO_PROOF = "no proof is stored for this finding"


class ProofOutcome(NamedTuple):
    """The result of a proof over a tree: whether the defect shows, and whether a benign input is still accepted.

    `benign_works` is None if no benign input is known; `problem` says why the proof could not run, "" if it could.
    """

    fires: bool
    benign_works: bool | None = None
    problem: str = ""


class ProofRunner(Protocol):
    """Runs the stored proof of a finding over a patched tree."""

    def run(self, root: str) -> ProofOutcome:
        """Build and run the proof over a copy of the tree at `root`."""


def check_proof(runner: ProofRunner | None, root: str) -> PatchGateResult:
    """Return the result of the gate `proof`."""
    if runner is None:
        return not_checked(PROOF, NO_PROOF)
    outcome = runner.run(root)
    if outcome.problem:
        return not_checked(PROOF, f"the proof did not run: {outcome.problem}")
    if outcome.fires:
        return failed(PROOF, "the proof still fires: the defect can still be reached")
    if outcome.benign_works is False:
        return failed(PROOF, "a benign input is refused as well; refuse only those that are not valid")
    return passed(PROOF)
