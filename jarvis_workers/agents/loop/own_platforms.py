"""User-defined platforms, from files such as ~/.jarvis/models/*.py.

A file defines a class with the methods of BasePlatform (seed 003, 3.3.3). Its instances keep the state of a
conversation, while platforms here are stateless: so each request creates a new instance, which is sent the system
prompt and then the whole history as one message. Native tool calls are not supported; tools are called in text form.
"""

import asyncio
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from jarvis_workers.agents.loop.plugins import ForeignError, LeaveOut, call_foreign, leave_out, load_files
from jarvis_workers.agents.loop.threads import in_thread
from jarvis_workers.errors import ModelUnavailable
from jarvis_workers.models.platforms.groups import ModelGroup
from jarvis_workers.models.platforms.profiles import GENERIC
from jarvis_workers.models.platforms.protocol import Message, ModelRequest, Platform, Reply, TokenUsage, estimate
from jarvis_workers.models.platforms.registry import Maker, Providers

OWN_MODELS = Path("~/.jarvis/models")
NEEDED = ("chat", "set_system_prompt", "set_model_name", "reset", "name", "platform_name")
ALSO = ("chat_until_success", "set_model_group", "upload_files", "save", "restore")


def own_platforms(directories: Iterable[Path], leave_out: LeaveOut = leave_out) -> Iterator[tuple[str, Maker]]:
    """Yield the platforms that the files of the directories define, as pairs of `platform_name()` and factory."""
    for path, module in load_files(directories, leave_out):
        kinds = [kind for kind in vars(module).values() if _is_platform(kind, module)]
        if not kinds:
            leave_out(path, f"it has no class with {', '.join(NEEDED)}")
        for kind in kinds:
            try:
                name = _name_of(kind)
            except ForeignError as error:
                leave_out(path, str(error))
            else:
                yield name, _maker(name, kind)


def open_platform(group: ModelGroup) -> Platform:
    """Return the platform of a model group outside of runs, which may be one of the user's."""
    return Providers({}, dict(own_platforms([OWN_MODELS]))).open(group)


class Adapted:
    """Adapter from a user-defined platform to the `Platform` protocol."""

    def __init__(self, name: str, kind: type[Any], group: ModelGroup) -> None:
        self.name, self.model, self.profile = name, group.model, GENERIC
        self._kind = kind

    def _ask(self, request: ModelRequest) -> Reply:
        began = time.monotonic()
        try:
            text = call_foreign(self._chat, f"platform {self.name}", request)
        except ForeignError as error:
            raise ModelUnavailable(str(error)) from error
        used = TokenUsage(sum(estimate(message.content) for message in request.messages), estimate(text))
        seconds = round(time.monotonic() - began, 3)
        return Reply(text, finish="stop", usage=used, seconds=seconds, model=self.model)

    async def ask_async(self, request: ModelRequest) -> Reply:
        try:
            async with asyncio.timeout(request.seconds):
                return await in_thread(self._ask, request)
        except TimeoutError as error:
            raise ModelUnavailable(f"platform {self.name} did not answer within {request.seconds:.3g} s") from error

    def _chat(self, request: ModelRequest) -> str:
        messages = [message for message in request.messages if message.role != "system"]
        platform = self._kind()
        platform.set_model_name(self.model)
        for message in request.messages:
            if message.role == "system":
                platform.set_system_prompt(message.content)
        answer = getattr(platform, "chat_until_success", platform.chat)(_retold(messages))
        return answer if isinstance(answer, str) else "".join(map(str, answer))


def _retold(messages: list[Message]) -> str:
    if len(messages) == 1:
        return messages[0].content
    return "\n\n".join(f"[{message.role}]\n{message.content}" for message in messages)


def _is_platform(value: object, module: ModuleType) -> bool:
    return isinstance(value, type) and value.__module__ == module.__name__ and hasattr(value, "chat")


def _name_of(kind: type[Any]) -> str:
    """Return the name of a platform. Raises ForeignError if its class cannot be used."""
    missing = [name for name in NEEDED if not callable(getattr(kind, name, None))]
    if missing:
        raise ForeignError(f"{kind.__name__} has no {', '.join(missing)}; optional: {', '.join(ALSO)}")
    name = call_foreign(kind.platform_name, f"{kind.__name__}.platform_name()")
    if not isinstance(name, str) or not name:
        raise ForeignError(f"{kind.__name__}.platform_name() should return a name")
    return name


def _maker(name: str, kind: type[Any]) -> Maker:
    def make(group: ModelGroup) -> Adapted:
        return Adapted(name, kind, group)

    return make
