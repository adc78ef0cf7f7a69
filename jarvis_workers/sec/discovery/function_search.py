"""Ask a model for defects in one function; what it reports, there and elsewhere, is checked by `defects`.

Like a question about candidates, the request contains nothing of the run: lines are counted from the first line of the
function. A conversation that ends early reports nothing, and says why.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from jarvis_workers.agent.agent import Agent
from jarvis_workers.agent.effects import Conversation, Definition, TaskResult
from jarvis_workers.agent.limits import AgentLimits, early_end
from jarvis_workers.agent.loop import run_task
from jarvis_workers.agent.nonces import Marks
from jarvis_workers.agent.prompts import fill_from
from jarvis_workers.errors import AgentStopped
from jarvis_workers.platforms.profiles import Profile
from jarvis_workers.sec.discovery.defects import (
    FORM,
    CheckedReport,
    DefectItem,
    DiscoveredDefect,
    check,
    defect_at,
    finding_lines,
)
from jarvis_workers.sec.finding import Candidate
from jarvis_workers.sec.judge.quotes import called_lines, find_quote, stated_place
from jarvis_workers.sec.judge.reading_tools import reading_tools
from jarvis_workers.sec.judge.slices import CodeIndex, Slice, SliceTarget, cut
from jarvis_workers.sec.judge.slices.places import CodeRange, SourceFile
from jarvis_workers.sec.judge.verdict import Evidence, Quote
from jarvis_workers.sec.judge.verification import ROLES
from jarvis_workers.tools.registry import Toolbox
from jarvis_workers.tools.tool import Language

PROMPTS = Path(__file__).parent / "prompts"
# A request for corrections follows the first report at most so often.
CORRECTIONS = 1
ROUNDS, TOOL_CALLS = 12, 8
# Lines of a long function between those around which the slice is cut, and how many of them are shown at most.
STEP, SHOWN_MAX = 40, 480
PARTS = {**ROLES["en"], "code": "the function in question"}
PARTLY = "the model has seen {count} of its {size} lines"
INSTRUCTED = "its code contains instructions to a model ({rules})"


class SearchPrompts(NamedTuple):
    """The prompts of a search in a directory, further untrusted `values` of its task, and its bounds."""

    directory: Path
    system: str
    task: str
    values: Mapping[str, str] = MappingProxyType({})
    rounds: int = ROUNDS
    has_tools: bool = True


DISCOVERY = SearchPrompts(PROMPTS, "discover_system", "discover")


@dataclass(frozen=True)
class FunctionQuestion:
    """The question about a function: its code, what rules have found in it, as hints, and the user's notes."""

    index: CodeIndex
    file: SourceFile
    place: CodeRange
    code: Slice
    findings: tuple[Candidate, ...]
    language: Language = "en"
    notes: str = ""

    @property
    def name(self) -> str:
        return f"{self.file.path}#{self.place.name}"

    @property
    def about(self) -> str:
        """Hash of the question, independent of the run, the location and the time."""
        parts = [self.language, self.name, self.finding_text, *self._texts, *filter(None, [self.notes])]
        return sha256(json.dumps(parts).encode()).hexdigest()

    @property
    def finding_text(self) -> str:
        """The findings of rules in the function, one a line."""
        return "\n".join(finding_lines(self.findings, self.place.first))

    @property
    def _texts(self) -> list[str]:
        return [part.text() for part in self.code.parts]


@dataclass(frozen=True)
class SearchResult:
    """The defects that a search found; `reason` says why the function was not searched, or not completely.

    `nowhere` are descriptions of reported defects whose place does not exist, `surplus` those of defects beyond the
    number that is taken.
    """

    defects: tuple[DiscoveredDefect, ...] = ()
    reason: str | None = None
    nowhere: tuple[str, ...] = ()
    surplus: tuple[str, ...] = ()


def prepare(
    index: CodeIndex, path: str, line: int, findings: Sequence[Candidate], language: Language = "en", notes: str = ""
) -> FunctionQuestion | None:
    """Return the question about the function at a line of a file, or None if there is none; this reads files."""
    file = index.file(path)
    place = file.at(line) if file else None
    if file is None or place is None or place.function is None:
        return None
    last = min(place.last, place.first + SHOWN_MAX)
    spots = [SliceTarget(path, one) for one in range(min(line, last), last + 1, STEP)]
    inside = tuple(one for one in findings if place.first <= one.line <= place.last)
    return FunctionQuestion(index, file, place, cut(index, spots), inside, language, notes)


