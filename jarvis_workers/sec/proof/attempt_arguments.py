"""The arguments of run_proof, which a model writes, and the attempt that they describe."""

import os
import re
from collections.abc import Callable, Sequence

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from jarvis_workers.agents.tools.tool import ToolArguments, ToolFailed
from jarvis_workers.sec.proof.proof import (
    Attempt,
    ClientMessage,
    Language,
    ProofFile,
    ServerClient,
    Transport,
    Way,
)

CODE_MAX, CONTENT_MAX, BYTES_MAX = 64_000, 200_000, 4 << 20
FILES_MAX, ARGUMENTS_MAX, ARGUMENT_LENGTH, MESSAGES_MAX = 8, 32, 32_000, 64
# Messages with their repetitions: more than the descriptors that a program may open.
SENT_MAX = 1_000
# IPv4, without its header and that of UDP.
DATAGRAM_MAX = 65_507
NAME = r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$"
# Returns what a Python script writes to its standard output. Raises ToolFailed.
RunScript = Callable[[str], bytes]


class InputContent(ToolArguments):
    """Bytes: exactly one of the contents is given."""

    text: str | None = Field(default=None, max_length=CONTENT_MAX)
    hex: str | None = Field(default=None, max_length=CONTENT_MAX)
    python: str | None = Field(default=None, max_length=CONTENT_MAX, description="a script that writes the bytes")


class InputFile(InputContent):
    """A file."""

    name: str = Field(pattern=NAME, description='a plain name; "stdin" is the standard input')


class InputMessage(InputContent):
    """What a client sends to a server."""

    wait: bool = Field(default=True, description="before sending it, wait up to a second for bytes of the server")
    reconnect: bool = Field(default=False, description="send it over a new connection")
    repeat: int = Field(default=1, ge=1, le=SENT_MAX, description="send it so many times")


class RunProof(ToolArguments):
    """An attempt."""

    way: Way
    target: str = Field(
        default="", max_length=4096, description="program, server, fuzz_target: the file of the function"
    )
    args: list[str] = Field(default=[], max_length=ARGUMENTS_MAX, description="arguments of the program")
    code: str = Field(default="", max_length=CODE_MAX, description="the harness")
    language: Language = "c"
    files: list[InputFile] = Field(default=[], max_length=FILES_MAX)
    port: int = Field(default=0, ge=0, le=65535, description="server: where it listens; 0: started by inetd")
    protocol: Transport = "tcp"
    messages: list[InputMessage] = Field(default=[], max_length=MESSAGES_MAX, description="server: what a client sends")
    # Models give it as where there are several.
    candidate: SkipJsonSchema[int] = 1


class RunProofOf(RunProof):
    """An attempt to show one of several candidates."""

    candidate: int = Field(ge=1, description="the number of the candidate that the attempt shall show")


def attempt_of(arguments: RunProof, run: RunScript) -> Attempt:
    """Return the attempt of a call. Raises ToolFailed."""
    if arguments.way == "harness" and not arguments.code.strip():
        raise ToolFailed("code is empty: a harness is a C or C++ file with a main function")
    if any("\0" in word or len(word) > ARGUMENT_LENGTH for word in arguments.args):
        raise ToolFailed(f"an argument has at most {ARGUMENT_LENGTH} characters, none of them NUL")
    try:
        _ = [*map(os.fsencode, arguments.args)]
    except UnicodeEncodeError as error:
        raise ToolFailed("an argument has half of a character (a surrogate)") from error
    files = tuple(ProofFile(one.name, _content(one, f'the file "{one.name}"', run)) for one in arguments.files)
    client = _client(arguments, run) if arguments.way == "server" else None
    names = [file.name for file in files + (client.files if client else ())]
    if len(set(names)) != len(names):
        raise ToolFailed("two files have the same name, or one is named as a message (message-1)")
    code = arguments.code if arguments.way == "harness" else ""
    # The question names functions as FILE#FUNCTION.
    target = re.sub(r"#\w+$", "", arguments.target.removeprefix("./"))
    return Attempt(arguments.way, target, tuple(arguments.args), code, arguments.language, files, client)


def _client(arguments: RunProof, run: RunScript) -> ServerClient:
    """Return the client of a call. Raises ToolFailed."""
    if not arguments.messages:
        raise ToolFailed("messages is empty: a server is sent at least one message")
    if not arguments.port and any(one.reconnect for one in arguments.messages):
        raise ToolFailed("reconnect needs a port: inetd starts a program for one connection")
    messages = tuple(
        ClientMessage(_content(one, f"message {number}", run), one.wait, one.reconnect, one.repeat)
        for number, one in enumerate(arguments.messages, 1)
    )
    if sum(one.repeat for one in messages) > SENT_MAX:
        raise ToolFailed(f"there are more than {SENT_MAX:,} messages, with their repetitions")
    if sum(len(one.content) * one.repeat for one in messages) > BYTES_MAX:
        raise ToolFailed(f"the messages together are larger than {BYTES_MAX >> 20} MB")
    if arguments.protocol == "udp" and any(len(one.content) > DATAGRAM_MAX for one in messages):
        raise ToolFailed(f"a message over udp has at most {DATAGRAM_MAX} bytes")
    return ServerClient(arguments.port, arguments.protocol, messages)


def _content(source: InputContent, name: str, run: RunScript) -> bytes:
    given: Sequence[str | None] = (source.text, source.hex, source.python)
    if sum(one is not None for one in given) != 1:
        raise ToolFailed(f"{name} needs exactly one of text, hex and python")
    if source.hex is not None:
        try:
            content = bytes.fromhex(source.hex)
        except ValueError as error:
            raise ToolFailed(f"{name}: hex is not a sequence of pairs of hex digits") from error
    elif source.python is not None:
        content = run(source.python)
    else:
        content = (source.text or "").encode("utf-8", "surrogateescape")
    if len(content) > BYTES_MAX:
        raise ToolFailed(f"{name} is larger than {BYTES_MAX >> 20} MB")
    return content
