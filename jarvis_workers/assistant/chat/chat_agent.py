"""The agent of a conversation with a person: made from its definition, with tools, marks and limits."""

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.effects import Definition
from jarvis_workers.agents.loop.limits import AgentLimits
from jarvis_workers.agents.loop.nonces import make_marks
from jarvis_workers.agents.loop.own_platforms import open_platform
from jarvis_workers.agents.loop.prompts import fill
from jarvis_workers.agents.tools.tool import ScriptRunner, Tool, Toolbox
from jarvis_workers.assistant.chat.knowledge import Knowledge
from jarvis_workers.assistant.chat.toolset import ToolSources, choose_tools, tools_of
from jarvis_workers.assistant.definition_file import DefinitionFile
from jarvis_workers.models.platforms.protocol import Platform
from jarvis_workers.private_files import private_key
from jarvis_workers.runs.central_repository import tool_directories
from jarvis_workers.runs.configured_tools import configured_tools
from jarvis_workers.runs.conversation_limits import agent_limits_of
from jarvis_workers.runs.models import model_group, model_name
from jarvis_workers.settings import Settings

KEY_FILE = "assistant.key"


@dataclass(frozen=True, kw_only=True)
class ChatOptions:
    """What a conversation is about; without a person nobody is asked. `routine` names a background task."""

    root: Path
    definition: DefinitionFile
    group: str | None = None
    tool_group: str | None = None
    has_person: bool = True
    restore: bool = False
    routine: str = ""


@dataclass(frozen=True)
class ChatAgent:
    """The agent, all tools among which its own were chosen, and lines about the files of users that were left out."""

    agent: Agent
    all_tools: list[Tool]
    left_out: Sequence[str]


@dataclass(frozen=True)
class ChatAgentBuilder:
    """Opens the model of a conversation, and its agent."""

    settings: Settings
    options: ChatOptions
    tell: Callable[[str], None]

    def open_platform(self) -> Platform:
        """Open the model group of the options or the definition. Raises SettingsError, UsageError."""
        group = model_name(self.settings, self.options.group or self.options.definition.model_group)
        return open_platform(model_group(self.settings, group))

    def open_agent(
        self,
        platform: Platform,
        session_id: str,
        scripts: ScriptRunner | None,
        knowledge: Knowledge,
        servers: Sequence[Tool],
    ) -> ChatAgent:
        """Open the agent; its marks are derived from the session. Raises UsageError."""
        settings, options = self.settings, self.options
        key = private_key(settings.data_dir / KEY_FILE) or secrets.token_bytes(32)
        agents: list[Agent] = []
        sources = ToolSources(
            root=options.root,
            scripts=scripts,
            agent=lambda: agents[0],
            has_person=options.has_person,
            configured=configured_tools(settings, self.tell),
            servers=servers,
            own=tool_directories(settings, self.tell),
            knowledge=knowledge.tools(),
        )
        tools = tools_of(sources)
        group = options.tool_group or settings.tool_group
        box = Toolbox(choose_tools(tools, options.definition, group, settings.tool_groups))
        limits, marks = self._limits(platform.profile.context), make_marks(key, session_id)
        agents.append(Agent(_about(options), box, profile=platform.profile, marks=marks, limits=limits))
        return ChatAgent(agents[0], tools, sources.left_out.lines)

    def _limits(self, context: int) -> AgentLimits:
        """Return the limits of the conversation; `context` is the context window of the model, in tokens."""
        limits, definition = agent_limits_of(self.settings), self.options.definition
        most = definition.max_token_count
        return replace(
            limits,
            compact_rounds=definition.auto_summary_rounds,
            compact_at=min(most / context, 1.0) if most else limits.compact_at,
            reminder_rounds=definition.tool_reminder_rounds or limits.reminder_rounds,
        )


def _about(options: ChatOptions) -> Definition:
    definition = options.definition
    template = "chat" if options.has_person else "task"
    default = definition.auto_complete if definition.auto_complete is not None else not options.has_person
    return Definition(
        system_prompt=definition.system_prompt or fill(template, agent=definition.name),
        name=definition.name,
        description=definition.description,
        summary_prompt=definition.summary_prompt,
        auto_complete=True if definition.non_interactive else default,
        need_summary=definition.need_summary,
        plan_depth=definition.plan_depth,
        plan_max_depth=definition.plan_max_depth,
    )