class FunctionSearch:
    """The conversation about one function; `agent` has its tools, `stopped` is the reason of an early end."""

    def __init__(
        self,
        question: FunctionQuestion,
        *,
        profile: Profile,
        marks: Marks,
        limits: AgentLimits | None = None,
        prompts: SearchPrompts = DISCOVERY,
    ) -> None:
        limits, rounds = limits or AgentLimits(), prompts.rounds
        limits = replace(limits, rounds=min(limits.rounds, rounds), tool_calls=min(limits.tool_calls, TOOL_CALLS))
        facts = {"language": question.language, "notes": question.notes}
        system = fill_from(prompts.directory, prompts.system, **facts)
        about = Definition(system, name="Jarvis searcher", auto_complete=False, language=question.language)
        tools = Toolbox(reading_tools(question.index) if prompts.has_tools else [])
        self.agent = Agent(about, tools, profile=profile, marks=marks, form=FORM, limits=limits)
        self.stopped: str | None = None
        self._question, self._prompts = question, prompts

    def run(self) -> Conversation[SearchResult]:
        """Return the defects that the model reports; raises nothing."""
        message, height = self._task(), self._question.place.last - self._question.place.first + 1
        report, found, reason = CheckedReport(()), set[DiscoveredDefect](), None
        try:
            for _ in range(1 + CORRECTIONS):
                result: TaskResult = yield from run_task(self.agent, message)
                report = check(result.report or (), height, self._find)
                # What a corrected report leaves out was found all the same.
                found |= set(report.defects)
                if not report.problems:
                    break
                message = fill_from(PROMPTS, "discover_again", problems=report.problems)
        except AgentStopped as stop:
            self.stopped, reason = stop.reason, early_end(stop)
        placed = [(item, self._stated(item)) for item in report.lost]
        found |= {defect_at(item, place) for item, place in placed if place}
        nowhere = tuple(f"{item.text} (line {item.line})" for item, place in placed if place is None)
        surplus = tuple(item.text for item in report.surplus)
        defects = tuple(map(self._with_lines, sorted(found)))
        reason = reason or self._unseen() or (None if defects else self._instructions())
        return SearchResult(defects, reason, nowhere, surplus)

    def _unseen(self) -> str | None:
        """Return that the model has seen only a part of the function: it was shown no more, and read nothing."""
        place, parts = self._question.place, self._question.code.parts
        count = sum(last - first + 1 for part in parts if part.place == place for first, last in part.lines)
        size = place.last - place.first + 1
        if count >= size or self.agent.executed:
            return None
        return PARTLY.format(count=count, size=size)

    def _with_lines(self, defect: DiscoveredDefect) -> DiscoveredDefect:
        """Return a defect whose texts name lines of files."""
        description, suggestion = (
            called_lines(text, self._question.index) for text in (defect.description, defect.suggestion)
        )
        return defect._replace(description=description, suggestion=suggestion)

    def _instructions(self) -> str | None:
        """Return that the code may have told the model to report nothing, if it contains a prompt injection."""
        found = [*self._question.code.suspicions(), *self.agent.guard.suspicions]
        rules = sorted({one.rule for one in found if one.level != "warn"})
        return INSTRUCTED.format(rules=", ".join(rules)) if rules else None

    def _find(self, item: DefectItem) -> Evidence | None:
        """Return the place of the quote, in the function if it names no file."""
        question = self._question
        quote = Quote(file=item.file or question.name, line=item.line, quote=item.quote)
        found = find_quote(question.index, question.code, quote)
        return self._with_code(found) if isinstance(found, Evidence) else None

    def _stated(self, item: DefectItem) -> Evidence | None:
        """Return the line that an item states, whatever it quotes."""
        question = self._question
        stated = stated_place(question.index, question.code, item.file or question.name, item.line)
        return self._with_code(stated) if stated else None

    def _with_code(self, place: Evidence) -> Evidence:
        file = self._question.index.file(place.file)
        return replace(place, quote=file.decided[place.line - 1].strip() if file else place.quote)

    def _task(self) -> str:
        question, guard, prompts = self._question, self.agent.guard, self._prompts
        return fill_from(
            prompts.directory,
            prompts.task,
            function=guard.admit(question.name),
            findings=guard.admit(question.finding_text) if question.findings else "",
            parts=[(PARTS[part.role], guard.admit(part.text())) for part in question.code.parts],
            left_out=question.code.left_out,
            **{name: guard.admit(value) for name, value in prompts.values.items()},
        )
