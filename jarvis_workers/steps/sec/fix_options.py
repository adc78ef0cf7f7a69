"""The options of runs that fix findings, and the payloads of their jobs."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict

from jarvis_workers.conversations.options import ConversationOptions
from jarvis_workers.pipeline.json_record import JsonRecord
from jarvis_workers.sec.fix.fixable import FixFinding, RelatedFinding
from jarvis_workers.sec.fix.fixing import ATTEMPTS
from jarvis_workers.steps.sec.options import RuleFacts


class FixPlan(BaseModel):
    """What a run fixes: the findings in order, and the scanned files if they are few enough to be scanned again.

    `proved` are the proved findings of the scanned run, for errors that stand without a patch.
    """

    model_config = ConfigDict(frozen=True)

    findings: tuple[FixFinding, ...]
    files: tuple[str, ...] = ()
    proved: tuple[RelatedFinding, ...] = ()


@dataclass(frozen=True, kw_only=True)
class FixOptions(ConversationOptions):
    """The findings of the run `scanned`, the sources, and the commands of the gates.

    `archive` is the blob of the sources, which are those of the commit `base` ("" without a repository); `copied` is
    the commit that holds uncommitted changes of the user. The scanned tree is the directory `below` of the archive; for
    proofs, the command `proof_build` builds it there, if there is one.
    `findings` is the blob of the FixPlan, `build_flags` that of the flags of the scan. No file in the directories
    `closed` is edited. The commands `build` and `tests` run at the top. The commits have an author (name, address).
    After a patch, a `second_look` asks what is still wrong in the function.
    """

    scanned: str = ""
    findings: str = ""
    archive: str = ""
    base: str = ""
    copied: str = ""
    below: str = ""
    closed: Sequence[str] = field(default_factory=list)
    build: str = ""
    tests: str = ""
    proof_build: str | None = None
    attempts: int = ATTEMPTS
    second_look: bool = True
    gate_seconds: float = 600
    gate_memory_mb: float = 4096
    gate_disk_mb: float = 4096
    min_confidence: float = 0.0
    rules: RuleFacts = field(default=RuleFacts(), metadata={"read": RuleFacts.decode})
    build_flags: str | None = None
    author: Sequence[str] = field(default_factory=list)


@dataclass(frozen=True)
class FixPayload(JsonRecord):
    """A job: the finding (its place in the plan), those of the same file that follow, and the patches before it.

    `earlier` are blobs of results.
    """

    finding: int
    following: tuple[int, ...] = field(default=(), metadata={"read": tuple})
    earlier: tuple[str, ...] = field(default=(), metadata={"read": tuple})
