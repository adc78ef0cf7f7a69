"""run_proof: the tool with which an agent builds and runs an attempt, and the report on it.

The outcome of a call is a JSON object, so that a conversation that resumes finds the proof in its transcript; the model
gets only its text.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from jarvis_workers.sec.proof.crashes import Crash, ErrorRoot
from jarvis_workers.sec.proof.judgement import judge
from jarvis_workers.sec.proof.proof import (
    FRAMES_SHOWN,
    HANG,
    KINDS,
    MEMORY_GROWTH,
    STOPPED_ANYWHERE,
    Attempt,
    ClientMessage,
    Kind,
    Language,
    Proof,
    ProofFile,
    ProofRun,
    ProofTarget,
    ServerClient,
    Transport,
    Way,
)
from jarvis_workers.sec.proof.weaknesses import is_effect
from jarvis_workers.tools.tool import Tool, ToolArguments, ToolFailed, ToolOutcome, typed

RUN_PROOF = "run_proof"
DESCRIPTION = "Build an attempt to prove the finding, and run it twice with sanitizers, in a sandbox without network."
CODE_MAX, CONTENT_MAX, BYTES_MAX = 64_000, 200_000, 4 << 20
FILES_MAX, ARGUMENTS_MAX, ARGUMENT_LENGTH, MESSAGES_MAX = 8, 32, 32_000, 64
# Messages with their repetitions: more than the descriptors that a program may open.
SENT_MAX = 1_000
OUTPUT_SHOWN, OUTPUT_TITLE = 1_000, "The end of its output:"
RECORDED = "Reported as a finding of its own, so that nothing more need show it: {error}."
# Why an attempt of way `server` is refused; the finding says so, and it is no attempt.
NEEDS_TIER_A = "the way server needs sandbox tier A"
EFFECT = "the error would be an effect of this weakness, and may have another cause: the attempt is for another"
# IPv4, without its header and that of UDP.
DATAGRAM_MAX = 65_507
NAME = r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$"


@dataclass(frozen=True)
class AttemptResult:
    """The runs of an attempt, or the `problem` because of which it was not run; `internal` is why it is no API use."""

    runs: tuple[ProofRun, ...] = ()
    problem: str = ""
    internal: str = ""


class ProofRunner(Protocol):
    """Builds and runs attempts."""

    def content(self, script: str) -> bytes:
        """Return what a Python script writes to its standard output. Raises ToolFailed."""

    def attempt(self, attempt: Attempt) -> AttemptResult:
        """Build an attempt and run it twice."""


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


class ProofAim(NamedTuple):
    """What attempts for a candidate shall show: the first of the `targets`; the `runner` builds and runs them."""

    runner: ProofRunner
    targets: tuple[ProofTarget, ...]


# Returns the errors that an attempt proves, as findings of their own.
CrashRecorder = Callable[[Attempt, AttemptResult], Sequence[Crash]]


def no_crashes(_: Attempt, __: AttemptResult) -> Sequence[Crash]:
    """Return none."""
    return ()


@dataclass(frozen=True)
class AttemptReport:
    """What is known after an attempt: the text for the model, whether it `ran`, and what it shows of each finding.

    Of the `proofs`, those with the state "failed" have only a reason. `crashes` are errors that show none of them.
    """

    text: str
    ran: bool
    proofs: tuple[Proof, ...] = ()
    crashes: tuple[Crash, ...] = ()

    @property
    def proof(self) -> Proof | None:
        """The proof of the first finding, if it is one."""
        return self.proofs[0] if self.proofs and self.proofs[0].state != "failed" else None

    def to_text(self) -> str:
        """Return the report as JSON."""
        every = (*self.proofs, *(crash.proof for crash in self.crashes))
        attempt = next((one.attempt for one in every if one.attempt), None)
        proofs = [replace(one, attempt=None).to_json() for one in self.proofs]
        row = {"text": self.text, "ran": self.ran, "attempt": attempt and attempt.to_json(), "proofs": proofs}
        return json.dumps(row | {"crashes": [one.to_json() for one in self.crashes]})

    @classmethod
    def from_text(cls, text: str) -> "AttemptReport":
        """Return the report that `to_text` wrote."""
        row: dict[str, Any] = json.loads(text)
        attempt = Attempt.from_json(row["attempt"]) if row["attempt"] else None
        proofs = [Proof.from_json(one) for one in row["proofs"]]
        shown = (one if one.state == "failed" else replace(one, attempt=attempt) for one in proofs)
        crashes = tuple(Crash.from_json(one, attempt) for one in row.get("crashes", ()))
        return cls(row["text"], row["ran"], tuple(shown), crashes)

    def recording(self, crashes: Sequence[Crash]) -> "AttemptReport":
        """Return the report with those of the errors that show none of the findings."""
        shown = {ErrorRoot.of(one.stack) for one in self.proofs if one.state != "failed"}
        others = tuple(one for one in crashes if ErrorRoot.of(one.proof.stack) not in shown)
        titles = [RECORDED.format(error=one.proof.stack[0]) for one in others]
        return replace(self, text="\n\n".join([self.text, *titles]), crashes=others)


def run_proof(runner: ProofRunner, *targets: ProofTarget, crashes: CrashRecorder = no_crashes) -> Tool:
    """Return the tool for findings at a place, of which the first is in question; it keeps other errors, too."""

    def run(arguments: RunProof) -> ToolOutcome:
        attempt = _attempt(arguments, runner)
        result = runner.attempt(attempt)
        report = report_on(attempt, result, *targets)
        return ToolOutcome(stdout=report.recording(crashes(attempt, result)).to_text())

    return typed(RunProof, run, name=RUN_PROOF, description=DESCRIPTION, brings_foreign=True)


def run_proof_of(aims: Mapping[int, ProofAim], crashes: CrashRecorder = no_crashes) -> Tool:
    """Return the tool for candidates by number; an answer may have an attempt for each of several."""
    if len(aims) == 1:
        ((runner, targets),) = aims.values()
        return run_proof(runner, *targets, crashes=crashes)

    def run(arguments: RunProofOf) -> ToolOutcome:
        number = arguments.candidate
        if number not in aims:
            raise ToolFailed(f"there is no candidate {number}; there are: {', '.join(map(str, aims))}")
        attempt = _attempt(arguments, aims[number].runner)
        result = aims[number].runner.attempt(attempt)
        report = report_for(number, attempt, result, aims)
        return ToolOutcome(stdout=report.recording(crashes(attempt, result)).to_text())

    about: dict[str, Any] = {"name": RUN_PROOF, "description": DESCRIPTION, "brings_foreign": True}
    return typed(RunProofOf, run, **about, reads_only=True)


def report_on(attempt: Attempt, result: AttemptResult, *targets: ProofTarget) -> AttemptReport:
    """Judge the runs of an attempt, for each finding by itself."""
    return _report([_Shown.of(attempt, result, target) for target in targets], 0, result)


def report_for(number: int, attempt: Attempt, result: AttemptResult, aims: Mapping[int, ProofAim]) -> AttemptReport:
    """Judge the runs of an attempt to show a candidate, for each finding of all candidates by itself.

    An error at the very line of a candidate that it fits is that of this candidate. It would also be near enough to
    show others in the same function. One at no such line can only show the candidate that the attempt was made for,
    and others at its place. A wrong number or a race shows itself by other errors only if the attempt was made for it.
    """
    shown = {one: [_Shown.of(attempt, result, target) for target in aim.targets] for one, aim in aims.items()}
    owners = [one for one, those in shown.items() if any(each.is_at_sink for each in those)]
    why = f"the error is that of candidate {', '.join(map(str, owners))}" if owners else "the attempt is for another"
    here = [one for one, aim in aims.items() if aim.targets[0].sink == aims[number].targets[0].sink]
    for one in shown.keys() - set(owners or here):
        shown[one] = [each.elsewhere(why) for each in shown[one]]
    for one in shown.keys() - {number}:
        shown[one] = [each.elsewhere(EFFECT) if each.is_effect else each for each in shown[one]]
    first = sum(len(those) for one, those in shown.items() if one < number)
    return _report([each for one in aims for each in shown[one]], first, result)


class _Shown(NamedTuple):
    """What an attempt shows of a finding, and whether its error is at the very line of the finding, or its effect."""

    proof: Proof
    is_at_sink: bool = False
    is_effect: bool = False

    @classmethod
    def of(cls, attempt: Attempt, result: AttemptResult, target: ProofTarget) -> "_Shown":
        """Judge the runs of an attempt for a finding."""
        judgement = judge(result.runs, target) if result.runs else None
        error = judgement.error if judgement else None
        if judgement is None or error is None:
            return cls(Proof("failed", reason=judgement.reason if judgement else result.problem))
        internal = result.internal or judgement.internal
        if attempt.way == "harness" and internal and error.name in (HANG, MEMORY_GROWTH):
            what = "not end, since its calls are not timed" if error.name == HANG else "hold the memory"
            why = f"the harness itself may {what}: {internal}"
            return cls(Proof("failed", reason=why))
        kind: Kind = "api" if attempt.way == "harness" else attempt.way
        kind = "internal" if attempt.way == "harness" and internal else kind
        proof = Proof(
            "reproduced" if internal else KINDS[kind],
            kind,
            command=attempt.command,
            attempt=attempt,
            output=result.runs[0].output,
            stack=error.lines(),
            reason="; ".join(filter(None, (internal, judgement.moved))),
        )
        failing = next((frame for frame in error.stack if frame.owner != "system"), None)
        is_at_sink = failing is not None and (failing.file, failing.line) == target.sink
        return cls(proof, is_at_sink and error.name not in STOPPED_ANYWHERE, is_effect(error.name, target.cwe))

    def elsewhere(self, why: str) -> "_Shown":
        """Return the same for a finding that the error does not show."""
        return self if self.proof.state == "failed" else _Shown(Proof("failed", reason=why))


def _report(shown: Sequence[_Shown], first: int, result: AttemptResult) -> AttemptReport:
    """Return the report whose text is about the finding at the place `first`."""
    if result.problem:
        return AttemptReport(f"It was not run: {result.problem}", ran=False)
    proofs = tuple(one.proof for one in shown)
    proof = proofs[first]
    if proof.state == "proved":
        return AttemptReport("It proves the finding.", ran=True, proofs=proofs)
    if proof.state == "failed":
        return AttemptReport(_failure_text(proof.reason, result.runs[0]), ran=True, proofs=proofs)
    text = f"It reproduces the finding, but does not prove it: {proof.reason}. Try the program, or the public API."
    return AttemptReport(text, ran=True, proofs=proofs)


def _failure_text(reason: str, run: ProofRun) -> str:
    """Return the text on an attempt that proves nothing."""
    lines = [f"It was run, and is no proof: {reason}."]
    for error in run.errors[:3]:
        lines += ["", *error.lines()[: FRAMES_SHOWN + 1]]
    if run.output.strip():
        lines += ["", OUTPUT_TITLE, run.output[-OUTPUT_SHOWN:]]
    return "\n".join(lines)


def _attempt(arguments: RunProof, runner: ProofRunner) -> Attempt:
    """Return the attempt of a call. Raises ToolFailed."""
    if arguments.way == "harness" and not arguments.code.strip():
        raise ToolFailed("code is empty: a harness is a C or C++ file with a main function")
    if any("\0" in word or len(word) > ARGUMENT_LENGTH for word in arguments.args):
        raise ToolFailed(f"an argument has at most {ARGUMENT_LENGTH} characters, none of them NUL")
    files = tuple(ProofFile(one.name, _content(one, f'the file "{one.name}"', runner)) for one in arguments.files)
    client = _client(arguments, runner) if arguments.way == "server" else None
    names = [file.name for file in files + (client.files if client else ())]
    if len(set(names)) != len(names):
        raise ToolFailed("two files have the same name, or one is named as a message (message-1)")
    code = arguments.code if arguments.way == "harness" else ""
    # The question names functions as FILE#FUNCTION.
    target = re.sub(r"#\w+$", "", arguments.target.removeprefix("./"))
    return Attempt(arguments.way, target, tuple(arguments.args), code, arguments.language, files, client)


def _client(arguments: RunProof, runner: ProofRunner) -> ServerClient:
    """Return the client of a call. Raises ToolFailed."""
    if not arguments.messages:
        raise ToolFailed("messages is empty: a server is sent at least one message")
    if not arguments.port and any(one.reconnect for one in arguments.messages):
        raise ToolFailed("reconnect needs a port: inetd starts a program for one connection")
    messages = tuple(
        ClientMessage(_content(one, f"message {number}", runner), one.wait, one.reconnect, one.repeat)
        for number, one in enumerate(arguments.messages, 1)
    )
    if sum(one.repeat for one in messages) > SENT_MAX:
        raise ToolFailed(f"there are more than {SENT_MAX:,} messages, with their repetitions")
    if sum(len(one.content) * one.repeat for one in messages) > BYTES_MAX:
        raise ToolFailed(f"the messages together are larger than {BYTES_MAX >> 20} MB")
    if arguments.protocol == "udp" and any(len(one.content) > DATAGRAM_MAX for one in messages):
        raise ToolFailed(f"a message over udp has at most {DATAGRAM_MAX} bytes")
    return ServerClient(arguments.port, arguments.protocol, messages)


def _content(source: InputContent, name: str, runner: ProofRunner) -> bytes:
    given: Sequence[str | None] = (source.text, source.hex, source.python)
    if sum(one is not None for one in given) != 1:
        raise ToolFailed(f"{name} needs exactly one of text, hex and python")
    if source.hex is not None:
        try:
            content = bytes.fromhex(source.hex)
        except ValueError as error:
            raise ToolFailed(f"{name}: hex is not a sequence of pairs of hex digits") from error
    elif source.python is not None:
        content = runner.content(source.python)
    else:
        content = (source.text or "").encode("utf-8", "surrogateescape")
    if len(content) > BYTES_MAX:
        raise ToolFailed(f"{name} is larger than {BYTES_MAX >> 20} MB")
    return content
