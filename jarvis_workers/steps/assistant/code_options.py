"""The options of runs that change code."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from jarvis_workers.conversations.options import ConversationOptions


@dataclass(frozen=True, kw_only=True)
class CodeOptions(ConversationOptions):
    """The task, the sources, and what becomes of the change.

    `archive` is the blob of the sources, which are those of the commit `base`; `copied` is the commit that holds
    uncommitted changes of the user. Nothing in the directories `closed` is edited. The command `gate` must succeed
    within its limits, in at most `attempts` attempts. `rule_text` goes into the system prompt, `earlier` is what
    earlier tasks did. With `plan` the task may be split; `project` names the memories of the agent, if it has some.
    `tools` are the names of the agent's tools. The commit has an author (name, address).
    """

    task: str = ""
    archive: str = ""
    base: str = ""
    copied: str = ""
    closed: Sequence[str] = field(default_factory=list)
    gate: str = ""
    attempts: int = 3
    gate_seconds: float = 600
    gate_memory_mb: float = 4096
    gate_disk_mb: float = 4096
    rule_text: str = ""
    earlier: str = ""
    tools: Sequence[str] = field(default_factory=list)
    plan: bool = False
    project: str = ""
    lint: bool = True
    prefix: str = ""
    suffix: str = ""
    author: Sequence[str] = field(default_factory=list)
