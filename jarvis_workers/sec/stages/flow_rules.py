"""The flow rules of a run; this module does not import the data-flow engine."""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from jarvis_workers.sec.rules import RULES
from jarvis_workers.sec.rules.custom import custom_rule
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.values import Meaning, Spot

# The reason for files that only the scan has checked, and the remark on comments that only the scan finds unused.
NOT_RUN = "data-flow rules did not run on it: "
NOT_TO_END = "data-flow rules did not run on {name} to its end (line {line}): {reason}"
NOT_ALL_NAMED = "data-flow rules did not run on {number:,} more of its functions to their end"
# A file names so many of the functions that were not analyzed to their end, and counts the others.
NAMED_MAX = 100
USED = "suppresses a flow rule"


def function_gaps(gaps: Sequence[tuple[str, int, str]]) -> str:
    """Return why some functions (name, line, reason) of a file were not checked, as a reason with a line for each."""
    named = [NOT_TO_END.format(name=name, line=line, reason=reason) for name, line, reason in gaps[:NAMED_MAX]]
    rest = len(gaps) - NAMED_MAX
    return "\n".join([*named, *([NOT_ALL_NAMED.format(number=rest)] if rest > 0 else [])])


def flow_patterns(blobs: Blobs, rules: str | None) -> frozenset[str]:
    """Return the enabled flow rules; `rules` is the blob of the run's rules."""
    off = json.loads(blobs.read(rules))["off"] if rules else ()
    own = (row["id"] for row in taint_rows(blobs, rules))
    return frozenset(rule.pattern for rule in RULES if rule.check is None) - frozenset(off) | frozenset(own)


@lru_cache(4)
def taint_rows(blobs: Blobs, rules: str | None, mode: str = "taint") -> Sequence[Mapping[str, Any]]:
    """Return the enabled rules of a project's files that have sources and sinks; with `model`, those of functions."""
    if rules is None:
        return ()
    fields = json.loads(blobs.read(rules))
    return tuple(row for row in fields["project"] if row.get("mode") == mode and row["id"] not in fields["off"])


def meanings_of(rows: Sequence[Mapping[str, Any]], spots: Iterable[Spot]) -> tuple[Meaning, ...]:
    """Return the descriptions of the rules of `taint_rows` that fired."""
    fired = {spot.pattern for spot in spots}
    own = [custom_rule(row) for row in rows if row["id"] in fired]
    return tuple(
        Meaning(rule.pattern, rule.language, rule.category, rule.cwe, rule.description, rule.suggestion) for rule in own
    )
