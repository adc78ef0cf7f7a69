"""`jarvis sec`: scan a tree and report."""

from pathlib import Path
from typing import Annotated

import typer

from jarvis_cli.main import Frame
from jarvis_cli.rules import app as rules_app
from jarvis_cli.rules import explain
from jarvis_workers.errors import UsageError

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Find vulnerabilities in C, C++ and Rust.")

Rules = Annotated[
    str | None,
    typer.Option("--rules", metavar="IDS", help="Only these rules, parted by commas, as in jarvis sec rules."),
]
ExcludeRules = Annotated[
    str | None, typer.Option("--exclude-rules", metavar="IDS", help="Not these rules; on top of jarvis.yaml.")
]
Only = Annotated[str | None, typer.Option("--only", metavar="CATEGORIES", help="Only the rules of these categories.")]

EXAMPLES = """\
\b
Examples:
  jarvis sec fast -p src                          Markdown on stdout
  jarvis sec fast -p src -o report.json           JSON to a file, by its suffix
  jarvis sec fast -p src --format json -o - | jq .summary
  jarvis sec fast -p src --fail-on high -q        for CI: exit 1 on a finding of severity high
  jarvis sec fast -p src --exclude 'tests/**'     leave something out
  jarvis sec fast -p . --baseline main            only what is new since a git revision, or a report
  jarvis sec fast -p . --since main               only files that have changed since

\b
What is not checked is named in the report, and the exit code is 3.
"""


@app.callback()
def sec() -> None:
    """Find vulnerabilities in C, C++ and Rust."""


app.add_typer(rules_app, name="rules")
app.command(short_help="Say what a rule means, and how to silence it.")(explain)


@app.command(epilog=EXAMPLES, short_help="Scan with the rules alone: no model.")
def fast(
    ctx: typer.Context,
    path: Annotated[str, typer.Option("--path", "-p", metavar="PATH", help="The directory or file to scan.")],
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Where the report goes; - is stdout.")
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--format", metavar="FORMAT", help="json, markdown, sarif, html or junit; by default from -o's suffix."
        ),
    ] = None,
    fail_on: Annotated[
        str | None,
        typer.Option(metavar="LEVEL", help="Exit 1 at a finding of this severity or above: high, medium, low."),
    ] = None,
    include: Annotated[
        list[str] | None,
        typer.Option(metavar="GLOB", help="Only what matches this glob, as in .gitignore; repeatable."),
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(metavar="GLOB", help="Leave out what matches this glob; repeatable.")
    ] = None,
    default_excludes: Annotated[
        bool, typer.Option(help="Leave out .git, build, out, target, third_party, vendor.")
    ] = True,
    baseline: Annotated[
        str | None,
        typer.Option(metavar="X", help="Only what is new: not in this report (JSON, SARIF) or git revision."),
    ] = None,
    since: Annotated[
        str | None, typer.Option(metavar="REV", help="Only files that have changed since this git revision.")
    ] = None,
    languages: Annotated[
        str | None, typer.Option(metavar="NAMES", help="c/cpp, rust or both, parted by a comma.")
    ] = None,
    min_confidence: Annotated[
        float | None, typer.Option(min=0, max=1, metavar="NUMBER", help="Report from this confidence on (0 to 1).")
    ] = None,
    rules: Rules = None,
    exclude_rules: ExcludeRules = None,
    only: Only = None,
    project_rules: Annotated[
        bool,
        typer.Option("--project-rules", help="Use the rules in PATH/.jarvis/rules, too; of a directory you trust."),
    ] = False,
    processes: Annotated[
        int | None, typer.Option("--processes", "-j", min=1, metavar="NUMBER", help="How many children scan at a time.")
    ] = None,
    cache: Annotated[bool, typer.Option("--cache/--no-cache", help="Scan only what has changed since.")] = True,
    profile: Annotated[bool, typer.Option("--profile", help="Say which rules and files take the time.")] = False,
    where: Annotated[str | None, typer.Option(metavar="PLACE", help="local or cluster.")] = None,
    detach: Annotated[bool, typer.Option("--detach", help="Submit and return; on a cluster only.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing unless something is wrong.")] = False,
) -> int:
    """Scan with the rules alone and report: no model, nothing leaves this machine."""
    flags = {
        "scan.languages": languages,
        # Who names rules means them, whatever the settings switch off.
        "rules.enable_only": rules,
        "rules.disable": () if rules else None,
        "rules.categories": only,
        "scan.exclude_dirs": None if default_excludes else (".jarvis",),
        "report.min_confidence": min_confidence,
        "processes": processes,
        "cache.max_mb": None if cache else 0.0,
        "where": where,
    }
    _refuse_empty({"--rules": rules, "--exclude-rules": exclude_rules, "--only": only})
    from jarvis_cli.choice import rules_for, tree_of  # noqa: PLC0415
    from jarvis_cli.deliver import delivery  # noqa: PLC0415  (the store takes a third of a second to import)
    from jarvis_cli.scan import Wanted, scan_here, scan_on_cluster  # noqa: PLC0415
    from jarvis_workers.settings import load_settings  # noqa: PLC0415

    frame = ctx.find_object(Frame) or Frame()
    settings = load_settings(flags, directory=Path.cwd())
    if detach and settings.place == "local":
        raise UsageError(
            "--detach is for runs on a cluster: a local run is carried out by this command; "
            "leave it out, or put the command in the background"
        )
    if not path:
        raise UsageError("-p is empty; give the directory or file to scan, . for this one")
    asked = delivery(output, form, fail_on, frame.default_output)
    globs = (tuple(include or ()), tuple(exclude or ()))
    chosen = rules_for(settings, flags, exclude_rules, tree_of(path) if project_rules else None)
    wanted = Wanted(path, globs, chosen, profile, baseline, since)
    if settings.place == "cluster":
        return scan_on_cluster(settings, wanted, None if detach else asked, quiet)
    return scan_here(settings, wanted, asked, quiet)


def _refuse_empty(asked: dict[str, str | None]) -> None:
    """An unset variable in a script must not mean all rules."""
    for flag, names in asked.items():
        if names is not None and not names.strip(" ,"):
            raise UsageError(f"{flag}: names nothing; see all with: jarvis sec rules")
