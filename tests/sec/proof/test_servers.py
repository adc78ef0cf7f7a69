"""Proofs of remote defects: the server of tests/data/servers is sent messages over loopback, in tier A."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from threading import BoundedSemaphore

import pytest

from jarvis_workers.sandbox.limits import Tier
from jarvis_workers.sandbox.sandbox import refusal
from jarvis_workers.sec.bench.proof_bench import ProofBench, ProofLimits, ProofTree, open_proof_bench
from jarvis_workers.sec.proof.proof import (
    Attempt,
    ClientMessage,
    ProofTarget,
    ServerClient,
    Transport,
    TreeLine,
)
from jarvis_workers.sec.proof.run_tool import AttemptReport, report_on
from jarvis_workers.sec.stages.proof_runner import BenchRunner
from tests.sec.proof.bad_attempts import HOSTILE

pytestmark = [pytest.mark.slow, pytest.mark.timing]
SERVER = Path(__file__).parents[2] / "data" / "servers" / "greeter.c"
CODE = SERVER.read_text()
LONG_NAME = b"HELO " + b"a" * 100 + b"\r\n"
LONG_PACKET = bytes([100]) + b"b" * 100
Prove = Callable[[Attempt], AttemptReport]


def target(text: str) -> ProofTarget:
    """Return the finding in the function of a line."""
    line = next(number for number, one in enumerate(CODE.split("\n"), 1) if text in one)
    return ProofTarget(TreeLine(SERVER.name, line), 121, line - 3, line + 3)


COUNT = target("ports[accepted++]").sink.line
GREET, LABEL = target("sprintf(text"), target("memcpy(label")


def server(*words: str, port: int = 2121, protocol: Transport = "tcp", sent: tuple[bytes, ...] = ()) -> Attempt:
    """Return an attempt on the server with these arguments and messages."""
    client = ServerClient(port, protocol, tuple(ClientMessage(one) for one in sent))
    return Attempt("server", SERVER.name, words, client=client)


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProofBench]:
    if why := refusal(Tier.A):
        pytest.skip(why)
    place = tmp_path_factory.mktemp("servers")
    (place / "tree").mkdir()
    (place / "tree" / SERVER.name).write_text(CODE)
    with open_proof_bench(place / "benches", ProofTree(place / "tree", "1"), ProofLimits(), Tier.A, None) as bench:
        yield bench


def prove(bench: ProofBench, attempt: Attempt, finding: ProofTarget = GREET) -> AttemptReport:
    runner = BenchRunner(bench, finding, BoundedSemaphore())
    return report_on(attempt, runner.attempt(attempt), finding)


@pytest.mark.parametrize(
    ("attempt", "finding"),
    [
        (server("tcp", sent=(b"HELO you\r\n", LONG_NAME)), GREET),
        (server("fork", sent=(LONG_NAME,)), GREET),
        (server("inetd", port=0, sent=(LONG_NAME,)), GREET),
        (server("udp", "6969", port=6969, protocol="udp", sent=(b"\1a", LONG_PACKET)), LABEL),
        (server("udp-inetd", port=0, protocol="udp", sent=(LONG_PACKET,)), LABEL),
    ],
    ids=lambda one: one.args[0] if isinstance(one, Attempt) else "",
)
def test_a_message_that_overflows_the_stack_of_a_server_is_a_proof(
    attempt: Attempt, finding: ProofTarget, bench: ProofBench
) -> None:
    report = prove(bench, attempt, finding)

    assert report.proof is not None, report.text
    assert (report.proof.state, report.proof.kind) == ("proved", "server")
    assert report.proof.stack[0].startswith("stack-buffer-overflow WRITE of size ")


@pytest.mark.parametrize("words", [("tcp",), ("fork",), ("inetd",)])
def test_a_message_that_has_a_server_or_its_child_loop_without_an_end_is_a_proof(
    words: tuple[str, ...], bench: ProofBench
) -> None:
    loop = replace(target("text[at] == 'x'"), cwe=835)
    port = 0 if words == ("inetd",) else 2121

    report = prove(bench, server(*words, port=port, sent=(b"LOOP xxxx\r\n",)), loop)

    assert report.proof is not None, report.text
    assert report.proof.stack[:2] == ("hang", f"#0 repeat greeter.c:{loop.sink.line}")


def test_a_client_that_connects_again_and_again_is_one_message_that_is_repeated(bench: ProofBench) -> None:
    again = ClientMessage(b"HELO you\r\n", wait=False, reconnect=True, repeat=120)
    attempt = replace(server("tcp"), client=ServerClient(2121, "tcp", (again,)))

    report = prove(bench, attempt, replace(target("ports[accepted++]"), cwe=787))

    assert report.proof is not None, report.text
    assert report.proof.stack[0] == "index 100 out of bounds for type 'short unsigned int [100]'"
    assert report.proof.stack[1] == f"#0 count greeter.c:{COUNT}"


def test_messages_that_overflow_nothing_prove_nothing_and_the_answers_are_shown(bench: ProofBench) -> None:
    report = prove(bench, server("tcp", sent=(b"HELO you\r\n", b"QUIT\r\n")))

    assert (report.ran, report.proof) == (True, None)
    assert "no sanitizer reported an error; the run went on after the last message" in report.text
    assert "\na client from port 50001, served in run\n" in report.text  # the same in each run
    assert report.text.endswith(
        "The client:\nreached the server on tcp port 2121\nreceived 11 bytes: '220 ready\\r\\n'\n"
        "sent message 1, 10 bytes\nreceived 11 bytes: 'hello you\\r\\n'\nsent message 2, 6 bytes\n"
        "received 13 bytes: '500 unknown\\r\\n'\nthe server closed the connection\nstopped the server with SIGTERM\n"
    )


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("idle",), "it was stopped, since it does not listen"),
        (("tcp", "21"), "it ended: exit code 1"),
        (("detach",), "it ended normally; it must stay in the foreground"),
    ],
)
def test_a_server_that_does_not_listen_is_no_attempt(words: tuple[str, ...], why: str, bench: ProofBench) -> None:
    report = prove(bench, server(*words, sent=(LONG_NAME,)))

    assert not report.ran
    assert report.text.startswith(f"It was not run: the program did not listen on tcp port 2121 of 127.0.0.1: {why}")


def test_a_server_that_never_answers_is_stopped_and_proves_nothing(bench: ProofBench) -> None:
    report = prove(bench, server("mute", sent=(LONG_NAME,)))

    assert (report.ran, report.proof) == (True, None)
    assert "sent message 1, 107 bytes" in report.text
    assert "stopped the server" in report.text


def test_a_server_reaches_nothing_outside_of_its_namespace(bench: ProofBench) -> None:
    report = prove(bench, server("outward", "192.0.2.1", sent=(b"HELO you\r\n",)))

    assert "connect outwards: Network is unreachable" in report.text
    assert "received 11 bytes: 'hello you" in report.text


def test_a_server_that_fakes_a_report_proves_nothing(tmp_path: Path) -> None:
    if why := refusal(Tier.A):
        pytest.skip(why)
    fake = HOSTILE["fakes a report"]
    finding = fake.write(tmp_path / "tree")
    attempt = Attempt("server", "main.c", client=ServerClient(0, "tcp", (ClientMessage(b"a"),)))
    with open_proof_bench(tmp_path, ProofTree(tmp_path / "tree", "1"), ProofLimits(), Tier.A, None) as bench:
        report = prove(bench, attempt, finding)

    assert (report.ran, report.proof) == (True, None), report.text


def test_in_tier_b_it_is_refused_by_name_and_is_no_attempt(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / SERVER.name).write_text(CODE)
    with open_proof_bench(tmp_path, ProofTree(tmp_path / "tree", "1"), ProofLimits(), Tier.B, None) as bench:
        report = prove(bench, server("tcp", sent=(LONG_NAME,)))

    assert (report.ran, report.text) == (
        False,
        "It was not run: the way server needs sandbox tier A, and this machine has B",
    )
