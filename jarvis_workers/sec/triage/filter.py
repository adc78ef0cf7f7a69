"""Select findings for triage: by rule, severity, file, category, status and triage state."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from jarvis_workers.errors import UsageError
from jarvis_workers.paths import from_shown, plain
from jarvis_workers.sec.report_document import Issue
from jarvis_workers.sec.rules import RULES_BY_PATTERN
from jarvis_workers.sec.severity import SEVERITIES
from jarvis_workers.sec.triage.queue import STATUSES
from jarvis_workers.sec.triage_record import Judgement
from jarvis_workers.sec.triage_states import TriageState
from jarvis_workers.snapshots.selection import Selection

# The state of a finding without a verdict.
OPEN = "open"
STATES = (OPEN, *TriageState)
ASIDE = ("dismissed", "suppressed")


@dataclass(frozen=True)
class Filter:
    """Conditions on a finding; an empty part imposes none.

    `files` are globs with git's semantics, relative to the scanned root. If one starts with `prefix`, the path to the
    root as shown in the text report, it also matches without the prefix. `statuses` are those of reports, `states`
    those of triage: both must match if both are given.
    """

    rules: tuple[str, ...] = ()
    severities: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    prefix: str = field(default="", compare=False)

    @property
    def globs(self) -> tuple[str, ...]:
        if not self.prefix:
            return self.files
        start = f"{self.prefix}/"
        return self.files + tuple(one.removeprefix(start) for one in self.files if one.startswith(start))

    def __bool__(self) -> bool:
        return self != Filter()

    def __str__(self) -> str:
        """The options of this filter, on one line."""
        parts = {
            "--rule": self.rules,
            "--severity": self.severities,
            "--file": self.files,
            "--category": self.categories,
            "--status": (*self.statuses, *self.states),
        }
        return " ".join(f"{name} {plain(','.join(values))}" for name, values in parts.items() if values)


def read_filter(
    *,
    rules: Sequence[str] | None = None,
    severities: Sequence[str] | None = None,
    files: Sequence[str] | None = None,
    categories: Sequence[str] | None = None,
    statuses: Sequence[str] | None = None,
) -> Filter:
    """Parse the values of the options, each repeated or comma-separated. Raises UsageError for an unknown word."""
    words = list(_words(statuses))
    _refuse_unknown("--severity", list(_words(severities)), SEVERITIES)
    _refuse_unknown("--status", words, [*STATUSES, *STATES])
    return Filter(
        tuple(_words(rules)),
        tuple(_words(severities)),
        tuple(_words(files)),
        tuple(_words(categories)),
        tuple(word for word in words if word in STATUSES),
        tuple(word for word in words if word in STATES),
    )


def matching(
    findings: Sequence[Issue], judgements: Mapping[str, Judgement], criteria: Filter, *, judged: bool
) -> list[Issue]:
    """Return the findings that match a filter.

    Unless `judged`, or if the filter names a state, only open findings match: without a verdict and not suppressed.
    Raises UsageError for a rule or category that neither the findings nor the rule table have.
    """
    _refuse_unknown("--rule", criteria.rules, {issue.candidate.pattern for issue in findings} | RULES_BY_PATTERN.keys())
    categories = {rule.category for rule in RULES_BY_PATTERN.values()}
    _refuse_unknown("--category", criteria.categories, {issue.candidate.category for issue in findings} | categories)
    selection = Selection(frozenset(), include=criteria.globs)
    states = criteria.states or (() if judged else (OPEN,))
    aside = judged or bool(criteria.statuses or set(criteria.states) - {OPEN})
    return [
        issue
        for issue in findings
        if _fits(issue.candidate.pattern, criteria.rules)
        and _fits(issue.severity, criteria.severities)
        and _fits(issue.candidate.category, criteria.categories)
        and _fits(issue.status, criteria.statuses)
        and _fits(_state(judgements.get(issue.fingerprint)), states)
        and (aside or issue.status not in ASIDE)
        and any(map(selection.includes, _with_directories(from_shown(issue.candidate.file))))
    ]


def _with_directories(path: bytes) -> Iterator[bytes]:
    """Yield a path and its parent directories in the form for globs: directories end with a slash."""
    yield path
    yield from (path[: place + 1] for place, letter in enumerate(path) if letter == ord("/"))


def _words(values: Iterable[str] | None) -> Iterator[str]:
    return (word.strip() for value in values or () for word in value.split(",") if word.strip())


def _fits(value: str, values: Collection[str]) -> bool:
    return not values or value in values


def _state(judgement: Judgement | None) -> str:
    return OPEN if judgement is None else judgement.verdict.value


def _refuse_unknown(option: str, values: Iterable[str], choices: Collection[str]) -> None:
    for value in values:
        if value in choices:
            continue
        close = get_close_matches(value, choices, n=1)
        hint = f' (did you mean "{close[0]}"?)' if close else ""
        few = f"; expected one of {', '.join(choices)}" if isinstance(choices, Sequence) and not close else ""
        raise UsageError(f'{option}: "{plain(value)}" is unknown{hint}{few}')
