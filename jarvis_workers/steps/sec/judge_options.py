"""The options of a scan with verification by agents."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from jarvis_workers.conversations.options import ConversationOptions
from jarvis_workers.ratelimit.budget import RunBudget
from jarvis_workers.steps.sec.options import SecOptions

CLUSTER_LIMIT = 50
ATTEMPTS = 3
# The tokens of files that a conversation reads.
READ_ROOM = 30_000
# The shares of the room for code, and for the map of the project and for hints; definitions get what code leaves.
CODE_SHARE, SIDE_SHARE = 0.85, 0.06
READING_STAGES, PROVE_STAGE = ("map", "read"), "prove"
FUZZ_STAGE, CRASHES_STAGE = "fuzz", "crashes"


def _budget(value: RunBudget | Mapping[str, Any] | None) -> RunBudget | None:
    return value if value is None or isinstance(value, RunBudget) else RunBudget(**value)


@dataclass(frozen=True, kw_only=True)
class JudgeOptions(SecOptions, ConversationOptions):
    """Options of the verification of candidates by agents.

    At most `cluster_limit` candidates are given to one agent. Candidates of high severity get several `votes`; all
    votes but the first are by the `second_group`, if there is one. The group `escalate` is asked about candidates that
    the first model leaves open. At most `max_findings` candidates are verified, those with the highest scores. With
    `canary`, a known bug is added.

    With `read`, models first read the files of the tree, whole: all of them, or with "auto" those of most exposure
    that are estimated to take `read_tokens`, requests and answers together, which are worth the `read_budget`. A
    conversation reads `read_room` tokens; `read_intro` describes the project. What they name is verified like other
    candidates.

    `notes` are the user's statements about the threat model. With `prove`, agents prove confirmed findings of at least
    this severity by execution, in `proof_attempts` attempts each. The project is built by the command `proof_build`
    from the archive in the blob `proof_archive`; without a command, its files are compiled one by one. Its fuzz targets
    and programs are fuzzed for `fuzz_seconds` in all.
    """

    cluster_limit: int = CLUSTER_LIMIT
    votes: int = 1
    second_group: str | None = None
    escalate: str | None = None
    second_look: bool = False
    max_findings: int | None = None
    canary: bool = False
    notes: str = ""
    read: Literal["auto", "all"] | None = None
    read_budget: RunBudget | None = field(default=None, metadata={"read": _budget})
    read_tokens: int | None = None
    read_room: int = READ_ROOM
    read_intro: str = ""
    prove: str | None = None
    proof_attempts: int = ATTEMPTS
    proof_build: str | None = None
    proof_archive: str | None = None
    fuzz_seconds: int = 0

    @property
    def skipped_stages(self) -> tuple[str, ...]:
        """The optional stages that a run leaves out."""
        chosen = (
            (self.read, READING_STAGES),
            (self.prove, (PROVE_STAGE,)),
            (self.fuzz_seconds, (FUZZ_STAGE,)),
            (self.prove or self.fuzz_seconds, (CRASHES_STAGE,)),
        )
        return tuple(name for is_chosen, names in chosen if not is_chosen for name in names)

    @property
    def code_room(self) -> int:
        """The tokens of files that a conversation reads."""
        return int(self.read_room * CODE_SHARE)

    @property
    def side_room(self) -> int:
        """The tokens of the map of the project, and of the hints."""
        return int(self.read_room * SIDE_SHARE)

    @property
    def model_groups(self) -> tuple[str | None, ...]:
        """The model groups that a run may call."""
        return (self.model_group, self.second_group, self.escalate)
