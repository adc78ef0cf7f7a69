"""The options of a scan with verification by agents."""

from dataclasses import dataclass

from jarvis_workers.conversations.options import ConversationOptions
from jarvis_workers.steps.sec.options import SecOptions

CLUSTER_LIMIT = 50
ATTEMPTS = 3


@dataclass(frozen=True, kw_only=True)
class JudgeOptions(SecOptions, ConversationOptions):
    """Options of the verification of candidates by agents.

    At most `cluster_limit` candidates are given to one agent. Candidates of high severity get several `votes`; all
    votes but the first are by the `second_group`, if there is one. At most `max_findings` candidates are verified,
    those with the highest scores. With `canary`, a known bug is added.

    With `prove`, agents prove confirmed findings of at least this severity by execution, in `proof_attempts` attempts
    each. The project is built by the command `proof_build` from the archive in the blob `proof_archive`; without a
    command, its files are compiled one by one.
    """

    cluster_limit: int = CLUSTER_LIMIT
    votes: int = 1
    second_group: str | None = None
    second_look: bool = False
    max_findings: int | None = None
    canary: bool = False
    prove: str | None = None
    proof_attempts: int = ATTEMPTS
    proof_build: str | None = None
    proof_archive: str | None = None

    @property
    def model_groups(self) -> tuple[str | None, ...]:
        """The model groups that a run may call."""
        return (self.model_group, self.second_group)
