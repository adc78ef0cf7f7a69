"""The defects that a model reports of a function, placed in the code: line, quote and weakness.

A defect may be in the function or in any other code that the model has seen. One whose quote is not found is sent back
once; if it is still not found, the line that the model states counts. The first ITEMS_MAX are taken; the others are
named.
"""

from collections.abc import Callable, Sequence
from typing import Annotated, NamedTuple

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from jarvis_workers.agents.loop.report import ReportForm
from jarvis_workers.sec.assessment import EvidenceQuote
from jarvis_workers.sec.cwe import cwe_number, is_cwe
from jarvis_workers.sec.judge.report_fields import Text, line_value, sentence

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
