"""The findings of rules in some files, as hints for a reader: by rule, with all lines, the most severe first.

Unchecked allocations are left out: readers are told that a failed one is no defect unless it does more harm.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from jarvis_workers.models.platforms.protocol import estimate
from jarvis_workers.sec.finding import Candidate, needs_oom

LINES_MAX = 20


def hint_text(findings: Iterable[Candidate], room: int) -> str:
    """Return a line for each rule, as far as there is room, and the number of the rules left out."""
    lines, left = list(_lines(findings)), room
    shown = []
    for line in lines:
        left -= estimate(line) + 1
        if left < 0:
            break
        shown.append(line)
    if len(shown) < len(lines):
        shown.append(f"[hints of {len(lines) - len(shown)} more rules omitted]")
    return "\n".join(shown)


def _lines(findings: Iterable[Candidate]) -> Iterator[str]:
    by_rule: defaultdict[tuple[float, str, int, str], list[Candidate]] = defaultdict(list)
    confidence: defaultdict[str, float] = defaultdict(float)
    found = [one for one in findings if not needs_oom(one)]
    for one in found:
        confidence[one.pattern] = max(confidence[one.pattern], one.confidence)
    for one in found:
        by_rule[-confidence[one.pattern], one.pattern, one.cwe, one.description].append(one)
    for (_, pattern, cwe, description), some in sorted(by_rule.items()):
        places = sorted({(one.file, one.line) for one in some})
        named = ", ".join(f"{file}:{line}" for file, line in places[:LINES_MAX])
        more = f" and {len(places) - LINES_MAX} more" if len(places) > LINES_MAX else ""
        yield f"{pattern} (CWE-{cwe}), {description}: {named}{more}"
