"""Execution in the first conversation of a verification: to find out, and to show what the model calls a risk.

The attempts of readers are run first, without a question: what they prove is not asked about, and of the others the
model sees what came of them.  The model makes its own attempts before its report, and the conversation ends once all is
proved.  The bench is opened, and these attempts are run, by tools that the model need not call.  A proof decides,
whatever the report says; a failed attempt decides nothing, and dismisses nothing.
"""

import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.effects import Conversation, RunTool, TaskResult, intercept
from jarvis_workers.agents.loop.limits import AgentLimits, early_end
from jarvis_workers.agents.loop.loop import CALLS_MAX, run_task
from jarvis_workers.agents.loop.prompts import fill_from
from jarvis_workers.agents.loop.report import ReportForm
from jarvis_workers.agents.tools.tool import NoArguments, Tool, ToolOutcome, typed
from jarvis_workers.errors import AgentStopped
from jarvis_workers.sec.assessment import Exposure, RatedSeverity, Verdict
from jarvis_workers.sec.finding import Numbered
from jarvis_workers.sec.judge.report_fields import Text
from jarvis_workers.sec.judge.tool_calls import ToolCalls
from jarvis_workers.sec.judge.verdict import ReportItem, VerdictCollector
from jarvis_workers.sec.proof.attempts import AttemptLedger, AttemptsEnded
from jarvis_workers.sec.proof.crashes import severity_of_line
from jarvis_workers.sec.proof.proof import Proof
from jarvis_workers.sec.proof.proving import attempt_rules
from jarvis_workers.sec.proof.run_tool import RUN_PROOF

PROMPTS = Path(__file__).parent / "prompts"
OPEN_BENCH = "open_proof_bench"
BY_PROOF = "an execution has shown it; in words, the model called it {}"
UNASKED = "an execution has shown it; no model was asked"
NO_VERDICT = "nothing, since its conversation ended early"
WITHDRAWN = "the model called it a risk, and {} after attempts to show it"
BY_INPUT = "the input of the proof: {}"
# Of the attempt of a reader, so that its harness is shown whole, and its generated input is not.
GIVEN_MAX = 6_000

T = TypeVar("T")


class InvestigatedItem(ReportItem):
    """The verdict on a candidate that may be shown by execution; `no_proof` is why it is not."""

    no_proof: Text = ""


FORM = ReportForm(list[InvestigatedItem])


class GivenCall(NamedTuple):
    """The attempt of a reader to show a candidate: the arguments of run_proof, and what the reader thinks of it."""

    arguments: Mapping[str, Any]
    exposure: Exposure
    severity: RatedSeverity


@dataclass(frozen=True)
class BenchState:
    """Whether attempts can be run: by candidate number why they cannot, and the programs and fuzz targets."""

    blocked: Mapping[int, str]
    targets: str = ""

    def to_text(self) -> str:
        """Return the state as JSON."""
        return json.dumps({"blocked": dict(self.blocked), "targets": self.targets})

    @classmethod
    def from_text(cls, text: str) -> "BenchState":
        """Return the state that `to_text` wrote."""
        row: dict[str, Any] = json.loads(text)
        return cls({int(number): why for number, why in row["blocked"].items()}, row["targets"])


def bench_tool(state: Callable[[], BenchState]) -> Tool:
    """Return the tool that opens the bench, for the conversation itself."""

    def run(_: NoArguments) -> ToolOutcome:
        return ToolOutcome(stdout=state().to_text())

    return typed(NoArguments, run, name=OPEN_BENCH, description="Open the bench.")


