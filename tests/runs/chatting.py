"""Conversations in this process with a model server, a person that answers from lists, and a display that records."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jarvis_workers.agents.tools.tool import ToolOutcome
from jarvis_workers.assistant.chat.chat import Chat, open_chat
from jarvis_workers.assistant.chat.chat_agent import ChatOptions
from jarvis_workers.assistant.chat.chat_inputs import Inputs
from jarvis_workers.assistant.chat.definitions import load_definition
from jarvis_workers.assistant.person import Decision
from jarvis_workers.settings import Settings, load_settings
from tests.agents.loop.server import ModelServer
from tests.support.settings_files import write_settings


@dataclass
class ScriptedPerson:
    """Answers from lists; KeyboardInterrupt in a list is raised."""

    texts: list[Any] = field(default_factory=list)
    decisions: list[Any] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)

    def ask(self, question: str) -> str:
        return str(self._next(question, self.texts))

    def confirm(self, call: str, base: str | None) -> Decision:
        decision: Decision = self._next(call, self.decisions)
        return decision

    def _next(self, question: str, answers: list[Any]) -> Any:
        self.questions.append(question)
        answer = answers.pop(0)
        if isinstance(answer, type):
            raise answer
        return answer


@dataclass
class Recorder:
    """What was shown; `on_text` is called with each piece of an answer."""

    pieces: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    calls: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)
    outcomes: list[ToolOutcome] = field(default_factory=list)
    on_text: Callable[[str], object] = str

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    def show_text(self, text: str) -> None:
        self.pieces.append(text or "\n")
        self.on_text(text)

    def show_restart(self) -> None:
        self.pieces.append("<again>")

    def show_interrupt(self) -> None:
        self.pieces.append("<interrupt>")

    def show_call(self, name: str, arguments: Mapping[str, Any]) -> None:
        self.calls.append((name, dict(arguments)))

    def show_outcome(self, name: str, outcome: ToolOutcome) -> None:
        self.outcomes.append(outcome)

    def tell(self, line: str) -> None:
        self.lines.append(line)


@dataclass
class Conversing:
    """An open conversation and what surrounds it."""

    chat: Chat
    inputs: Inputs
    person: ScriptedPerson
    display: Recorder

    def say(self, *texts: str) -> None:
        """Give inputs, each as a person does."""
        for text in texts:
            self.inputs.handle(text)


def settings_of(place: Path, server: ModelServer, **more: Any) -> Settings:
    """Return settings with the server as the only model, and the data beside the directory."""
    group = {"model": "m", "base_url": server.url, "profile": "openai", "api_key": "k", **more.pop("group", {})}
    write_settings(place, {"models": {"local": group}, **more}, place.parent / "data")
    return load_settings(environ={"JARVIS_DATA_DIR": str(place.parent / "data")}, directory=place)


@contextmanager
def conversing(
    place: Path,
    server: ModelServer,
    person: ScriptedPerson | None = None,
    display: Recorder | None = None,
    *,
    config: str | None = None,
    settings: Mapping[str, Any] | None = None,
    **options: Any,
) -> Iterator[Conversing]:
    """Open a conversation over a directory."""
    person, display = person or ScriptedPerson(), display or Recorder()
    chosen = ChatOptions(root=place, definition=load_definition(config), **options)
    with open_chat(settings_of(place, server, **(settings or {})), chosen, person, display, display.tell) as chat:
        yield Conversing(chat, Inputs(chat, person, display, display.tell), person, display)


def message(server: ModelServer, request: int = -1, place: int = -1) -> str:
    """Return a message of a request, the last one by default."""
    return str(server.requests[request]["messages"][place]["content"])


def system(server: ModelServer, request: int = -1) -> str:
    """Return the system prompt of a request."""
    return message(server, request, 0)
