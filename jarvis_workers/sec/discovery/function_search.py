"""Ask a model for defects in one function that no rule has reported; what it reports is checked by `defects`.

Like a question about candidates, the request contains nothing of the run: lines are counted from the first line of the
function. A conversation that ends early reports nothing, and says why.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from jarvis_workers.agent.agent import Agent
from jarvis_workers.agent.effects import Conversation, Definition, TaskResult
from jarvis_workers.agent.limits import AgentLimits, early_end
from jarvis_workers.agent.loop import run_task
from jarvis_workers.agent.nonces import Marks
from jarvis_workers.agent.prompts import fill_from
from jarvis_workers.errors import AgentStopped
from jarvis_workers.platforms.profiles import Profile
from jarvis_workers.sec.discovery.defects import DEFECTS_MAX, FORM, DefectItem, DiscoveredDefect, check, finding_lines
from jarvis_workers.sec.finding import Candidate
from jarvis_workers.sec.judge.quotes import called_lines, find_quote
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


@dataclass(frozen=True)
class FunctionQuestion:
    """The question about a function: its code, the candidates that rules have found in it, and the user's notes."""

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
    """The defects of a function; `reason` says why it was not searched, or not completely.

    `surplus` is the number of defects that the model has reported beyond those that are taken.
    """

    defects: tuple[DiscoveredDefect, ...] = ()
    reason: str | None = None
    surplus: int = 0


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
        self, question: FunctionQuestion, *, profile: Profile, marks: Marks, limits: AgentLimits | None = None
    ) -> None:
        limits = limits or AgentLimits()
        limits = replace(limits, rounds=min(limits.rounds, ROUNDS), tool_calls=min(limits.tool_calls, TOOL_CALLS))
        facts = {"language": question.language, "most": DEFECTS_MAX, "notes": question.notes}
        system = fill_from(PROMPTS, "discover_system", **facts)
        about = Definition(system, name="Jarvis searcher", auto_complete=False, language=question.language)
        tools = Toolbox(reading_tools(question.index))
        self.agent = Agent(about, tools, profile=profile, marks=marks, form=FORM, limits=limits)
        self.stopped: str | None = None
        self._question = question

    def run(self) -> Conversation[SearchResult]:
        """Return the defects that stand; raises nothing."""
        message, defects, surplus = self._task(), tuple[DiscoveredDefect, ...](), 0
        lines = range(self._question.place.first, self._question.place.last + 1)
        try:
            for _ in range(1 + CORRECTIONS):
                result: TaskResult = yield from run_task(self.agent, message)
                items: Sequence[DefectItem] = result.report or ()
                checked = check(items, lines, self._find, self._question.findings, self._question.file.decided)
                defects, surplus = tuple(map(self._with_lines, checked.defects)), checked.surplus
                if not checked.problems:
                    break
                message = fill_from(PROMPTS, "discover_again", problems=checked.problems)
        except AgentStopped as stop:
            self.stopped = stop.reason
            return SearchResult(defects, early_end(stop), surplus)
        return SearchResult(defects, self._unseen() or (None if defects else self._instructions()), surplus)

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
        question = self._question
        quote = Quote(file=question.name, line=item.line, quote=item.quote)
        found = find_quote(question.index, question.code, quote)
        return found if isinstance(found, Evidence) else None

    def _task(self) -> str:
        question, guard = self._question, self.agent.guard
        return fill_from(
            PROMPTS,
            "discover",
            function=guard.admit(question.name),
            findings=guard.admit(question.finding_text) if question.findings else "",
            parts=[(PARTS[part.role], guard.admit(part.text())) for part in question.code.parts],
            left_out=question.code.left_out,
        )
