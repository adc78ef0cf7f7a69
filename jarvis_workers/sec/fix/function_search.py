"""Ask a model for defects in one function; what it reports, there and elsewhere, is checked by `defects`.

The request contains nothing of the run: lines are counted from the first line of the function. A conversation that ends
early reports nothing, and says why.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.effects import Conversation, Definition, TaskResult
from jarvis_workers.agents.loop.limits import AgentLimits, early_end
from jarvis_workers.agents.loop.loop import run_task
from jarvis_workers.agents.loop.nonces import Marks
from jarvis_workers.agents.loop.prompts import fill_from
from jarvis_workers.agents.loop.report import ReportForm
from jarvis_workers.agents.tools.tool import Toolbox
from jarvis_workers.errors import AgentStopped
from jarvis_workers.models.platforms.profiles import Profile
from jarvis_workers.sec.assessment import EvidenceQuote
from jarvis_workers.sec.cwe import cwe_number, is_cwe
from jarvis_workers.sec.judge.question_text import ROLES
from jarvis_workers.sec.judge.quotes import called_lines, find_quote, stated_place
from jarvis_workers.sec.judge.report_fields import INSTRUCTED, Text, line_value, sentence
from jarvis_workers.sec.judge.slices import CodeIndex, Slice, SliceTarget, cut
from jarvis_workers.sec.judge.slices.places import CodeRange, SourceFile
from jarvis_workers.sec.judge.verdict import Quote

# The defects that a model reports of a function, placed in the code: line, quote and weakness.

# More than a model reports of one function, and than an answer has room for.
ITEMS_MAX = 50
PROBLEMS_MAX = 5
ANALYSIS_MAX = 4_000


def _listed_cwe(value: int) -> int:
    if not is_cwe(value):
        raise ValueError("is not the number of a weakness in the CWE list")
    return value


class DefectItem(BaseModel):
    """A defect as a model reports it; `file` is empty for one in the function in question."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    analysis: str = Field(default="", max_length=ANALYSIS_MAX * 4)
    file: Text = ""
    line: Annotated[int, BeforeValidator(line_value)]
    quote: str
    cwe: Annotated[int, BeforeValidator(cwe_number), AfterValidator(_listed_cwe)]
    description: str = Field(min_length=1)
    suggestion: str = ""

    @property
    def text(self) -> str:
        """The description on one line, without invisible characters; the weakness if it says nothing."""
        return sentence(self.description) if any(map(str.isalnum, self.description)) else f"CWE-{self.cwe}"


FORM = ReportForm(list[DefectItem], tag="DEFECTS")


class PlacedDefect(NamedTuple):
    """A defect with its place; `line` is a line of the file."""

    file: str
    line: int
    cwe: int
    description: str


class CheckedReport(NamedTuple):
    """The defects that are in the code, those that are `lost`, and what is wrong with these: the first PROBLEMS_MAX.

    Items are numbered from 1; `surplus` are those beyond ITEMS_MAX.
    """

    defects: tuple[PlacedDefect, ...]
    lost: tuple[DefectItem, ...] = ()
    problems: tuple[tuple[int, str], ...] = ()
    surplus: tuple[DefectItem, ...] = ()


# Locates an item, or returns None.
Locate = Callable[[DefectItem], EvidenceQuote | None]


def check(items: Sequence[DefectItem], height: int, find: Locate) -> CheckedReport:
    """Check a report about a function of `height` lines."""
    defects, lost, problems = list[PlacedDefect](), list[DefectItem](), list[tuple[int, str]]()
    for number, item in enumerate(items[:ITEMS_MAX], 1):
        place = find(item)
        if problem := _problem(item, place, height):
            lost.append(item)
            problems.append((number, problem))
        elif place:
            defects.append(defect_at(item, place))
    surplus = tuple(items[ITEMS_MAX:])
    return CheckedReport(tuple(defects), tuple(lost), tuple(problems[:PROBLEMS_MAX]), surplus)


def _problem(item: DefectItem, place: EvidenceQuote | None, height: int) -> str | None:
    if not item.file and not 0 < item.line <= height:
        return f"the function has {height} lines, and no line {item.line}"
    if place is None:
        return f"its quote does not stand within three lines of line {item.line}"
    return None if any(map(str.isalnum, item.description)) else "its description is empty"


def defect_at(item: DefectItem, place: EvidenceQuote) -> PlacedDefect:
    """Return the defect of an item at a place."""
    return PlacedDefect(place.file, place.line, item.cwe, item.text)


PROMPTS = Path(__file__).parent / "prompts"
# A request for corrections follows the first report at most so often.
CORRECTIONS = 1
# An answer, and one that corrects its form.
ROUNDS = 2
# Lines of a long function between those around which the slice is cut, and how many of them are shown at most.
STEP, SHOWN_MAX = 40, 480
PARTS = {**ROLES["en"], "code": "the function in question"}
PARTLY = "the model has seen {count} of its {size} lines"


