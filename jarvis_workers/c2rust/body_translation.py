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

from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.effects import Conversation, Definition, RunTool, TaskResult
from jarvis_workers.agents.loop.limits import AgentLimits, Reason, is_caused_by_answers
from jarvis_workers.agents.loop.loop import run_task
from jarvis_workers.agents.loop.nonces import Marks
from jarvis_workers.agents.loop.prompts import fill_from
from jarvis_workers.agents.loop.report import ReportForm
from jarvis_workers.agents.tools.tool import Toolbox, ToolOutcome
from jarvis_workers.c2rust.body_question import BodyQuestion, applicable_rules
from jarvis_workers.c2rust.body_review import numbered_issues, review_body
from jarvis_workers.c2rust.conversion import GateOutcome, PassedParameter, Proof, Review, proof_of, suffices
from jarvis_workers.c2rust.crate_edits import body_problem
from jarvis_workers.c2rust.gates import GateReport
from jarvis_workers.c2rust.signature_answer import SignatureChange
from jarvis_workers.errors import AgentStopped
from jarvis_workers.models.platforms.profiles import Profile

PROMPTS = Path(__file__).parent / "prompts"
# The tool that runs the gates; the model cannot call it.
GATES_TOOL = "run_gates"
DETAIL_MAX, LINES_MAX, BODY_SHOWN = 6_000, 60, 20_000
FENCE = re.compile(r"```\w*\n(.*)\n```", re.DOTALL)


class BodyAnswer(BaseModel):
    """The answer of a model."""

    rust: str = Field(description="The whole function in Rust.")
    change_signature: SignatureChange | None = Field(
        None,
        description="Only if parameters should be passed in another way; `rust` has the given signature all the same.",
    )


