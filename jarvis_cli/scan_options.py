"""The options of every command that scans: each is written down once, and taken by all of them."""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from jarvis_cli.options import Detach, Form, Lang, Output, Quiet, Where
from jarvis_workers.errors import UsageError

if TYPE_CHECKING:
    from jarvis_workers.settings import Settings

__all__ = ["ScanOptions", "settings_of", "taking_scan_options"]

Names = list[str] | None


@dataclass(frozen=True, kw_only=True)
class ScanOptions:
    """What is scanned, by which rules, where, and what is told of it."""

    paths: Annotated[
        Names,
        typer.Argument(metavar="[PATH]...", help="Directories and files to scan, or a git URL [default: .]."),
    ] = None
    path: Annotated[Names, typer.Option("--path", "-p", metavar="PATH", help="The same as PATH; repeatable.")] = None
    root: Annotated[
        str | None, typer.Option("--root", metavar="DIR", help="Directory that paths in reports are relative to.")
    ] = None
    output: Output = None
    form: Form = None
    fail_on: Annotated[
        str | None,
        typer.Option(metavar="LEVEL", help="Exit 1 at a finding of this severity or above: high, medium, low."),
    ] = None
    include: Annotated[
        Names, typer.Option(metavar="GLOB", help="Only what matches this glob, as in .gitignore; repeatable.")
    ] = None
    exclude: Annotated[Names, typer.Option(metavar="GLOB", help="Leave out what matches this glob; repeatable.")] = None
    default_excludes: Annotated[bool, typer.Option(help="Leave out .git, build, out, target, third_party, vendor.")] = (
        True
    )
    baseline: Annotated[
        str | None,
        typer.Option(metavar="X", help="Only what is new: not in this report (JSON, SARIF) or git revision."),
    ] = None
    since: Annotated[
        str | None, typer.Option(metavar="REV", help="Only files that have changed since this git revision.")
    ] = None
    languages: Annotated[str | None, typer.Option(metavar="NAMES", help="c/cpp, rust or both, parted by a comma.")] = (
        None
    )
    min_confidence: Annotated[
        float | None, typer.Option(min=0, max=1, metavar="NUMBER", help="Report from this confidence on (0 to 1).")
    ] = None
    rules: Annotated[
        str | None,
        typer.Option("--rules", metavar="IDS", help="Only these rules, parted by commas, as in jarvis sec rules."),
    ] = None
    exclude_rules: Annotated[
        str | None, typer.Option("--exclude-rules", metavar="IDS", help="Not these rules; on top of jarvis.yaml.")
    ] = None
    only: Annotated[
        str | None, typer.Option("--only", metavar="CATEGORIES", help="Only the rules of these categories.")
    ] = None
    project_rules: Annotated[
        bool,
        typer.Option("--project-rules", help="Use the rules in PATH/.jarvis/rules, too; of a directory you trust."),
    ] = False
    triage: Annotated[
        str | None, typer.Option("--triage", metavar="FILE", help="Heed the judgements of this file, too; they win.")
    ] = None
    no_triage: Annotated[
        bool, typer.Option("--no-triage", help="Do not heed what was judged in jarvis sec triage.")
    ] = False
    learned: Annotated[
        bool | None,
        typer.Option("--learned/--no-learned", help="Weigh rules as judgements suggest; see rules --stats."),
    ] = None
    processes: Annotated[
        int | None,
        typer.Option("--processes", "-j", min=1, metavar="NUMBER", help="How many children scan at a time."),
    ] = None
    lang: Lang = None
    cache: Annotated[bool, typer.Option("--cache/--no-cache", help="Scan only what has changed since.")] = True
    profile: Annotated[bool, typer.Option("--profile", help="Say which rules and files take the time.")] = False
    where: Where = None
    detach: Detach = False
    quiet: Quiet = False


def taking_scan_options(command: Callable[..., int]) -> Callable[..., int]:
    """Let a command, whose first parameters are the context and `options`, take all of them on the command line."""
    own = [one for one in inspect.signature(command, eval_str=True).parameters.values() if one.name != "options"]
    hints = get_type_hints(ScanOptions, include_extras=True)
    shared = [
        inspect.Parameter(
            one.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if one.default is MISSING else one.default,
            annotation=hints[one.name],
        )
        for one in fields(ScanOptions)
    ]
    names = {one.name for one in shared}

    def run(ctx: typer.Context, **given: Any) -> int:
        options = ScanOptions(**{name: given.pop(name) for name in names})
        return command(ctx, options, **given)

    more = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own[1:]]
    run.__signature__ = inspect.Signature([own[0], *shared, *more])  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in [own[0], *shared, *more]}
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    return run


def flags_of(options: ScanOptions) -> dict[str, object]:
    """Return the settings that the options set."""
    return _flags_of_rules(options) | {
        "scan.languages": options.languages,
        "scan.exclude_dirs": None if options.default_excludes else (".jarvis",),
        "report.min_confidence": options.min_confidence,
        "rules.learned": options.learned,
        "processes": options.processes,
        "cache.max_mb": None if options.cache else 0.0,
        "where": options.where,
    }


def settings_of(options: ScanOptions, flags: dict[str, object]) -> "Settings":
    """Return the settings of a scan. Raises UsageError."""
    from jarvis_workers.settings import load_settings  # noqa: PLC0415

    settings = load_settings(flags, directory=Path.cwd())
    if options.detach and settings.place == "local":
        raise UsageError(
            "--detach is for runs on a cluster: a local run is carried out by this command; "
            "leave it out, or put the command in the background"
        )
    return settings


def _flags_of_rules(options: ScanOptions) -> dict[str, object]:
    """Return the settings that flags make of rules. An unset variable in a script must not mean all rules."""
    given = {"--rules": options.rules, "--exclude-rules": options.exclude_rules, "--only": options.only}
    for flag, names in given.items():
        if names is not None and not names.strip(" ,"):
            raise UsageError(f"{flag}: names nothing; see all with: jarvis sec rules")
    # Who names rules means them, whatever the settings switch off.
    disable = () if options.rules else None
    return {"rules.enable_only": options.rules, "rules.disable": disable, "rules.categories": options.only}
