"""The options shared by all commands that scan, defined once."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from jarvis_cli.kit.option_records import CommandOptions, taking_options
from jarvis_cli.kit.options import (
    EXECUTION,
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
    Verbose,
    Where,
)
from jarvis_workers.depth import Depth
from jarvis_workers.option import Option
from jarvis_workers.sec.commands.rule_completion import categories, languages, rules
from jarvis_workers.sec.stages.options import SecOptions

Names = list[str] | None


def _option(panel: str, *names: str, **settings: Any) -> Any:
    return typer.Option(*names, rich_help_panel=panel, **settings)


@dataclass(frozen=True, kw_only=True)
class ScanCommandOptions(CommandOptions):
    """Target, rules, executor and report of a scan."""

    order = (
        "paths path root include exclude default_excludes languages baseline since compile_commands "
        "findings witness proof_build rules exclude_rules only project_rules depth min_confidence triage no_triage "
        "learned output form as_json relative_to fail_on lang quiet verbose profile processes cache label name where "
        "detach"
    )
    options: SecOptions = field(default_factory=SecOptions)
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
    findings: Annotated[
        list[Path] | None,
        _option(
            RULES,
            "--findings",
            metavar="REPORT",
            help="Also take the findings of other analyzers: SARIF, XML of cppcheck, what gcc prints; repeatable.",
        ),
    ] = None
    witness: Annotated[
        Names,
        _option(
            RULES,
            "--witness",
            metavar="NAMES",
            help="Also run these analyzers: gcc, clang-tidy, cppcheck, clippy; auto: all that are installed. [none]",
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
    triage: Annotated[
        str | None,
        _option(RULES, "--triage", metavar="FILE", help="Apply verdicts from this file (overrides stored ones)."),
    ] = None
    no_triage: Annotated[bool, _option(RULES, "--no-triage", help="Ignore stored verdicts.")] = False
    learned: Annotated[
        bool | None,
        _option(RULES, "--learned/--no-learned", help="Adjust rule confidence from triage statistics."),
        Option(setting="rules.learned"),
    ] = None
    output: Output = None
    form: Form = None
    as_json: FormJson = False
    relative_to: RelativeTo = None
    fail_on: FailOn = None
    lang: Lang = None
    quiet: Quiet = False
    verbose: Verbose = False
    processes: Annotated[
        int | None,
        _option(EXECUTION, "--processes", "-j", min=0, metavar="NUMBER", help="Number of parallel processes; 0: none."),
        Option(setting="processes"),
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
        """The files and directories, by name, that decide what is read or reported."""
        names = [
            str(name) for name in (self.baseline, self.triage, self.compile_commands, *(self.findings or ())) if name
        ]
        if not self.project_rules:
            return tuple(names)
        from jarvis_workers.runs.targets import target_of  # noqa: PLC0415
        from jarvis_workers.sec.rulesets.rule_files import RULES_DIRECTORY  # noqa: PLC0415

        root = target_of(self.names, self.root).root
        return (*names, str(Path(root) / RULES_DIRECTORY))

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
        """Whether a scan needs neither the store nor rules of a project."""
        rules = self.project_rules or self.learned
        compared = self.baseline or self.since or self.triage or self.compile_commands or self.findings
        return not (rules or compared or self.options.profile or self.detach or self.name)


def taking_scan_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add all scan options to a command, whose first parameters are the context and `options`."""
    return taking_options(ScanCommandOptions, command)
