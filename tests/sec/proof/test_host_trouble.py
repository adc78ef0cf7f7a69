"""Trouble of this machine is no attempt at a proof and no result of one: the job is released, then retried."""

from collections.abc import Sequence
from pathlib import Path
from threading import BoundedSemaphore
from typing import cast

import pytest

from jarvis_workers.errors import HostExhausted, SandboxError
from jarvis_workers.sandbox.limits import FREE_DISK, FREE_MEMORY, CommandOutcome, SandboxLimits
from jarvis_workers.sandbox.sandbox import RUNNING, Sandbox, refusal
from jarvis_workers.sec.bench import proof_bench
from jarvis_workers.sec.bench.host_trouble import raise_for_host
from jarvis_workers.sec.bench.proof_bench import ProofBench, ProofLimits, ProofTree, open_proof_bench
from jarvis_workers.sec.proof.run_tool import report_on
from jarvis_workers.sec.stages.proof_runner import BenchRunner
from tests.sec.proof.cases import CASES

TIERS = [tier for tier in RUNNING if not refusal(tier)]
RECORD = next(case for case in CASES if case.name == "heap_overflow")
FAILED = CommandOutcome(2, None, b"", b"", 0.1, 0.1, 0, None)
OF_MACHINE = (
    "sh: 4: Cannot fork",
    "/bin/sh: fork: retry: Resource temporarily unavailable",
    "make[1]: vfork: Resource temporarily unavailable",
    "xargs: fork: Cannot allocate memory",
    "gcc: fatal error: Killed signal terminated program cc1",
    "cc1: out of memory allocating 65536 bytes",
    "/usr/bin/ld: final link failed: No space left on device",
)
OF_TREE = (
    "made/harness.c:3:2: error: #error Cannot fork",
    "project/a.c:7: warning: sh: Cannot fork",
    "main: Resource temporarily unavailable",
    "gcc: error: none.c: No such file or directory",
)


@pytest.mark.parametrize("message", OF_MACHINE)
def test_messages_of_tools_that_lack_resources_are_trouble_of_the_machine(message: str) -> None:
    with pytest.raises(HostExhausted, match="this machine cannot run the commands of a proof"):
        raise_for_host(FAILED, f"compiling\n{message}\n".encode())


@pytest.mark.parametrize("message", OF_TREE)
def test_what_a_tree_or_its_compiler_says_is_not(message: str) -> None:
    raise_for_host(FAILED, message.encode())


@pytest.mark.parametrize("reason", [FREE_DISK, FREE_MEMORY])
def test_a_command_that_was_ended_because_the_machine_is_full_is(reason: str) -> None:
    with pytest.raises(HostExhausted, match=f"not enough {reason}"):
        raise_for_host(FAILED._replace(reason=reason), b"")


class Exhausted:
    """A sandbox on a machine on which no shell can fork, or none starts."""

    def __init__(self, problem: str) -> None:
        self._problem = problem

    def run(self, argv: Sequence[str], *, limits: SandboxLimits) -> CommandOutcome:
        if not self._problem:
            raise SandboxError("the zygote has ended")
        return FAILED._replace(stderr=self._problem.encode())


@pytest.mark.parametrize("problem", ["sh: 4: Cannot fork", ""])
def test_an_attempt_that_cannot_be_built_for_want_of_resources_is_none(problem: str, tmp_path: Path) -> None:
    box, tree = cast("Sandbox", Exhausted(problem)), ProofTree(tmp_path, "1")
    bench = ProofBench(tmp_path, box, tree, ProofLimits(), TIERS[-1], None)

    with pytest.raises(HostExhausted, match="this machine cannot"):
        BenchRunner(bench, RECORD.write(tmp_path), BoundedSemaphore()).attempt(RECORD.attempt)


@pytest.mark.slow
def test_a_run_that_this_machine_cannot_start_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target, attempt = RECORD.write(tmp_path / "tree"), RECORD.attempt
    tree = ProofTree(tmp_path / "tree", "1")
    with open_proof_bench(tmp_path / "benches", tree, ProofLimits(), TIERS[-1], None) as bench:
        runner = BenchRunner(bench, target, BoundedSemaphore())
        program = runner.build(attempt)
        with monkeypatch.context() as patch, pytest.raises(HostExhausted, match="this machine cannot start the run"):
            patch.setattr(proof_bench, "PROCESSES", -2)  # fewer than the user has
            runner.run(attempt, program)
        report = report_on(attempt, runner.attempt(attempt), target)

    assert report.proof is not None, report.text
