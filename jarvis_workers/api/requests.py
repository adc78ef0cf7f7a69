"""Convert the options of a scan to the request of a run, as the command line does with settings and flags."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

from jarvis_workers.api.options import ScanOptions
from jarvis_workers.depth import FLOW_DEPTH, Depth
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.pipeline.each_file import FileLimits
from jarvis_workers.runs.request import RunRequest
from jarvis_workers.runs.scan_request import ignore_files_of
from jarvis_workers.runs.sources import SourceTree, source_labels
from jarvis_workers.sec.runs.scan_input import Baseline, Chosen, ScanInput, Triage
from jarvis_workers.sec.stages.options import SecOptions
from jarvis_workers.sec.stages.ruleset import installed
from jarvis_workers.snapshots.selection import EXCLUDED_DIRECTORIES, OWN_DIRECTORY, Selection
from jarvis_workers.source.grammar_files import base_language
from jarvis_workers.source.languages import EXTENSIONS

if TYPE_CHECKING:
    from jarvis_workers.sec.triage_record import Judgement

BATCH_BYTES = 16_000_000
BATCH_FILES = 1000
MEGABYTE = 1_000_000
# A batch starts no further files after half of the time limit of a batch in a command.
BATCH_SECONDS = 150.0


@dataclass(frozen=True, slots=True)
class RuleChoice:
    """The settings that select rules."""

    enable_only: tuple[str, ...]
    disable: tuple[str, ...]
    categories: tuple[str, ...]
    severity: Mapping[str, str]
    depth: Depth


def request_of(
    options: ScanOptions, source: SourceTree, paths: tuple[bytes, ...], executor: str, baseline: Baseline | None = None
) -> RunRequest[ScanInput]:
    """Return the request of a scan with rules only. Raises UsageError."""
    build, selection = _flags(options, source), select_files(options, source)
    if build is not None:
        from jarvis_workers.sec.runs.scan_flags import compiled_files  # noqa: PLC0415  (slow, and rarely needed)

        selection = replace(selection, compiled=compiled_files(build, selection))
    return RunRequest(
        run_id=token_hex(4),
        kind="sec.fast",
        path=source.path,
        root=source.root,
        selection=replace(selection, paths=paths),
        labels=source_labels(source),
        executor=executor,
        run_input=ScanInput(
            SecOptions(
                batch_files=BATCH_FILES,
                batch_bytes=BATCH_BYTES,
                processes=process_count(options),
                limits=FileLimits(options.file_seconds, options.file_memory_mb, BATCH_SECONDS),
                cache=options.cache,
                min_confidence=options.min_confidence,
                lang=options.lang,
            ),
            rules=choose_rules(options),
            baseline=baseline,
            triage=Triage(stored=options.record, more=_judgements(options), named=_named(options)),
            build=build,
        ),
    )


def process_count(options: ScanOptions) -> int:
    """Return the number of scanning processes: one per available processor, unless set in the options."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return options.processes or allowed or 1


def select_files(options: ScanOptions, source: SourceTree) -> Selection:
    """Return the selection of files to scan."""
    suffixes = EXTENSIONS if options.extensions is None else [os.fsencode(one) for one in options.extensions]
    suffixes_selected = {
        b"." + suffix.removeprefix(b".")
        for suffix in suffixes
        if base_language(EXTENSIONS.get(suffix.removeprefix(b"."), "c/cpp")) in options.languages
    }
    return Selection(
        suffixes=frozenset(suffixes_selected),
        exclude_dirs=_excluded(options),
        include=tuple(options.include),
        exclude=tuple(options.exclude),
        ignore_files=ignore_files_of(source.origin, use=options.use_ignore_files),
        max_file_bytes=int(options.max_file_mb * MEGABYTE),
        follow_includes="c/cpp" in options.languages,
    )


def _excluded(options: ScanOptions) -> frozenset[bytes]:
    if options.exclude_dirs is None:
        return EXCLUDED_DIRECTORIES
    return frozenset({OWN_DIRECTORY, *map(os.fsencode, options.exclude_dirs)})


def choose_rules(options: ScanOptions) -> Chosen:
    """Return the rules of a run: built-in ones, those of installed packages and of files, except disabled ones."""
    is_restricted = options.rules or options.exclude_rules or options.only or options.severity or options.rule_paths
    if not (is_restricted or options.depth != FLOW_DEPTH or installed()):
        return Chosen()
    from jarvis_workers.sec.rulesets.rulebook import choose, open_rulebook  # noqa: PLC0415  (slow, and rarely needed)

    book = open_rulebook([Path(one).expanduser() for one in options.rule_paths])
    choice = RuleChoice(
        tuple(options.rules), tuple(options.exclude_rules), tuple(options.only), options.severity, options.depth
    )
    places = {"enable_only": "rules", "disable": "exclude_rules", "categories": "only", "severity": "severity"}
    return choose(book, choice, place=places.__getitem__)


def _flags(options: ScanOptions, source: SourceTree) -> bytes | None:
    """Return the macros and include directories of files. Raises UsageError."""
    if options.compile_commands is None:
        return None
    from jarvis_workers.sec.runs.scan_flags import flags_of_files  # noqa: PLC0415  (slow, and rarely needed)

    return flags_of_files(source.path, Path(options.compile_commands))


def _judgements(options: ScanOptions) -> "tuple[Judgement, ...]":
    if options.triage is None:
        return ()
    from jarvis_workers.sec.triage.file import read_triage  # noqa: PLC0415  (slow, and rarely needed)

    entries = read_triage(Path(options.triage))
    if entries.problems:
        raise UsageError(f"{plain(os.fspath(options.triage))}: {entries.problems[0]}")
    return entries.judgements


def _named(options: ScanOptions) -> str | None:
    return None if options.triage is None else plain(os.fspath(options.triage))
