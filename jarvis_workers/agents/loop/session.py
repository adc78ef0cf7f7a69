"""The message history of a conversation, and its estimated size in tokens.

Messages are only appended, so that each request starts with the previous one and providers can cache the prefix. The
exceptions are `clear`, after a compaction, and a new system prompt, in a conversation with a person.
"""

from collections.abc import Sequence
from dataclasses import replace

from jarvis_workers.agents.loop.limits import AgentLimits
from jarvis_workers.agents.loop.output import shorten
from jarvis_workers.models.platforms.protocol import Message, Reply, ToolCall, ToolSpec
from jarvis_workers.models.platforms.tokens import estimate_message, estimate_tools
from jarvis_workers.models.ratelimit.token_calibration import Calibration

# The system prompt, the task, an answer and its result.
MESSAGES_BEFORE_COMPACTION = 4
# The length of unusable answers after shortening, in tokens.
REFUSED_TOKENS = 2_000


class Session:
    """The messages of one conversation, and the values that listeners store (`user_data`).

    The `opening` precedes the first message after the system prompt: it holds what differs between conversations, so
    that providers can cache the system prompt.
    """

    def __init__(self, system: str, opening: str = "") -> None:
        self.messages = [Message("system", system)]
        self._opening = opening
        self.turn = 1
        self.rounds = 0
        self.user_data: dict[str, object] = {}
        self.task = ""
        self._calibration = Calibration()
        self._counted = estimate_message(self.messages[0])
        self._tools = 0

    def begin(self, task: str) -> None:
        """Append the message of a new task, which starts a turn."""
        self.turn = len(self.messages)
        self.task = task
        self.say(Message("user", task))

    def close_turn(self, note: str) -> None:
        """Append a note as the answer of a turn that ended without one: some providers want the roles to alternate."""
        if self.messages[-1].role in ("user", "tool"):
            self.say(Message("assistant", note))

    def say(self, message: Message) -> None:
        if len(self.messages) == 1 and not message.content.startswith(self._opening):
            message = replace(message, content=f"{self._opening}\n\n{message.content}")
        self.messages.append(message)
        self._counted += estimate_message(message)

    def answer(self, reply: Reply, calls: Sequence[ToolCall] = ()) -> None:
        """Append an answer of the model, and calibrate the token estimate with its reported usage."""
        self._calibration = self._calibration.learn(self.estimated, reply.usage.prompt)
        self.rounds += 1
        self.say(
            Message(
                "assistant",
                reply.content,
                tuple(calls),
                reasoning=reply.reasoning,
                reasoning_items=reply.reasoning_items,
            )
        )

    def refuse(self, reply: Reply, problem: str) -> None:
        """Append an unusable answer without its calls, and a message that states the problem."""
        self.rounds += 1
        self.say(Message("assistant", shorten(reply.content, REFUSED_TOKENS) or "(no text)"))
        self.say(Message("user", problem))

    def set_tools(self, specs: tuple[ToolSpec, ...]) -> None:
        """Estimate the tokens of the tool descriptions that are sent with every request."""
        self._tools = estimate_tools(specs)

    @property
    def estimated(self) -> int:
        """The estimated number of tokens of the next request, without calibration."""
        return self._counted + self._tools

    @property
    def tokens(self) -> int:
        """The calibrated estimate of the number of tokens of the next request."""
        return self._calibration.tokens(self.estimated)

    def is_full(self, limits: AgentLimits, context: int) -> bool:
        """Return whether the history must be compacted; never before the first answer and its result."""
        if len(self.messages) < MESSAGES_BEFORE_COMPACTION:
            return False
        return (
            self.tokens > limits.compact_at * context
            or self.rounds >= limits.compact_rounds
            or len(self.messages) > limits.compact_messages
        )

    def restore(self, messages: list[Message], turn: int, rounds: int) -> None:
        """Replace the history after the system prompt with that of an earlier conversation."""
        self.messages = self.messages[:1]
        self._counted = estimate_message(self.messages[0])
        for message in messages:
            self.say(message)
        self.turn, self.rounds = turn, rounds

    def set_system(self, system: str) -> None:
        """Replace the system prompt; providers then cannot use their cached prefix."""
        self._counted -= estimate_message(self.messages[0])
        self.messages[0] = Message("system", system)
        self._counted += estimate_message(self.messages[0])

    def history(self) -> str:
        """Return all messages but the system prompt as Markdown."""
        return "\n\n".join(f"## {message.role}\n{message.content}" for message in self.messages[1:])

    def restart(self) -> None:
        """Remove the history after the system prompt."""
        self.messages = self.messages[:1]
        self.rounds, self._counted = 0, estimate_message(self.messages[0])
        self.turn = 1

    def clear(self, continuation: str) -> None:
        """Replace the history after the system prompt with the task and `continuation`."""
        self.restart()
        self.say(Message("user", f"{self.task}\n\n{continuation}"))
