"""Count what the rules of `jarvis sec` find in the C sources of a conversion, and in its crate.

Only the text rules run, with the confidence and severity that they have by default.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from jarvis_workers.c2rust.crate import TESTS
from jarvis_workers.c2rust.remainder import DIRECTORY
from jarvis_workers.c2rust.rule_counts import CategoryCounts, SeverityCounts
from jarvis_workers.paths import shown
from jarvis_workers.sec.rules import RULES_BY_PATTERN
from jarvis_workers.sec.scanner import LEAST, Scanner, is_header, is_test, language_of
from jarvis_workers.sec.severity import CATEGORY_ORDER, severity_of
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.reader import open_snapshot

FILE_BYTES = 32_000_000
C, RUST = "c/cpp", "rust"
# The category and severity of a finding.
Kind = tuple[str, str]
Files = Iterable[tuple[bytes, bytes]]


class RuleFindings(NamedTuple):
    """The findings by category, and a line about each file that was not scanned in full."""

    counts: tuple[CategoryCounts, ...]
    problems: tuple[str, ...]


def rule_findings(blobs: Blobs, snapshot: str, files: Collection[str], crate: Mapping[str, bytes]) -> RuleFindings:
    """Return the findings in files of the snapshot, given in display form, and in the files of a crate."""
    with open_snapshot(blobs, snapshot) as reader:
        sources = ((one.path, reader.read(one)) for one in reader.files() if shown(one.path) in files)
        return count_findings(sources, crate)


def count_findings(sources: Files, crate: Mapping[str, bytes]) -> RuleFindings:
    """Return the findings in C sources and in the files of a crate, without those of its tests."""
    scanner, problems = Scanner(), list[str]()
    named = [(name.encode(), content) for name, content in sorted(crate.items()) if name != f"src/{TESTS}.rs"]
    rust = [one for one in named if one[0].startswith(b"src/")]
    rest = [one for one in named if one[0].startswith(f"{DIRECTORY}/".encode())]
    sides = [_counted(scanner, some, problems, kind) for some, kind in ((sources, C), (rust, RUST), (rest, C))]
    names = sorted({category for side in sides for category, _ in side}, key=_place)
    counts = (CategoryCounts(name, *(_severities(side, name) for side in sides)) for name in names)
    return RuleFindings(tuple(counts), tuple(problems))


def _counted(scanner: Scanner, files: Files, problems: list[str], language: str) -> Counter[Kind]:
    """Return the number of findings in files of a language, and add problems."""
    return Counter(kind for path, content in files for kind in _kinds(scanner, path, content, problems, language))


def _kinds(scanner: Scanner, path: bytes, content: bytes, problems: list[str], language: str) -> Iterator[Kind]:
    if language_of(path) != language:
        return
    if len(content) > FILE_BYTES:
        problems.append(f"{shown(path)}: not scanned for findings: larger than {FILE_BYTES:,} bytes")
        return
    found = scanner.scan(content, language=language, header=is_header(path), test=is_test(path))
    if found.problem:
        problems.append(f"{shown(path)}: not scanned in full for findings: {found.problem}")
    for hit in found.hits:
        if hit.suppressed is None and hit.confidence >= LEAST:
            yield RULES_BY_PATTERN[hit.pattern].category, severity_of(hit.confidence)


def _severities(side: Counter[Kind], category: str) -> SeverityCounts:
    return SeverityCounts(*(side[category, severity] for severity in SeverityCounts._fields))


def _place(category: str) -> int:
    return CATEGORY_ORDER.index(category)
