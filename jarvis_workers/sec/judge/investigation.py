"""Execution in the first conversation of a verification: to find out, and to show what the model calls a risk.

The bench is opened before the first attempt, or when something is to be shown, by a tool that the model cannot call: a
conversation without either costs no build.  To show something, the conversation goes on with another system prompt, the
rules of attempts: each request repeats it, and that of a verdict is longer than most code.  A proof decides, whatever
the report says; a failed attempt decides nothing, and dismisses nothing.
"""

import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from jarvis_workers.agent.agent import Agent
from jarvis_workers.agent.effects import Conversation, RunTool, TaskResult, Want
from jarvis_workers.agent.interception import intercept
from jarvis_workers.agent.limits import AgentLimits, early_end
from jarvis_workers.agent.loop import CALLS_MAX, run_task
from jarvis_workers.agent.prompts import fill_from
from jarvis_workers.agent.report import ReportForm
from jarvis_workers.errors import AgentStopped
from jarvis_workers.sec.judge.report_fields import Text
from jarvis_workers.sec.judge.tool_calls import ToolCalls
from jarvis_workers.sec.judge.verdict import ReportItem, Verdict, VerdictCollector
from jarvis_workers.sec.proof import proving
from jarvis_workers.sec.proof.attempts import AttemptLedger, AttemptsEnded
from jarvis_workers.sec.proof.proof import Proof
from jarvis_workers.sec.proof.run_tool import RUN_PROOF
from jarvis_workers.tools.tool import NoArguments, Tool, ToolOutcome, typed

PROMPTS = Path(__file__).parent / "prompts"
OPEN_BENCH = "open_proof_bench"
BY_PROOF = "an execution has shown it; in words, the model called it {}"
NO_VERDICT = "nothing, since its conversation ended early"
WITHDRAWN = "the model called it a risk, and {} after attempts to show it"

T = TypeVar("T")


class InvestigatedItem(ReportItem):
    """The verdict on a candidate that may be shown by execution; `no_proof` is why it is not."""

    no_proof: Text = ""


FORM = ReportForm(list[InvestigatedItem])


@dataclass(frozen=True)
class BenchState:
    """Whether attempts can be run: by candidate number why they cannot, and the programs and fuzz targets."""

    blocked: Mapping[int, str]
    targets: str = ""

    @classmethod
    def from_text(cls, text: str) -> "BenchState":
        """Return the state that `bench_tool` wrote."""
        row: dict[str, Any] = json.loads(text)
        return cls({int(number): why for number, why in row["blocked"].items()}, row["targets"])


def bench_tool(state: Callable[[], BenchState]) -> Tool:
    """Return the tool that opens the bench, for the conversation itself."""

    def run(_: NoArguments) -> ToolOutcome:
        opened = state()
        return ToolOutcome(stdout=json.dumps({"blocked": dict(opened.blocked), "targets": opened.targets}))

    return typed(NoArguments, run, name=OPEN_BENCH, description="Open the bench.")


