"""The options of a scan through the Python API."""

import json
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from jarvis_workers.api.choices import Language, Severity, StrPath, check_choice
from jarvis_workers.depth import FLOW_DEPTH, Depth
from jarvis_workers.errors import UsageError
from jarvis_workers.runs.labels import check_labels

if TYPE_CHECKING:
    from jarvis_workers.api.report import Report

NAMES = ("rules", "exclude_rules", "only", "include", "exclude", "languages")
LARGEST_FILE_MB = 256.0
FILE_SECONDS = 10.0
FILE_MEMORY_MB = 2048.0


@dataclass(frozen=True, kw_only=True)
class ScanOptions:
    """How to scan. Every field has a default, and no setting is read from files or the environment.

    Rules: `rules` (only these ids), `exclude_rules`, `only` (categories), `severity` by rule id, `rule_paths`, files or
    directories of YAML rules, and `depth` ("rules": without data-flow analysis).

    Files: `include` and `exclude` (globs as in .gitignore, relative to the root), `exclude_dirs` (names, instead of
    build, vendor, third_party …), `use_ignore_files`, `languages`, `extensions` (instead of the usual suffixes),
    `max_file_mb`, `compile_commands` (a compile_commands.json with macros and include directories).

    Findings: `min_confidence`, `baseline` (a Report, the path of a JSON or SARIF report, or a git revision: only new
    findings are reported), `since` (a git revision: only files changed since), `triage` (a file of verdicts), `lang` of
    the texts.

    Work: `processes` (None: one per core); limits per file: `file_seconds` of CPU time and `file_memory_mb`.

    Persistent data, by default none: `cache` caches results by content in the user's data directory, `record` records
    the run in the results store as the command line does, with `labels` to find it by, `data_directory` replaces the
    usual location of both, `write_artifacts` writes `<root>/.jarvis/sec/`.

    Raises UsageError for an invalid value.
    """

    rules: Collection[str] = ()
    exclude_rules: Collection[str] = ()
    only: Collection[str] = ()
    severity: Mapping[str, Severity] = field(default_factory=dict)
    rule_paths: Collection[StrPath] = ()
    depth: Depth = FLOW_DEPTH
    include: Collection[str] = ()
    exclude: Collection[str] = ()
    exclude_dirs: Collection[str] | None = None
    use_ignore_files: bool = True
    languages: Collection[Language] = ("c/cpp", "rust")
    extensions: Collection[str] | None = None
    max_file_mb: float = LARGEST_FILE_MB
    compile_commands: StrPath | None = None
    min_confidence: float = 0.4
    baseline: "Report | StrPath | None" = None
    since: str | None = None
    triage: StrPath | None = None
    lang: Literal["en", "zh"] = "en"
    processes: int | None = None
    file_seconds: float = FILE_SECONDS
    file_memory_mb: float = FILE_MEMORY_MB
    cache: bool = False
    record: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)
    data_directory: StrPath | None = None
    write_artifacts: bool = False

    def __post_init__(self) -> None:
        for name in (*NAMES, "rule_paths", "extensions", "exclude_dirs"):
            value = getattr(self, name)
            if isinstance(value, str | bytes):
                raise UsageError(f"{name} is the string {value!r}; give a list or tuple of strings")
            if value is not None:
                object.__setattr__(self, name, tuple(value))
        for name in ("rules", "exclude_rules", "only"):
            if "" in getattr(self, name):
                raise UsageError(f"{name} contains an empty name; see all with: jarvis sec rules")
        check_choice("languages", self.languages, get_args(Language))
        check_choice("severity", self.severity.values(), get_args(Severity))
        check_choice("lang", [self.lang], ("en", "zh"))
        check_choice("depth", [self.depth], get_args(Depth))
        if check_labels(self.labels, "labels") and not self.record:
            raise UsageError("labels are for recorded runs; add record=True")
        if not self.languages:
            raise UsageError("languages is empty; give c/cpp, rust or both")
        _check_range("min_confidence", self.min_confidence, 0, 1)
        for name in ("max_file_mb", "file_seconds", "file_memory_mb"):
            _check_range(name, getattr(self, name), 1e-3, 1e6)
        if self.processes is not None:
            _check_range("processes", self.processes, 1, 1e6)

    @classmethod
    def from_settings(cls, directory: StrPath = ".") -> "ScanOptions":
        """Return the options given by `jarvis.yaml`, `pyproject.toml` and `JARVIS_*`, as for the command line.

        Only settings of rules, files and limits are used; in CI, those that narrow a scan come from the base revision
        (docs/ci.md). Raises SettingsError.
        """
        from jarvis_workers.runs.trusted_scope import load_scan_settings  # noqa: PLC0415  (slow, and rarely needed)

        settings = load_scan_settings({}, directory=Path(directory))
        scan, rules = settings.scan, settings.rules
        return cls(
            rules=rules.enable_only,
            exclude_rules=rules.disable,
            only=rules.categories,
            severity=rules.severity,
            rule_paths=[Path(directory, Path(one).expanduser()) for one in rules.paths],
            depth=rules.depth,
            exclude_dirs=scan.exclude_dirs,
            use_ignore_files=scan.use_ignore_files,
            languages=scan.languages,
            extensions=scan.extensions,
            max_file_mb=scan.max_file_mb,
            min_confidence=settings.report.min_confidence,
            processes=settings.processes,
            file_seconds=scan.file_seconds,
            file_memory_mb=scan.file_memory_mb,
        )


def encode_options(options: ScanOptions) -> str:
    """Return the options as JSON, except a baseline that is a report."""
    values = {one.name: getattr(options, one.name) for one in fields(options) if one.name != "baseline"}
    baseline = options.baseline if isinstance(options.baseline, str | os.PathLike) else None
    return json.dumps({**values, "baseline": baseline}, default=os.fspath)


def decode_options(text: str) -> ScanOptions:
    """Return the options that `encode_options` encoded."""
    values: dict[str, Any] = json.loads(text)
    return ScanOptions(**values)


def _check_range(name: str, value: float, least: float, most: float) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise UsageError(f"{name} is {value!r}; expected a number from {least:,.9g} to {most:,.9g}")
