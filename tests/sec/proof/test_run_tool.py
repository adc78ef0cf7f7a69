"""The tool that runs attempts: how it reads the arguments of a call."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from jarvis_workers.agents.tools.tool import ToolFailed
from jarvis_workers.sec.proof.attempt_arguments import RunProof
from jarvis_workers.sec.proof.proof import Attempt, ClientMessage, ProofTarget, ServerClient, TreeLine
from jarvis_workers.sec.proof.run_tool import AttemptResult, ProofAim, run_proof, run_proof_of
from tests.agents.loop.arrange import agent_of


class Recorder:
    """Keeps the attempts instead of running them."""

    def __init__(self) -> None:
        self.attempts: list[Attempt] = []

    def content(self, script: str) -> bytes:
        return script.encode()

    def attempt(self, attempt: Attempt) -> AttemptResult:
        self.attempts.append(attempt)
        return AttemptResult(problem="it is only recorded")


@pytest.mark.parametrize("target", ["src/a.c", "./src/a.c", "src/a.c#main"])
def test_a_target_may_be_named_as_the_question_names_functions(target: str) -> None:
    runner = Recorder()
    tool = run_proof(runner, ProofTarget(TreeLine("src/a.c", 3), 787, 1, 5))

    tool.run(RunProof(way="program", target=target))

    assert [one.target for one in runner.attempts] == ["src/a.c"]


TARGET = ProofTarget(TreeLine("src/a.c", 3), 787, 1, 5)
HELLO = {"text": "HELO\r\n"}


def test_the_messages_of_a_client_become_bytes_and_survive_the_store() -> None:
    runner = Recorder()
    messages = [HELLO, {"hex": "00ff", "wait": False}, {"python": "print()", "reconnect": True, "repeat": 300}]
    call = RunProof.model_validate(
        {"way": "server", "target": "src/a.c", "args": ["-n"], "port": 2121, "messages": messages}
    )

    run_proof(runner, TARGET).run(call)

    (attempt,) = runner.attempts
    sent = (b"HELO\r\n", True, False), (b"\0\xff", False, False), (b"print()", True, True, 300)
    assert attempt.client == ServerClient(2121, "tcp", tuple(ClientMessage(*one) for one in sent))
    assert Attempt.from_json(json.loads(json.dumps(attempt.to_json()))) == attempt
    assert [file.name for file in attempt.inputs] == ["message-1", "message-2", "message-3"]
    assert attempt.command == (
        "./program -n & sleep 1; (sleep 1; cat message-1; cat message-2) | nc -N 127.0.0.1 2121; "
        "for _ in $(seq 299); do (sleep 1; cat message-3) | nc -N 127.0.0.1 2121; done; "
        "(sleep 1; cat message-3) | nc -N 127.0.0.1 2121"
    )
    assert attempt.input_bytes == 6 + 2 + 300 * 7


def test_a_message_that_is_repeated_over_one_connection_is_sent_in_a_loop() -> None:
    client = ServerClient(2121, "tcp", (ClientMessage(b"a", wait=False, repeat=3), ClientMessage(b"b", wait=False)))
    assert client.commands("./program").endswith(
        " (for _ in $(seq 3); do cat message-1; done; cat message-2) | nc -N 127.0.0.1 2121"
    )


def test_an_attempt_that_was_stored_without_a_client_has_none() -> None:
    row = Attempt("program", "src/a.c").to_json()
    del row["client"]

    assert Attempt.from_json(row) == Attempt("program", "src/a.c")


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({}, "messages is empty: a server is sent at least one message"),
        ({"messages": [{}]}, "message 1 needs exactly one of text, hex and python"),
        ({"messages": [HELLO, {"hex": "f"}]}, "message 2: hex is not a sequence of pairs of hex digits"),
        ({"messages": [HELLO, {**HELLO, "reconnect": True}]}, "reconnect needs a port: "),
        ({"port": 69, "protocol": "udp", "messages": [{"text": "a" * 65_508}]}, "a message over udp has at most 65507"),
        ({"port": 9, "messages": [HELLO | {"repeat": 1_000}, HELLO]}, "there are more than 1,000 messages"),
        ({"port": 9, "messages": [{"hex": "00" * 9_000, "repeat": 500}]}, "the messages together are larger than 4 MB"),
        ({"port": 9, "messages": [{"hex": "00" * 90_000}] * 50}, "the messages together are larger than 4 MB"),
        (
            {"messages": [HELLO], "files": [{"name": "message-1", "text": ""}]},
            "two files have the same name, or one is",
        ),
    ],
)
def test_messages_that_cannot_be_sent_are_refused(fields: dict[str, Any], problem: str) -> None:
    call = RunProof.model_validate({"way": "server", "target": "src/a.c", **fields})

    with pytest.raises(ToolFailed) as refused:
        run_proof(Recorder(), TARGET).run(call)

    assert str(refused.value).startswith(problem)


@pytest.mark.parametrize(
    "fields",
    [{"port": 65_536}, {"protocol": "sctp"}, {"messages": [HELLO] * 65}, {"messages": [HELLO | {"repeat": 0}]}],
)
def test_ports_protocols_and_numbers_of_messages_have_bounds(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        RunProof.model_validate({"way": "server", **fields})


def test_an_answer_may_have_attempts_for_several_candidates_which_do_not_only_read() -> None:
    tool = run_proof_of({number: ProofAim(Recorder(), (TARGET,)) for number in (1, 2)})

    rule = agent_of(tool).rule_of_calls

    assert rule.startswith("Some tools (run_proof) may be called several times in one answer")
