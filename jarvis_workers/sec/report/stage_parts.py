"""What reports say of the work of stages: a row for each field of the summary that a stage adds.

All formats loop over the rows.  Names and texts within the values are untrusted.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from jarvis_workers.sec.fuzzing_outcome import FuzzedTarget, FuzzingOutcome
from jarvis_workers.sec.report.verdicts import lines_share
from jarvis_workers.sec.report_document import DiscoveryOutcome, EscalationCount, ReadingOutcome, ReportGap, Summary
from jarvis_workers.words import ENGLISH, Words

Escape = Callable[[str], str]


class NameList(NamedTuple):
    """Names in a report, which are untrusted, with a title and the noun that counts them."""

    title: str
    noun: str
    names: Sequence[str]


class PartList(NamedTuple):
    """A list in the section of a part; the title is English, and `names` returns what is listed."""

    title: str
    noun: str
    names: Callable[[Any, Words], Sequence[str]]


class PartSection(NamedTuple):
    """The lists of a part under their title; the name is that of the field."""

    name: str
    title: str
    lists: list[NameList]


def _nothing(_value: Any, _say: Words, _escape: Escape) -> str:
    return ""


class StagePart(NamedTuple):
    """What reports say of a field of the summary, if it is there.

    `brief` is its part of the line at the end of a scan, the `sentence` stands beside the verdict, and the `lists` in a
    section of this `title`.  Its fields `paths` hold the names of files.
    """

    field: str
    brief: Callable[[Any], str]
    sentence: Callable[[Any, Words, Escape], str] = _nothing
    title: str = ""
    lists: tuple[PartList, ...] = ()
    paths: tuple[str, ...] = ()


def parts_of(summary: Summary) -> Iterator[tuple[StagePart, Any]]:
    """Yield the rows of a summary with their values."""
    return ((part, value) for part in PARTS if (value := getattr(summary, part.field)) is not None)


def briefs(summary: Summary) -> list[str]:
    """Return the parts of the line at the end of a scan."""
    return [part.brief(value) for part, value in parts_of(summary)]


def sentences(summary: Summary, say: Words, escape: Escape = str) -> list[str]:
    """Return the sentences to show beside the verdict."""
    return [text for part, value in parts_of(summary) if (text := part.sentence(value, say, escape))]


def sections(summary: Summary, say: Words) -> Iterator[PartSection]:
    """Yield the lists of parts."""
    for part, value in parts_of(summary):
        if part.lists:
            lists = [NameList(say(one.title), one.noun, one.names(value, say)) for one in part.lists]
            yield PartSection(part.field, say(part.title), lists)


def gap_lists(gaps: Sequence[ReportGap], say: Words) -> list[NameList]:
    """Return the files that were not checked by reason."""
    files: defaultdict[str, list[str]] = defaultdict(list)
    for gap in gaps:
        files[gap.reason].append(gap.file)
    return [NameList(reason or say("no reason given"), "file", names) for reason, names in sorted(files.items())]


def _escalated(escalation: EscalationCount) -> str:
    return f"escalated {escalation.escalated:,} of {escalation.verified:,}"


def _searched(discovery: DiscoveryOutcome) -> str:
    outside = discovery.lines_outside
    text = f"discovery: searched {discovery.searched:,} of {ENGLISH.count(discovery.functions, 'function')}"
    return f"{text}, {ENGLISH.count(outside, 'line')} of code in none" if outside else text


def _read(reading: ReadingOutcome) -> str:
    return f"read {reading.read:,} of {ENGLISH.count(reading.files, 'file')}, {lines_share(reading)} of the lines"


def _fuzzed(fuzzing: FuzzingOutcome) -> str:
    fuzzed = [one for one in fuzzing.targets if one.engine]
    text = f"fuzzed {len(fuzzed):,} of {ENGLISH.count(len(fuzzing.targets), 'target')}"
    return f"{text}, {ENGLISH.count(sum(one.errors for one in fuzzed), 'error')}"


def _fuzzing(fuzzing: FuzzingOutcome, say: Words, escape: Escape) -> str:
    """Return how long each target was fuzzed, or why it was not."""
    targets = escape("; ".join(_fuzzed_target(one, say) for one in fuzzing.targets))
    return say("Fuzzing: {targets}.", targets=targets) if targets else ""


def _fuzzed_target(one: FuzzedTarget, say: Words) -> str:
    if not one.engine:
        return say("{target} was not fuzzed, because {reason}", target=one.target, reason=one.reason)
    text = say(
        "{target}: {runs} in {seconds} s by {engine}, {errors}",
        target=one.target,
        runs=say.count(one.runs, "run"),
        seconds=f"{one.seconds:,}",
        engine=one.engine,
        errors=say.count(one.errors, "error"),
    )
    return say("{text} ({reason})", text=text, reason=one.reason) if one.reason else text


PARTS = (
    StagePart("escalation", _escalated),
    StagePart("discovery", _searched),
    StagePart("reading", _read),
    StagePart("fuzzing", _fuzzed, _fuzzing),
)
