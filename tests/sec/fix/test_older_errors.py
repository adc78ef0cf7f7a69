"""Which errors behind the one that a patch removes are known to stand without the patch."""

import pytest

from jarvis_workers.sec.fix.gates import (
    PROOF,
    OlderError,
    ProofOutcome,
    check_proof,
    errors_before,
    older_error,
    reached,
)
from jarvis_workers.sec.proof.proof import ProofRun, SanitizerError, StackFrame
from tests.sec.fix.test_patches import Runner

CODE = {("a.c", 3): "strcpy(d, s);", ("a.c", 9): "puts(d);", ("a.c", 13): "puts(d);", ("a.c", 14): "puts(e);"}


def code_at(file: str, line: int) -> str:
    return CODE.get((file, line), "")


def error(function: str, line: int, name: str = "heap-buffer-overflow", file: str = "a.c") -> SanitizerError:
    return SanitizerError(name, "READ of size 1", (StackFrame(function, file, line, "tree"),))


def run(*errors: SanitizerError) -> ProofRun:
    return ProofRun("ended", "", errors)


OWN = error("copy", 3)
OLD = error("show", 9)
OWN_STACK = OWN.lines()


def older(finding: str = "") -> list[OlderError]:
    found = older_error(OLD.lines(), code_at, finding)
    assert found is not None
    return [found]


def test_only_what_precedes_the_own_error_is_known_to_stand_without_a_patch() -> None:
    assert list(errors_before(run(OLD, OWN), OWN_STACK)) == [OLD.lines()]
    assert list(errors_before(run(OWN, OLD), OWN_STACK)) == []
    assert list(errors_before(run(OLD), OWN_STACK)) == [OLD.lines()]


# What runs with the patch report, and whether it is known to be older.
REPORTED = {
    "the same": ([OLD], True),
    "on a line that the patch has moved": ([error("show", 13)], True),
    "on another line of the function": ([error("show", 14)], False),
    "in another function": ([error("print", 13)], False),
    "of another kind": ([error("show", 9, "use-after-free")], False),
    "outside of the tree": ([error("show", 9, file="/etc/a.c")], False),
    "beside one that is not known": ([OLD, error("print", 13)], False),
    "the own one": ([OWN], False),
}


@pytest.mark.parametrize("name", REPORTED)
def test_an_error_is_older_by_kind_stack_and_line_of_code(name: str) -> None:
    errors, is_older = REPORTED[name]
    own = older_error(OWN_STACK, code_at)
    assert own is not None

    assert bool(reached([run(*errors)], OWN_STACK, [*older(), own], code_at)) == is_older


def test_the_gate_names_an_older_error_with_its_finding() -> None:
    result = check_proof(Runner(ProofOutcome(benign_works=True, older=tuple(older("C12ab34")) * 2)), "/tree")

    assert (result.gate, result.state, len(result.older)) == (PROOF, "passed", 2)
    assert result.reason == (
        "it fixes its finding; the input of the proof then triggers an older error, which also occurs without the"
        " patch: heap-buffer-overflow READ of size 1 in show, a.c:9 (finding C12ab34)"
    )


def test_an_error_without_a_line_in_the_tree_is_never_older() -> None:
    assert older_error(["SEGV", "#0 gets"], code_at) is None
    assert older_error(error("show", 99).lines(), code_at) is None