@dataclass
class Investigation:
    """The attempts of a conversation; `needs_proof` says whether a candidate with this verdict is to be shown.

    `tool` is that of the model, `opening` opens the bench. The code was `built` by a command of the user. Of candidates
    at one of the `places`, the first is to be shown.
    """

    ledger: AttemptLedger
    tool: Tool
    opening: Tool
    needs_proof: Callable[[int, Verdict], bool]
    built: bool = False
    places: Mapping[int, Hashable] = field(default_factory=dict)
    stopped: list[str] = field(default_factory=list)
    _bench: BenchState | None = None
    _withdrawn: dict[int, str] = field(default_factory=dict)

    def limits(self, limits: AgentLimits) -> AgentLimits:
        """Return the limits of a conversation with attempts."""
        return replace(limits, tool_calls=max(limits.tool_calls, 2 * self.ledger.calls_max))

    def run(self, talk: Conversation[T]) -> Conversation[T]:
        """Run a conversation in which attempts are made."""
        return intercept(talk, self._perform)

    def show(self, agent: Agent, answers: VerdictCollector, calls: ToolCalls) -> Conversation[None]:
        """Ask once to show what the report calls a risk, and what no attempt was made for. Raises nothing."""
        goal = [number for number, verdict in answers.verdicts(None).items() if self._is_open(number, verdict)]
        if goal:
            yield from self._open_bench()
        leaders = dict[Hashable, int]()
        for number in (one for one in goal if not self.ledger.is_settled(one)):
            leaders.setdefault(self.places.get(number, number), number)
        if leaders:
            yield from self._show(list(leaders.values()), agent, answers, calls)
        for number in goal:
            leader = leaders.get(self.places.get(number, number), number)
            if leader != number:
                self.ledger.follow(number, leader)

    def _show(
        self, goal: Sequence[int], agent: Agent, answers: VerdictCollector, calls: ToolCalls
    ) -> Conversation[None]:
        self.ledger.goal = frozenset(goal)
        rules = fill_from(proving.PROMPTS, "attempts", built=self.built, **proving.RULE_FACTS)
        system = fill_from(PROMPTS, "show_system", rules=rules, language=agent.about.language)
        agent.about = replace(agent.about, system_prompt=system)
        agent.session.set_system(agent.system_prompt())
        try:
            result: TaskResult = yield from self.run(calls.record(run_task(agent, self._task(agent, goal))))
            self._take(answers, goal, result.report)
        except AttemptsEnded:
            pass
        except AgentStopped as stop:
            self.stopped.append(stop.reason)
            self.ledger.give_up((one for one in goal if not self.ledger.is_settled(one)), early_end(stop))

    def decide(self, verdict: Verdict) -> Verdict:
        """Return the verdict on a candidate after all attempts; `gid` is its number."""
        number = verdict.gid
        if self.ledger.is_proved(number):
            return verdict if verdict.status == "confirmed" else _by_proof(verdict, next(self.ledger.proofs_of(number)))
        if verdict.status == "confirmed" and number in self._withdrawn:
            return verdict.for_review(WITHDRAWN.format(self._withdrawn[number]))
        return verdict

    def _is_open(self, number: int, verdict: Verdict) -> bool:
        is_risk = verdict.status == "confirmed" and self.needs_proof(number, verdict)
        return is_risk and not self.ledger.has_attempt(number)

    def _perform(self, want: Want) -> Conversation[Any]:
        if isinstance(want, RunTool) and want.name == RUN_PROOF:
            yield from self._open_bench()
        return (yield from self.ledger.perform(want))

    def _open_bench(self) -> Conversation[None]:
        """Open the bench, unless it is open."""
        if self._bench is None:
            outcome = yield RunTool(OPEN_BENCH, {}, untimed=True)
            self._bench = BenchState.from_text(outcome.stdout)
            for number, why in self._bench.blocked.items():
                self.ledger.block(number, why)

    def _task(self, agent: Agent, goal: Sequence[int]) -> str:
        targets = self._bench.targets if self._bench else ""
        return fill_from(
            PROMPTS,
            "show",
            numbers=goal,
            attempts=self.ledger.most,
            most=CALLS_MAX if RUN_PROOF in agent.readers else 1,
            targets=agent.guard.admit(targets) if targets else "",
            language=agent.about.language,
        )

    def _take(self, answers: VerdictCollector, goal: Sequence[int], items: Sequence[InvestigatedItem]) -> None:
        """Record the report of a model that gives up."""
        answers.take_others(items)
        given = {item.gid: item for item in items}
        for number in goal:
            item = given.get(number)
            withdrawn = item is not None and item.verdict != "risk"
            reason = item.no_proof or (item.preconditions if withdrawn else "") if item else ""
            self.ledger.give_up((number,), reason)
            if item and withdrawn:
                self._withdrawn[number] = item.verdict


def _by_proof(verdict: Verdict, proof: Proof) -> Verdict:
    """Return the verdict on a candidate that an attempt has proved, in the words of the sanitizer."""
    word = {"dismissed": "no_risk", "undecided": "unclear"}.get(verdict.status, verdict.status)
    return replace(
        verdict,
        status="confirmed",
        has_risk=True,
        preconditions=f"the input of the proof: {proof.command}",
        trigger_path=" -> ".join(proof.stack[1:]),
        consequences=proof.stack[0] if proof.stack else "",
        reason=BY_PROOF.format(NO_VERDICT if verdict.cut_short else word),
        cut_short=False,
    )
