"""The values of proofs: what is attempted, what was observed, and the result.

An attempt runs the program of the tree, alone or as a server to which a client sends messages, its fuzz target, or a
harness: a C or C++ file with a `main` that calls functions of the tree.  A proof is an attempt whose runs were stopped
by a sanitizer at the finding.
"""

import re
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, NamedTuple

Way = Literal["program", "server", "fuzz_target", "harness"]
Kind = Literal["program", "server", "fuzz_target", "api", "internal"]
State = Literal["proved", "reproduced", "failed"]
Language = Literal["c", "c++"]
# Of "project" is what was built and is no line of the snapshot: files that the scan does not select, or that the build
# has generated or changed.
Owner = Literal["tree", "project", "harness", "system"]
Transport = Literal["tcp", "udp"]

# The file of a harness, by its language.
HARNESSES: Mapping[Language, str] = {"c": "harness.c", "c++": "harness.cc"}
# The group `undefined` does not have conversions of floating-point numbers that no integer of the type holds.
SANITIZERS = "-fsanitize=address,undefined,float-cast-overflow"
# How a run ended without an error.
NORMAL_END = "ended normally"
# Errors of a program that has not ended after some CPU time, whose stack differs from run to run, and of one that holds
# more memory than its input explains.
HANG, MEMORY_GROWTH = "hang", "memory-growth"
# A recursion is stopped wherever the stack ends, and a loop wherever its time does.
STACK_OVERFLOW = "stack-overflow"
STOPPED_ANYWHERE = (HANG, STACK_OVERFLOW)
FRAMES_SHOWN = 32
# What is known of a proof before it is stored.
OF_ATTEMPTS = ("state", "kind", "attempts", "command", "attempt", "output", "stack", "reason")
LINE_NUMBER = re.compile(r":\d+$")
# Limits of a run: seconds of CPU time, after which a program hangs, megabytes of memory, files and stack.
RUN_SECONDS, HANG_SHARE, MEMORY_MB, DISK_MB, STACK_MB = 20, 4, 2048, 256, 8
# Megabytes of one allocation, of which only what is written to takes memory: sizes of 32 bits overflow below.
ALLOCATION_MB = 5120
# Megabytes on the heap that are too many for an input of at most so many bytes.
GROWTH_MB, SMALL_BYTES = 512, 64_000
STDIN, INPUT = "stdin", "input"
# In the commands for a person: where a server without a port of its own listens.
LOOPBACK, EXAMPLE_PORT = "127.0.0.1", 2121
# A harness on an internal function shows a defect that callers may prevent.
KINDS: Mapping[Kind, State] = {
    "program": "proved",
    "server": "proved",
    "fuzz_target": "proved",
    "api": "proved",
    "internal": "reproduced",
}


class ProofFile(NamedTuple):
    """An input file of a run; the file STDIN is the standard input, INPUT the input of a fuzz target."""

    name: str
    content: bytes


class ClientMessage(NamedTuple):
    """Bytes for a server. The client may `wait` for bytes of the server before, or `reconnect`.

    It does so before each of the times that it sends them (`repeat`).
    """

    content: bytes
    wait: bool = True
    reconnect: bool = False
    repeat: int = 1