@dataclass(frozen=True)
class FunctionQuestion:
    """The question about a function: its code."""

    index: CodeIndex
    file: SourceFile
    place: CodeRange
    code: Slice

    @property
    def name(self) -> str:
        return f"{self.file.path}#{self.place.name}"

    @property
    def about(self) -> str:
        """Hash of the question, independent of the run, the location and the time."""
        return sha256(json.dumps([self.name, *(part.text() for part in self.code.parts)]).encode()).hexdigest()


@dataclass(frozen=True)
class SearchResult:
    """The defects that a search found; `reason` says why the function was not searched, or not completely.

    `nowhere` are descriptions of reported defects whose place does not exist, `surplus` those of defects beyond the
    number that is taken.
    """

    defects: tuple[PlacedDefect, ...] = ()
    reason: str | None = None
    nowhere: tuple[str, ...] = ()
    surplus: tuple[str, ...] = ()


def prepare(index: CodeIndex, path: str, line: int) -> FunctionQuestion | None:
    """Return the question about the function at a line of a file, or None if there is none; this reads files."""
    file = index.file(path)
    place = file.at(line) if file else None
    if file is None or place is None or place.function is None:
        return None
    last = min(place.last, place.first + SHOWN_MAX)
    spots = [SliceTarget(path, one) for one in range(min(line, last), last + 1, STEP)]
    return FunctionQuestion(index, file, place, cut(index, spots))


class FunctionSearch:
    """The conversation about one function, without tools; `stopped` is the reason of an early end.

    `values` are further untrusted texts of the task.
    """

    def __init__(
        self,
        question: FunctionQuestion,
        values: Mapping[str, str],
        *,
        profile: Profile,
        marks: Marks,
        limits: AgentLimits | None = None,
    ) -> None:
        limits = limits or AgentLimits()
        limits = replace(limits, rounds=min(limits.rounds, ROUNDS))
        about = Definition(fill_from(PROMPTS, "look_system"), name="Jarvis searcher", auto_complete=False)
        self.agent = Agent(about, Toolbox([]), profile=profile, marks=marks, form=FORM, limits=limits)
        self.stopped: str | None = None
        self._question, self._values = question, values

    def run(self) -> Conversation[SearchResult]:
        """Return the defects that the model reports; raises nothing."""
        message, height = self._task(), self._question.place.last - self._question.place.first + 1
        report, found, reason = CheckedReport(()), set[PlacedDefect](), None
        try:
            for _ in range(1 + CORRECTIONS):
                result: TaskResult = yield from run_task(self.agent, message)
                report = check(result.report or (), height, self._find)
                # What a corrected report leaves out was found all the same.
                found |= set(report.defects)
                if not report.problems:
                    break
                message = fill_from(PROMPTS, "look_again", problems=report.problems)
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
        """Return that the model was shown only a part of the function."""
        place, parts = self._question.place, self._question.code.parts
        count = sum(last - first + 1 for part in parts if part.place == place for first, last in part.lines)
        size = place.last - place.first + 1
        return PARTLY.format(count=count, size=size) if count < size else None

    def _with_lines(self, defect: PlacedDefect) -> PlacedDefect:
        """Return a defect whose text names lines of files."""
        return defect._replace(description=called_lines(defect.description, self._question.index))

    def _instructions(self) -> str | None:
        """Return that the code may have told the model to report nothing, if it contains a prompt injection."""
        found = [*self._question.code.suspicions(), *self.agent.guard.suspicions]
        rules = sorted({one.rule for one in found if one.level != "warn"})
        return INSTRUCTED.format(rules=", ".join(rules)) if rules else None

    def _find(self, item: DefectItem) -> EvidenceQuote | None:
        """Return the place of the quote, in the function if it names no file."""
        question = self._question
        quote = Quote(file=item.file or question.name, line=item.line, quote=item.quote)
        found = find_quote(question.index, question.code, quote)
        return found if isinstance(found, EvidenceQuote) else None

    def _stated(self, item: DefectItem) -> EvidenceQuote | None:
        """Return the line that an item states, whatever it quotes."""
        question = self._question
        return stated_place(question.index, question.code, item.file or question.name, item.line)

    def _task(self) -> str:
        question, guard = self._question, self.agent.guard
        return fill_from(
            PROMPTS,
            "look",
            function=guard.admit(question.name),
            parts=[(PARTS[part.role], guard.admit(part.text())) for part in question.code.parts],
            left_out=question.code.left_out,
            **{name: guard.admit(value) for name, value in self._values.items()},
        )
