"""A conversation with an agent in this process, without a job: `jarvis agent` at a terminal.

Each input of the person is a turn; the session continues until it is cleared, and is saved after every turn. The
sandbox is opened with the first script.
"""

import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.drivers import AgentWorld
from jarvis_workers.agents.loop.effects import Conversation, Definition, TaskResult
from jarvis_workers.agents.loop.events import AFTER_TOOL_CALL, TOOL_FILTERED, EventBus
from jarvis_workers.agents.loop.limits import AgentLimits, AgentUsage
from jarvis_workers.agents.loop.loop import run_task
from jarvis_workers.agents.loop.nonces import make_marks
from jarvis_workers.agents.loop.own_platforms import OWN_MODELS, own_platforms
from jarvis_workers.agents.loop.own_tools import OWN_TOOLS
from jarvis_workers.agents.loop.plugins import after_tool_callbacks
from jarvis_workers.agents.loop.prompts import fill
from jarvis_workers.agents.mcp_client.server_files import servers_or_files
from jarvis_workers.agents.mcp_client.servers import open_servers
from jarvis_workers.agents.tools.listing import DirectoryTree
from jarvis_workers.agents.tools.tool import Tool, Toolbox
from jarvis_workers.assistant.analysis import analyze_task
from jarvis_workers.assistant.autonomy import WRITE_NOTHING, Autonomy
from jarvis_workers.assistant.chat.chat_driver import ChatDriver, Display, Person
from jarvis_workers.assistant.chat.chat_scripts import ChatScripts
from jarvis_workers.assistant.chat.file_context import context_of
from jarvis_workers.assistant.chat.identity_files import read_identity
from jarvis_workers.assistant.chat.knowledge import open_knowledge
from jarvis_workers.assistant.chat.session_store import SessionStore
from jarvis_workers.assistant.chat.skill_files import SkillFolder
from jarvis_workers.assistant.chat.toolset import ToolSources, tools_of, usable
from jarvis_workers.assistant.definition_file import DefinitionFile
from jarvis_workers.assistant.input_handlers import FileMention, PersonText
from jarvis_workers.assistant.methodology import with_methodologies
from jarvis_workers.assistant.person import Interrupted
from jarvis_workers.assistant.person_tools import ASK_USER, make_child
from jarvis_workers.assistant.planning import plan_and_run
from jarvis_workers.assistant.routing import NeedClarification, Skills, route
from jarvis_workers.assistant.session_file import restore_session, save_session, session_name
from jarvis_workers.assistant.system_prompt import PromptParts, system_prompt
from jarvis_workers.assistant.turns import TurnRules, begin_turn, take_turn
from jarvis_workers.errors import UsageError
from jarvis_workers.models.platforms.protocol import Message, Platform
from jarvis_workers.models.platforms.registry import Providers
from jarvis_workers.private_files import private_key
from jarvis_workers.runs.central_repository import tool_directories
from jarvis_workers.runs.configured_tools import configured_tools
from jarvis_workers.runs.conversation_limits import agent_limits_of
from jarvis_workers.runs.models import model_group, model_name
from jarvis_workers.sandbox.limits import Tier
from jarvis_workers.settings import Settings
from jarvis_workers.words import ENGLISH

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


