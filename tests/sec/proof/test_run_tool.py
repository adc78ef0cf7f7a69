"""The tool that runs attempts: how it reads the arguments of a call."""

import pytest

from jarvis_workers.sec.proof.proof import Attempt, ProofTarget, TreeLine
from jarvis_workers.sec.proof.run_tool import AttemptResult, RunProof, run_proof


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
