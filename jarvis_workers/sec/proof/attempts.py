"""What the attempts of a conversation have shown, how many are left, and why the rest is not proved.

A conversation names what it shows by numbers.  Under each are findings of one defect, the first of them in question.
An attempt is made for a number, and judged for each finding of all numbers by itself: a proof never fits by sharing.
An attempt that only reproduces a finding is kept, in case no later one proves it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from jarvis_workers.agents.loop.effects import Conversation, RunTool, Want
from jarvis_workers.agents.loop.untrusted_text import escape
from jarvis_workers.agents.tools.tool import ToolOutcome
from jarvis_workers.sec.proof.crashes import Crash, ErrorRoot
from jarvis_workers.sec.proof.proof import Proof
from jarvis_workers.sec.proof.run_tool import NEEDS_TIER_A, RUN_PROOF, AttemptReport

ATTEMPTS = 3
# Attempts that cannot be built or are refused count separately.
CALLS_PER_ATTEMPT = 3
REASON_MAX = 1_000
ANOTHER = "the proof of another finding at this place does not show it"
NO_ATTEMPT, NOT_RUN = "the model made no attempt, and gave no reason", "its attempt could not be run"
# What the model is told. The log of a build is text of the tree, and stays out.
BLOCKED = "It was not run: this code could not be built here, so nothing can be. Report from what you have read."
PENDING = "It stops the code, as follows. If that is this defect, a verdict of risk makes it its proof:\n\n{error}"
PROVED = "It was not run: this is proved already."
SPENT = "It was not run: no attempt is left for this. Report from what you know."


class AttemptsEnded(Exception):
    """The goal of a conversation is proved, or no attempt is left."""


class AttemptLedger:
    """The attempts of a conversation; `sizes` are the numbers of findings under each of its numbers, in order.

    What one `of_reader` proves is pending if it is not certain that its error is the finding: a verdict decides.
    While there is a `goal`, AttemptsEnded is raised as soon as all of it is proved, or, if `goal_may_fail`, nothing of
    it is left to try. `crashes` are errors that an attempt has proved, and that showed none of the findings.
    """

    def __init__(self, sizes: Mapping[int, int], most: int = ATTEMPTS) -> None:
        self.most, self.goal, self.goal_may_fail, self.of_reader = most, frozenset[int](), False, False
        self._places: dict[int, range] = {}
        for number, size in sizes.items():
            first = sum(map(len, self._places.values()))
            self._places[number] = range(first, first + size)
        self._ran, self._calls = Counter[int](), Counter[int]()
        self._best: dict[int, Proof] = {}
        self._misfits: dict[int, str] = {}
        self._reasons: dict[int, str] = {}
        self._blocked: dict[int, str] = {}
        self._refused, self._given_up = set[int](), set[int]()
        self._crashes: dict[ErrorRoot, Crash] = {}
        self._pending = set[int]()

    @property
    def crashes(self) -> dict[ErrorRoot, Crash]:
        """The errors that attempts have proved, and that show none of the findings, nor are at the place of one."""
        shown = [ErrorRoot.of(one.stack) for place, one in self._best.items() if place not in self._pending]
        places = {one.place for one in shown if one.place}
        return {one: crash for one, crash in self._crashes.items() if one not in shown and one.place not in places}

    @property
    def calls_max(self) -> int:
        """The calls that all attempts together may take."""
        return CALLS_PER_ATTEMPT * self.most * len(self._places)

    def perform(self, want: Want) -> Conversation[Any]:
        """Perform an effect; the report on an attempt is kept, and the model gets only its text."""
        if not isinstance(want, RunTool) or want.name != RUN_PROOF:
            return (yield want)
        # The tool has checked its arguments.
        number = int(want.arguments["candidate"]) if len(self._places) > 1 else next(iter(self._places))
        if refusal := self._refusal(number):
            return ToolOutcome("error", stderr=refusal)
        answer = yield want
        self._calls[number] += 1
        if answer.success:
            answer = replace(answer, stdout=self._take(number, AttemptReport.from_text(answer.stdout)))
        else:
            self._reasons[number] = short_reason(answer.stderr) or NOT_RUN
        if self.goal and all(map(self.is_settled if self.goal_may_fail else self.is_proved, self.goal)):
            raise AttemptsEnded
        return answer

    def is_proved(self, number: int) -> bool:
        """Return whether the finding in question is proved, not only reproduced."""
        first = self._places[number][0]
        found = self._best.get(first)
        return found is not None and found.state == "proved" and first not in self._pending

    def is_over(self, number: int) -> bool:
        """Return whether nothing is left to ask: an attempt was made, none can be, or the model has given up."""
        return (
            self._ran[number] > 0
            or self.is_settled(number)
            or number in self._given_up
            or any(one in self._best for one in self._places[number])
        )

    def is_settled(self, number: int) -> bool:
        """Return whether no further attempt is made."""
        is_spent = self._ran[number] >= self.most or self._calls[number] >= CALLS_PER_ATTEMPT * self.most
        return is_spent or self.is_proved(number) or number in self._blocked

    def forget_attempts(self) -> None:
        """Count none of the attempts so far: they were those of readers."""
        self.of_reader = False
        self._ran.clear()
        self._calls.clear()

    def decide_pending(self, number: int, *, is_risk: bool) -> None:
        """Take what is pending as proved if the verdict is a risk, else drop it."""
        for place in self._pending & set(self._places.get(number, ())):
            self._pending.discard(place)
            if not is_risk:
                del self._best[place]

    def block(self, number: int, reason: str) -> None:
        """Record why nothing can be run to show this."""
        self._blocked[number] = self._reasons[number] = short_reason(reason)

    def give_up(self, numbers: Iterable[int], reason: str) -> None:
        """Record why no further attempt is made; without a reason, it is what came of the last one, if one can be."""
        for number in self._places.keys() & set(numbers) - self._blocked.keys():
            self._reasons[number] = short_reason(reason) or self._reasons.get(number) or NO_ATTEMPT
            self._given_up.add(number)

    def follow(self, number: int, leader: int) -> None:
        """Record that attempts for another number are those for this one, too, which is at the same place."""
        self._given_up.add(number)
        if not self.is_proved(leader):
            self._reasons.setdefault(number, self._reasons.get(leader) or NO_ATTEMPT)

    def proofs_of(self, number: int) -> Iterator[Proof]:
        """Yield the proof of each finding, or why there is none."""
        first, why = self._places[number][0], self._reasons.get(number) or NO_ATTEMPT
        why = f"{NEEDS_TIER_A}; {why}" if number in self._refused and NEEDS_TIER_A not in why else why
        for place in self._places[number]:
            found = self._best.get(place) if place not in self._pending else None
            has_own = place == first and number in self._reasons
            if found is None and place in self._misfits and not has_own:
                found = Proof("failed", reason=short_reason(f"{ANOTHER}: {self._misfits[place]}"))
            found = found or Proof("failed", reason=why)
            yield found._replace(attempts=self._ran[number] or int(found.attempt is not None))

    def _take(self, number: int, report: AttemptReport) -> str:
        """Record the report on an attempt, and return its text for the model."""
        before = [one for one in self._places if self.is_proved(one)]
        self._ran[number] += report.ran
        if NEEDS_TIER_A in report.text and not report.ran:
            self._refused.add(number)
        self._reasons[number] = short_reason(report.text)
        for crash in report.crashes:
            self._crashes.setdefault(ErrorRoot.of(crash.proof.stack), crash)
        for place, proof in enumerate(report.proofs):
            best = self._best.get(place)
            is_better = best is None or place in self._pending or (proof.state, best.state) == ("proved", "reproduced")
            if proof.state != "failed" and is_better:
                self._best[place] = proof
                self._pending.discard(place)
                is_certain = not self.of_reader or (report.certain[place] and place in self._places[number])
                if proof.state == "proved" and not is_certain:
                    self._pending.add(place)
        if report.proofs and report.proofs[self._places[number][0]].state != "failed":
            failed = (one for one in enumerate(report.proofs) if one[1].state == "failed")
            self._misfits |= {place: proof.reason for place, proof in failed}
        also = [one for one in self._places if self.is_proved(one) and one not in (number, *before)]
        own = self._places[number][0]
        shown = report.proofs[own] if self.of_reader and report.proofs else None
        waits = shown is not None and shown.state == "proved" and own in self._pending
        text = PENDING.format(error="\n".join(shown.stack)) if shown and waits else report.text
        texts = [text, *(f"It also proves candidate {one}." for one in also)]
        if not self.is_proved(number):
            texts.append(f"Attempts left: {self.most - self._ran[number]}.")
        return "\n\n".join(texts)

    def _refusal(self, number: int) -> str:
        """Return why no attempt is made for a number, "" if one is."""
        if number not in self._places:
            return f"there is no candidate {number}; there are: {', '.join(map(str, self._places))}"
        if number in self._blocked:
            return BLOCKED
        if self.is_proved(number):
            return PROVED
        return SPENT if self.is_settled(number) else ""


def short_reason(text: str) -> str:
    """Return a text as one line of a report."""
    text = " ".join(escape(text).split())
    return text if len(text) <= REASON_MAX else f"{text[:REASON_MAX]}…"
