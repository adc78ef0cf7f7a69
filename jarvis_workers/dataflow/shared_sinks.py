"""Merge findings of a file that share their sink in another file: one finding a sink, which lists the callers."""

from collections import defaultdict
from collections.abc import Mapping

from jarvis_workers.dataflow.context import Finding

# At most this many other callers are listed by their lines.
LISTED_MAX = 8
# A rule and a line.
Key = tuple[str, int]


def merged(findings: Mapping[Key, Finding]) -> list[tuple[Key, Finding]]:
    """Return the findings, sorted by line and rule; of those with the same sink elsewhere, the most confident one."""
    by_sink: defaultdict[tuple[str, str, int], list[tuple[Key, Finding]]] = defaultdict(list)
    result = []
    for key, finding in findings.items():
        file, line, _ = finding[1][-1]
        if file is None:
            result.append((key, finding))
        else:
            by_sink[key[0], file, line].append((key, finding))
    result += [_first_of(group) for group in by_sink.values()]
    return sorted(result, key=lambda one: (one[0][1], one[0][0]))


def _first_of(group: list[tuple[Key, Finding]]) -> tuple[Key, Finding]:
    group.sort(key=lambda one: (-one[1][0], one[0]))
    (key, (confidence, steps)), *others = group
    if not others:
        return key, (confidence, steps)
    *before, (file, line, text) = steps
    return key, (confidence, [*before, (file, line, f"{text} (also from {_lines([one[0][1] for one in others])})")])


def _lines(lines: list[int]) -> str:
    listed = ", ".join(str(line) for line in sorted(lines)[:LISTED_MAX])
    more = f" and {len(lines) - LISTED_MAX} more" if len(lines) > LISTED_MAX else ""
    return f"line{'s' if len(lines) > 1 else ''} {listed}{more}"
