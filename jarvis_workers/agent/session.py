"""What was said in a conversation, and how full it is.

The system prompt, the task and all that follows are only appended to, so that each request begins with the one before.
The one exception is `clear`: after a compaction there are the system prompt, the task, and a summary.
"""

from jarvis_workers.agent.limits import AgentLimits
from jarvis_workers.agent.output import shorten
from jarvis_workers.platforms.protocol import Message, Reply, ToolCall, ToolSpec
from jarvis_workers.platforms.tokens import estimate_message, estimate_tools
from jarvis_workers.ratelimit.token_calibration import Calibration

# the system prompt, the task, an answer and what came of it
SOMETHING_SAID = 4
# of an answer that cannot be used no more is kept
REFUSED_TOKENS = 2_000


class Session:
    """The messages of one conversation, and a place for what listeners want to keep (`user_data`)."""

    def __init__(self, system: str) -> None:
        self.messages = [Message("system", system)]
        self.turn = 1
        self.rounds = 0
        self.user_data: dict[str, object] = {}
        self.task = ""
        self._calibration = Calibration()
        self._counted = estimate_message(self.messages[0])
        self._tools = 0

    def begin(self, task: str) -> None:
        """Take in a person's message, with which a turn begins."""
        self.turn = len(self.messages)
        self.task = task
        self.say(Message("user", task))

    def say(self, message: Message) -> None:
        self.messages.append(message)
        self._counted += estimate_message(message)

    def answer(self, reply: Reply, call: ToolCall | None = None) -> None:
        """Take in an answer of the model, and learn from what it reports."""
        self._calibration = self._calibration.learn(self.estimated, reply.usage.prompt)
        self.rounds += 1
        calls = (call,) if call else ()
        self.say(Message("assistant", reply.content, calls, reasoning=reply.reasoning))

    def refuse(self, reply: Reply, problem: str) -> None:
        """Take in an answer that could not be used, without its calls, and say why."""
        self.rounds += 1
        self.say(Message("assistant", shorten(reply.content, REFUSED_TOKENS) or "(no text)"))
        self.say(Message("user", problem))

    def set_tools(self, specs: tuple[ToolSpec, ...]) -> None:
        """Count what is told of tools with every request."""
        self._tools = estimate_tools(specs)

    @property
    def estimated(self) -> int:
        """How many tokens the next request is taken for, whatever servers have reported."""
        return self._counted + self._tools

    @property
    def tokens(self) -> int:
        """About how many tokens the next request has."""
        return self._calibration.tokens(self.estimated)

    def is_full(self, limits: AgentLimits, context: int) -> bool:
        """Whether it is time to sum up; never before anything was said that a summary could replace."""
        if len(self.messages) < SOMETHING_SAID:
            return False
        return (
            self.tokens > limits.compact_at * context
            or self.rounds >= limits.compact_rounds
            or len(self.messages) > limits.compact_messages
        )

    def history(self) -> str:
        """Return what was said since the system prompt, to be read."""
        return "\n\n".join(f"## {message.role}\n{message.content}" for message in self.messages[1:])

    def clear(self, continuation: str) -> None:
        """Forget what was said but for the system prompt and the task; `continuation` takes its place."""
        self.messages = self.messages[:1]
        self.rounds, self._counted = 0, estimate_message(self.messages[0])
        self.turn = 1
        self.say(Message("user", f"{self.task}\n\n{continuation}"))
