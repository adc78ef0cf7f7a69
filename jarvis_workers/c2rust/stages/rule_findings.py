"""Count what the rules of `jarvis sec` find in the C sources of a conversion, and in its crate.

Only the text rules run, with the confidence and severity that they have by default.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

from jarvis_workers.c2rust.crate import TESTS
from jarvis_workers.c2rust.remainder import DIRECTORY
from jarvis_workers.c2rust.rule_counts import CategoryCounts, SeverityCounts
from jarvis_workers.paths import listing, shown
from jarvis_workers.sec.rules import RULES_BY_PATTERN
from jarvis_workers.sec.scanner import LEAST, Scanner
from jarvis_workers.sec.severity import CATEGORY_ORDER, severity_of
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.reader import open_snapshot
from jarvis_workers.source.languages import is_header, is_test, language_of

# Other jobs of the queue "control" wait. This takes 0.4 s; 3 minutes if a rule matches each line.
TOTAL_BYTES, NAMES_SHOWN = 32_000_000, 5
NOT_SCANNED = "not scanned for findings"
C, RUST = "c/cpp", "rust"
# The category and severity of a finding.
Kind = tuple[str, str]


class RuleFindings(NamedTuple):
    """The findings by category, and a line about each file that was not scanned in full."""

    counts: tuple[CategoryCounts, ...]
    problems: tuple[str, ...]


class ScannedFile(NamedTuple):
    """A file with its size; its content is read if it is scanned."""

    path: bytes
    size: int
    read: Callable[[], bytes]

    @classmethod
    def of(cls, path: bytes, content: bytes) -> "ScannedFile":
        """Return a file with this content."""
        return cls(path, len(content), lambda: content)


def rule_findings(blobs: Blobs, snapshot: str, files: Collection[str], crate: Mapping[str, bytes]) -> RuleFindings:
    """Return the findings in files of the snapshot, given in display form, and in the files of a crate."""
    with open_snapshot(blobs, snapshot) as reader:
        entries = (one for one in reader.files() if shown(one.path) in files)
        return count_findings((ScannedFile(one.path, one.size, partial(reader.read, one)) for one in entries), crate)


def count_findings(sources: Iterable[ScannedFile], crate: Mapping[str, bytes]) -> RuleFindings:
    """Return the findings in C sources and in the files of a crate, without those of its tests."""
    scan = _Scan()
    named = [(name.encode(), content) for name, content in sorted(crate.items()) if name != f"src/{TESTS}.rs"]
    files = [ScannedFile.of(*one) for one in named]
    rust = [one for one in files if language_of(one.path) == RUST and one.path.startswith(b"src/")]
    rest = [one for one in files if language_of(one.path) == C and one.path.startswith(f"{DIRECTORY}/".encode())]
    sides = [Counter(scan.kinds(some, kind)) for some, kind in ((sources, C), (rust, RUST), (rest, C))]
    names = sorted({category for side in sides for category, _ in side}, key=_place)
    counts = (CategoryCounts(name, *(_severities(side, name) for side in sides)) for name in names)
    return RuleFindings(tuple(counts), tuple(scan.problem_lines()))


class _Scan:
    """Scans files until their sizes reach the limit, and collects problems."""

    def __init__(self) -> None:
        self._scanner, self._left = Scanner(), TOTAL_BYTES
        self._problems, self._beyond = list[str](), list[str]()

    def problem_lines(self) -> Iterator[str]:
        yield from self._problems
        if self._beyond:
            yield f"{NOT_SCANNED}, beyond {TOTAL_BYTES:,} bytes in total: {listing(self._beyond, NAMES_SHOWN)}"

    def kinds(self, files: Iterable[ScannedFile], language: str) -> Iterator[Kind]:
        """Yield the kind of each finding in files of a language."""
        for one in files:
            if language_of(one.path) != language:
                self._problems.append(f"{shown(one.path)}: {NOT_SCANNED}: its suffix is not that of a C file")
            elif one.size > self._left:
                self._beyond.append(shown(one.path))
            else:
                self._left -= one.size
                yield from self._findings(one, language)

    def _findings(self, file: ScannedFile, language: str) -> Iterator[Kind]:
        path = file.path
        found = self._scanner.scan(file.read(), language=language, header=is_header(path), test=is_test(path))
        if found.problem:
            self._problems.append(f"{shown(path)}: not scanned in full for findings: {found.problem}")
        for hit in found.hits:
            if hit.suppressed is None and hit.confidence >= LEAST:
                rule = RULES_BY_PATTERN[hit.pattern]
                yield rule.category, severity_of(hit.confidence, rule.cwe)


def _severities(side: Counter[Kind], category: str) -> SeverityCounts:
    return SeverityCounts(*(side[category, severity] for severity in SeverityCounts._fields))


def _place(category: str) -> int:
    return CATEGORY_ORDER.index(category)
