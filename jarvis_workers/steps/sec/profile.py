"""Take the times of rules and of files, for those who ask; nobody else pays for it.

A rule's time is that of its checks: the first to ask what a function holds pays for the answer.  What is left of a
file's time went to reading it, finding names in it and masking it.  By the clock of the thread: that of the process
goes in ticks of 4 ms while a limit of its CPU is set.
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


class Watch:
    """A scanner, and how long its rules and files have taken since it was started."""

    def __init__(self, scanner: Scanner) -> None:
        self.scanner = Scanner(rules=[self._timed(rule) for rule in scanner.rules])
        self.start()

    def start(self) -> None:
        self._rules: dict[str, list[float]] = defaultdict(lambda: [0.0, 0])
        self._files: list[tuple[float, int, bytes]] = []
        self._since = time.thread_time()

    def passed(self, entry: Entry) -> None:
        """Note that a file is done."""
        now = time.thread_time()
        self._files.append((now - self._since, entry.size, entry.path))
        self._since = now

    def said(self) -> str:
        """Return the times as JSON: all rules, and the files that took the longest."""
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
        dismisses = self._measured(rule.pattern, rule.dismisses) if rule.dismisses else None
        check = self._measured(rule.pattern, rule.check) if rule.check else None
        return rule._replace(check=check, dismisses=dismisses)

    def _measured(self, name: str, asked: Callable[..., T]) -> Callable[..., T]:
        def measured(*arguments: Any) -> T:
            began = time.thread_time()
            answer = asked(*arguments)
            times = self._rules[name]
            times[0] += time.thread_time() - began
            times[1] += 1
            return answer

        return measured


def merge(profiles: Iterable[str]) -> dict[str, Any]:
    """Return the times of a run: of TOP rules and TOP files, the slowest first."""
    rules: dict[str, list[float]] = defaultdict(lambda: [0.0, 0])
    files: list[list[Any]] = []
    seconds, size = 0.0, 0
    for said in map(json.loads, profiles):
        seconds += said["seconds"]
        size += said["bytes"]
        files += said["files"]
        for name, took, calls in said["rules"]:
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
