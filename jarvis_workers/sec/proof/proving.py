"""The conversation that proves a finding: an agent reads code, and makes a bounded number of attempts.

It is for findings that the conversation of their verdict has not tried to prove (`judge.investigation`), and ends with
the first proof, without a further question.  Whatever happens, the verdict on the finding stays.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.effects import Conversation, Definition, TaskResult, intercept
from jarvis_workers.agents.loop.limits import AgentLimits, early_end
from jarvis_workers.agents.loop.loop import run_task
from jarvis_workers.agents.loop.nonces import Marks
from jarvis_workers.agents.loop.prompts import fill_from
from jarvis_workers.agents.loop.report import ReportForm
from jarvis_workers.agents.tools.tool import Toolbox
from jarvis_workers.errors import AgentStopped
from jarvis_workers.models.platforms.profiles import Profile
from jarvis_workers.sec.proof.attempt_arguments import BYTES_MAX, CONTENT_MAX
from jarvis_workers.sec.proof.attempts import ATTEMPTS, AttemptLedger, AttemptsEnded
from jarvis_workers.sec.proof.harness_source import CALLS
from jarvis_workers.sec.proof.proof import (
    ALLOCATION_MB,
    GROWTH_MB,
    HANG_SHARE,
    MEMORY_MB,
    RUN_SECONDS,
    SMALL_BYTES,
    STACK_MB,
    Proof,
)

PROMPTS = Path(__file__).parent / "prompts"
# What the rules for attempts name.
RULE_FACTS: Mapping[str, object] = {
    "calls": ", ".join(sorted(CALLS)),
    "seconds": RUN_SECONDS,
    "wall": 2 * RUN_SECONDS,
    "hang": RUN_SECONDS // HANG_SHARE,
    "memory": MEMORY_MB,
    "allocation": ALLOCATION_MB,
    "growth": GROWTH_MB,
    "small": f"{SMALL_BYTES:,}",
    "stack": STACK_MB,
    "file": BYTES_MAX >> 20,
    "text": CONTENT_MAX,
}
# The findings of a place are one number of the ledger.
NUMBER = 1


def attempt_rules(*, built: bool) -> str:
    """Return what the system prompt of an agent that attempts says of attempts; a command may have `built` the code."""
    return fill_from(PROMPTS, "attempts", built=built, **RULE_FACTS)


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


@dataclass
class Proving:
    """The conversation about a finding; `stopped` is the limit that ended it early."""

    question: ProofQuestion
    agent: Agent
    ledger: AttemptLedger
    stopped: str | None = None

    def run(self) -> Conversation[tuple[Proof, ...]]:
        """Return the proof of each finding, or the reason why there is none. Raises nothing."""
        self.ledger.goal, self.ledger.goal_may_fail = frozenset((NUMBER,)), True
        try:
            result: TaskResult = yield from intercept(run_task(self.agent, self._task()), self.ledger.perform)
            self.ledger.give_up((NUMBER,), result.report.reason)
        except AgentStopped as stop:
            self.stopped = stop.reason
            self.ledger.give_up((NUMBER,), early_end(stop))
        except AttemptsEnded:
            pass
        return tuple(self.ledger.proofs_of(NUMBER))

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
    system = fill_from(PROMPTS, "prove_system", attempts=question.attempts, built=question.built, **RULE_FACTS)
    about = Definition(system, name="Jarvis prover", auto_complete=False)
    ledger = AttemptLedger({NUMBER: question.findings}, question.attempts)
    limits = replace(limits, tool_calls=max(limits.tool_calls, 2 * ledger.calls_max))
    return Proving(question, Agent(about, tools, profile=profile, marks=marks, form=FORM, limits=limits), ledger)


def verdict_text(texts: Mapping[str, str]) -> str:
    """Return the texts of a verdict for the question."""
    return "\n".join(f"{name.replace('_', ' ')}: {text}" for name, text in texts.items() if text)
