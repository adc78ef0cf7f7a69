"""Convert hits of the data-flow analysis to candidates, with their line of code and the effect of suppression comments.

A comment that suppresses a rule also suppresses the flow rule that supersedes it. If one of our own comments suppresses
a flow hit, it gets the remark USED, since the scan, which does not see the hit, may have remarked that the comment is
unused.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from jarvis_workers.dataflow import FlowHit
from jarvis_workers.paths import plain, shown
from jarvis_workers.sec.evidence import EVIDENCE_MAX, column_of, evidence, first_of_code
from jarvis_workers.sec.rules import RULES
from jarvis_workers.sec.scanner import LEAST, MATCHES_MAX, MOST, source_text
from jarvis_workers.sec.stages.flow_rules import USED
from jarvis_workers.sec.stages.scan_files import DEFAULT_LANGUAGE, language_for
from jarvis_workers.sec.suppressions import MARKS, SuppressionComment, silence, suppressions
from jarvis_workers.sec.trace import trail_of
from jarvis_workers.snapshots.reader import Entry, Reader
from jarvis_workers.source.languages import language_of
from jarvis_workers.source.lex import mask
from jarvis_workers.store.values import Spot

SUPERSEDES = {rule.pattern: frozenset(rule.supersedes) for rule in RULES if rule.supersedes}


class FileFlowHits(NamedTuple):
    """The candidates of a file, and remarks on the comments that suppress some of them."""

    spots: tuple[Spot, ...]
    remarks: tuple[tuple[bytes, int, str, str], ...]


class Sources:
    """The files of a batch; the batch's part of the manifest is read on first access."""

    def __init__(self, reader: Reader, offset: int, length: int) -> None:
        self._reader, self._place = reader, (offset, length)
        self._entries: Mapping[bytes, Entry] = {}

    def read(self, path: bytes) -> bytes:
        """Return the content of a file, with newlines normalized as compilers do. Raises SnapshotDamaged."""
        if not self._entries:
            self._entries = {entry.path: entry for entry in self._reader.entries(*self._place)}
        entry = self._entries[path]
        return source_text(self._reader.read(entry), language_for(entry))


def judge_hits(path: bytes, content: bytes, hits: Sequence[FlowHit]) -> FileFlowHits:
    """Return the most confident hit per rule and line as candidates, by line and rule."""
    best: dict[tuple[int, str], FlowHit] = {}
    for hit in sorted(hits):
        previous = best.get((hit.line, hit.pattern))
        if previous is None or hit.confidence > previous.confidence:
            best[hit.line, hit.pattern] = hit
    remaining_hits = [hit for _, hit in sorted(best.items(), key=lambda item: item[0])]
    words, used = silence([(hit.pattern, hit.line) for hit in remaining_hits], list(comments_in(path, content)))
    starts = line_starts(content)
    spots = [_spot(path, content, starts, hit) for hit in remaining_hits]
    judged = [spot._replace(suppressed=comments) for spot, comments in zip(spots, words, strict=True)]
    remarks = sorted((path, one.line, one.text, USED) for one in used if one.ours)
    return FileFlowHits(tuple(judged), tuple(remarks))


def _spot(path: bytes, content: bytes, starts: Sequence[int], hit: FlowHit) -> Spot:
    """Return the candidate of a hit; its column is that of the first code on the line."""
    line = max(1, hit.line)
    start = starts[min(line, len(starts)) - 1]
    code = plain(hit.evidence)[:EVIDENCE_MAX] if hit.evidence else evidence(content, start)
    confidence = round(min(MOST, max(LEAST, hit.confidence)), 2)
    column = column_of(content, first_of_code(content, start))
    return Spot(path, hit.pattern, line, confidence, code, column, trail=trail_of(hit.steps, shown(path)))


def line_starts(content: bytes) -> list[int]:
    starts, at = [0], content.find(b"\n")
    while at >= 0:
        starts.append(at + 1)
        at = content.find(b"\n", at + 1)
    return starts


def comments_in(path: bytes, content: bytes) -> Iterator[SuppressionComment]:
    """Yield the suppression comments; a comment that names a superseded rule also applies to the flow rule."""
    marks = sorted(at for mark in MARKS for at in _all(content, mark))[:MATCHES_MAX]
    if not marks:
        return
    language = language_of(path) or DEFAULT_LANGUAGE
    for one in suppressions(content, mask(content, language).text, language, marks):
        patterns = one.rules and {pattern for pattern, others in SUPERSEDES.items() if others & one.rules}
        yield one._replace(rules=one.rules | patterns) if one.rules and patterns else one


def _all(content: bytes, mark: bytes) -> Iterator[int]:
    at = content.find(mark)
    while at >= 0:
        yield at
        at = content.find(mark, at + len(mark))
