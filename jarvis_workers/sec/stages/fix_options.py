"""What a user asks to fix, the options of runs that fix findings, and the payloads of their jobs."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated

from jarvis_workers.agents.conversations.options import ConversationOptions
from jarvis_workers.option import Option
from jarvis_workers.pipeline.json_record import JsonRecord
from jarvis_workers.sec.stages.options import RuleFacts

PATCH = "The patches"


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
    build: Annotated[
        str,
        Option(
            "--build",
            "Command that builds the tree, run in a sandbox; default: compile the changed files.",
            PATCH,
            metavar="COMMAND",
        ),
    ] = ""
    tests: Annotated[
        str, Option("--test", "Command that runs the tests, run in a sandbox.", PATCH, metavar="COMMAND")
    ] = ""
    proof_build: str | None = None
    attempts: Annotated[
        int, Option("--attempts", "Most attempts for each finding.", PATCH, metavar="NUMBER", at_least=1, at_most=10)
    ] = 3
    second_look: Annotated[
        bool, Option("--second-look/--no-second-look", "Ask what is still wrong in a patched function.", PATCH)
    ] = True
    gate_seconds: Annotated[float, Option(setting="code.gate_seconds")] = 600
    gate_memory_mb: Annotated[float, Option(setting="code.gate_memory_mb")] = 4096
    gate_disk_mb: Annotated[float, Option(setting="code.gate_disk_mb")] = 4096
    min_confidence: float = 0.0
    rules: RuleFacts = field(default=RuleFacts(), metadata={"read": RuleFacts.decode})
    build_flags: str | None = None
    author: Sequence[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class FixRequest:
    """The findings to fix: those with the `ids`, or the `top` ones, or all confirmed ones of a run, and how."""

    run: Annotated[str, Option("RUN", 'Run of sec agent: id, id prefix, or "last".', completion="runs")]
    ids: Annotated[Sequence[str], Option("ID", "Findings to fix; default: all confirmed ones.")] = ()
    top: Annotated[
        int | None, Option("--top", "Fix only the N worst root causes.", PATCH, metavar="NUMBER", at_least=1)
    ] = None
    options: FixOptions = FixOptions()
    with_changes: Annotated[
        bool, Option("--with-changes", "Start from the uncommitted changes, not from HEAD.", PATCH)
    ] = False


@dataclass(frozen=True)
class FixPayload(JsonRecord):
    """A job: the finding (its place in the plan), those of the same file that follow, and the patches before it.

    `earlier` are blobs of results.
    """

    finding: int
    following: tuple[int, ...] = field(default=(), metadata={"read": tuple})
    earlier: tuple[str, ...] = field(default=(), metadata={"read": tuple})
