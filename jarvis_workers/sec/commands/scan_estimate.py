"""Show the estimated cost of a scan with agents: a table for users, JSON for programs."""

import json
from collections.abc import Iterator
from dataclasses import asdict

from jarvis_cli.kit.estimate import (
    NAMES,
    basis_lines,
    facts_of_stage,
    habit_line,
    share_facts,
    share_rows,
    stage_rows,
    table_width,
)
from jarvis_workers.paths import plain
from jarvis_workers.runs.stage_measure import StageShare
from jarvis_workers.sec.runs.estimate import Estimate

# What the upper bounds assume.
BOUNDED = {
    "named": "a defect that readers name for each 190 tokens of code, eight of them verified together",
    "seen": "20 defects that models see beside the candidates",
    "escalate": "all candidates are left open by the first model, and asked about again (--escalate)",
    "prove": "all that a sanitizer can show is confirmed; without --prove, of high severity",
}


def as_table(estimate: Estimate) -> Iterator[str]:
    """Yield lines: the cost of each stage, the totals, and the basis of the estimate."""
    shares = _stages(estimate)
    width = table_width({**shares, **estimate.bounds})
    yield from stage_rows(shares, priced=estimate.priced, width=width)
    yield from _bound_lines(estimate, width)
    group = plain(estimate.group)
    plain_jobs = f"cluster jobs that need no model: {estimate.plain:,}"
    left_out = estimate.candidates < estimate.candidates_found
    total = f" of {estimate.candidates_found:,} (--max-findings)" if left_out else ""
    yield f"candidates: {estimate.candidates:,}{total}; {plain_jobs}; model group: {group}"
    habits = {name: share for name, share in estimate.bounds.items() if name in NAMES}
    yield from (habit_line(name, share) for name, share in habits.items())
    yield from basis_lines(shares, estimate.ratio, priced=estimate.priced, group=group)
    if estimate.priced and not all(share.priced for share in estimate.bounds.values()):
        yield "the model group of --escalate has no prices"


def as_json(estimate: Estimate) -> str:
    """Return all numbers as JSON."""
    bounds = {name: facts_of_stage(share) for name, share in estimate.bounds.items()}
    return json.dumps({**asdict(estimate), **share_facts(_stages(estimate)), "bounds": bounds}, indent=2)


def _bound_lines(estimate: Estimate, width: int) -> Iterator[str]:
    """Yield the rows of the upper bounds, what they bound, and an empty line."""
    bounds = estimate.bounds
    if not any(one.jobs for one in bounds.values()):
        return
    yield "in addition to the total, depending on the answers, at most these jobs, of average length:"
    yield from share_rows(bounds, width, priced=estimate.priced)
    yield ""
    yield from (f"{name}: {BOUNDED[name]}" for name in bounds)
    yield ""


def _stages(estimate: Estimate) -> dict[str, StageShare]:
    read = {"read": estimate.read} if estimate.read else {}
    return {**read, "cluster": estimate.cluster, "verify": estimate.verify}
