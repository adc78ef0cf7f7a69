"""Measure the time per rule and file on request; otherwise this costs nothing.

The time of a rule is that of its checks; the cost of analysing a function is charged to the first check that needs it.
The remaining time of a file is spent on reading it, finding names and masking it. The thread clock is used because the
process clock has a resolution of only 4 ms while a CPU limit is set.
"""

import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from jarvis_workers.paths import shown
from jarvis_workers.sec.rules.rule import Rule
from jarvis_workers.sec.scanner import Scanner
from jarvis_workers.snapshots.manifest import Entry

TOP = 20
DIGITS = 6

T = TypeVar("T")


class ProfiledScanner:
    """A scanner that records the times of its rules and files since its start."""

    def __init__(self, scanner: Scanner) -> None:
        self.scanner = Scanner(rules=[self._timed(rule) for rule in scanner.rules])
        self.start()

    def start(self) -> None:
        self._rules: dict[str, list[float]] = defaultdict(lambda: [0.0, 0])
        self._files: list[tuple[float, int, bytes]] = []
        self._since = time.thread_time()

    def record(self, entry: Entry) -> None:
        """Record the time of a finished file."""
        now = time.thread_time()
        self._files.append((now - self._since, entry.size, entry.path))
        self._since = now

    def to_json(self) -> str:
        """Return the times as JSON: all rules, and the slowest files."""
        files = sorted(self._files, reverse=True)[:TOP]
        return json.dumps(
            {
                "seconds": sum(seconds for seconds, _, _ in self._files),
                "bytes": sum(size for _, size, _ in self._files),
                "rules": [[name, *times] for name, times in self._rules.items()],
                "files": [[shown(path), seconds, size] for seconds, size, path in files],
            }
        )

    def _timed(self, rule: Rule) -> Rule:
        dismisses = self._with_timing(rule.pattern, rule.dismisses) if rule.dismisses else None
        check = self._with_timing(rule.pattern, rule.check) if rule.check else None
        return rule._replace(check=check, dismisses=dismisses)

    def _with_timing(self, name: str, check: Callable[..., T]) -> Callable[..., T]:
        def measured(*arguments: Any) -> T:
            began = time.thread_time()
            answer = check(*arguments)
            times = self._rules[name]
            times[0] += time.thread_time() - began
            times[1] += 1
            return answer

        return measured


def merge(profiles: Iterable[str]) -> dict[str, Any]:
    """Return the times of a run: the TOP slowest rules and files, slowest first."""
    rules: dict[str, list[float]] = defaultdict(lambda: [0.0, 0])
    files: list[list[Any]] = []
    seconds, size = 0.0, 0
    for profile in map(json.loads, profiles):
        seconds += profile["seconds"]
        size += profile["bytes"]
        files += profile["files"]
        for name, took, calls in profile["rules"]:
            rules[name][0] += took
            rules[name][1] += calls
    slowest = sorted(rules.items(), key=lambda item: (-item[1][0], item[0]))[:TOP]
    files.sort(key=lambda file: (-file[1], file[0]))
    return {
        "cpu_seconds": round(seconds, DIGITS),
        "bytes": size,
        "rules": [{"rule": name, "seconds": round(took, DIGITS), "calls": calls} for name, (took, calls) in slowest],
        "files": [{"file": name, "seconds": round(took, DIGITS), "bytes": size} for name, took, size in files[:TOP]],
    }
