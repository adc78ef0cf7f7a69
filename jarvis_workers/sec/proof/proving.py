"""The conversation that proves a finding: an agent reads code, and makes a bounded number of attempts.

The conversation ends with the first proof, without a further question.  An attempt that only reproduces the finding is
kept, in case no later one proves it.  Whatever happens, the verdict on the finding stays.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from jarvis_workers.agent.agent import Agent
from jarvis_workers.agent.effects import Conversation, Definition, RunTool, TaskResult, Want
from jarvis_workers.agent.interception import intercept
from jarvis_workers.agent.limits import AgentLimits, early_end
from jarvis_workers.agent.loop import run_task
from jarvis_workers.agent.nonces import Marks
from jarvis_workers.agent.prompts import fill_from
from jarvis_workers.agent.report import ReportForm
from jarvis_workers.agent.untrusted_text import escape
from jarvis_workers.errors import AgentStopped
from jarvis_workers.platforms.profiles import Profile
from jarvis_workers.sec.proof.proof import Proof
from jarvis_workers.sec.proof.run_tool import NEEDS_TIER_A, RUN_PROOF, AttemptReport
from jarvis_workers.tools.registry import Toolbox
from jarvis_workers.tools.tool import ToolOutcome

PROMPTS = Path(__file__).parent / "prompts"
ATTEMPTS = 3
# Attempts that cannot be built or are refused count separately.
CALLS_PER_ATTEMPT = 3
REASON_MAX = 1_000
ANOTHER = "the proof of another finding at this place does not show it"
NO_ATTEMPT, NOT_RUN = "the model made no attempt, and gave no reason", "its attempt could not be run"


class GaveUp(BaseModel):
    """The report of an agent that has no proof."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    analysis: str = ""
    reason: str


FORM = ReportForm(GaveUp)


@dataclass(frozen=True)
class ProofQuestion:
    """The finding to prove, and the code that is shown: pairs of role and text. `built` is set with a build command.

    So many `findings` at its place may have the proof, if it shows them, too.
    """

    candidate: str
    verdict: str
    parts: Sequence[tuple[str, str]]
    targets: str = ""
    attempts: int = ATTEMPTS
    built: bool = False
    findings: int = 1

    @property
    def about(self) -> str:
        """Hash of the question, independent of the run, the location and the time."""
        texts = [self.candidate, self.verdict, self.targets, str(self.attempts), *(text for _, text in self.parts)]
        return sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()


class _AttemptsEnded(Exception):
    """There is a proof, or no attempt is left."""


@dataclass
class Proving:
    """The conversation about a finding; `stopped` is the limit that ended it early."""

    question: ProofQuestion
    agent: Agent
    stopped: str | None = None
    _ran: int = 0
    _calls: int = 0
    _best: dict[int, Proof] = field(default_factory=dict)
    _misfits: dict[int, str] = field(default_factory=dict)
    _reason: str = ""
    _is_refused: bool = False

    def run(self) -> Conversation[tuple[Proof, ...]]:
        """Return the proof of each finding, or the reason why there is none. Raises nothing."""
        try:
            result: TaskResult = yield from intercept(run_task(self.agent, self._task()), self._performed)
            self._reason = _short(result.report.reason) or self._reason
        except AgentStopped as stop:
            self.stopped = stop.reason
            self._reason = _short(early_end(stop))
        except _AttemptsEnded:
            pass
        return tuple(self._conclusion(number) for number in range(self.question.findings))

    def _conclusion(self, number: int) -> Proof:
        found = self._best.get(number)
        if found is None and number in self._misfits:
            found = Proof("failed", reason=_short(f"{ANOTHER}: {self._misfits[number]}"))
        return replace(found or Proof("failed", reason=self._failure()), attempts=self._ran)

    def _failure(self) -> str:
        reason = self._reason or NO_ATTEMPT
        return f"{NEEDS_TIER_A}; {reason}" if self._is_refused and NEEDS_TIER_A not in reason else reason

    def _performed(self, want: Want) -> Conversation[Any]:
        """Perform an effect; the report on an attempt is kept, and the model gets only its text."""
        answer = yield want
        if not isinstance(want, RunTool) or want.name != RUN_PROOF or not isinstance(answer, ToolOutcome):
            return answer
        self._calls += 1
        if not answer.success:
            self._reason = _short(answer.stderr) or NOT_RUN
            return self._counted(answer)
        report = AttemptReport.from_text(answer.stdout)
        self._ran += report.ran
        self._is_refused |= NEEDS_TIER_A in report.text and not report.ran
        self._reason = _short(report.text)
        for number, proof in enumerate(report.proofs):
            if proof.state == "proved" or (proof.state == "reproduced" and number not in self._best):
                self._best[number] = proof
            elif proof.state == "failed" and report.proof:
                self._misfits[number] = proof.reason
        if report.proof and report.proof.state == "proved":
            raise _AttemptsEnded
        left = self.question.attempts - self._ran
        return self._counted(replace(answer, stdout=f"{report.text}\n\nAttempts left: {left}."))

    def _counted(self, answer: ToolOutcome) -> ToolOutcome:
        """Return the answer, unless it was the last; raises _AttemptsEnded."""
        if self._ran >= self.question.attempts or self._calls >= CALLS_PER_ATTEMPT * self.question.attempts:
            raise _AttemptsEnded
        return answer

    def _task(self) -> str:
        question, guard = self.question, self.agent.guard
        return fill_from(
            PROMPTS,
            "prove",
            candidate=guard.admit(question.candidate),
            verdict=guard.admit(question.verdict),
            targets=guard.admit(question.targets) if question.targets else "",
            parts=[(role, guard.admit(text)) for role, text in question.parts],
        )


def prover(question: ProofQuestion, tools: Toolbox, profile: Profile, marks: Marks, limits: AgentLimits) -> Proving:
    """Return the conversation about a finding."""
    system = fill_from(PROMPTS, "prove_system", attempts=question.attempts, built=question.built)
    about = Definition(system, name="Jarvis prover", auto_complete=False)
    limits = replace(limits, tool_calls=max(limits.tool_calls, 2 * CALLS_PER_ATTEMPT * question.attempts))
    return Proving(question, Agent(about, tools, profile=profile, marks=marks, form=FORM, limits=limits))


def verdict_text(texts: Mapping[str, str]) -> str:
    """Return the texts of a verdict for the question."""
    return "\n".join(f"{name.replace('_', ' ')}: {text}" for name, text in texts.items() if text)


def _short(text: str) -> str:
    text = " ".join(escape(text).split())
    return text if len(text) <= REASON_MAX else f"{text[:REASON_MAX]}…"
