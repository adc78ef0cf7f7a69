"""The conversation that proves a finding: its reasons are plain sentences, however it ends."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from jarvis_workers.agents.loop.drivers import AgentWorld
from jarvis_workers.agents.loop.limits import AgentLimits
from jarvis_workers.agents.tools.tool import Toolbox
from jarvis_workers.errors import ModelRefused, ModelUnavailable
from jarvis_workers.models.platforms.profiles import PROFILES
from jarvis_workers.models.platforms.protocol import Reply
from jarvis_workers.sec.proof.attempt_arguments import BYTES_MAX
from jarvis_workers.sec.proof.harness_source import CALLS
from jarvis_workers.sec.proof.proof import (
    ALLOCATION_MB,
    GROWTH_MB,
    MEMORY_MB,
    RUN_SECONDS,
    STACK_MB,
    Attempt,
    Proof,
    ProofRun,
    ProofTarget,
    SanitizerError,
    StackFrame,
    TreeLine,
)
from jarvis_workers.sec.proof.proving import ProofQuestion, prover
from jarvis_workers.sec.proof.run_tool import NEEDS_TIER_A, AttemptResult, run_proof
from tests.agents.loop.arrange import Scripted, call, drive, text
from tests.sec.verifying import MARKS

QUESTION = ProofQuestion("the finding", "the verdict", [("the code", "int f(void);")])


def test_the_rules_for_attempts_name_the_limits_of_a_run_and_the_functions_of_a_harness() -> None:
    rules = prover(QUESTION, Toolbox([]), PROFILES["deepseek"], MARKS, AgentLimits()).agent.about.system_prompt
    words = " ".join(rules.split())

    assert (
        f"{RUN_SECONDS} s of CPU time, {2 * RUN_SECONDS} s in all, {MEMORY_MB} MB of memory, {STACK_MB} MB of stack"
        in words
    )
    assert f"one allocation may have {ALLOCATION_MB} MB" in words
    assert f"(CWE-400, 770, 789), so is code that holds {GROWTH_MB} MB on the heap" in words
    assert f"A file has at most {BYTES_MAX >> 20} MB" in words
    assert set(re.findall(r"\w+", rules)) >= CALLS


class Broken:
    """A machine on which no attempt can be built."""

    def content(self, script: str) -> bytes:
        return script.encode()

    def attempt(self, attempt: Attempt) -> AttemptResult:
        return AttemptResult(
            problem=f"{NEEDS_TIER_A}, and this machine has B"
            if attempt.way == "server"
            else f"there is no file {attempt.target}"
        )


class Overflowing:
    """A machine on which each attempt overflows the heap at a line."""

    def content(self, script: str) -> bytes:
        return script.encode()

    def attempt(self, attempt: Attempt) -> AttemptResult:
        error = SanitizerError("heap-buffer-overflow", "WRITE of size 4", (StackFrame("f", "src/a.c", 3, "tree"),))
        return AttemptResult((ProofRun("was stopped by a sanitizer", "", (error,)),) * 2)


def prove(*replies: Reply | Exception, profile: str = "deepseek", **limits: Any) -> Proof:
    """Prove a finding with a model that answers so."""
    tools = Toolbox([run_proof(Broken(), ProofTarget(TreeLine("src/a.c", 3), 787, 1, 5))])
    proving = prover(QUESTION, tools, PROFILES[profile], MARKS, AgentLimits(**limits))
    return drive(proving.run(), AgentWorld(Scripted(*replies), proving.agent.tools))[0]


def submit(value: Any) -> Reply:
    return call("submit_report", json.dumps(value))


def attempt(**arguments: Any) -> Reply:
    return call("run_proof", json.dumps({"way": "program", **arguments}))


NO_REPORT = "the model submitted no valid report (no valid report after 2 more requests: "
UNUSABLE = "the answers of the model could not be used (3 answers in a row could not be used: "
ENDS: dict[str, tuple[list[Reply | Exception], str]] = {
    "prose": ([text("I am sorry.")] * 3, NO_REPORT),
    "a list": (
        [text("<REPORT>[1]</REPORT>")] * 3,
        f"{NO_REPORT}the report: Input should be an object with the fields of the report)",
    ),
    "a report without a reason": ([submit({"analysis": "none"})] * 3, f"{NO_REPORT}reason: Field required)"),
    "an empty reason": ([submit({"reason": " "})], "the model made no attempt, and gave no reason"),
    "a file that is no object": (
        [attempt(files=[number]) for number in range(3)],
        f"{UNUSABLE}run_proof: files.0: Input should be an object)",
    ),
    "an attempt that cannot be run": ([attempt(), submit({"reason": ""})], "It was not run: there is no file"),
    "calls that repeat": ([attempt()] * 9, "the model repeated itself (run_proof was called 3 times with the same"),
    "no answer": ([ModelUnavailable("down")], "the model server gave no answer (down)"),
    "a refusal": ([ModelRefused("401: no key")], "the model server refused the request (401: no key)"),
}


@pytest.mark.parametrize("name", ENDS)
def test_the_reason_of_a_failed_proof_is_a_sentence_without_names_of_classes(name: str) -> None:
    replies, reason = ENDS[name]

    proof = prove(*replies, profile="generic" if name in ("prose", "a list") else "deepseek")

    assert proof.state == "failed"
    assert proof.reason.startswith(reason)
    assert not re.search(r"\b[A-Z][a-z]+[A-Z]|instance of|b'|[{}\n]", proof.reason)


def test_a_finding_that_needs_tier_a_says_so_whatever_the_model_gives_as_its_reason() -> None:
    over_tcp = attempt(way="server", target="src/a.c", port=2121, messages=[{"text": "HELO\r\n"}])

    given_up = prove(over_tcp, submit({"reason": "There is no other way."}))
    nothing_said = prove(over_tcp, submit({"reason": ""}))

    assert (given_up.attempts, given_up.reason) == (0, f"{NEEDS_TIER_A}; There is no other way.")
    assert nothing_said.reason == f"It was not run: {NEEDS_TIER_A}, and this machine has B"


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"rounds": 1}, "the conversation reached its limit of model calls (the task is not finished after 1 model"),
        ({"tokens": 1}, "the conversation reached its limit of tokens (used "),
        ({"seconds": 0}, "the conversation reached its time limit (took 0.0 s, limit 0 s)"),
        ({"cost": 0.0}, "the conversation reached a limit of cost (spent 0.0000 dollars, limit 0)"),
    ],
)
def test_a_limit_that_ends_a_proof_is_named_in_words(limits: dict[str, float], reason: str) -> None:
    assert prove(attempt(), attempt(target="a.c"), **limits).reason.startswith(reason)


def prove_each(*cwes: int, attempts: int = 1) -> tuple[Proof, ...]:
    """Prove findings of these weaknesses at one place, where the heap overflows."""
    targets = [ProofTarget(TreeLine("src/a.c", 3), cwe, 1, 5) for cwe in cwes]
    question = replace(QUESTION, findings=len(targets), attempts=attempts)
    proving = prover(
        question, Toolbox([run_proof(Overflowing(), *targets)]), PROFILES["deepseek"], MARKS, AgentLimits()
    )
    replies = [attempt(target=f"{number}.c") for number in range(attempts)]
    return drive(proving.run(), AgentWorld(Scripted(*replies), proving.agent.tools))


def test_findings_at_a_place_share_a_proof_only_if_its_error_fits_each_of_them() -> None:
    overflow, null, number = prove_each(787, 690, 190)

    assert (overflow.state, overflow.stack[0]) == ("proved", "heap-buffer-overflow WRITE of size 4")
    assert (number.state, number.attempt) == ("proved", overflow.attempt)
    assert (null.state, null.attempt, null.stack, null.attempts) == ("failed", None, (), 1)
    assert null.reason == (
        "the proof of another finding at this place does not show it: heap-buffer-overflow in f src/a.c:3: "
        "this does not show a weakness of class CWE-690"
    )


def test_a_proof_of_another_finding_at_the_place_does_not_end_the_attempts() -> None:
    null, overflow = prove_each(690, 787, attempts=2)

    assert (overflow.state, overflow.attempts) == ("proved", 2)
    assert null.state == "failed"
    assert "this does not show a weakness of class CWE-690" in null.reason
