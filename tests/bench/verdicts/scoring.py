"""Labels, and the score of a report by them.

A label is a span of lines with or without a real risk. Its outcome is that of its findings: confirmed if any is.
Labels without a finding say something about rules, not about verdicts; they are only counted.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

OWN = Path(__file__).parent
# The strongest outcome of several findings first.
OUTCOMES = ("confirmed", "review", "undecided", "dismissed")


class Label(NamedTuple):
    """Some lines of a file with or without a risk."""

    file: str
    first: int
    last: int
    risk: bool


class Score(NamedTuple):
    """The outcomes of labels with a risk and without one, and of those for which no rule has fired."""

    risky: Mapping[str, int]
    harmless: Mapping[str, int]
    without_finding: int

    @property
    def precision(self) -> float | None:
        """The share of confirmed labels that have a risk; None if none is confirmed."""
        return _share(
            self.risky.get("confirmed", 0), self.risky.get("confirmed", 0) + self.harmless.get("confirmed", 0)
        )

    @property
    def recall(self) -> float | None:
        """The share of labels with a risk that are confirmed."""
        return _share(self.risky.get("confirmed", 0), sum(self.risky.values()))

    @property
    def missed(self) -> int:
        """The number of risks that were dismissed: those that nobody looks at again."""
        return self.risky.get("dismissed", 0)


def own_labels() -> list[Label]:
    """Return the labels of the code in this directory."""
    rows = json.loads((OWN / "labels.json").read_text())
    return [Label(row["file"], row["first"], row.get("last", row["first"]), row["risk"]) for row in rows]


def score(labels: Iterable[Label], report: Mapping[str, Any]) -> Score:
    """Compare a JSON report with the labels."""
    issues = [*report["issues"], *report.get("dismissed", ())]
    outcomes = [(label, _outcome(label, issues)) for label in labels]
    risky = Counter(outcome for label, outcome in outcomes if outcome and label.risk)
    harmless = Counter(outcome for label, outcome in outcomes if outcome and not label.risk)
    return Score(risky, harmless, sum(outcome is None for _, outcome in outcomes))


def shown(name: str, one: Score, report: Mapping[str, Any]) -> str:
    """Return a line about a model: precision, recall, risks dismissed, and what it cost."""
    model = report["run"].get("model") or {}
    tokens = model.get("prompt", 0) + model.get("completion", 0)
    return (
        f"{name:<20} precision {_percent(one.precision)}  recall {_percent(one.recall)}  risks dismissed {one.missed}"
        f"  undecided {one.risky.get('undecided', 0) + one.harmless.get('undecided', 0)}"
        f"  review {one.risky.get('review', 0) + one.harmless.get('review', 0)}"
        f"  without finding {one.without_finding}"
        f"  calls {model.get('calls', 0)}  tokens {tokens:,}  cost {_dollars(report['run'].get('cost'))}"
    )


def _outcome(label: Label, issues: Iterable[Mapping[str, Any]]) -> str | None:
    statuses = {
        issue["status"]
        for issue in issues
        if issue["file"] == label.file and label.first <= issue["line"] <= label.last
    }
    return next((outcome for outcome in OUTCOMES if outcome in statuses), None)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _dollars(cost: float | None) -> str:
    return "unknown" if cost is None else f"{cost:.4f} usd"


def _percent(share: float | None) -> str:
    return "   -  " if share is None else f"{100 * share:5.1f} %"
