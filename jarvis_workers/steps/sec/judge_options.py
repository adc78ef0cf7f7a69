"""The options of a scan with verification by agents."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from jarvis_workers.conversations.options import ConversationOptions
from jarvis_workers.ratelimit.budget import RunBudget
from jarvis_workers.steps.sec.options import SecOptions

CLUSTER_LIMIT = 50
ATTEMPTS = 3
DISCOVERY_STAGES, PROVE_STAGE = ("rank", "discover"), "prove"


def _read_budget(value: RunBudget | Mapping[str, Any] | None) -> RunBudget | None:
    return value if value is None or isinstance(value, RunBudget) else RunBudget(**value)


@dataclass(frozen=True, kw_only=True)
class JudgeOptions(SecOptions, ConversationOptions):
    """Options of the verification of candidates by agents.

    At most `cluster_limit` candidates are given to one agent. Candidates of high severity get several `votes`; all
    votes but the first are by the `second_group`, if there is one. The group `escalate` is asked about candidates that
    the first model leaves open. At most `max_findings` candidates are verified, those with the highest scores. With
    `canary`, a known bug is added. A model is asked about `discover` functions that handle outside data, for defects
    that no rule has found; this may cost `discover_budget` in all, and what it finds is verified like other candidates.

    `notes` are the user's statements about the threat model. With `prove`, agents prove confirmed findings of at least
    this severity by execution, in `proof_attempts` attempts each. The project is built by the command `proof_build`
    from the archive in the blob `proof_archive`; without a command, its files are compiled one by one.
    """

    cluster_limit: int = CLUSTER_LIMIT
    votes: int = 1
    second_group: str | None = None
    escalate: str | None = None
    second_look: bool = False
    max_findings: int | None = None
    canary: bool = False
    notes: str = ""
    discover: int = 0
    discover_budget: RunBudget | None = field(default=None, metadata={"read": _read_budget})
    prove: str | None = None
    proof_attempts: int = ATTEMPTS
    proof_build: str | None = None
    proof_archive: str | None = None

    @property
    def skipped_stages(self) -> tuple[str, ...]:
        """The optional stages that a run leaves out."""
        return (() if self.discover else DISCOVERY_STAGES) + (() if self.prove else (PROVE_STAGE,))

    @property
    def model_groups(self) -> tuple[str | None, ...]:
        """The model groups that a run may call."""
        return (self.model_group, self.second_group, self.escalate)