@dataclass(frozen=True)
class ServerClient:
    """What a client sends over loopback; a server without a `port` has its socket as descriptor 0, as from inetd."""

    port: int
    protocol: Transport
    messages: tuple[ClientMessage, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the client as a JSON object."""
        messages = [
            {"base64": b64encode(content).decode(), "wait": wait, "reconnect": reconnect, "repeat": repeat}
            for content, wait, reconnect, repeat in self.messages
        ]
        return {"port": self.port, "protocol": self.protocol, "messages": messages}

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> "ServerClient":
        """Return the client that `to_json` wrote."""
        messages = (
            ClientMessage(b64decode(one["base64"]), one["wait"], one["reconnect"], one.get("repeat", 1))
            for one in row["messages"]
        )
        return cls(row["port"], row["protocol"], tuple(messages))

    @property
    def files(self) -> tuple[ProofFile, ...]:
        """The messages as files, which `commands` sends."""
        return tuple(ProofFile(f"message-{number}", one.content) for number, one in enumerate(self.messages, 1))

    def commands(self, program: str) -> str:
        """Return commands that start a program and send it the messages, with a listener in the place of inetd."""
        port, is_udp = self.port or EXAMPLE_PORT, self.protocol == "udp"
        listener = f"systemd-socket-activate --inetd {'-d' if is_udp else '-a'} -l {port} "
        netcat = f"nc {'-u -w 1' if is_udp else '-N'} {LOOPBACK} {port}"
        connections: list[list[str]] = [[]]
        times = [1]
        for number, one in enumerate(self.messages, 1):
            words = [*(["sleep 1"] if one.wait else []), f"cat message-{number}"]
            if one.reconnect and number > 1:
                connections.append([])
                times.append(1)
            if one.reconnect and one.repeat > 1:
                times[-1:] = [one.repeat - 1, 1]
                connections[-1:] = [words, words.copy()]
            else:
                connections[-1] += words if one.repeat == 1 else [_repeated("; ".join(words), one.repeat)]
        sent = "; ".join(
            _repeated(f"({'; '.join(words or ['true'])}) | {netcat}", number)
            for words, number in zip(connections, times, strict=True)
        )
        return f"{'' if self.port else listener}{program} & sleep 1; {sent}"


@dataclass(frozen=True)
class Attempt:
    """What is run; `target` is the file of the program's `main` or of the fuzz target, `code` the harness.

    `client` speaks to a server.
    """

    way: Way
    target: str = ""
    args: tuple[str, ...] = ()
    code: str = ""
    language: Language = "c"
    files: tuple[ProofFile, ...] = ()
    client: ServerClient | None = None

    @property
    def inputs(self) -> tuple[ProofFile, ...]:
        """All files that `command` names."""
        return self.files + (self.client.files if self.client else ())

    @property
    def input_bytes(self) -> int:
        """The size of all input, of messages as often as they are sent."""
        sent = sum(len(one.content) * one.repeat for one in self.client.messages) if self.client else 0
        return sum(len(file.content) for file in self.files) + sent

    @property
    def command(self) -> str:
        """The command of the run, for a person."""
        names = {"fuzz_target": "./fuzz_target", "harness": "./harness"}
        words = [
            names.get(self.way, "./program"),
            *map(_quoted, self.args),
            *([INPUT] if self.way == "fuzz_target" else []),
        ]
        command = " ".join(words) + (f" < {STDIN}" if any(file.name == STDIN for file in self.files) else "")
        return self.client.commands(command) if self.client else command

    def to_json(self) -> dict[str, Any]:
        """Return the attempt as a JSON object."""
        files = [{"name": name, "base64": b64encode(content).decode()} for name, content in self.files]
        client = self.client.to_json() if self.client else None
        return {**asdict(self), "args": list(self.args), "files": files, "client": client}

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> "Attempt":
        """Return the attempt that `to_json` wrote."""
        files = tuple(ProofFile(one["name"], b64decode(one["base64"])) for one in row["files"])
        client = ServerClient.from_json(row["client"]) if row.get("client") else None
        return cls(row["way"], row["target"], tuple(row["args"]), row["code"], row["language"], files, client)


class ModuleAddress(NamedTuple):
    """An address in a program or a library."""

    module: str
    offset: int


class StackFrame(NamedTuple):
    """A function on a stack, with its location; a file of the project is relative to it."""

    function: str
    file: str
    line: int
    owner: Owner

    def __str__(self) -> str:
        return f"{self.function} {self.file}:{self.line}" if self.file else self.function


@dataclass(frozen=True)
class SanitizerError:
    """An error that a sanitizer reported.

    `name` is its kind, such as heap-buffer-overflow; `access` describes the access.  `stack` begins with the failing
    function; `allocated` and `freed` are the stacks of the object's allocation and release, `frame` the function whose
    variable it is, `variable` the file of a global variable.  `region` has the addresses of a heap object.  `address`
    is that of an access outside all objects, `site` that of the innermost instruction which is not of the system.
    """

    name: str
    access: str = ""
    stack: tuple[StackFrame, ...] = ()
    allocated: tuple[StackFrame, ...] = ()
    freed: tuple[StackFrame, ...] = ()
    frame: tuple[StackFrame, ...] = ()
    variable: str = ""
    region: tuple[int, int] | None = None
    address: int | None = None
    site: ModuleAddress | None = field(default=None, compare=False)

    def lines(self) -> tuple[str, ...]:
        """Return the error in lines that are the same in each run."""
        parts = {"": self.stack, "allocated by": self.allocated, "freed by": self.freed, "variable of": self.frame}
        lines = [" ".join(filter(None, (self.name, self.access)))]
        for title, frames in parts.items():
            shown = [str(frame) for frame in frames if frame.owner != "system"]
            if self.name == STACK_OVERFLOW:  # how often each is on the stack, differs
                shown = list(dict.fromkeys(shown))[:FRAMES_SHOWN]
            lines += [title] if title and shown else []
            lines += [f"#{number} {text}" for number, text in enumerate(shown)]
        return tuple(lines)


class CallArgument(NamedTuple):
    """An argument of a call of the tree's API, recorded when it was called.

    `fault` is "" for valid memory, else "null" or "invalid"; `start` and `end` are the addresses of the memory. Of
    argument 0, it is "changed" if the harness changed memory of the tree before the call, or "unchecked", and "deep" if
    the harness itself has filled much of the stack.
    """

    function: str
    number: int
    fault: str
    start: int = 0
    end: int = 0


@dataclass(frozen=True)
class ProofRun:
    """One run of a program that was built: how it ended, its output, and what the sanitizers reported.

    Without errors, a run `is_unclear` if it was stopped at a limit, or if an error in its log did not end it.
    `unreached` is why no message of a client reached a server.
    """

    ended: str
    output: str
    errors: tuple[SanitizerError, ...] = ()
    arguments: tuple[CallArgument, ...] = ()
    is_unclear: bool = False
    unreached: str = ""

    @property
    def hangs(self) -> bool:
        return any(error.name == HANG for error in self.errors)

    @property
    def grows(self) -> bool:
        return any(error.name == MEMORY_GROWTH for error in self.errors)


class ProofSource(NamedTuple):
    """A file of a proof, as text or, if it is not text, in base64; `is_whole` is not set if it is truncated."""

    name: str
    text: str | None = None
    base64: str | None = None
    is_whole: bool = True


class Proof(NamedTuple):
    """What came of the attempts to prove a finding, as it is judged, stored, reported and shown.

    `kind` is how it was run, `stack` the sanitizer's error, `reason` says why the finding is not proved.  The proof has
    its `attempt` until that is stored as `blob`, and then the tier of the `sandbox` in which it ran; `sources` are the
    files of the attempt in a report.
    """

    state: State
    kind: Kind | None = None
    attempts: int = 0
    command: str = ""
    sources: tuple[ProofSource, ...] = ()
    output: str = ""
    stack: tuple[str, ...] = ()
    reason: str = ""
    sandbox: str | None = None
    blob: str | None = None
    attempt: Attempt | None = None

    @property
    def stack_without_lines(self) -> tuple[str, ...]:
        """The sanitizer's error, without line numbers."""
        return tuple(LINE_NUMBER.sub("", line) for line in self.stack)

    def to_json(self) -> dict[str, Any]:
        """Return the proof with its attempt as a JSON object."""
        row = {name: getattr(self, name) for name in OF_ATTEMPTS}
        return row | {"attempt": self.attempt and self.attempt.to_json(), "stack": list(self.stack)}

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> "Proof":
        """Return the proof that `to_json` wrote."""
        attempt = Attempt.from_json(row["attempt"]) if row["attempt"] else None
        return cls(**{**row, "attempt": attempt, "stack": tuple(row["stack"])})


class TreeLine(NamedTuple):
    """A line of the tree."""

    file: str
    line: int


@dataclass(frozen=True)
class ProofTarget:
    """The finding to prove: its sink, with the first and last lines of its function, and the path to it.

    `code` are the lines of the function, without comments and texts.
    """

    sink: TreeLine
    cwe: int
    first: int
    last: int
    path: tuple[TreeLine, ...] = field(default=())
    code: tuple[str, ...] = field(default=(), repr=False)


def _repeated(command: str, times: int) -> str:
    return command if times == 1 else f"for _ in $(seq {times}); do {command}; done"


def _quoted(word: str) -> str:
    if word and all(letter.isalnum() or letter in "_-./=:," for letter in word):
        return word
    return "'" + word.replace("'", "'\\''") + "'"