class Chat:
    """A conversation; `close` ends its sandbox and its event loop."""

    def __init__(
        self,
        settings: Settings,
        options: ChatOptions,
        person: Person,
        display: Display,
        tell: Callable[[str], None],
        *,
        servers: Sequence[Tool] = (),
    ) -> None:
        self.options, self._settings, self._tell = options, settings, tell
        self.knowledge = open_knowledge(settings, options.definition, options.root, tell)
        about = options.definition
        group = model_name(settings, options.group or about.model_group)
        providers = Providers({}, dict(own_platforms([OWN_MODELS])))
        self.platform: Platform = providers.open(model_group(settings, group))
        self.autonomy = Autonomy("supervised" if about.execute_tool_confirm else settings.agent.autonomy)
        self.scripts = ChatScripts(options.root)
        self.store = SessionStore(options.root, session_name(about.name, self.platform.name, self.platform.model))
        self._open_agent(servers)
        hidden = self.knowledge.equip(self.agent)
        world = AgentWorld(self.platform, self.agent.tools.plus(*hidden), bus=self._open_bus())
        self._driver = ChatDriver(world, person, display, self.scripts.stop, [tool.name for tool in hidden])

    def _open_bus(self) -> EventBus:
        bus = EventBus()
        for listener in after_tool_callbacks(map(Path, self._settings.agent.after_tool_call_cb_dirs)):
            bus.subscribe(AFTER_TOOL_CALL, listener)
        bus.subscribe(TOOL_FILTERED, lambda **_: self._set_prompt())
        return bus

    def _open_agent(self, servers: Sequence[Tool]) -> None:
        options = self.options
        saved = self.store.read() if options.restore else None
        if options.restore and saved is None:
            self._tell(f"no saved session: {self.store.path} does not exist; a new one begins")
        self._id = saved.id if saved else secrets.token_hex(16)
        key = private_key(self._settings.data_dir / KEY_FILE) or secrets.token_bytes(32)
        agents: list[Agent] = []
        runner = self.scripts if self.scripts.tier != Tier.C else None
        sources = ToolSources(
            root=options.root,
            scripts=runner,
            agent=lambda: agents[0],
            has_person=options.has_person,
            configured=configured_tools(self._settings, self._tell),
            servers=servers,
            own=(OWN_TOOLS, *map(Path, tool_directories(self._settings, self._tell))),
            memories=self.knowledge.memories,
            methodologies=self.knowledge.methodologies,
        )
        self.all_tools, self._left_out = tools_of(sources), sources.left_out.lines
        tools = _usable_tools(self._settings, options, self.all_tools)
        limits = limits_of(self._settings, options.definition, self.platform.profile.context)
        about = _about(options)
        marks = make_marks(key, self._id)
        self.agent = Agent(about, Toolbox(tools), profile=self.platform.profile, marks=marks, limits=limits)
        agents.append(self.agent)
        self.skills = SkillFolder(options.root, self._tell)
        metas = "\n".join(f"- {skill.name}: {skill.description}" for skill in self.skills.metas)
        self._skills = self.agent.guard.admit(metas) if metas else ""
        self._identity = read_identity(self._settings.data_dir, options.root, self.agent.guard, self._tell)
        self._routed: tuple[str, ...] = ()
        self._set_prompt()
        if saved:
            restore_session(self.agent, saved)
            self._tell(f"restored: {ENGLISH.count(len(saved.messages), 'message')}")

    @property
    def data_dir(self) -> Path:
        return self._settings.data_dir

    @property
    def start_line(self) -> str:
        """What the conversation works with: model, tools usable and in all, sandbox, directory."""
        tools = f"tools {len(self.agent.tools.names)}/{len(self.all_tools) + len(self._left_out)}"
        tools += f", {len(self._left_out)} left out" if self._left_out else ""
        skills = [f"skills {len(self.skills.metas)}"] if self.skills.metas else []
        resources = [*skills, *self.knowledge.counts]
        parts = [
            f"model {self.platform.model}",
            tools,
            *resources,
            f"sandbox {self.scripts.tier}",
            str(self.options.root),
        ]
        return f"{self.agent.name}: {', '.join(parts)}"

    def close(self) -> None:
        self._driver.close()
        self.scripts.close()

    def answer(self, text: PersonText) -> TaskResult | None:
        """Run a turn; None if the person ended it or the agent asks back. Raises AgentStopped."""
        try:
            if not self._route(text.text):
                return None
            files = context_of(self._with_files(text), DirectoryTree(self.options.root), self.agent.guard, self._tell)
            task = "\n\n".join(part for part in (text.text, files, *self.scripts.take_output(self.agent.guard)) if part)
            if not self.agent.session.task:
                notes = self.knowledge.methodologies_for(text.text)
                task = self._driver.drive(with_methodologies(self.agent, task, notes))
            rules = TurnRules(self.autonomy, make_child, self.options.has_person, run=self._run)
            result = self._driver.drive(take_turn(self.agent, task, rules))
            if result:
                self.knowledge.remember_turn(text.text, result.text)
            return result
        except Interrupted:
            return None
        finally:
            self._save_or_tell()

    def _run(self, agent: Agent, task: str) -> Conversation[TaskResult]:
        """Run a task, split into sub-tasks if the definition says so (`plan`)."""
        if not self.options.definition.plan:
            return (yield from run_task(agent, task))

        def make(about: Definition, limits: AgentLimits) -> Agent:
            tools = Toolbox(tool for tool in agent.tools.tools if tool.name != ASK_USER)
            return Agent(about, tools, profile=agent.profile, marks=agent.marks, limits=limits)

        return (yield from plan_and_run(agent, task, make_child=make))

    def analyze(self, feedback: str) -> str:
        """Return an analysis of the last task; `feedback` is what the person says about it, possibly empty."""
        begin_turn(self.agent)
        return self._driver.drive(analyze_task(self.agent, feedback)) if self.agent.session.task else ""

    def clear(self) -> None:
        """Forget the messages and the usage of the conversation."""
        self.agent.session.restore([], turn=1, rounds=0)
        self.agent.session.task = ""
        self.agent.spent = AgentUsage()

    def save(self) -> None:
        """Save the session; without a message there is nothing to save. Raises UsageError."""
        if len(self.agent.session.messages) > 1:
            self.store.write(save_session(self.agent, self._id, self.platform.name, self.platform.model))

    def _save_or_tell(self) -> None:
        """Save the session; an answer is not lost because that fails."""
        try:
            self.save()
        except UsageError as problem:
            self._tell(f"the session is not saved: {problem}")

    def _with_files(self, text: PersonText) -> PersonText:
        """Add the files of the definition to the first input."""
        if self.agent.session.task:
            return text
        files = tuple(map(FileMention, self.options.definition.files))
        return replace(text, mentions=(*files, *text.mentions))

    def _route(self, text: str) -> bool:
        """Choose the skills for a turn; return whether it goes on, and not with a question to the person."""
        begin_turn(self.agent)
        chosen = self._driver.drive(route(self.agent, text, self.skills.metas))
        if isinstance(chosen, NeedClarification) and self.options.has_person:
            self.agent.session.begin(text)
            self.agent.session.say(Message("assistant", chosen.question))
            self._tell(chosen.question)
            return False
        self._routed = chosen.names if isinstance(chosen, Skills) else ()
        self._set_prompt()
        return True

    def _set_prompt(self) -> None:
        """Set the system prompt, if the routed skills, the tools, the autonomy or the date have changed."""
        agent, options = self.agent, self.options
        parts = PromptParts(
            identity=_about(options).system_prompt,
            about=self._identity,
            skills=self._skills,
            routed="\n\n".join(f"## {name}\n\n{agent.guard.admit(self.skills.text(name))}" for name in self._routed),
            environment=f"Directory: {options.root}\nDate: {date.today().isoformat()}\nSandbox: {self.scripts.tier}",
            routine=options.routine,
            level=self.autonomy.level,
            has_person=options.has_person,
        )
        agent.about = replace(agent.about, system_prompt=system_prompt(parts, agent.tools.tools))
        if agent.session.messages[0].content != (prompt := agent.system_prompt()):
            agent.session.set_system(prompt)


