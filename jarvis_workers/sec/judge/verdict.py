"""Validation of an agent's verdicts: candidate numbers must be known, and quoted evidence must be in the files.

A report with an unknown number is rejected as a whole, since its numbers may be mixed up. Missing or empty fields and
evidence that is not found are requested again; if still wrong, a verdict goes to human review. A missing verdict is
undecided, and so are a candidate with two contradictory verdicts and one whose verdict is `unclear`, which is not asked
again. None of these cases counts as safe.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, TypeAdapter, model_validator
from pydantic.json_schema import SkipJsonSchema

from jarvis_workers.agents.loop.report import ReportForm
from jarvis_workers.agents.loop.untrusted_text import escape
from jarvis_workers.sec.assessment import (
    TEXTS,
    EvidenceQuote,
    Exposure,
    RatedSeverity,
    Verdict,
    VerdictStatus,
)
from jarvis_workers.sec.judge.lost_quote import LostQuote
from jarvis_workers.sec.judge.report_fields import (
    Text,
    candidate_number,
    cwe_value,
    is_share,
    line_value,
    list_value,
    share_value,
    word_value,
)

Decision = Literal["risk", "no_risk", "unclear"]

STATUS_OF: Mapping[Decision, VerdictStatus] = MappingProxyType(
    {"risk": "confirmed", "no_risk": "dismissed", "unclear": "undecided"}
)
HAS_RISK: Mapping[Decision, bool | None] = MappingProxyType({"risk": True, "no_risk": False, "unclear": None})

# The field of a dismissal that must explain why nothing can happen, and answers that explain nothing.
REASON = "preconditions"
NO_REASONS = frozenset(
    ("", "none", "no", "na", "nil", "null", "nothing", "safe", "norisk", "false", "无", "没有", "安全")
)
OF_ATTEMPTS = "no_proof"
REPEATS_MAX = 2
EVIDENCE_MAX = 20
UNKNOWN_LISTED_MAX = 5
TEXT_MAX = 4_000
QUOTE_MAX = 600
BOOLEAN = TypeAdapter(bool)


class Form(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class Quote(Form):
    """Consecutive lines of a file, quoted verbatim."""

    file: str
    line: Annotated[int, BeforeValidator(line_value)]
    quote: str


class OtherFinding(Quote):
    """A bug that is not among the candidates, at the quoted line; `cwe` is 0 if it is not known."""

    cwe: Annotated[int, BeforeValidator(cwe_value)] = 0
    description: Text = ""


class ReportItem(Form):
    """The verdict on one candidate; `gid` is its number in the question."""

    gid: Annotated[int, AfterValidator(candidate_number)]
    analysis: Text = ""
    verdict: Annotated[Decision, BeforeValidator(word_value)]
    exposure: Annotated[Exposure, BeforeValidator(word_value)] = ""
    severity: Annotated[RatedSeverity, BeforeValidator(word_value)] = ""
    confidence: Annotated[float | SkipJsonSchema[None], BeforeValidator(share_value), AfterValidator(is_share)] = None
    preconditions: Text = ""
    trigger_path: Text = ""
    consequences: Text = ""
    suggestions: Text = ""
    evidence: Annotated[list[Quote], BeforeValidator(list_value)] = []
    other_findings: Annotated[list[OtherFinding], BeforeValidator(list_value)] = []

    @model_validator(mode="before")
    @classmethod
    def _with_verdict(cls, item: Any) -> Any:
        """Read has_risk, which may be given in place of a verdict, or consistent with it.

        A model that also runs attempts may give the field of these everywhere; elsewhere it says nothing.
        """
        if isinstance(item, Mapping) and OF_ATTEMPTS in item and OF_ATTEMPTS not in cls.model_fields:
            item = {name: value for name, value in item.items() if name != OF_ATTEMPTS}
        if not isinstance(item, Mapping) or "has_risk" not in item:
            return item
        fields = {name: value for name, value in item.items() if name != "has_risk"}
        if item["has_risk"] is None:
            return fields
        given: Decision = "risk" if BOOLEAN.validate_python(item["has_risk"]) else "no_risk"
        if word_value(fields.setdefault("verdict", given)) not in (given, "unclear"):
            raise ValueError("verdict and has_risk contradict each other")
        return fields

    @property
    def has_risk(self) -> bool | None:
        return HAS_RISK[self.verdict]


FORM = ReportForm(list[ReportItem])


class SeenDefect(NamedTuple):
    """A possible defect beside the candidates, in the words of the model; `cwe` is 0 if it names no weakness."""

    file: str
    line: int
    quote: str
    description: str
    cwe: int = 0


# Locates a quote; the flag marks a dismissal, which is checked more strictly.
Find = Callable[[Quote, bool], EvidenceQuote | LostQuote]


@dataclass(frozen=True)
class _QuotedItem:
    """An item of a report, with the evidence found in the files."""

    item: ReportItem
    evidence: tuple[EvidenceQuote, ...]
    lost: tuple[tuple[int, LostQuote], ...]

    @property
    def empty(self) -> list[str]:
        if self.item.verdict == "unclear":
            return []
        if not self.item.has_risk:
            return [] if _is_reason(getattr(self.item, REASON)) else [REASON]
        return [name for name in TEXTS if not _says_something(getattr(self.item, name))]

    @property
    def problem(self) -> str | None:
        """The defect in the evidence, None if there is none."""
        if self.item.verdict == "unclear":
            return None
        if self.lost:
            return "its evidence is not at the quoted location, or is too short"
        return None if self.evidence else "it has no evidence"


@dataclass(frozen=True)
class AskAgain:
    """A follow-up request: unknown or missing numbers, empty fields, dismissals without a reason, lost evidence.

    `groundless` lists the candidates dismissed without a reason. `lost` maps a candidate number to the quotes that were
    not accepted, with their numbers from 1; the list is empty for an item without quotes.
    """

    unknown: tuple[int, ...]
    missing: tuple[int, ...]
    empty: Mapping[int, Sequence[str]]
    groundless: tuple[int, ...]
    lost: Mapping[int, Sequence[tuple[int, LostQuote]]]

    @property
    def numbers(self) -> list[int]:
        return sorted({*self.missing, *self.empty, *self.groundless, *self.lost})


class VerdictCollector:
    """Verdicts collected from the reports of one conversation, for given candidate numbers."""

    def __init__(self, numbers: Iterable[int], find: Find, is_decided: Callable[[int], bool] = lambda _: False) -> None:
        """Create the collector; of what `is_decided` otherwise, nothing is missing or wrong."""
        self.numbers = tuple(numbers)
        self._find, self._is_decided = find, is_decided
        self._items: dict[int, _QuotedItem] = {}
        self.others: list[tuple[int, OtherFinding]] = []
        self._two: set[int] = set()
        self._sent_back: set[int] = set()
        self._unknown: list[int] = []
        self._follow_ups = 0

    def take(self, items: Sequence[ReportItem]) -> None:
        """Record the items of a report; what it says of other bugs counts even if its numbers are mixed up."""
        self.take_others(items)
        self._unknown = sorted({item.gid for item in items} - set(self.numbers))[:UNKNOWN_LISTED_MAX]
        if self._unknown:
            return
        for item in items:
            previous = self._items.get(item.gid)
            if previous and previous.item.verdict != item.verdict:
                self._two.add(item.gid)
            if previous is None or self._is_wrong(item.gid):
                self._items[item.gid] = self._checked(item)

    def take_others(self, items: Sequence[ReportItem]) -> None:
        """Record what a report says of other bugs."""
        self.others += [(item.gid, one) for item in items for one in item.other_findings if _names_a_bug(one)]

    def again(self) -> AskAgain | None:
        """Return the next follow-up request and count it; None if nothing is missing or the limit is reached."""
        if self._follow_ups == REPEATS_MAX:
            return None
        missing = [one for one in self.numbers if one not in self._items and not self._is_decided(one)]
        empty = {number: answer.empty for number, answer in self._open() if answer.empty and answer.item.has_risk}
        groundless = tuple(number for number, answer in self._open() if answer.empty and not answer.item.has_risk)
        lost = {
            number: answer.lost for number, answer in self._open() if answer.problem and number not in self._sent_back
        }
        if not (missing or empty or groundless or lost):
            return None
        self._follow_ups += 1
        self._sent_back |= set(lost)
        return AskAgain(tuple(self._unknown), tuple(missing), empty, groundless, lost)

    def verdicts(self, stopped: str | None) -> dict[int, Verdict]:
        """Return a verdict for each number; `stopped` explains why the conversation ended early."""
        return {number: self._verdict(number, stopped) for number in self.numbers}

    def has_item(self, number: int) -> bool:
        """Return whether a report has an item for a number."""
        return number in self._items

    def _open(self) -> Iterator[tuple[int, _QuotedItem]]:
        for number, answer in self._items.items():
            if number not in self._two and not self._is_decided(number):
                yield number, answer

    def _is_wrong(self, number: int) -> bool:
        answer = self._items[number]
        return bool(answer.problem or answer.empty)

    def _checked(self, item: ReportItem) -> _QuotedItem:
        quotes = item.evidence[:EVIDENCE_MAX]
        result = [self._find(quote, item.verdict == "no_risk") for quote in quotes]
        lost = tuple((place, one) for place, one in enumerate(result, 1) if isinstance(one, LostQuote))
        return _QuotedItem(item, tuple(one for one in result if isinstance(one, EvidenceQuote)), lost)

    def _verdict(self, number: int, stopped: str | None) -> Verdict:
        answer = self._items.get(number)
        if number in self._two:
            return Verdict(number, "undecided", reason="the report contains two different verdicts for it")
        if answer is None:
            unknown = ", ".join(map(str, self._unknown))
            missing = (
                f"the report names candidates that do not exist ({unknown})" if unknown else "no verdict was given"
            )
            reason = stopped or f"{missing}, even after a second request"
            return Verdict(number, "undecided", reason=reason, cut_short=stopped is not None)
        item = answer.item
        verdict = _verdict_of(item, answer.evidence)
        if answer.empty and not item.has_risk:
            return verdict.for_review("the report claims no risk, but gives no reason")
        if answer.empty:
            return verdict.for_review(
                f"the report claims a risk, but its explanation is incomplete: {', '.join(answer.empty)} empty"
            )
        return verdict.for_review(answer.problem) if answer.problem else verdict


def _verdict_of(item: ReportItem, evidence: tuple[EvidenceQuote, ...]) -> Verdict:
    """Return the verdict that an item states."""
    texts: dict[str, Any] = {name: short(getattr(item, name), TEXT_MAX) for name in (*TEXTS, "analysis")}
    rating: dict[str, Any] = {"exposure": item.exposure, "severity": item.severity} if item.has_risk else {}
    reason = None
    if item.verdict == "unclear":
        missing = next(filter(_says_something, (texts[REASON], texts["analysis"])), "the model gave no reason")
        reason = f"unclear: {missing}"
    return Verdict(
        item.gid,
        STATUS_OF[item.verdict],
        item.has_risk,
        **texts,
        **rating,
        evidence=evidence,
        reason=reason,
        confidence=item.confidence,
    )


def short(text: str, most: int) -> str:
    """Return a model's text for storage, with invisible characters escaped and truncated to `most` characters."""
    text = escape(text.strip())
    return text if len(text) <= most else f"{text[:most]}…"


def _names_a_bug(other: OtherFinding) -> bool:
    return _says_something(other.description) or other.cwe > 0


def _is_reason(text: str) -> bool:
    """Return whether a text explains something; one word, such as a name from the question, does not."""
    is_word = text.isascii() and len(text.split()) < 2
    return not is_word and "".join(filter(str.isalnum, text)).casefold() not in NO_REASONS


def _says_something(text: str) -> bool:
    return any(letter.isalnum() for letter in text)
