"""Delta debugging of the input of a proof, and the benign inputs among what was tried."""

from collections.abc import Callable
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from jarvis_workers.sec.proof.minimisation import (
    BENIGN_MAX,
    BUILDS_MAX,
    RUNS_MAX,
    SERVER_RUNS_MAX,
    Minimisation,
    ObservedRun,
    benign_runs,
    emptied,
)
from jarvis_workers.sec.proof.proof import (
    NORMAL_END,
    Attempt,
    ClientMessage,
    ProofFile,
    ProofRun,
    SanitizerError,
    ServerClient,
)

ERROR = SanitizerError("heap-buffer-overflow")


def program(content: bytes, *words: str) -> Attempt:
    return Attempt("program", "main.c", words, files=(ProofFile("stdin", content),))


def content(attempt: Attempt) -> bytes:
    return attempt.files[0].content


def counted(fires: Callable[[Attempt], bool], tried: list[Attempt]) -> Callable[[Attempt], bool]:
    def run(attempt: Attempt) -> bool:
        tried.append(attempt)
        return fires(attempt)

    return run


def test_what_the_error_does_not_need_is_removed_from_files_and_arguments() -> None:
    attempt = replace(program(b"header;key=%s;trailer", "-v", "--name=abc"), files=())
    attempt = replace(attempt, files=(ProofFile("unused", b"x" * 99), ProofFile("stdin", b"header;key=%s;trailer")))

    found = Minimisation(attempt, lambda one: b"%s" in one.files[1].content and "n" in one.args[1]).run()

    assert found.files == (ProofFile("unused", b""), ProofFile("stdin", b"%s"))
    assert found.args == ("", "n")


def test_the_number_of_runs_is_bounded() -> None:
    tried: list[Attempt] = []
    fires = counted(lambda one: content(one).count(b"(") >= 1000, tried)

    found = Minimisation(program(b"(" * 4000), fires).run()

    assert (len(tried), content(found).count(b"(") < 1100) == (RUNS_MAX, True)


def test_the_longest_literals_of_a_harness_are_shortened_if_that_is_asked_for() -> None:
    code = 'int main(void) { return parse("short", "header;key=%s;trailer") + sum((int[]){1, 2, 3, 4, 5, 6, 7, 8}); }'
    attempt = Attempt("harness", code=code)
    tried: list[Attempt] = []

    def fires(one: Attempt) -> bool:
        return "%s" in one.code and "7" in one.code

    found = Minimisation(attempt, counted(fires, tried), literals=True).run()

    assert found.code == 'int main(void) { return parse("short", "%s") + sum((int[]){7}); }'
    assert len(tried) <= BUILDS_MAX
    assert Minimisation(attempt, fires).run() == attempt


def test_messages_to_a_server_are_left_out_and_shortened_in_a_bounded_number_of_runs() -> None:
    sent = tuple(ClientMessage(text) for text in (b"HELO", b"USER a", b"NOOP", b"PASS " + b"x" * 40, b"QUIT"))
    attempt = Attempt("server", "main.c", ("-n", "-p", "2121"), client=ServerClient(2121, "tcp", sent))
    tried: list[Attempt] = []

    def fires(one: Attempt) -> bool:
        texts = [message.content for message in one.client.messages] if one.client else []
        return any(text.startswith(b"USER") for text in texts) and any(b"xxxxxxxx" in text for text in texts)

    found = Minimisation(attempt, counted(fires, tried)).run()

    assert found.client
    user, password = (one.content for one in found.client.messages)
    assert (user[:4], len(password) < 20) == (b"USER", True)
    assert (found.args, len(tried) <= SERVER_RUNS_MAX) == (attempt.args, True)


def test_a_message_is_repeated_less_as_long_as_that_suffices() -> None:
    client = ServerClient(2121, "tcp", (ClientMessage(b"a", reconnect=True, repeat=1_000),))
    attempt = Attempt("server", "main.c", client=client)

    found = Minimisation(
        attempt,
        lambda one: one.client is not None and one.client.messages[:1] != () and one.client.messages[0].repeat > 100,
    ).run()

    assert found.client == replace(client, messages=(ClientMessage(b"", reconnect=True, repeat=125),))


@given(st.binary(max_size=60), st.binary(min_size=1, max_size=3))
def test_the_result_fires_is_no_larger_and_is_the_same_again(around: bytes, needed: bytes) -> None:
    attempt = program(around + needed + around)

    first, second = (Minimisation(attempt, lambda one: needed in content(one)).run() for _ in range(2))

    assert needed in content(first)
    assert len(content(first)) <= len(content(attempt))
    assert first == second


def test_benign_inputs_are_those_with_a_visible_result_of_several_sizes() -> None:
    observed = [ObservedRun(program(b"a" * size), ProofRun(NORMAL_END, f"{size}\n")) for size in range(1, 12)]
    bad = [
        ObservedRun(program(b"b" * 3), ProofRun(NORMAL_END, "other", (ERROR,))),
        ObservedRun(program(b"c" * 3), ProofRun("ended: exit code 1", "refused")),
        ObservedRun(program(b"d" * 3), ProofRun(NORMAL_END, "")),
        ObservedRun(program(b"e" * 99_000), ProofRun(NORMAL_END, "large")),
        ObservedRun(Attempt("harness", code="int main;"), ProofRun(NORMAL_END, "silent")),
    ]
    nothing = ProofRun(NORMAL_END, "")

    found = benign_runs([*bad, *reversed(observed)], nothing)

    assert [len(content(one.attempt)) for one in found] == [1, 3, 6, 8, 11]
    assert len(found) == BENIGN_MAX
    assert benign_runs(bad, nothing) == []
    assert emptied(program(b"abc", "x", "y")) == program(b"", "", "")
