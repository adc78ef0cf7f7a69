"""`jarvis sec`: scan a tree and report."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jarvis_cli.main import Frame
from jarvis_cli.options import Detach, Form, Output, Quiet, Where
from jarvis_cli.rules import app as rules_app
from jarvis_cli.rules import explain
from jarvis_cli.triage import EXAMPLES as TRIAGE_EXAMPLES
from jarvis_cli.triage import triage
from jarvis_workers.errors import UsageError

if TYPE_CHECKING:
    from jarvis_workers.settings import Settings

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Find vulnerabilities in C, C++ and Rust.")

Tree = Annotated[str, typer.Option("--path", "-p", metavar="PATH", help="The directory or file to scan.")]
FailOn = Annotated[
    str | None, typer.Option(metavar="LEVEL", help="Exit 1 at a finding of this severity or above: high, medium, low.")
]
Include = Annotated[
    list[str] | None, typer.Option(metavar="GLOB", help="Only what matches this glob, as in .gitignore; repeatable.")
]
Exclude = Annotated[
    list[str] | None, typer.Option(metavar="GLOB", help="Leave out what matches this glob; repeatable.")
]
DefaultExcludes = Annotated[bool, typer.Option(help="Leave out .git, build, out, target, third_party, vendor.")]
Baseline = Annotated[
    str | None, typer.Option(metavar="X", help="Only what is new: not in this report (JSON, SARIF) or git revision.")
]
Since = Annotated[str | None, typer.Option(metavar="REV", help="Only files that have changed since this git revision.")]
Languages = Annotated[str | None, typer.Option(metavar="NAMES", help="c/cpp, rust or both, parted by a comma.")]
MinConfidence = Annotated[
    float | None, typer.Option(min=0, max=1, metavar="NUMBER", help="Report from this confidence on (0 to 1).")
]
Rules = Annotated[
    str | None,
    typer.Option("--rules", metavar="IDS", help="Only these rules, parted by commas, as in jarvis sec rules."),
]
ExcludeRules = Annotated[
    str | None, typer.Option("--exclude-rules", metavar="IDS", help="Not these rules; on top of jarvis.yaml.")
]
Only = Annotated[str | None, typer.Option("--only", metavar="CATEGORIES", help="Only the rules of these categories.")]
ProjectRules = Annotated[
    bool, typer.Option("--project-rules", help="Use the rules in PATH/.jarvis/rules, too; of a directory you trust.")
]
Heed = Annotated[
    str | None, typer.Option("--triage", metavar="FILE", help="Heed the judgements of this file, too; they win.")
]
NoTriage = Annotated[bool, typer.Option("--no-triage", help="Do not heed what was judged in jarvis sec triage.")]
Learned = Annotated[
    bool | None, typer.Option("--learned/--no-learned", help="Weigh rules as judgements suggest; see rules --stats.")
]
Processes = Annotated[
    int | None, typer.Option("--processes", "-j", min=1, metavar="NUMBER", help="How many children scan at a time.")
]
Cache = Annotated[bool, typer.Option("--cache/--no-cache", help="Scan only what has changed since.")]
Profile = Annotated[bool, typer.Option("--profile", help="Say which rules and files take the time.")]

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
app.command(short_help="Judge findings true or false; later runs heed it.", epilog=TRIAGE_EXAMPLES)(triage)


@app.command(epilog=EXAMPLES, short_help="Scan with the rules alone: no model.")
def fast(
    ctx: typer.Context,
    path: Tree,
    output: Output = None,
    form: Form = None,
    fail_on: FailOn = None,
    include: Include = None,
    exclude: Exclude = None,
    default_excludes: DefaultExcludes = True,
    baseline: Baseline = None,
    since: Since = None,
    languages: Languages = None,
    min_confidence: MinConfidence = None,
    rules: Rules = None,
    exclude_rules: ExcludeRules = None,
    only: Only = None,
    project_rules: ProjectRules = False,
    triage: Heed = None,
    no_triage: NoTriage = False,
    learned: Learned = None,
    processes: Processes = None,
    cache: Cache = True,
    profile: Profile = False,
    where: Where = None,
    detach: Detach = False,
    quiet: Quiet = False,
) -> int:
    """Scan with the rules alone and report: no model, nothing leaves this machine."""
    flags = _flags_of_rules(rules, exclude_rules, only) | {
        "scan.languages": languages,
        "scan.exclude_dirs": None if default_excludes else (".jarvis",),
        "report.min_confidence": min_confidence,
        "rules.learned": learned,
        "processes": processes,
        "cache.max_mb": None if cache else 0.0,
        "where": where,
    }
    from jarvis_cli.choice import rules_for, tree_of  # noqa: PLC0415
    from jarvis_cli.deliver import delivery  # noqa: PLC0415  (the store takes a third of a second to import)
    from jarvis_cli.judge import heeded  # noqa: PLC0415
    from jarvis_cli.scan import Wanted, scan_tree  # noqa: PLC0415

    settings = _settings(flags, path, detach=detach)
    asked = delivery(output, form, fail_on, (ctx.find_object(Frame) or Frame()).default_output)
    chosen = rules_for(settings, flags, exclude_rules, tree_of(path) if project_rules else None)
    globs = (tuple(include or ()), tuple(exclude or ()))
    heed = heeded(triage, nobody=no_triage, learned=settings.rules.learned)
    wanted = Wanted(path, globs, chosen, profile, baseline, since, heed)
    return scan_tree(settings, wanted, asked, detach=detach, quiet=quiet)


def _flags_of_rules(rules: str | None, exclude_rules: str | None, only: str | None) -> dict[str, object]:
    """Return the settings that flags make of rules. An unset variable in a script must not mean all rules."""
    for flag, names in {"--rules": rules, "--exclude-rules": exclude_rules, "--only": only}.items():
        if names is not None and not names.strip(" ,"):
            raise UsageError(f"{flag}: names nothing; see all with: jarvis sec rules")
    # Who names rules means them, whatever the settings switch off.
    return {"rules.enable_only": rules, "rules.disable": () if rules else None, "rules.categories": only}


def _settings(flags: dict[str, object], path: str, *, detach: bool) -> "Settings":
    from jarvis_workers.settings import load_settings  # noqa: PLC0415

    settings = load_settings(flags, directory=Path.cwd())
    if detach and settings.place == "local":
        raise UsageError(
            "--detach is for runs on a cluster: a local run is carried out by this command; "
            "leave it out, or put the command in the background"
        )
    if not path:
        raise UsageError("-p is empty; give the directory or file to scan, . for this one")
    return settings
