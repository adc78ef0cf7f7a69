"""Set aside findings that a report does not count as issues.

Such findings are suppressed by comments, judged false or won't fix by people, dismissed by a verdict, or in the
baseline.  A baseline counts findings by fingerprint: if there were two equal lines and now there are three, one is new.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from jarvis_workers.sec.finding import Candidate, Numbered
from jarvis_workers.sec.report.verdict_index import VerdictIndex
from jarvis_workers.sec.report_document import IssueSuppression, Summary
from jarvis_workers.sec.triage_states import NOTHING_JUDGED, TriageState, TriageVerdict
from jarvis_workers.words import Words

# Maximum number of suppressed findings that are stored; all are counted.
EXCLUSIONS_MAX = 25_000
UNCHANGED = "not changed since "
BY_GITIGNORE = "ignored by .gitignore"
# Of files that other analyzers report, and that are no part of the scan.
WITH_ALERTS = "with alerts left out: "


@dataclass(slots=True)
class Exclusions:
    """Findings set aside; `left` are baseline findings not found again so far, None without a baseline.

    `verdicts` are None if none were requested; `judged` maps a fingerprint to a person's decision; `suppressed`
    includes findings judged false or won't fix.
    """

    left: Counter[str] | None = None
    judged: Mapping[str, TriageVerdict] = field(default_factory=dict)
    verdicts: VerdictIndex | None = None
    in_baseline: int = 0
    total_suppressed: int = 0
    total_judged_false: int = 0
    total_wontfix: int = 0
    total_later: int = 0
    suppressed: list[Numbered] = field(default_factory=list)
    total_dismissed: int = 0
    dismissed: list[Numbered] = field(default_factory=list)
    _hidden: Counter[str] = field(default_factory=Counter)

    @property
    def gone(self) -> int:
        """Number of baseline findings that no longer exist; suppressed and low-confidence findings still exist."""
        left = self.left or Counter()
        return sum(max(0, number - self._hidden[fingerprint]) for fingerprint, number in left.items())

    def counted(self, numbered: Iterable[Numbered], min_confidence: float) -> Iterator[Numbered]:
        """Yield the findings that count, and those below the minimum confidence, which the caller separates."""
        for gid, candidate in numbered:
            state = self._state(candidate)
            quiet = candidate.suppressed is not None or (state is not None and state.is_aside)
            if self.left is not None and (quiet or candidate.is_weaker(min_confidence)):
                self._hidden[candidate.fingerprint] += 1
            if candidate.is_weaker(min_confidence):
                yield gid, candidate
            elif quiet:
                self._suppress(gid, candidate)
            elif self._is_in_baseline(candidate):
                continue
            elif self._is_dismissed(gid) and state is not TriageState.TRUE:
                self._dismiss(gid, candidate)
            else:
                self.total_later += state is TriageState.LATER
                yield gid, candidate

    def suppression(self, candidate: Candidate) -> IssueSuppression:
        """Return the suppression of a finding in SARIF terms."""
        if candidate.suppressed is not None:
            return IssueSuppression("inSource", candidate.suppressed)
        return IssueSuppression("external", self.judged[candidate.fingerprint].reason)

    def mark(self, candidate: Candidate) -> bool | str | None:
        """Return the triage state for an entry; findings judged false need none, since they have a separate list."""
        state = self._state(candidate)
        return None if state is None or state is TriageState.FALSE else state.plain_value

    def _state(self, candidate: Candidate) -> TriageState | None:
        judgement = self.judged.get(candidate.fingerprint) if self.judged else None
        return judgement.verdict if judgement else None

    def _is_dismissed(self, gid: int) -> bool:
        return self.verdicts is not None and self.verdicts.statuses.get(gid) == "dismissed"

    def _suppress(self, gid: int, candidate: Candidate) -> None:
        if candidate.suppressed is None:
            wontfix = self._state(candidate) is TriageState.WONTFIX
            self.total_wontfix += wontfix
            self.total_judged_false += not wontfix
        else:
            self.total_suppressed += 1
        if len(self.suppressed) < EXCLUSIONS_MAX:
            self.suppressed.append((gid, candidate))

    def _dismiss(self, gid: int, candidate: Candidate) -> None:
        self.total_dismissed += 1
        if len(self.dismissed) < EXCLUSIONS_MAX:
            self.dismissed.append((gid, candidate))

    def _is_in_baseline(self, candidate: Candidate) -> bool:
        if not self.left:
            return False
        fingerprint = candidate.fingerprint
        if not self.left[fingerprint]:
            return False
        self.left[fingerprint] -= 1
        self.in_baseline += 1
        return True


def set_aside(summary: Summary) -> int:
    """Count the findings excluded by a suppression comment or a dismissal (false positive, won't fix)."""
    return summary.suppressed + summary.judged_false + summary.judged_wontfix


def no_findings(summary: Summary, run: Mapping[str, Any]) -> tuple[str, str]:
    """Return a short statement that there are no findings, and a qualification if some were excluded.

    What settings have narrowed is in the facts of the `run`.
    """
    if summary.baseline:
        return "Nothing new.", "No new location was flagged"
    if summary.below_min_confidence:
        return "No findings", "except those below the minimum confidence"
    if set_aside(summary):
        return "No findings", "except those suppressed or dismissed"
    if run.get("narrowed") or run.get("altered"):
        return "No findings", "by the rules and files that the settings leave"
    return "No findings.", "No rule fired"


def nothing_changed(summary: Summary) -> str | None:
    """Return the revision since which no file has changed, if this is the reason for an empty scan, else None."""
    reasons = [why.removeprefix(UNCHANGED) for why in summary.left_out if why.startswith(UNCHANGED)]
    return reasons[0] if reasons and not summary.scanned_files else None


def is_import(run: Mapping[str, Any]) -> bool:
    """Return whether a run has taken the findings of other analyzers, and scanned nothing itself."""
    return run.get("kind") == "sec.import"


def ignored_by_git(summary: Summary, say: Words) -> str | None:
    """Return the number of files and directories excluded by .gitignore files, which the code's author controls."""
    files = summary.left_out.get(BY_GITIGNORE, 0)
    trees = sum(tree.reason == BY_GITIGNORE for tree in summary.excluded)
    return ", ".join(say.count(number, noun) for number, noun in ((files, "file"), (trees, "tree")) if number) or None


def files_with_alerts(summary: Summary) -> int:
    """Return the number of files that other analyzers report, and that are no part of the scan."""
    return sum(number for why, number in summary.left_out.items() if why.startswith(WITH_ALERTS))


def exclusions_of(
    baseline: Mapping[str, int] | None,
    judged: Mapping[str, TriageVerdict] = NOTHING_JUDGED,
    verdicts: VerdictIndex | None = None,
) -> Exclusions:
    """Return empty exclusions for a baseline, people's decisions and verdicts; None means that there are none."""
    return Exclusions(None if baseline is None else Counter(baseline), judged, verdicts)
