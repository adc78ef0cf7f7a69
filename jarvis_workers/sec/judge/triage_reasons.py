"""Reasons that people gave for triage verdicts on findings of the same file or rule: claims for a model to check."""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from jarvis_workers.sec.triage_states import TriageState

REASONS_MAX = 10
REASON_LENGTH, CHARACTERS_MAX = 300, 2_000


class TriageReason(NamedTuple):
    """The reason of a person's decision on a finding."""

    file: str
    rule: str
    verdict: TriageState
    reason: str

    @property
    def text(self) -> str:
        return f"{self.file} {self.rule} {self.verdict.value}: {self.reason}"


def closest_reasons(
    reasons: Iterable[TriageReason], files: Collection[str], rules: Collection[str]
) -> tuple[TriageReason, ...]:
    """Return reasons within the limits of a question, those on the same file and rule first."""

    def distance(one: TriageReason) -> tuple[int, TriageReason]:
        return 2 * (one.file not in files) + (one.rule not in rules), one

    chosen, left = list[TriageReason](), CHARACTERS_MAX
    for one in sorted({_cut(one) for one in reasons}, key=distance)[:REASONS_MAX]:
        left -= len(one.text)
        if left < 0:
            break
        chosen.append(one)
    return tuple(chosen)


def _cut(one: TriageReason) -> TriageReason:
    is_long = len(one.reason) > REASON_LENGTH
    return one._replace(reason=f"{one.reason[:REASON_LENGTH]} […]") if is_long else one
