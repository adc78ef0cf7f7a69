"""Print the rank of the function that a CVE fix changed, among all functions of the tree before the fix.

    python -m tests.bench.discovery_ranks LABELS PROJECT=GIT_DIR... [--named REPORT.json]

LABELS is the `labels.json` of pairs of CVE fixes: cases with a commit, a file, changed functions and a class, named
PROJECT_NUMBER. Each tree is read from git, so that it is the whole project and not the file of the label alone.
With --named, a JSON report over the cases (their names in front of its paths), cases are left out whose function has a
finding of a rule. `docs/accuracy.md` has the results.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jarvis_workers.sec.discovery.functions import functions_of
from jarvis_workers.sec.discovery.ranking import PlacedFunction, rank
from jarvis_workers.sec.scanner import is_test

SHARE = 0.1
# Classes that an agent can see in one function and its callers, of data that the function handles.
OF_DATA = ("bufr", "bufw", "intovf", "uninit", "dfree", "div0", "fmt", "loop")
SIZE_MAX = 2_000_000


@dataclass(frozen=True)
class Rank:
    """The best rank of a case's functions, from 1; `functions` is their number in the tree."""

    case: str
    kind: str
    name: str
    place: int
    functions: int

    @property
    def is_in_front(self) -> bool:
        return self.place <= SHARE * self.functions


def main(arguments: Sequence[str]) -> None:
    """Print a line a case, and how many are in front."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("labels", type=Path)
    parser.add_argument("projects", nargs="+", metavar="PROJECT=GIT_DIR")
    parser.add_argument("--named", type=Path)
    options = parser.parse_args(arguments)
    repositories = dict(one.split("=", 1) for one in options.projects)
    named = set(_named(json.loads(options.named.read_text()), options.labels)) if options.named else set()
    ranks = []
    for case, label in sorted(json.loads(options.labels.read_text()).items()):
        project = case.rsplit("_", 1)[0]
        if project in repositories and case not in named:
            ranks.append(rank_of(case, label, repositories[project]))
            _say(ranks[-1])
    for title, some in (("all", ranks), ("of data", [one for one in ranks if one.kind in OF_DATA])):
        sys.stdout.write(f"{title}: {sum(one.is_in_front for one in some)} of {len(some)} in the first 10 %\n")


def rank_of(case: str, label: Mapping[str, Any], repository: str) -> Rank:
    """Return the rank of a case in its tree before the fix."""
    placed = [one for path, content in _files(repository, f"{label['commit']}~1") for one in _placed(path, content)]
    names = {name for name, _, _ in label["functions_old"]}
    places = (
        place
        for place, one in enumerate(rank(placed, len(placed))[0], 1)
        if one.function.file == label["file"] and one.function.metrics.name in names
    )
    return Rank(case, label["class"], min(names), next(places, len(placed)), len(placed))


def _placed(path: str, content: bytes) -> Iterator[PlacedFunction]:
    return (PlacedFunction(path, metrics) for metrics in functions_of(content, path).functions)


def _files(repository: str, revision: str) -> Iterator[tuple[str, bytes]]:
    listed = _git(repository, "ls-tree", "-r", "--name-only", "-z", revision).decode("utf-8", "replace")
    for path in listed.split("\0"):
        if path.endswith((".c", ".h", ".cc", ".cpp")) and not is_test(path.encode()):
            content = _git(repository, "show", f"{revision}:{path}")
            if len(content) <= SIZE_MAX:
                yield path, content


def _git(repository: str, *arguments: str) -> bytes:
    return subprocess.run(["git", "--git-dir", repository, *arguments], capture_output=True, check=True).stdout


def _named(report: Mapping[str, Any], labels: Path) -> Iterator[str]:
    """Yield the cases whose function before the fix has a finding of a rule."""
    cases = json.loads(labels.read_text())
    for issue in report["issues"]:
        side, _, path = issue["file"].partition("/")
        label = cases.get(side[:-1]) if side.endswith("o") else None
        spans = label["functions_old"] if label and path == label["file"] else ()
        if any(first <= issue["line"] <= last for _, first, last in spans):
            yield side[:-1]


def _say(one: Rank) -> None:
    share = 100 * one.place / max(one.functions, 1)
    sys.stdout.write(f"{share:5.1f} %  {one.place:6}/{one.functions:<6} {one.case:<18} {one.kind:<7} {one.name}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
