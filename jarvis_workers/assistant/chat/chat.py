"""A conversation with an agent in this process, without a job: `jarvis agent` at a terminal.

Each input of the person is a turn; the session continues until it is cleared, and is saved after every turn. The
sandbox is opened with the first script.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from jarvis_workers.agents.loop.effects import TaskResult
from jarvis_workers.agents.loop.loop import run_task
from jarvis_workers.agents.mcp_client.servers import open_servers
from jarvis_workers.agents.tools.tool import Tool
from jarvis_workers.assistant.analysis import analyze_task
from jarvis_workers.assistant.autonomy import Autonomy
from jarvis_workers.assistant.chat.chat_agent import ChatAgentBuilder, ChatOptions
from jarvis_workers.assistant.chat.chat_driver import ChatDriver, Display, Person, open_bus
from jarvis_workers.assistant.chat.chat_prompt import ChatPrompt
from jarvis_workers.assistant.chat.chat_scripts import ChatScripts
from jarvis_workers.assistant.chat.file_context import context_of
from jarvis_workers.assistant.chat.knowledge import open_knowledge
from jarvis_workers.assistant.chat.session_store import SessionStore
from jarvis_workers.assistant.chat.skill_files import SkillFolder
from jarvis_workers.assistant.input_handlers import FileMention, PersonText
from jarvis_workers.assistant.person import Interrupted
from jarvis_workers.assistant.person_tools import make_child, run_planned
from jarvis_workers.assistant.session_file import clear_session
from jarvis_workers.assistant.turns import TurnRules, begin_turn, take_turn
from jarvis_workers.errors import UsageError
from jarvis_workers.settings import Settings


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
        self.options, self.data_dir, self._tell = options, settings.data_dir, tell
        about = options.definition
        self.knowledge = open_knowledge(settings, about, options.root, tell)
        builder = ChatAgentBuilder(settings, options, tell)
        self.platform = builder.open_platform()
        self.autonomy = Autonomy("supervised" if about.execute_tool_confirm else settings.agent.autonomy)
        self.scripts = ChatScripts(options.root)
        self.store = SessionStore(options.root, about.name, self.platform)
        if options.restore:
            self.store.find(tell)
        opened = builder.open_agent(self.platform, self.store.id, self.scripts.runner, self.knowledge, servers)
        self.agent, self.all_tools, self._left_out = opened.agent, opened.all_tools, opened.left_out
        self._prompt = ChatPrompt(self.agent, options, self.data_dir, self.autonomy, self.scripts.tier, tell)
        self.store.restore(self.agent, tell)
        hidden = self.knowledge.equip(self.agent)
        bus = open_bus(settings.agent.after_tool_call_cb_dirs, self._prompt.update)
        self._driver = ChatDriver(self.platform, self.agent.tools, bus, person, display, self.scripts.stop, hidden)
        run = run_planned if about.plan else run_task
        self._rules = TurnRules(self.autonomy, make_child, options.has_person, run=run)

    @property
    def skills(self) -> SkillFolder:
        return self._prompt.skills

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
            begin_turn(self.agent)
            if not self._driver.drive(self._prompt.route(text.text)):
                return None
            files = context_of(self._with_files(text), self.options.root, self.agent.guard, self._tell)
            task = "\n\n".join(part for part in (text.text, files, *self.scripts.take_output(self.agent.guard)) if part)
            if not self.agent.session.task:
                task = self._driver.drive(self.knowledge.add_methodologies(self.agent, task, text.text))
            result = self._driver.drive(take_turn(self.agent, task, self._rules))
            if result:
                self.knowledge.remember_turn(text.text, result.text)
            return result
        except Interrupted:
            return None
        finally:
            self._save_or_tell()

    def analyze(self, feedback: str) -> str:
        """Return an analysis of the last task; `feedback` is what the person says about it, possibly empty."""
        begin_turn(self.agent)
        return self._driver.drive(analyze_task(self.agent, feedback)) if self.agent.session.task else ""

    def clear(self) -> None:
        """Forget the messages and the usage of the conversation."""
        clear_session(self.agent)

    def save(self) -> None:
        """Save the session; without a message there is nothing to save. Raises UsageError."""
        self.store.save(self.agent)

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


@contextmanager
def open_chat(
    settings: Settings, options: ChatOptions, person: Person, display: Display, tell: Callable[[str], None]
) -> Iterator[Chat]:
    """Open a conversation. Raises UsageError, SettingsError."""
    if not options.root.is_dir():
        raise UsageError(f"{options.root}: not a directory; a conversation works on a local directory")
    with open_servers(settings.mcp, tell) as servers:
        chat = Chat(settings, options, person, display, tell, servers=servers)
        try:
            yield chat
        finally:
            chat.close()
