"""Draw findings for two readers, so many of each band of confidence, from reports in JSON.

`python -m tests.bench.draw_by_confidence SEED REPORT… -o DIRECTORY` writes sample.jsonl, which does not say what
confidence a finding has, and key.jsonl, which does.  The same seed and reports give the same sample.  `--of-a-rule` and
`--of-a-tree` limit what one rule and one tree contribute.  `--plant N` hides N lines among them that no rule reports,
each with the rule of a finding whose line calls the same function; then no finding shows its steps, which tell.
"""

import argparse
import json
import random
import re
import sys
from bisect import bisect
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

BANDS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9)
# The confidence of a planted line in the key.
PLANTED = 0.0
CALL = re.compile(r"\b(?!if\b|for\b|while\b|switch\b|return\b|sizeof\b)([A-Za-z_]\w*)\s*\(")


class Drawn(NamedTuple):
    """A finding: its tree, file, line, rule, confidence, the line's text, and the steps that lead to it."""

    tree: str
    file: str
    line: int
    rule: str
    confidence: float
    evidence: str
    steps: tuple[str, ...] = ()


def band(confidence: float) -> float:
    """Return where the band of a confidence begins."""
    return BANDS[bisect(BANDS, confidence) - 1]


def findings(report: Path) -> list[Drawn]:
    """Return the findings of a report that are in no test code."""
    found = json.loads(report.read_text())
    tree = Path(found["run"]["scanned_root"]).name
    return [
        Drawn(
            tree,
            issue["file"],
            issue["line"],
            issue["pattern"],
            issue["confidence"],
            issue["evidence"],
            tuple(f"{step['file']}:{step['line']} {step['note']}" for step in issue.get("path", ())),
        )
        for issue in found["issues"]
        if not issue.get("test_code")
    ]


def draw(
    seed: int, found: Iterable[Drawn], each: int, of_a_rule: int, of_a_tree: int, least: float = 0.0
) -> list[Drawn]:
    """Return at most `each` findings of each band from `least` up, in random order."""
    order = [one for one in sorted(found) if one.confidence >= least]
    random.Random(seed).shuffle(order)
    bands: Counter[float] = Counter()
    rules: Counter[str] = Counter()
    trees: Counter[str] = Counter()
    drawn = []
    for one in order:
        if bands[band(one.confidence)] < each and rules[one.rule] < of_a_rule and trees[one.tree] < of_a_tree:
            drawn.append(one)
            bands[band(one.confidence)] += 1
            rules[one.rule] += 1
            trees[one.tree] += 1
    return drawn


def plant(
    seed: int, drawn: Sequence[Drawn], found: Iterable[Drawn], roots: Mapping[str, Path], many: int
) -> list[Drawn]:
    """Return lines that no rule reports, with the rules of drawn findings whose lines call the same function."""
    dice, reported = random.Random(seed), {(one.tree, one.file, one.line) for one in found}
    planted: list[Drawn] = []
    for one in dice.sample(drawn, len(drawn)):
        lines = [spot for spot in alike(one, roots[one.tree]) if (one.tree, one.file, spot[0]) not in reported]
        if lines and len(planted) < many:
            line, text = dice.choice(lines)
            planted.append(one._replace(line=line, evidence=text, confidence=PLANTED, steps=()))
            reported.add((one.tree, one.file, line))
    return planted


def alike(one: Drawn, root: Path) -> list[tuple[int, str]]:
    """Return the lines of the finding's file that call a function that its line calls, or else follow a pointer."""
    calls = frozenset(CALL.findall(one.evidence))
    lines = enumerate((root / one.file).read_text(errors="replace").split("\n"), 1)
    return [
        (number, text.strip())
        for number, text in lines
        if number != one.line and (calls.intersection(CALL.findall(text)) if calls else "->" in text)
    ]


def main(arguments: Sequence[str]) -> None:
    """Draw a sample and write it."""
    given = read(arguments)
    found = [one for report in given.reports for one in findings(report)]
    drawn = draw(given.seed, found, given.each, given.of_a_rule, given.of_a_tree, given.least)
    if given.plant:
        planted = plant(given.seed, drawn, found, dict(map(root_of, given.reports)), given.plant)
        drawn = [one._replace(steps=()) for one in drawn] + planted
        random.Random(given.seed).shuffle(drawn)
    given.output.mkdir(parents=True, exist_ok=True)
    with (given.output / "sample.jsonl").open("w") as sample, (given.output / "key.jsonl").open("w") as key:
        for number, one in enumerate(drawn, 1):
            fields = one._asdict()
            confidence = fields.pop("confidence")
            sample.write(json.dumps({"number": number, **fields}, ensure_ascii=False) + "\n")
            key.write(json.dumps({"number": number, "rule": one.rule, "confidence": confidence}) + "\n")
    print(f"seed {given.seed}: {len(drawn)} of {len(found)} findings; {sorted(Counter(map(band_of, drawn)).items())}")


def root_of(report: Path) -> tuple[str, Path]:
    """Return the name of a report's tree, and the tree."""
    root = Path(json.loads(report.read_text())["run"]["scanned_root"])
    return root.name, root


def band_of(one: Drawn) -> float:
    return band(one.confidence)


def read(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seed", type=int)
    parser.add_argument("reports", nargs="+", type=Path)
    parser.add_argument("--each", type=int, default=40)
    parser.add_argument("--of-a-rule", type=int, default=20)
    parser.add_argument("--of-a-tree", type=int, default=10**6)
    parser.add_argument("--least", type=float, default=0.0)
    parser.add_argument("--plant", type=int, default=0)
    parser.add_argument("-o", "--output", type=Path, default=Path())
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
