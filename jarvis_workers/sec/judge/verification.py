"""Verify the candidates of a cluster with a model that reads the code; its claims are never trusted unchecked.

The view without comments decides. A dismissal made after comments were seen (a script was run, a document was read)
is requested again without them. If votes differ, or dismissed code contains a prompt injection, the candidate goes to
human review. A conversation that ends early leaves its candidates undecided, with the reason. A stronger model may be
asked about what the model left open (`escalation`). The first conversation may also run code, and then a proof decides
(`investigation`): nothing more is asked about what is proved.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from itertools import islice
from typing import Any

from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.effects import Conversation, Definition, TaskResult
from jarvis_workers.agents.loop.limits import AgentLimits, AgentUsage
from jarvis_workers.agents.loop.loop import run_task
from jarvis_workers.agents.loop.nonces import Marks
from jarvis_workers.agents.loop.prompts import fill_from
from jarvis_workers.agents.tools.reading import LONGEST_LINE
from jarvis_workers.agents.tools.tool import Toolbox
from jarvis_workers.errors import AgentStopped
from jarvis_workers.models.platforms.profiles import Profile
from jarvis_workers.sec.assessment import TEXTS, EvidenceQuote, Verdict
from jarvis_workers.sec.judge.bypassed_checks import bypassed_checks
from jarvis_workers.sec.judge.canonical import CanonicalQuestion, canonical_question
from jarvis_workers.sec.judge.canonical.renamed_reading import of_renamed_code, reads_renamed
from jarvis_workers.sec.judge.escalation import DECIDED, is_dispute, open_numbers, settle
from jarvis_workers.sec.judge.investigation import FORM as INVESTIGATED
from jarvis_workers.sec.judge.investigation import Investigation
from jarvis_workers.sec.judge.question import VerificationQuestion
from jarvis_workers.sec.judge.question_text import PROMPTS, question_text
from jarvis_workers.sec.judge.quotes import called_lines, find_quote, seen_defect
from jarvis_workers.sec.judge.reading_tools import READ, READERS
from jarvis_workers.sec.judge.slices import View
from jarvis_workers.sec.judge.tool_calls import ToolCalls
from jarvis_workers.sec.judge.verdict import (
    FORM,
    AskAgain,
    Find,
    SeenDefect,
    VerdictCollector,
)
from jarvis_workers.sec.judge.vote_result import agreed, differing, verdict_text, votes_of
from jarvis_workers.sec.judge.worked_examples import EXAMPLES, ONE_OF_EACH_VERDICT
from jarvis_workers.sec.proof.attempts import AttemptsEnded

# Of defects that one job sees beside its candidates; a report holds fewer, if it is not meant to be endless.
OTHERS_MAX = 50
WORDS_DECIDE = (
    "it was dismissed; with the names and texts of the code replaced it is {}: they may have changed the verdict"
)
BYPASSED = "it was dismissed by a check that another way to it leaves out (line {})"


@dataclass
class _Look:
    """Verdicts of one conversation; `saw_raw` is true if the model saw text that the deciding view omits."""

    verdicts: Mapping[int, Verdict]
    saw_raw: bool


class Verification:
    """The conversations about a cluster; `agent` has the tools of all, `stopped` lists reasons for early ends.

    `others` are possible defects that were seen beside the candidates, `surplus` those beyond OTHERS_MAX.
    """

    def __init__(
        self,
        prepared: VerificationQuestion,
        tools: Toolbox,
        *,
        profiles: tuple[Profile, Profile, Profile],
        marks: Marks,
        limits: AgentLimits | None = None,
        investigation: Investigation | None = None,
    ) -> None:
        """Create the conversations.

        `profiles` belong to the models of the first vote, of the other votes, and of the escalation. With an
        `investigation`, the first conversation has its tool beside `tools`.
        """
        self._prepared, self._tools = prepared, tools
        self._profiles, self._marks = profiles, marks
        self._left = limits or AgentLimits()
        self._suspicions = list(prepared.suspicions)
        self._disputed: set[int] = set()
        self._settled: set[int] = set()
        self.stopped: list[str] = []
        self.others: list[SeenDefect] = []
        self.surplus: list[SeenDefect] = []
        self.investigation = investigation
        self.agent = self._agent(tools, investigation=investigation)
        self._canonical = cache(lambda: canonical_question(prepared))
        # Tools that no model is offered by their names.
        opening = [investigation.opening] if investigation else []
        self.hidden = [*opening, of_renamed_code(lambda: self._canonical().question.index)]

    def run(self) -> Conversation[list[Verdict]]:
        """Return a verdict for each candidate, in order. Raises nothing; a verdict's reason states an early end."""
        cluster = self._prepared.cluster
        numbers = tuple(self._prepared.texts)
        looks = [(yield from self._look(numbers, self.agent))]
        proved = {number: looks[0].verdicts[number] for number in numbers if self._is_proved(number)}
        left = [number for number in numbers if number not in proved]
        for vote in range(1, votes_of(cluster) if left else 1):
            looks.append((yield from self._look(left, self._agent(self._tools, vote))))
        votes = {number: [look.verdicts[number] for look in looks] for number in left}
        verdicts = {number: agreed(those) for number, those in votes.items()}
        self._disputed |= {number for number, those in votes.items() if is_dispute(those)}
        if any(look.saw_raw for look in looks):
            yield from self._without_comments(verdicts)
        if cluster.second_look:
            yield from self._with_comments(verdicts)
        if cluster.escalates:
            yield from self._escalate(verdicts)
        yield from self._without_words(verdicts)
        verdicts |= proved
        final = {
            gid: self._final(verdicts[number], gid)
            for number, those in zip(numbers, cluster.defects, strict=True)
            for gid, _ in those
        }
        return [final[gid] for gid, _ in cluster.candidates]

    def _look(
        self, numbers: Sequence[int], agent: Agent, view: View = "decided", renamed: CanonicalQuestion | None = None
    ) -> Conversation[_Look]:
        """Run one conversation to its end, about the code with `renamed` names if they are given."""
        prepared = renamed.question if renamed else self._prepared
        investigation = self.investigation if agent is self.agent else None
        is_decided = investigation.ledger.is_proved if investigation else lambda _: False
        answers, calls, stopped = VerdictCollector(numbers, _finder(prepared), is_decided), ToolCalls(), None
        try:
            if investigation:
                yield from investigation.begin(calls)
                left = investigation.left(numbers)
            else:
                left = [*numbers]
            execution = investigation.asks(left, agent) if investigation else ""
            facts: dict[str, Any] = {"view": view, "execution": execution, "renamed": renamed is not None}
            message = question_text(prepared, left, agent.guard, **facts) if left else ""
            while message:
                talk = calls.record(run_task(agent, message))
                talk = reads_renamed(talk) if renamed else talk
                result: TaskResult = yield from investigation.run(talk, left) if investigation else talk
                answers.take(result.report)
                if investigation:
                    investigation.take(result.report)
                again = answers.again()
                message = self._follow_up(agent, again) if again else ""
            if investigation and left:
                yield from investigation.show(agent, answers, calls)
        except AttemptsEnded:
            pass
        except AgentStopped as stop:
            self.stopped.append(stop.reason)
            stopped = f"{stop.reason}: {stop}"
        seen = [seen_defect(prepared, number, other) for number, other in answers.others]
        self._take_others(map(renamed.original_defect, seen) if renamed else seen)
        self._suspicions += calls.hidden_text(prepared.index)
        return self._looked(answers, agent, calls, stopped)

    def _looked(self, answers: VerdictCollector, agent: Agent, calls: ToolCalls, stopped: str | None) -> _Look:
        """Return the verdicts of a conversation that has ended."""
        investigation = self.investigation if agent is self.agent else None
        self._left = _left(self._left, agent.spent)
        self._suspicions += [one for one in agent.guard.suspicions if one.level != "warn"]
        verdicts = answers.verdicts(stopped)
        if investigation:
            self.stopped += investigation.stopped
            verdicts = {
                number: investigation.decide(verdict, is_reported=answers.has_item(number))
                for number, verdict in verdicts.items()
            }
        commands = calls.commands
        return _Look({number: one._replace(commands=commands) for number, one in verdicts.items()}, calls.saw_raw)

    def _without_comments(self, verdicts: dict[int, Verdict]) -> Conversation[None]:
        """Repeat the question for dismissals made after comments were seen, with the tools that only read code."""
        numbers = [number for number, verdict in verdicts.items() if verdict.status == "dismissed"]
        if not numbers:
            return
        look = yield from self._look(numbers, self._agent(self._tools.only(READERS)))
        for number in numbers:
            other = look.verdicts[number]
            if other.status != "dismissed" or look.saw_raw:
                why = (
                    "comments were also read in the second verification"
                    if look.saw_raw
                    else f"without comments it is {verdict_text(other)}"
                )
                self._note_dispute(number, verdicts[number], other)
                verdicts[number] = differing(
                    [verdicts[number], other], f"it was dismissed when comments were visible; {why}"
                )

    def _with_comments(self, verdicts: dict[int, Verdict]) -> Conversation[None]:
        """Repeat the question with comments shown."""
        numbers = [number for number, verdict in verdicts.items() if verdict.status in DECIDED]
        if not numbers:
            return
        look = yield from self._look(numbers, self._agent(self._tools), "commented")
        for number in numbers:
            one, other = verdicts[number], look.verdicts[number]
            if one.status != other.status:
                reason = f"without comments it is {verdict_text(one)}, with comments {verdict_text(other)}"
                self._note_dispute(number, one, other)
                verdicts[number] = differing([one, other], reason)

    def _escalate(self, verdicts: dict[int, Verdict]) -> Conversation[None]:
        """Ask the stronger model once about the open candidates, without any tool that shows comments."""
        numbers = open_numbers(verdicts, self._disputed)
        if not numbers:
            return
        agent = self._agent(self._tools.only(READERS), escalated=True)
        look = yield from self._look(numbers, agent)
        if agent.spent.asks:
            for number in numbers:
                verdicts[number] = settle(verdicts[number], look.verdicts[number], saw_raw=look.saw_raw)
            self._settled |= {*numbers}

    def _without_words(self, verdicts: dict[int, Verdict]) -> Conversation[None]:
        """Ask about dismissals again with replaced names and texts: what no word of the code can have caused stays."""
        dismissed = [number for number, verdict in verdicts.items() if verdict.status == "dismissed"]
        if self._suspicions:
            return
        for escalated in (False, True):
            numbers = [number for number in dismissed if (number in self._settled) == escalated]
            if not numbers:
                continue
            agent = self._agent(self._tools.only([READ]), escalated=escalated)
            look = yield from self._look(numbers, agent, renamed=self._canonical())
            for number in numbers:
                other = self._canonical().original(look.verdicts[number])
                if other.status != "dismissed":
                    reason = WORDS_DECIDE.format(verdict_text(other))
                    verdicts[number] = differing([verdicts[number], other], reason)

    def _note_dispute(self, number: int, *verdicts: Verdict) -> None:
        if is_dispute(verdicts):
            self._disputed.add(number)

    def _final(self, verdict: Verdict, gid: int) -> Verdict:
        index = self._prepared.index
        names = (*TEXTS, "analysis", *(["reason"] if verdict.reason else []))
        texts: dict[str, Any] = {name: called_lines(getattr(verdict, name), index) for name in names}
        verdict = verdict._replace(gid=gid, **texts)
        if verdict.status == "dismissed" and any(self._is_cut(one) for one in verdict.evidence):
            return verdict.for_review("it was dismissed with a line of which only the beginning was shown")
        candidate = dict(self._prepared.cluster.candidates)[gid]
        if verdict.status == "dismissed" and (lines := bypassed_checks(index, candidate, verdict.evidence)):
            return verdict.for_review(BYPASSED.format(", ".join(map(str, lines))))
        if verdict.status == "dismissed" and self._suspicions:
            rules = ", ".join(sorted({suspicion.rule for suspicion in self._suspicions}))
            return verdict.for_review(
                f"it was dismissed, and the code that was read contains instructions to a model ({rules})"
            )
        return verdict

    def _take_others(self, others: Iterable[SeenDefect]) -> None:
        """Record defects beside the candidates, each once."""
        new = [one for one in dict.fromkeys(others) if one not in self.others and one not in self.surplus]
        room = max(0, OTHERS_MAX - len(self.others))
        self.others += new[:room]
        self.surplus += new[room:]

    def _follow_up(self, agent: Agent, again: AskAgain) -> str:
        """Return the question about what is missing or wrong in a report; lines of code in it are admitted as such."""
        language = self._prepared.cluster.language
        lost = {
            number: [
                (place, one.kind, agent.guard.admit("\n".join(one.lines)) if one.lines else "") for place, one in of
            ]
            for number, of in again.lost.items()
        }
        lost_quotes = fill_from(PROMPTS, "lost_quotes", lost=lost, language=language)
        facts = {**asdict(again), "numbers": again.numbers, "lost_quotes": lost_quotes}
        return fill_from(PROMPTS, "verify_again", **facts, language=language)

    def _is_cut(self, evidence: EvidenceQuote) -> bool:
        """Return whether only the beginning of a quoted line was shown; views omit the blank lines between."""
        file = self._prepared.index.file(evidence.file)
        written = filter(str.strip, file.decided[evidence.line - 1 :]) if file else ()
        count = sum(bool(line.strip()) for line in evidence.quote.split("\n"))
        return any(len(line) > LONGEST_LINE for line in islice(written, count))

    def _is_proved(self, number: int) -> bool:
        return self.investigation is not None and self.investigation.ledger.is_proved(number)

    def _agent(
        self, tools: Toolbox, vote: int = 0, *, escalated: bool = False, investigation: Investigation | None = None
    ) -> Agent:
        language = self._prepared.cluster.language
        # Attempts run code with sanitizers; the output of a script is text that no view shows.
        tools = tools.only(READERS).plus(investigation.tool) if investigation else tools
        # Each request to show something repeats the prompt.
        examples = [one.text(language) for one in (ONE_OF_EACH_VERDICT if investigation else EXAMPLES)]
        facts: dict[str, Any] = {"tools": tools.names, "examples": examples, "notes": self._prepared.cluster.notes}
        facts |= investigation.rules() if investigation else {"attempts": 0}
        system = fill_from(PROMPTS, "verify_system", language=language, **facts)
        about = Definition(
            system, name="Jarvis verifier", auto_complete=False, language=language, vote=vote, escalated=escalated
        )
        profile = self._profiles[2 if escalated else vote > 0]
        form, limits = (INVESTIGATED, investigation.limits(self._left)) if investigation else (FORM, self._left)
        return Agent(about, tools, profile=profile, marks=self._marks, form=form, limits=limits)


def _finder(prepared: VerificationQuestion) -> Find:
    return lambda quote, dismisses: find_quote(prepared.index, prepared.code, quote, dismisses=dismisses)


def _left(limits: AgentLimits, spent: AgentUsage) -> AgentLimits:
    """Return the limits that remain for further conversations; all conversations of a job share their limits."""
    return replace(
        limits,
        rounds=max(0, limits.rounds - spent.asks),
        retries=max(0, limits.retries - spent.retries),
        tokens=None if limits.tokens is None else max(0, limits.tokens - spent.usage.total),
        cost=None if limits.cost is None else max(0.0, limits.cost - spent.cost),
        seconds=max(0.0, limits.seconds - spent.seconds),
    )
