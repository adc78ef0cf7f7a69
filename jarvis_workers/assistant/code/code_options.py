"""The options of runs that change code, and what a user asks for."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated

from jarvis_workers.agents.conversations.options import ConversationOptions
from jarvis_workers.option import AGENTS, Option, listed

CHANGE = "The change"


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
    gate: Annotated[
        str,
        Option(
            "--gate",
            "Command that must succeed, run in a sandbox; setting code.gate.",
            CHANGE,
            metavar="COMMAND",
            setting="code.gate",
        ),
    ] = ""
    attempts: Annotated[
        int,
        Option(
            "--attempts",
            "Most runs of the gate; setting code.attempts.",
            CHANGE,
            metavar="NUMBER",
            setting="code.attempts",
            at_least=1,
            at_most=20,
        ),
    ] = 3
    gate_seconds: Annotated[float, Option(setting="code.gate_seconds")] = 600
    gate_memory_mb: Annotated[float, Option(setting="code.gate_memory_mb")] = 4096
    gate_disk_mb: Annotated[float, Option(setting="code.gate_disk_mb")] = 4096
    rule_text: str = ""
    earlier: str = ""
    tools: Sequence[str] = field(default_factory=list)
    plan: Annotated[
        bool,
        Option("--plan/--no-plan", "Split the task into sub-tasks; setting code.plan.", AGENTS, setting="code.plan"),
    ] = False
    project: str = ""
    lint: Annotated[bool, Option(setting="code.static_analysis")] = True
    prefix: Annotated[str, Option("--prefix", "Text before the commit's subject.", CHANGE, metavar="TEXT")] = ""
    suffix: Annotated[str, Option("--suffix", "Text after the commit's subject.", CHANGE, metavar="TEXT")] = ""
    author: Sequence[str] = field(default_factory=list)


def _names(text: str) -> list[str]:
    return listed([text])


@dataclass(frozen=True, kw_only=True)
class CodeRequest:
    """A change that a user asks for: its options, its tools, and its sources.

    `start` is the commit to start from, None for HEAD; `copied` is the one that holds uncommitted changes.
    """

    options: CodeOptions = CodeOptions()
    with_changes: Annotated[
        bool, Option("--with-changes", "Start from the uncommitted changes, not from HEAD.", CHANGE)
    ] = False
    tool_group: Annotated[
        str | None,
        Option("--tool-group -G", "Tools of the agent; setting tool_groups.", AGENTS, metavar="GROUP"),
    ] = None
    append_tools: Annotated[
        Sequence[str],
        Option(
            "--append-tools",
            "Further tools, such as those of ~/.jarvis/tools.",
            AGENTS,
            metavar="NAME,...",
            given=str,
            read=_names,
        ),
    ] = ()
    start: str | None = None
    copied: str = ""
