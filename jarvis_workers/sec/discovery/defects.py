"""The defects that a model reports in a function, checked mechanically: line, quote, weakness, and earlier findings.

A line must be in the function, and its quote must stand there. A defect is dropped on a line that the report has named
before, or where a rule of its category has fired. The first DEFECTS_MAX that stand are taken; the others are counted.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Annotated, Any, NamedTuple

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from jarvis_workers.agent.report import ReportForm
from jarvis_workers.agent.untrusted_text import escape
from jarvis_workers.sec.finding import Candidate
from jarvis_workers.sec.judge.verdict import Evidence
from jarvis_workers.sec.rules import RULES

PATTERN = "discovered"
CATEGORY = "discovered"
LANGUAGE = "c/cpp"
# Medium: nothing but a model has seen it, until it is verified.
CONFIDENCE = 0.65
DEFECTS_MAX = 5
# Of an endless report, no more is checked.
ITEMS_MAX = 50
TEXT_MAX = 400
ANALYSIS_MAX = 4_000
# The largest number in the CWE list is below this.
CWE_MAX = 2_000
CWE = re.compile(r"\s*(?:CWE\W?)?(\d{1,6})\b", re.IGNORECASE)
CATEGORY_OF_CWE: dict[int, str] = {rule.cwe: rule.category for rule in reversed(RULES)}


def _number(value: Any) -> Any:
    match = CWE.match(value) if isinstance(value, str) else None
    return int(match[1]) if match else value


def _listed_cwe(value: int) -> int:
    if not 0 < value < CWE_MAX:
        raise ValueError("is not the number of a weakness in the CWE list")
    return value


class DefectItem(BaseModel):
    """A defect as a model reports it."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    analysis: str = Field(default="", max_length=ANALYSIS_MAX * 4)
    line: Annotated[int, BeforeValidator(_number)]
    quote: str
    cwe: Annotated[int, BeforeValidator(_number), AfterValidator(_listed_cwe)]
    description: str = Field(min_length=1)
    suggestion: str = ""


FORM = ReportForm(list[DefectItem], tag="DEFECTS")


class DiscoveredDefect(NamedTuple):
    """A defect whose quote stands in the function; `line` is a line of the file."""

    line: int
    cwe: int
    description: str
    suggestion: str
    evidence: str

    @property
    def category(self) -> str:
        return category_of(self.cwe)


def category_of(cwe: int) -> str:
    """Return the category of the rules for a weakness; CATEGORY if there is none."""
    return CATEGORY_OF_CWE.get(cwe, CATEGORY)


class CheckedReport(NamedTuple):
    """The defects that are taken, and what is wrong with other items, which are numbered from 1.

    `surplus` is the number of defects beyond DEFECTS_MAX.
    """

    defects: tuple[DiscoveredDefect, ...]
    problems: tuple[tuple[int, str], ...]
    surplus: int = 0


# Locates the quote of an item, or returns None.
FindQuote = Callable[[DefectItem], Evidence | None]


def check(
    items: Sequence[DefectItem], lines: range, find: FindQuote, findings: Iterable[Candidate], code: Sequence[str]
) -> CheckedReport:
    """Check a report about a function with these `lines` of a file; `code` are all lines of the file as shown."""
    reported = {(one.line, one.category) for one in findings}
    defects: dict[int, DiscoveredDefect] = {}
    problems = []
    for number, item in enumerate(items[:ITEMS_MAX], 1):
        if problem := _problem(item, len(lines)):
            problems.append((number, problem))
            continue
        evidence = find(item)
        if evidence is None or evidence.line not in lines:
            problems.append((number, f"its quote does not stand within three lines of line {item.line}"))
        elif (evidence.line, category_of(item.cwe)) not in reported:
            defects.setdefault(evidence.line, _defect(item, evidence.line, code[evidence.line - 1]))
    taken = sorted(list(defects)[:DEFECTS_MAX])
    surplus = len(defects) - len(taken) + len(items[ITEMS_MAX:])
    return CheckedReport(tuple(defects[line] for line in taken), tuple(problems[:DEFECTS_MAX]), surplus)


def _problem(item: DefectItem, height: int) -> str | None:
    if not 0 < item.line <= height:
        return f"the function has {height} lines, and no line {item.line}"
    return None if any(map(str.isalnum, item.description)) else "its description is empty"


def _defect(item: DefectItem, line: int, code: str) -> DiscoveredDefect:
    return DiscoveredDefect(line, item.cwe, one_line(item.description), one_line(item.suggestion), code.strip())


def one_line(text: str) -> str:
    """Return a model's text on one line, without invisible characters."""
    words = " ".join(escape(text).split())
    return words if len(words) <= TEXT_MAX else f"{words[: TEXT_MAX - 1]}…"


def finding_lines(findings: Iterable[Candidate], first: int) -> Iterator[str]:
    """Yield a line of text about each finding in a function that begins on line `first`."""
    for one in sorted(findings, key=lambda one: (one.line, one.pattern)):
        yield f"line {one.line - first + 1}: {one.pattern} (CWE-{one.cwe}): {one.description}"