@contextmanager
def open_chat(
    settings: Settings, options: ChatOptions, person: Person, display: Display, tell: Callable[[str], None]
) -> Iterator[Chat]:
    """Open a conversation. Raises UsageError, SettingsError."""
    if not options.root.is_dir():
        raise UsageError(f"{options.root}: not a directory; a conversation works on a local directory")
    with open_servers(servers_or_files(settings.mcp, tell), tell) as servers:
        chat = Chat(settings, options, person, display, tell, servers=servers)
        try:
            yield chat
        finally:
            chat.close()


def limits_of(settings: Settings, definition: DefinitionFile, context: int) -> AgentLimits:
    """Return the limits of a conversation; `context` is the context window of the model, in tokens."""
    limits = agent_limits_of(settings)
    most = definition.max_token_count
    return replace(
        limits,
        compact_rounds=definition.auto_summary_rounds,
        compact_at=min(most / context, 1.0) if most else limits.compact_at,
        reminder_rounds=definition.tool_reminder_rounds or limits.reminder_rounds,
    )


def _usable_tools(settings: Settings, options: ChatOptions, tools: list[Tool]) -> list[Tool]:
    """Return the chosen tools, with `disable_file_edit` only those that write no files."""
    chosen = _chosen_tools(settings, options, tools)
    return [tool for tool in chosen if tool.name in WRITE_NOTHING] if options.definition.disable_file_edit else chosen


def _chosen_tools(settings: Settings, options: ChatOptions, tools: list[Tool]) -> list[Tool]:
    """Return the tools of the definition, or of the tool group."""
    if options.definition.use_tools is not None:
        return usable(tools, options.definition.use_tools, "use_tools")
    name = options.tool_group or settings.tool_group
    if name is None:
        return tools
    groups = settings.tool_groups
    if name not in groups:
        available = ", ".join(groups) or "none; set tool_groups in jarvis.yaml"
        raise UsageError(f'there is no tool group "{name}"; available: {available}')
    return usable(tools, groups[name], f"tool_groups.{name}")


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
