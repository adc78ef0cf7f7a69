"""The system prompt of a conversation with a person: who the agent is, its skills, and where it works.

It changes with the skills that are chosen for a turn, the tools, the autonomy and the date.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path

from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.effects import Conversation
from jarvis_workers.assistant.autonomy import Autonomy
from jarvis_workers.assistant.chat.chat_agent import ChatOptions
from jarvis_workers.assistant.chat.identity_files import read_identity
from jarvis_workers.assistant.chat.skill_files import SkillFolder
from jarvis_workers.assistant.routing import NeedClarification, Skills, route
from jarvis_workers.assistant.system_prompt import PromptParts, system_prompt
from jarvis_workers.models.platforms.protocol import Message


class ChatPrompt:
    """Keeps the system prompt of an agent up to date; `sandbox` is the tier of its sandbox."""

    def __init__(
        self,
        agent: Agent,
        options: ChatOptions,
        data: Path,
        autonomy: Autonomy,
        sandbox: str,
        tell: Callable[[str], None],
    ) -> None:
        self._agent, self._options, self._autonomy, self._tell = agent, options, autonomy, tell
        self.skills = SkillFolder(options.root, tell)
        metas = "\n".join(f"- {skill.name}: {skill.description}" for skill in self.skills.metas)
        self._parts = PromptParts(
            identity=agent.about.system_prompt,
            skills=agent.guard.admit(metas) if metas else "",
            about=read_identity(data, options.root, agent.guard, tell),
            routine=options.routine,
            has_person=options.has_person,
        )
        self._sandbox, self._routed = sandbox, tuple[str, ...]()
        self.update()

    def route(self, text: str) -> Conversation[bool]:
        """Choose the skills for a turn; return whether it goes on, and not with a question to the person."""
        chosen = yield from route(self._agent, text, self.skills.metas)
        if isinstance(chosen, NeedClarification) and self._options.has_person:
            self._agent.session.begin(text)
            self._agent.session.say(Message("assistant", chosen.question))
            self._tell(chosen.question)
            return False
        self._routed = chosen.names if isinstance(chosen, Skills) else ()
        self.update()
        return True

    def update(self) -> None:
        """Set the system prompt, if the routed skills, the tools, the autonomy or the date have changed."""
        agent, root = self._agent, self._options.root
        parts = replace(
            self._parts,
            routed="\n\n".join(f"## {name}\n\n{agent.guard.admit(self.skills.text(name))}" for name in self._routed),
            environment=f"Directory: {root}\nDate: {date.today().isoformat()}\nSandbox: {self._sandbox}",
            level=self._autonomy.level,
        )
        agent.about = replace(agent.about, system_prompt=system_prompt(parts, agent.tools.tools))
        if agent.session.messages[0].content != (prompt := agent.system_prompt()):
            agent.session.set_system(prompt)
