"""Compare reports with findings that two readers judged: which are gone, which are kept, and which share is true.

`python -m tests.bench.judged [REPORT…]` reads tests/data/judged*.jsonl and reports of `jarvis sec fast -o FILE.json` on
those projects; the directory that was scanned, or one above it, has the name of the project, `redis-7.0.15` or `git`.
Without reports, it shows the confidence of the findings as they were drawn.  Where the readers disagree, the verdict
that speaks less for the finding counts.
"""

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from tests.bench.draw_by_confidence import BANDS, band

JUDGED = Path(__file__).parent.parent / "data"
VERDICTS = ("false", "plausible", "true")
Place = tuple[str, str, int, str]


class Judged(NamedTuple):
    """A finding, its confidence when it was drawn, and the verdicts and reasons of two readers."""

    project: str
    file: str
    line: int
    rule: str
    confidence: float
    verdicts: tuple[str, str]
    reasons: tuple[str, str]

    @property
    def place(self) -> Place:
        return self.project, self.file, self.line, self.rule

    @property
    def verdict(self) -> str:
        """The verdict that speaks less for the finding."""
        return min(self.verdicts, key=VERDICTS.index)


def judged(directory: Path = JUDGED) -> list[Judged]:
    """Return the findings of all samples, each a file judged*.jsonl, in order."""
    files = sorted(directory.glob("judged*.jsonl"))
    rows = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    found = [Judged(**row | {"verdicts": tuple(row["verdicts"]), "reasons": tuple(row["reasons"])}) for row in rows]
    return sorted(found, key=lambda row: row.place)


def reported(reports: Iterable[Mapping[str, object]], projects: Iterable[str]) -> dict[Place, float]:
    """Return the confidence of each finding of the projects that is not in test code."""
    projects = list(projects)
    confidences: dict[Place, float] = {}
    for report in reports:
        run, issues = report["run"], report["issues"]
        assert isinstance(run, dict) and isinstance(issues, list)
        found = _project(PurePosixPath(run["scanned_root"]), projects)
        if found is None:
            raise SystemExit(f"{run['scanned_root']}: none of its directories has the name of a judged project")
        project, below = found
        for issue in issues:
            if not issue.get("test_code"):
                place = project, str(below / issue["file"]), issue["line"], issue["pattern"]
                confidences[place] = issue["confidence"]
    return confidences


def _project(root: PurePosixPath, projects: Sequence[str]) -> tuple[str, PurePosixPath] | None:
    """Return the project that is named in a path, and what of the path is below its directory.

    A directory with the version counts first: libarchive-3.6.2/libarchive is a part of the project.
    """
    names = {project.replace(" ", "-"): project for project in projects}
    bare = {project.partition(" ")[0]: project for project in projects}
    for known in (names, bare):
        for directory in (root, *root.parents):
            if directory.name in known:
                return known[directory.name], root.relative_to(directory)
    return None


def table(rows: Sequence[Judged], confidences: Mapping[Place, float]) -> list[str]:
    """Return the lines of a Markdown table: a row for each band of confidence."""
    bands: defaultdict[float, Counter[str]] = defaultdict(Counter)
    for row in rows:
        if (confidence := confidences.get(row.place)) is not None:
            bands[band(confidence)][row.verdict] += 1
    lines = ["| confidence | findings | true | true or plausible |", "| --- | ---: | ---: | ---: |"]
    for begins, ends in zip(BANDS, (*BANDS[1:], 1.0), strict=True):
        if counts := bands[begins]:
            shares = counts["true"] / counts.total(), 1 - counts["false"] / counts.total()
            lines.append(f"| {begins:.1f}–{ends:.1f} | {counts.total()} | {shares[0]:.0%} | {shares[1]:.0%} |")
    return lines


def changes(rows: Sequence[Judged], confidences: Mapping[Place, float]) -> list[str]:
    """Return how many of each verdict are gone and kept, and which true ones are gone."""
    gone = [row for row in rows if row.place not in confidences]
    kept = Counter(row.verdict for row in rows if row.place in confidences)
    lost = Counter(row.verdict for row in gone)
    lines = [f"{verdict}: {lost[verdict]} gone, {kept[verdict]} kept" for verdict in VERDICTS]
    return lines + [
        f"gone: {row.project} {row.file}:{row.line} {row.rule}: {row.reasons[0]}"
        for row in gone
        if row.verdict == "true"
    ]


def main(arguments: Sequence[str]) -> None:
    rows = judged()
    confidences = {row.place: row.confidence for row in rows}
    if arguments:
        reports = [json.loads(Path(name).read_text()) for name in arguments]
        confidences = reported(reports, sorted({row.project for row in rows}))
        projects = {place[0] for place in confidences}
        rows = [row for row in rows if row.project in projects]
    print("\n".join([*table(rows, confidences), "", *changes(rows, confidences)]))


if __name__ == "__main__":
    main(sys.argv[1:])