class TranslatedBody(NamedTuple):
    """The result for a function: the accepted text with its gates and signature, or "" with the reason.

    `attempts` is the number of answers, `failed` has the gates that refused them, with the class of an error of rustc,
    as in "check (type_mismatch)". `checked` is false if the conversation ended early.  `reviews` are those of the
    accepted text.  `change` are the parameters of another signature that the model asks for.
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
    reviews: tuple[Review, ...] = ()
    change: tuple[PassedParameter, ...] = ()
    change_reason: str = ""


class RefusedBody(NamedTuple):
    """The body of an earlier conversation, and why it does not count; empty without one."""

    text: str = ""
    failure: str = ""


def encode_report(report: GateReport) -> str:
    """Return the report of gates as JSON."""
    return json.dumps(report)


def decode_report(text: str) -> GateReport:
    """Return the report that `encode_report` encoded."""
    slot, gates, calls, log = json.loads(text)
    return GateReport(slot, tuple(GateOutcome(*gate) for gate in gates), calls, log)


def translator(profile: Profile, marks: Marks, limits: AgentLimits, attempts: int, vote: int = 0) -> Agent:
    """Return the agent that translates, without tools; it answers at most `attempts` times.

    Summaries of a long conversation, and reports that cannot be read, are answers too. A `vote` above 0 is for the
    second model group of the conversation.
    """
    definition = Definition(
        system_prompt=fill_from(PROMPTS, "translate_system"), name="translator", auto_complete=False, vote=vote
    )
    limits = replace(limits, rounds=min(limits.rounds, attempts))
    return Agent(
        definition, Toolbox(), profile=profile, marks=marks, form=ReportForm(BodyAnswer, "BODY"), limits=limits
    )


NO_BODY = RefusedBody()


class Translators(NamedTuple):
    """The agents for one function: translators, of which each gives at most `attempts` bodies, and perhaps a reviewer.

    A translator is asked only if no body of those before it is accepted.
    """

    translators: tuple[Agent, ...]
    attempts: int
    reviewer: Agent | None = None


def translate_body(
    team: Translators, question: BodyQuestion, required: Proof, earlier: RefusedBody = NO_BODY
) -> Conversation[TranslatedBody]:
    """Ask for a body until the gates prove it as `required`, then for its review.

    The translator may answer the issues of a review once, and the gates decide about this body too: if they refuse it,
    the accepted one remains.
    """
    answers, stopped = _Answers(question, required, earlier), ""
    try:
        for agent in team.translators:
            try:
                body, stopped = (yield from answers.until_accepted(agent, team.attempts)), ""
            except AgentStopped as stop:
                body, stopped = None, f"{stop.reason}: {stop}"
                if not answers_are_unusable(agent):
                    break
            if body:
                return (yield from _reviewed(agent, team.reviewer, answers, body)) if team.reviewer else body
    except _GatesDidNotRun as error:
        return answers.refused(str(error), checked=False)
    if stopped and not (answers.failed and stopped.startswith(Reason.ROUNDS)):
        return answers.refused(stopped, checked=False)
    last = f"the last one failed the gate {answers.last_gate}: {answers.problem}"
    return answers.refused(f"no body was accepted in {answers.count} attempts; {last}")


def answers_are_unusable(agent: Agent) -> bool:
    """Return whether a conversation ended because of its answers, so that another model may give better ones."""
    return agent.stopped is not None and (agent.stopped == Reason.ROUNDS or is_caused_by_answers(agent.stopped))


def _reviewed(agent: Agent, reviewer: Agent, answers: "_Answers", body: TranslatedBody) -> Conversation[TranslatedBody]:
    """Return a body that is reviewed, and perhaps corrected by the agent that wrote it."""
    reviews = yield from review_body(reviewer, answers.question, body.text)
    if issues := numbered_issues(reviews):
        message = fill_from(PROMPTS, "translate_review", issues=agent.guard.admit(issues))
        try:
            corrected = yield from answers.ask(agent, message)
        except (AgentStopped, _GatesDidNotRun):
            corrected = None
        if corrected and corrected.text != body.text:
            topics = [one.topic for one in reviews if one.issues]
            again = yield from review_body(reviewer, answers.question, corrected.text, topics)
            body, reviews = corrected, [one for one in reviews if not one.issues] + again
    return body._replace(reviews=tuple(reviews))


class _GatesDidNotRun(Exception):
    """The gates could not run; nothing is known about the body."""


class _Answers:
    """The answers for one function: the gates that refused them, and the problem of the last refused one."""

    def __init__(self, question: BodyQuestion, required: Proof, earlier: RefusedBody) -> None:
        self.question, self._required, self._earlier = question, required, earlier
        self.count, self.failed = 0, list[str]()
        self.problem, self._errors = "", ""
        self._text, self._is_repeated = earlier.text, False
        self._change: SignatureChange | None = None
        self._results: dict[str, tuple[str, str, GateReport | None]] = {}

    def until_accepted(self, agent: Agent, attempts: int) -> Conversation[TranslatedBody | None]:
        """Ask for bodies until one is accepted; None if none is."""
        message = _task(agent, self.question, self._text, self._failure())
        for _ in range(attempts):
            if body := (yield from self.ask(agent, message)):
                return body
            problem = agent.guard.admit(self._failure())
            message = fill_from(PROMPTS, "translate_again", problem=problem, repeated=self._is_repeated)
        return None

    @property
    def last_gate(self) -> str:
        """The gate that refused the last answer."""
        return self.failed[-1].partition(" ")[0]

    def _failure(self) -> str:
        """Return the last failure for the model: errors of rustc with their places, else one line."""
        if not self.failed:
            return self._earlier.failure if self._earlier.text else ""
        lines = f"{self.last_gate}: {self._errors or self.problem}".split("\n")
        return "\n".join(lines[:LINES_MAX])[:DETAIL_MAX]

    def ask(self, agent: Agent, message: str) -> Conversation[TranslatedBody | None]:
        """Ask for a body and return it if the gates accept it, else None. Raises AgentStopped, _GatesDidNotRun."""
        result: TaskResult = yield from run_task(agent, message)
        self.count += 1
        self._change = result.report.change_signature or self._change
        text = without_fence(str(result.report.rust))
        # Gates need not run again for the same text.
        self._is_repeated = text in self._results
        if not self._is_repeated:
            self._results[text] = yield from self._run_gates(text)
        gate, problem, report = self._results[text]
        if report and not problem:
            return self._body(text, report)
        self.problem, self._text = problem, text
        self._errors = report.log if report and gate == "check" else ""
        self.failed.append(f"{gate} ({self._errors.partition(',')[0]})" if self._errors else gate)
        return None

    def _run_gates(self, text: str) -> Conversation[tuple[str, str, GateReport | None]]:
        """Return the gate that refuses a body, "" if none does, with its detail, and the report of the gates."""
        question = self.question
        if problem := body_problem(text, question.head, question.name, question.original, question.foreign):
            return "form", problem, None
        outcome: ToolOutcome = yield RunTool(GATES_TOOL, {"text": text}, untimed=True)
        if not outcome.success:
            raise _GatesDidNotRun(outcome.stderr)
        report = decode_report(outcome.stdout)
        return *_refusal(report, self._required), report

    def _body(self, text: str, report: GateReport) -> TranslatedBody:
        return self.refused("")._replace(
            text=text, gates=report.gates, calls=report.calls, signature=self.question.head
        )

    def refused(self, reason: str, *, checked: bool = True) -> TranslatedBody:
        """Return the result without a body."""
        body = TranslatedBody(self.question.slot, "", self.count, tuple(self.failed), reason, checked=checked)
        change = self._change
        return body._replace(change=change.passed, change_reason=change.shown_reason) if change else body


def without_fence(text: str) -> str:
    """Return a text without the fence of a code block."""
    match = FENCE.fullmatch(text.strip())
    return match[1] if match else text.strip()


def _refusal(report: GateReport, required: Proof) -> tuple[str, str]:
    """Return the first gate that refuses a body with its detail; empty if the body is accepted."""
    failed = next((one for one in report.gates if not one.passed and one.gate != "reached"), None)
    if failed:
        return failed.gate, failed.detail or "it fails"
    proof = proof_of(report.gates)
    return ("", "") if suffices(proof, required) else ("proof", f"it is only {proof}, not {required}")


def _task(agent: Agent, question: BodyQuestion, refused: str, failure: str) -> str:
    """Return the question, with the last refused body of another translator and its failure, if there is one."""
    shown: Sequence[str] = ("head", "shim", "c", "mechanical", "types", "declarations", "libraries", "safe")
    texts = {name: getattr(question, name) for name in shown} | {
        "refused": refused[:BODY_SHOWN],
        "failure": failure,
    }
    admitted = {name: agent.guard.admit(text) if text else "" for name, text in texts.items()}
    rules = fill_from(PROMPTS, "translate_rules", **applicable_rules(question))
    return fill_from(PROMPTS, "translate", **admitted, notes=question.notes, rules=rules)