@dataclass
class Investigation:
    """The attempts of a conversation; `needs_proof` says whether a candidate with this verdict is to be shown.

    `tool` is that of the model, `opening` opens the bench, `given` are the attempts of readers by candidate. The code
    was `built` by a command of the user. Of candidates at one of the `places`, the first is to be shown.
    """

    ledger: AttemptLedger
    tool: Tool
    opening: Tool
    needs_proof: Callable[[int, Verdict], bool]
    given: Mapping[int, Sequence[GivenCall]] = field(default_factory=dict)
    built: bool = False
    places: Mapping[int, Hashable] = field(default_factory=dict)
    stopped: list[str] = field(default_factory=list)
    _targets: str = ""
    _tried: list[tuple[int, GivenCall, str]] = field(default_factory=list)
    _withdrawn: dict[int, str] = field(default_factory=dict)
    _unasked: frozenset[int] = frozenset()

    def limits(self, limits: AgentLimits) -> AgentLimits:
        """Return the limits of a conversation with attempts."""
        return replace(limits, tool_calls=max(limits.tool_calls, 2 * self.ledger.calls_max))

    def rules(self) -> Mapping[str, Any]:
        """Return what the system prompt says of attempts."""
        return {"attempts": self.ledger.most, "rules": attempt_rules(built=self.built)}

    def begin(self, calls: ToolCalls) -> Conversation[None]:
        """Open the bench, and run the attempts of readers, whose output the model sees."""
        outcome = yield RunTool(OPEN_BENCH, {}, untimed=True)
        bench = BenchState.from_text(outcome.stdout)
        self._targets = bench.targets
        for number, why in bench.blocked.items():
            self.ledger.block(number, why)
        self.ledger.of_reader = True
        for number, call in ((number, call) for number, calls in self.given.items() for call in calls):
            if not self.ledger.is_settled(number):
                run = RunTool(RUN_PROOF, {**call.arguments, "candidate": number}, self.tool.repeatable)
                outcome = yield from self.ledger.perform(run)
                self._tried.append((number, call, outcome.text()))
                calls.see_output(outcome.stdout)
        self.ledger.forget_attempts()
        self._unasked = frozenset(filter(self.ledger.is_proved, self.given))

    def left(self, numbers: Iterable[int]) -> list[int]:
        """Return the candidates that are not proved."""
        return [number for number in numbers if not self.ledger.is_proved(number)]

    def asks(self, numbers: Sequence[int], agent: Agent) -> str:
        """Return what a question about candidates says of attempts."""
        admit = agent.guard.admit
        left = [one for one in self._tried if one[0] in numbers]
        tried = [(number, admit(_shown(call.arguments)), admit(text)) for number, call, text in left]
        blocked = [number for number in numbers if self.ledger.is_settled(number)]
        targets = admit(self._targets) if self._targets else ""
        facts: dict[str, Any] = {"tried": tried, "targets": targets, "numbers": numbers, "blocked": blocked}
        facts["most"] = CALLS_MAX if RUN_PROOF in agent.readers else 1
        return fill_from(PROMPTS, "investigate", **facts, language=agent.about.language)

    def run(self, talk: Conversation[T], goal: Iterable[int]) -> Conversation[T]:
        """Run a conversation in which attempts are made; raises AttemptsEnded once all of the `goal` is proved."""
        self.ledger.goal = frozenset(goal)
        return intercept(talk, self.ledger.perform)

    def take(self, items: Sequence[InvestigatedItem]) -> None:
        """Let the report decide what is pending, and record why the model proves nothing."""
        for item in items:
            self.ledger.decide_pending(item.gid, is_risk=item.verdict == "risk")
            if item.verdict == "risk" and item.no_proof.strip():
                self.ledger.give_up((item.gid,), item.no_proof)

    def show(self, agent: Agent, answers: VerdictCollector, calls: ToolCalls) -> Conversation[None]:
        """Ask once to show what the report calls a risk, and what no attempt was made for. Raises nothing."""
        goal = [number for number, verdict in answers.verdicts(None).items() if self._is_open(number, verdict)]
        leaders = dict[Hashable, int]()
        for number in goal:
            leaders.setdefault(self.places.get(number, number), number)
        if leaders:
            yield from self._show(list(leaders.values()), agent, answers, calls)
        for number in goal:
            leader = leaders[self.places.get(number, number)]
            if leader != number:
                self.ledger.follow(number, leader)

    def _show(
        self, goal: Sequence[int], agent: Agent, answers: VerdictCollector, calls: ToolCalls
    ) -> Conversation[None]:
        self.ledger.goal_may_fail = True
        try:
            talk = calls.record(run_task(agent, self._task(agent, goal)))
            result: TaskResult = yield from self.run(talk, goal)
            self._take(answers, goal, result.report)
        except AttemptsEnded:
            pass
        except AgentStopped as stop:
            self.stopped.append(stop.reason)
            self.ledger.give_up((one for one in goal if not self.ledger.is_settled(one)), early_end(stop))

    def decide(self, verdict: Verdict, *, is_reported: bool = True) -> Verdict:
        """Return the verdict on a candidate after all attempts; `gid` is its number."""
        number = verdict.gid
        if self.ledger.is_proved(number):
            proof = next(self.ledger.proofs_of(number))
            if is_reported or verdict.cut_short:
                return verdict if verdict.status == "confirmed" else _by_proof(verdict, proof)
            given = next(iter(self.given.get(number, ())), None)
            severity = given.severity if given else cast(RatedSeverity, severity_of_line(proof.stack[0]))
            exposure: Exposure = given.exposure if given else ""
            reason = UNASKED if number in self._unasked else None
            return _by_proof(verdict, proof)._replace(severity=severity, exposure=exposure, reason=reason)
        if verdict.status == "confirmed" and number in self._withdrawn:
            return verdict.for_review(WITHDRAWN.format(self._withdrawn[number]))
        return verdict

    def proofs(self, defects: Iterable[Sequence[Numbered]], verdicts: Iterable[Verdict]) -> Iterator[tuple[int, Proof]]:
        """Yield the proofs of confirmed candidates by gid, and why the others that were to be shown have none."""
        by_gid = {verdict.gid: verdict for verdict in verdicts}
        for number, members in enumerate(defects, 1):
            for (gid, _), proof in zip(members, self.ledger.proofs_of(number), strict=True):
                verdict = by_gid[gid]
                is_over = self.needs_proof(number, verdict) and self.ledger.is_over(number)
                if verdict.status == "confirmed" and (proof.attempt or is_over):
                    yield gid, proof

    def _is_open(self, number: int, verdict: Verdict) -> bool:
        is_risk = verdict.status == "confirmed" and self.needs_proof(number, verdict)
        return is_risk and not self.ledger.is_over(number)

    def _task(self, agent: Agent, goal: Sequence[int]) -> str:
        return fill_from(
            PROMPTS,
            "show",
            numbers=goal,
            attempts=self.ledger.most,
            most=CALLS_MAX if RUN_PROOF in agent.readers else 1,
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


def _shown(arguments: Mapping[str, Any]) -> str:
    """Return the attempt of a reader for the model, without what it does not set."""
    text = json.dumps({name: value for name, value in arguments.items() if value}, ensure_ascii=False)
    return text if len(text) <= GIVEN_MAX else f"{text[:GIVEN_MAX]}…"


def _by_proof(verdict: Verdict, proof: Proof) -> Verdict:
    """Return the verdict on a candidate that an attempt has proved, in the words of the sanitizer."""
    word = {"dismissed": "no_risk", "undecided": "unclear"}.get(verdict.status, verdict.status)
    return verdict._replace(
        status="confirmed",
        has_risk=True,
        preconditions=BY_INPUT.format(proof.command),
        trigger_path=" -> ".join(proof.stack[1:]),
        consequences=proof.stack[0] if proof.stack else "",
        reason=BY_PROOF.format(NO_VERDICT if verdict.cut_short else word),
        cut_short=False,
    )
