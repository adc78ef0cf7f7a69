"""What a reader reports: a free list of items, each checked mechanically against the file that it names.

An unusable field of an item never costs the others: it gets a default, or the item is a problem of its own. An item
whose quote does not stand in its file is a problem. Items in other words are items of their own: those that are the
same defect are merged by name where all candidates are (`same_defect`).
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from jarvis_workers.agents.loop.report import ReportForm
from jarvis_workers.paths import plain
from jarvis_workers.sec.assessment import EvidenceQuote
from jarvis_workers.sec.cwe import CWE_MAX, OTHER, category_of
from jarvis_workers.sec.judge.lost_quote import Loss, LostQuote
from jarvis_workers.sec.judge.report_fields import sentence
from jarvis_workers.sec.proof.attempt_arguments import RunProof

ITEMS_MAX = 200
# Medium: nothing but a model has seen it, until it is verified.
CONFIDENCE = 0.65
NUMBER = re.compile(r"\D{0,20}?(\d{1,7})")
CAUSE = re.compile(r"\s*([^\s:]+):(\d{1,7})(?:\s*[:,-]\s*|\s+)(\S.*)", re.DOTALL)
NAMED_MAX = 160

Reach = Literal["remote", "file", "local", "self", "platform", "unknown"]
Severity = Literal["high", "medium", "low"]
Sure = Literal["certain", "likely", "doubt"]
WHY: Mapping[Loss, str] = {
    "unknown": "this tree has no file {file}",
    "several": "its quote stands in {file} more than once, and not within three lines of line {line}",
    "short": "its quote is too short to identify a place in {file}",
    "long": "its quote is too long",
    "document": "{file} is no source file",
    "absent": "its quote does not stand in {file}",
}


def _number(value: Any) -> int:
    """Return the first number in a value, 0 if there is none."""
    match = NUMBER.match(str(value))
    return int(match[1]) if match else 0


def _cwe(value: Any) -> int:
    number = _number(value)
    return number if number < CWE_MAX else 0


def _one_of(*words: str) -> BeforeValidator:
    """Return a validator that reads any other value than `words` as the last of them."""
    return BeforeValidator(lambda value: word if (word := str(value).strip().lower()) in words else words[-1])


def _places(value: Any) -> list[str]:
    places = value if isinstance(value, list) else [value] if value else []
    return [str(place)[:NAMED_MAX] for place in places]


def _attempt(value: Any) -> RunProof | None:
    """Return an attempt, None if it is unusable: the claim that it shall show stands without it."""
    try:
        return RunProof.model_validate(value) if value else None
    except ValidationError:
        return None


Text = Annotated[str, BeforeValidator(lambda value: "" if value is None else str(value))]


class HypothesisItem(BaseModel):
    """A defect as a reader reports it."""

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)

    file: Text = ""
    line: Annotated[int, BeforeValidator(_number)] = 0
    quote: Text = ""
    cwe: Annotated[int, BeforeValidator(_cwe)] = 0
    description: Text = ""
    reach: Annotated[Reach, _one_of("remote", "file", "local", "self", "platform", "unknown")] = "unknown"
    severity: Annotated[Severity, _one_of("high", "low", "medium")] = "medium"
    sure: Annotated[Sure, _one_of("certain", "doubt", "likely")] = "likely"
    suggestion: Text = ""
    cause: Text = ""
    look_at: Annotated[list[str], BeforeValidator(_places)] = Field(default_factory=list)


class ShownItem(HypothesisItem):
    """A defect, and an attempt to show it by execution."""

    attempt: Annotated[RunProof | None, BeforeValidator(_attempt)] = None


FORM = ReportForm(list[HypothesisItem], tag="HYPOTHESES")
SHOWN_FORM = ReportForm(list[ShownItem], tag="HYPOTHESES")


class Cause(NamedTuple):
    """The line whose change fixes a defect, and what is missing there; several defects may have the same cause."""

    file: str
    line: int
    missing: str


class GivenAttempt(NamedTuple):
    """An attempt with which a reader shows a defect, and what the reader thinks of that."""

    attempt: RunProof
    reach: Reach
    severity: Severity


class Hypothesis(NamedTuple):
    """A defect whose quote occurs in its file; `code` is the line. Without a cause, it is fixed at its own line."""

    file: str
    line: int
    cwe: int
    description: str
    suggestion: str
    code: str
    cause: Cause | None = None
    given: GivenAttempt | None = None

    @property
    def category(self) -> str:
        return category_of(self.cwe)


class ItemProblem(NamedTuple):
    """An item that cannot be used, numbered from 1, and why."""

    number: int
    item: HypothesisItem
    why: str

    @property
    def place(self) -> str:
        return plain(f"{self.item.file[:NAMED_MAX]}:{self.item.line}")

    @property
    def title(self) -> str:
        """The item on one line, for a report."""
        return f'"{sentence(self.item.description)}" ({self.place})'

    @property
    def text(self) -> str:
        """The item with the reason."""
        return f"{self.title}, because {self.why}"


class CheckedItems(NamedTuple):
    """The hypotheses that stand, by place, the items that do not, and those beyond the limit, as text."""

    hypotheses: tuple[Hypothesis, ...]
    problems: tuple[ItemProblem, ...]
    surplus: tuple[str, ...] = ()


# Locates the quote of an item.
FindQuote = Callable[[HypothesisItem], EvidenceQuote | LostQuote]
# Returns a line of a file as shown, "" if there is none.
LineOf = Callable[[str, int], str]


def check(items: Sequence[HypothesisItem], find: FindQuote, line_of: LineOf) -> CheckedItems:
    """Check the first ITEMS_MAX items of a report."""
    hypotheses, problems = [], list[ItemProblem]()
    for number, item in enumerate(items[:ITEMS_MAX], 1):
        place = find(item) if any(map(str.isalnum, item.description)) else None
        if isinstance(place, EvidenceQuote):
            hypotheses.append(_hypothesis(item, place, line_of))
        else:
            file = item.file[:NAMED_MAX] or "without a name"
            why = WHY[place.kind].format(file=file, line=item.line) if place else "its description is empty"
            problems.append(ItemProblem(number, item, plain(why)))
    surplus = tuple(ItemProblem(0, item, "").title for item in items[ITEMS_MAX:])
    return CheckedItems(distinct(hypotheses), tuple(problems), surplus)


def distinct(hypotheses: Sequence[Hypothesis]) -> tuple[Hypothesis, ...]:
    """Return the hypotheses in the order of the lines, without those that say the same of a line word by word."""
    first = {(one.file, one.line, one.cwe, one.description): one for one in reversed(hypotheses)}
    return tuple(first[key] for key in sorted(first))


def with_shared_causes(hypotheses: Sequence[Hypothesis]) -> tuple[Hypothesis, ...]:
    """Return the hypotheses; those at a line that others of their category name as the cause have this cause, too."""
    named: dict[tuple[str, int, str], Cause] = {}
    for one in hypotheses:
        if one.cause and one.cause[:2] != (one.file, one.line):
            named.setdefault((*one.cause[:2], one.category), one.cause)

    def shared(one: Hypothesis) -> Hypothesis:
        own = one.cause is None or one.cause[:2] == (one.file, one.line)
        return one._replace(cause=named.get((one.file, one.line, one.category))) if own else one

    return tuple(map(shared, hypotheses))


def unresolved(
    problems: Sequence[ItemProblem], items: Sequence[HypothesisItem], again: CheckedItems
) -> Iterator[ItemProblem]:
    """Yield the problems that no item of a second report settles, and the problems of that report.

    An item settles one problem: one with the same description, or else one of the same file and kind of weakness.
    """
    left = list(items[:ITEMS_MAX])
    for key in (_words, _kind):
        keys, still = [key(item) for item in left], list[ItemProblem]()
        for one in problems:
            if (own := key(one.item)) in keys:
                at = keys.index(own)
                del keys[at], left[at]
            else:
                still.append(one)
        problems = still
    yield from problems
    yield from again.problems


def _words(item: HypothesisItem) -> tuple[str, str]:
    return _base(item), sentence(item.description)


def _kind(item: HypothesisItem) -> tuple[str, str]:
    category = category_of(item.cwe)
    return _base(item), category if category != OTHER else f"CWE-{item.cwe}"


def _base(item: HypothesisItem) -> str:
    return item.file.partition("#")[0].rpartition("/")[2]


def _hypothesis(item: HypothesisItem, place: EvidenceQuote, line_of: LineOf) -> Hypothesis:
    """Return a hypothesis; its description says what the reader thinks of it, since candidates have no such fields."""
    cause = _cause(item, place, line_of)
    unplaced = f"; cause: {sentence(item.cause)}" if item.cause.strip() and cause is None else ""
    says = f"{sentence(item.description)} (reach: {item.reach}, harm: {item.severity}, {item.sure}{unplaced})"
    code = line_of(place.file, place.line).strip()
    suggestion = sentence(item.suggestion)
    attempt = item.attempt if isinstance(item, ShownItem) else None
    given = GivenAttempt(attempt, item.reach, item.severity) if attempt else None
    return Hypothesis(place.file, place.line, item.cwe, says, suggestion, code, cause, given)


def _cause(item: HypothesisItem, place: EvidenceQuote, line_of: LineOf) -> Cause | None:
    """Return the cause that an item names, None if it names none or a line that is not there."""
    stated = CAUSE.match(item.cause)
    if stated is None:
        return None
    file, line = stated[1], int(stated[2])
    for path in (file, place.file if file == place.file.rpartition("/")[2] else file):
        if line_of(path, line).strip():
            return Cause(path, line, sentence(stated[3]))
    return None
