"""The options shared by all commands that scan, defined once."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from jarvis_cli.completion import categories, languages, rules
from jarvis_cli.option_records import taking_options
from jarvis_cli.options import (
    EXECUTION,
    REPORT,
    RULES,
    SCOPE,
    Detach,
    FailOn,
    Form,
    FormJson,
    Label,
    Lang,
    Name,
    Output,
    Quiet,
    RelativeTo,
    Where,
)
from jarvis_workers.sec.depth import Depth

Names = list[str] | None


def _option(panel: str, *names: str, **settings: Any) -> Any:
    return typer.Option(*names, rich_help_panel=panel, **settings)


@dataclass(frozen=True, kw_only=True)
class ScanOptions:
    """Target, rules, executor and report of a scan."""

    paths: Annotated[
        Names,
        typer.Argument(metavar="PATH", help="Directories and files, or a git URL[@REVISION] [default: .]"),
    ] = None
    path: Annotated[Names, _option(SCOPE, "--path", "-p", metavar="PATH", help="Same as PATH; repeatable.")] = None
    root: Annotated[
        str | None, _option(SCOPE, "--root", metavar="DIR", help="Directory that paths in reports are relative to.")
    ] = None
    include: Annotated[
        Names, _option(SCOPE, "--include", metavar="GLOB", help="Only files that match, as in .gitignore; repeatable.")
    ] = None
    exclude: Annotated[
        Names, _option(SCOPE, "--exclude", metavar="GLOB", help="Skip files that match; repeatable.")
    ] = None
    default_excludes: Annotated[
        bool,
        _option(
            SCOPE,
            "--default-excludes/--no-default-excludes",
            help="Also scan .git, .pc, build, out, target, third_party and vendor.",
        ),
    ] = True
    languages: Annotated[
        Names,
        _option(SCOPE, "--languages", metavar="NAMES", help="c/cpp, rust; comma-separated.", autocompletion=languages),
    ] = None
    baseline: Annotated[
        str | None,
        _option(
            SCOPE,
            "--baseline",
            metavar="REPORT|REV",
            help="Report only findings not in this report or git revision.",
        ),
    ] = None
    since: Annotated[
        str | None, _option(SCOPE, "--since", metavar="REV", help="Scan only files changed since this git revision.")
    ] = None
    compile_commands: Annotated[
        Path | None,
        _option(
            SCOPE,
            "--compile-commands",
            metavar="FILE",
            help="compile_commands.json with the macros and include directories of the files.",
        ),
    ] = None
    rules: Annotated[
        Names,
        _option(RULES, "--rules", metavar="IDS", help="Only these rules; comma-separated.", autocompletion=rules),
    ] = None
    exclude_rules: Annotated[
        Names,
        _option(RULES, "--exclude-rules", metavar="IDS", help="Exclude these rules.", autocompletion=rules),
    ] = None
    only: Annotated[
        Names,
        _option(
            RULES,
            "--category",
            "--only",
            metavar="NAMES",
            help="Only rules of these categories.",
            autocompletion=categories,
        ),
    ] = None
    project_rules: Annotated[
        bool,
        _option(RULES, "--project-rules", help="Also load rules from ROOT/.jarvis/rules; only for trees you trust."),
    ] = False
    depth: Annotated[
        Depth | None,
        _option(RULES, "--depth", help="rules: no data-flow analysis, many times as fast. [default: flow]"),
    ] = None
    min_confidence: Annotated[
        float | None,
        _option(RULES, "--min-confidence", min=0, max=1, metavar="NUMBER", help="Minimum confidence to report (0–1)."),
    ] = None
    triage: Annotated[
        str | None,
        _option(RULES, "--triage", metavar="FILE", help="Apply verdicts from this file (overrides stored ones)."),
    ] = None
    no_triage: Annotated[bool, _option(RULES, "--no-triage", help="Ignore stored verdicts.")] = False
    learned: Annotated[
        bool | None,
        _option(RULES, "--learned/--no-learned", help="Adjust rule confidence from triage statistics."),
    ] = None
    output: Output = None
    form: Form = None
    as_json: FormJson = False
    relative_to: RelativeTo = None
    fail_on: FailOn = None
    lang: Lang = None
    quiet: Quiet = False
    profile: Annotated[bool, _option(REPORT, "--profile", help="Print time per rule and file.")] = False
    processes: Annotated[
        int | None,
        _option(EXECUTION, "--processes", "-j", min=0, metavar="NUMBER", help="Number of parallel processes; 0: none."),
    ] = None
    cache: Annotated[
        bool, _option(EXECUTION, "--cache/--no-cache", help="Do not reuse cached results of unchanged files.")
    ] = True
    label: Label = None
    name: Name = None
    where: Where = None
    detach: Detach = False

    @property
    def deciding_files(self) -> tuple[str, ...]:
        """The files, by name, that decide what is reported."""
        return tuple(str(name) for name in (self.baseline, self.triage, self.compile_commands) if name)

    @property
    def names(self) -> list[str]:
        """The files and directories to scan, or a repository URL."""
        return [*(self.paths or ()), *(self.path or ())]

    @property
    def globs(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The globs that files must match, and those that they must not match."""
        return tuple(self.include or ()), tuple(self.exclude or ())

    @property
    def is_plain(self) -> bool:
        """Whether a scan needs neither the store nor the rule book."""
        rules = self.rules or self.exclude_rules or self.only or self.project_rules or self.learned or self.depth
        compared = self.baseline or self.since or self.triage or self.compile_commands
        return not (rules or compared or self.profile or self.detach or self.name)


def taking_scan_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add all scan options to a command, whose first parameters are the context and `options`."""
    return taking_options(ScanOptions, command)
