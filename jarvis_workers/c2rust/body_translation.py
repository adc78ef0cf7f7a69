"""Translate the body of a function by a model: ask, run the gates, report failures, until a body is accepted.

The gates decide: no body is accepted that they refuse, whatever the model says.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, Field

from jarvis_workers.agent.agent import Agent
from jarvis_workers.agent.effects import Conversation, Definition, RunTool, TaskResult
from jarvis_workers.agent.limits import AgentLimits
from jarvis_workers.agent.loop import run_task
from jarvis_workers.agent.nonces import Marks
from jarvis_workers.agent.prompts import fill_from
from jarvis_workers.agent.report import ReportForm
from jarvis_workers.c2rust.body_form import body_problem
from jarvis_workers.c2rust.body_question import BodyQuestion
from jarvis_workers.c2rust.conversion import GateOutcome, Proof, proof_of, suffices
from jarvis_workers.c2rust.gates import GateReport
from jarvis_workers.errors import AgentStopped
from jarvis_workers.platforms.profiles import Profile
from jarvis_workers.tools.registry import Toolbox
from jarvis_workers.tools.tool import ToolOutcome

PROMPTS = Path(__file__).parent / "prompts"
# The tool that runs the gates; the model cannot call it.
GATES_TOOL = "run_gates"
DETAIL_MAX = 4_000
FENCE = re.compile(r"```\w*\n(.*)\n```", re.DOTALL)


class BodyAnswer(BaseModel):
    """The answer of a model."""

    rust: str = Field(description="The whole function in Rust.")


class TranslatedBody(NamedTuple):
    """The result for a function: the accepted text with its gates and signature, or "" with the reason.

    `attempts` is the number of answers, `failed` has the gates that refused them. `checked` is false if the
    conversation ended early.
    """

    slot: str
    text: str = ""
    attempts: int = 0
    failed: tuple[str, ...] = ()
    reason: str = ""
    gates: tuple[GateOutcome, ...] = ()
    calls: int = 0
    checked: bool = True
    signature: str = ""


def encode_report(report: GateReport) -> str:
    """Return the report of gates as JSON."""
    return json.dumps(report)


def decode_report(text: str) -> GateReport:
    """Return the report that `encode_report` encoded."""
    slot, gates, calls, log = json.loads(text)
    return GateReport(slot, tuple(GateOutcome(*gate) for gate in gates), calls, log)


def translator(profile: Profile, marks: Marks, limits: AgentLimits, attempts: int) -> Agent:
    """Return the agent that translates, without tools; it gives at most `attempts` bodies.

    The other answers are summaries of a long conversation, and reports of another form.
    """
    definition = Definition(
        system_prompt=fill_from(PROMPTS, "translate_system"), name="translator", auto_complete=False
    )
    limits = replace(limits, rounds=min(limits.rounds, 2 * attempts + limits.reasks))
    return Agent(
        definition, Toolbox(), profile=profile, marks=marks, form=ReportForm(BodyAnswer, "BODY"), limits=limits
    )


def translate_body(
    agent: Agent, question: BodyQuestion, attempts: int, required: Proof
) -> Conversation[TranslatedBody]:
    """Ask for a body until the gates prove it as `required`, at most `attempts` times."""
    message, failed, problem = _task(agent, question), list[str](), ""
    try:
        for number in range(1, attempts + 1):
            result: TaskResult = yield from run_task(agent, message)
            text = _without_fence(str(result.report.rust))
            gate, problem, report = "form", body_problem(text, question.head, question.name), None
            if not problem:
                outcome: ToolOutcome = yield RunTool(GATES_TOOL, {"text": text}, untimed=True)
                if not outcome.success:
                    return TranslatedBody(question.slot, "", number, tuple(failed), outcome.stderr, checked=False)
                report = decode_report(outcome.stdout)
                gate, problem = _refusal(report, required)
                if not problem:
                    gates, calls, signature = report.gates, report.calls, question.head
                    return TranslatedBody(
                        question.slot, text, number, tuple(failed), "", gates, calls, signature=signature
                    )
            failed.append(gate)
            message = fill_from(
                PROMPTS, "translate_again", problem=agent.guard.admit(f"{gate}: {problem}"[:DETAIL_MAX])
            )
    except AgentStopped as stop:
        why = f"{stop.reason}: {stop}"
        return TranslatedBody(question.slot, "", len(failed), tuple(failed), why, checked=False)
    why = f"no body was accepted in {len(failed)} attempts; the last one failed the gate {failed[-1]}: {problem}"
    return TranslatedBody(question.slot, "", len(failed), tuple(failed), why)


def _without_fence(text: str) -> str:
    match = FENCE.fullmatch(text.strip())
    return match[1] if match else text.strip()


def _refusal(report: GateReport, required: Proof) -> tuple[str, str]:
    """Return the first gate that refuses a body with its detail; empty if the body is accepted."""
    failed = next((one for one in report.gates if not one.passed and one.gate != "reached"), None)
    if failed:
        return failed.gate, failed.detail or "it fails"
    proof = proof_of(report.gates)
    return ("", "") if suffices(proof, required) else ("proof", f"it is only {proof}, not {required}")


def _task(agent: Agent, question: BodyQuestion) -> str:
    admit = agent.guard.admit
    shown: Sequence[str] = ("head", "shim", "c", "mechanical", "types", "declarations")
    texts = {name: admit(text) if (text := getattr(question, name)) else "" for name in shown}
    return fill_from(PROMPTS, "translate", **texts, notes=question.notes)
