"""Triage statistics of rules, and the resulting adjustments of confidence: a table, or JSON."""

import json
from collections.abc import Sequence

from jarvis_workers.runs import wiring
from jarvis_workers.sec.rules import Rule
from jarvis_workers.sec.triage.records import JUDGED_MIN, RuleRecord, records_of
from jarvis_workers.sec.triage_states import PRIOR_WEIGHT
from jarvis_workers.settings import Settings

HEADS = ("ID", "TRUE", "FALSE", "SHARE", "STATED", "LEARNED", "")
BETA = f"Beta({PRIOR_WEIGHT} x stated + true, {PRIOR_WEIGHT} x (1 - stated) + false)"
SAYS = f"""\
SHARE: fraction of judged findings that are true. LEARNED: the mean of {BETA}.
With rules.learned or --learned, a scan uses it for rules with {JUDGED_MIN} verdicts or more."""


def stats(settings: Settings, rules: Sequence[Rule], form: str) -> str:
    """Return the statistics of these rules, those with the most verdicts first."""
    with wiring.store_of(settings, create=False) as store:
        records = records_of(store, rules)
    if form == "json":
        return json.dumps([record.as_json() for record in records], indent=2)
    if not records:
        return "no finding of these rules has a verdict; see: jarvis sec triage --help"
    rows = [HEADS, *map(_row, records)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (_line(row, widths) for row in rows)
    return "\n".join([*lines, "", SAYS])


def _row(record: RuleRecord) -> tuple[str, ...]:
    numbers = (f"{record.true:,}", f"{record.false:,}", f"{record.share:.0%}")
    few = "" if record.is_enough else "too few verdicts"
    return record.rule, *numbers, f"{record.stated:.2f}", f"{record.learned:.2f}", few


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    """Format a row: names and remarks are left-aligned, numbers right-aligned."""
    name, *numbers, remark = (
        cell.ljust(width) if place in (0, len(row) - 1) else cell.rjust(width)
        for place, (cell, width) in enumerate(zip(row, widths, strict=True))
    )
    return "  ".join([name, *numbers, remark]).rstrip()
