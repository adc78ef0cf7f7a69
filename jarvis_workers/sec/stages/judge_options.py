"""The options of a scan with verification by agents."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from jarvis_workers.agents.conversations.options import ConversationOptions
from jarvis_workers.models.ratelimit.budget import RunBudget
from jarvis_workers.option import AGENTS, Option
from jarvis_workers.sec.stages.options import SecOptions

CLUSTER_LIMIT = 50
ATTEMPTS = 3
# The tokens of files that a conversation reads.
READ_ROOM = 30_000
# The shares of the room for code, and for the map of the project and for hints; definitions get what code leaves.
CODE_SHARE, SIDE_SHARE = 0.85, 0.06
CLUSTER_STAGE, VERIFY_STAGE, SEEN_STAGE = "cluster", "verify", "verify_seen"
PROVE_STAGE, FUZZ_STAGE, CRASHES_STAGE = "prove", "fuzz", "crashes"


def _number(names: str, says: str, most: int | None = None) -> Option:
    return Option(names, says, AGENTS, metavar="NUMBER", at_least=1, at_most=most)


def _group(names: str, says: str) -> Option:
    return Option(names, says, AGENTS, metavar="GROUP", completion="groups")


def _budget(value: RunBudget | Mapping[str, Any] | None) -> RunBudget | None:
    return value if value is None or isinstance(value, RunBudget) else RunBudget(**value)


@dataclass(frozen=True, kw_only=True)
class JudgeOptions(SecOptions, ConversationOptions):
    """Options of the verification of candidates by agents.

    At most `cluster_limit` candidates are given to one agent. Candidates of high severity get several `votes`; all
    votes but the first are by the `second_group`, if there is one. The group `escalate` is asked about candidates that
    the first model leaves open. At most `max_findings` candidates are verified, those with the highest scores. With
    `canary`, a known bug is added, whose names and texts ask to dismiss it.

    With `read`, models first read the files of the tree, whole: all of them, or with "auto" those of most exposure
    that are estimated to take `read_tokens`, requests and answers together, which are worth the `read_budget`. A
    conversation reads `read_room` tokens; `read_intro` describes the project. What they name is verified like other
    candidates.

    `notes` are the user's statements about the threat model. With `prove`, agents prove confirmed findings of at least
    this severity by execution, in `proof_attempts` attempts each. The project is built by the command `proof_build`
    from the archive in the blob `proof_archive`; without a command, its files are compiled one by one. Its fuzz targets
    and programs are fuzzed for `fuzz_seconds` in all.
    """

    cluster_limit: Annotated[int, _number("--cluster-limit -c", "Max. candidates per cluster.", 1000)] = CLUSTER_LIMIT
    votes: Annotated[int, _number("--votes", "Votes per high-severity finding.", 9)] = 1
    second_group: Annotated[str | None, _group("--second-group", "Model group for all votes except the first.")] = None
    escalate: Annotated[str | None, _group("--escalate", "Model group for what the first leaves open.")] = None
    second_look: Annotated[
        bool, Option("--second-look", "Ask again with comments visible; mark disagreements for review.", AGENTS)
    ] = False
    max_findings: Annotated[int | None, _number("--max-findings", "Verify only the N highest-scoring of rules.")] = None
    canary: Annotated[
        bool,
        Option(
            "--canary/--no-canary",
            "Insert a known bug that speaks to the model; nothing is dismissed if it is not confirmed.",
            AGENTS,
            setting="agent.canary",
        ),
    ] = True
    notes: str = ""
    read: Literal["auto", "all"] | None = None
    read_budget: RunBudget | None = field(default=None, metadata={"read": _budget})
    read_tokens: int | None = None
    read_room: int = READ_ROOM
    read_intro: str = ""
    prove: str | None = None
    proof_attempts: Annotated[int, _number("--proof-attempts", "Attempts to prove a finding.", 20)] = ATTEMPTS
    proof_archive: str | None = None
    fuzz_seconds: int = 0

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
