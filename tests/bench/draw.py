"""Draw a random sample of high-severity findings from source trees, with the code around them, for manual review.

`python -m tests.bench.draw SEED TREE…` prints the seed and the sample, which is the same for the same seed, rules and
trees. If there are too few of high severity, the sample is completed with findings of medium severity. `--each N` draws
N findings of high severity from each tree, or all if there are fewer.  The judgements are in docs/precision.md.
"""

import argparse
import json
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from jarvis_workers.sec.scanner import Hit, Scanner
from jarvis_workers.sec.severity import severity_of
from jarvis_workers.source.encoding import as_utf8
from jarvis_workers.source.languages import is_header, is_test, language_of

DRAWN = 30
BEFORE, AFTER = 12, 6


class Place(NamedTuple):
    """A finding, and the path of its file starting with the tree's name."""

    name: str
    hit: Hit
    path: Path
    steps: str = ""


def main(arguments: Sequence[str]) -> None:
    given = read(arguments)
    found = [list(places(tree)) for tree in given.trees]
    trees = [of_severity(one, "high") for one in found]
    high = [place for one in trees for place in one]
    medium = [place for one in found for place in of_severity(one, "medium")]
    if given.each:
        drawn = [place for one in trees for place in draw(given.seed, one, [], given.each)]
    else:
        drawn = draw(given.seed, high, medium)
    print(f"seed {given.seed}: {len(drawn)} of {len(high)} high, {len(medium)} medium")
    for number, place in enumerate(drawn, 1):
        print(f"\n{number}. {place.hit.pattern} {place.hit.confidence} {place.name}:{place.hit.line}")
        print(around(place))
        print(place.steps)


def read(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seed", type=int)
    parser.add_argument("trees", nargs="+", type=Path)
    parser.add_argument("--each", type=int, default=0)
    return parser.parse_args(arguments)


def places(tree: Path) -> Iterator[Place]:
    """Yield the findings in a tree or a report that are not suppressed, sorted by path."""
    if tree.suffix == ".json":
        yield from reported(json.loads(tree.read_text()))
        return
    scanner = Scanner()
    for path in sorted(tree.rglob("*")):
        name = path.relative_to(tree).as_posix()
        language = language_of(path.name.encode())
        if language and path.is_file() and not path.is_symlink():
            header, test = is_header(path.name.encode()), is_test(name.encode())
            scan = scanner.scan(path.read_bytes(), language=language, header=header, test=test)
            yield from (Place(f"{tree.name}/{name}", hit, path) for hit in scan.hits if hit.suppressed is None)


def reported(report: dict[str, Any]) -> Iterator[Place]:
    root = Path(report["run"]["scanned_root"])
    for issue in report["issues"]:
        hit = Hit(issue["pattern"], issue["line"], issue["confidence"], issue["evidence"])
        steps = [f"{step['file']}:{step['line']} {step['note']}" for step in issue.get("path", ())]
        yield Place(f"{root.name}/{issue['file']}", hit, root / issue["file"], "\n".join(steps))


def of_severity(found: Sequence[Place], severity: str) -> list[Place]:
    return [place for place in found if severity_of(place.hit.confidence) == severity]


def draw(seed: int, high: list[Place], medium: list[Place], many: int = DRAWN) -> list[Place]:
    dice = random.Random(seed)
    drawn = dice.sample(high, min(many, len(high)))
    return sorted(drawn + dice.sample(medium, min(many - len(drawn), len(medium))))


def around(place: Place) -> str:
    lines = as_utf8(place.path.read_bytes()).decode("utf-8", "backslashreplace").split("\n")
    first = max(1, place.hit.line - BEFORE)
    shown = enumerate(lines[first - 1 : place.hit.line + AFTER], first)
    return "\n".join(f"{'>' if number == place.hit.line else ' '} {number:5} {line}" for number, line in shown)


if __name__ == "__main__":
    main(sys.argv[1:])
