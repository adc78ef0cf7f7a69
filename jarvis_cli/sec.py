"""`jarvis sec`: scan a tree, have agents judge what was found, and report."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jarvis_cli.language import language_of
from jarvis_cli.main import Frame
from jarvis_cli.options import Budget
from jarvis_cli.rules import app as rules_app
from jarvis_cli.rules import explain
from jarvis_cli.scan_options import ScanOptions, flags_of, settings_of, taking_scan_options
from jarvis_cli.scope import scope_notice
from jarvis_cli.triage import EXAMPLES as TRIAGE_EXAMPLES
from jarvis_cli.triage import triage
from jarvis_workers.errors import UsageError

NO_MORE: Mapping[str, object] = {}

if TYPE_CHECKING:
    from jarvis_cli.deliver import Delivery
    from jarvis_cli.scan import Wanted
    from jarvis_workers.settings import Settings

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Find vulnerabilities in C, C++ and Rust.")

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

AGENT_EXAMPLES = """\
\b
Examples:
  export OPENAI_API_KEY=... OPENAI_MODEL=...      any server that speaks the OpenAI protocol
  jarvis sec agent -p src                         Markdown on stdout
  jarvis sec agent -p src -o report.html -g local the model group "local" of jarvis.yaml
  jarvis sec agent -p src --max-findings 50       have the 50 most dangerous candidates judged
  jarvis sec agent -p src --dry-run               what that would take; no model is asked
  jarvis sec agent -p src --budget 5usd           pause before it takes more
  jarvis sec agent -p src --only buffer_overflow  one category
  jarvis sec agent -p src --votes 3               ask three times about what is of severity high
  jarvis sec agent -p . --fail-on high            exit 1 at what is confirmed, or to review

\b
What no agent could judge is undecided, says why, and the exit code is 3.
Without a model the report is that of jarvis sec fast, and says so.
"""

Group = Annotated[str | None, typer.Option("--llm-group", "-g", metavar="GROUP", help="A model group of jarvis.yaml.")]
ClusterLimit = Annotated[
    int, typer.Option("--cluster-limit", "-c", min=1, max=1000, metavar="NUMBER", help="Candidates an agent clusters.")
]
MaxFindings = Annotated[
    int | None, typer.Option(min=1, metavar="NUMBER", help="Have no more candidates judged: those of highest score.")
]
Votes = Annotated[
    int, typer.Option(min=1, max=9, metavar="NUMBER", help="How often what is of severity high is asked about.")
]
SecondGroup = Annotated[
    str | None, typer.Option("--second-group", metavar="GROUP", help="The model group of all votes but the first.")
]
SecondLook = Annotated[
    bool, typer.Option("--second-look", help="Ask again with comments in sight; who differs is to review.")
]
Canary = Annotated[
    bool, typer.Option("--canary", help="Put a known bug among the candidates; exit 3 where it is not confirmed.")
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Ask no model: scan, and say how many tokens and dollars judging would take.")
]
DryJson = Annotated[bool, typer.Option("--json", help="With --dry-run: for programs.")]


@app.callback()
def sec() -> None:
    """Find vulnerabilities in C, C++ and Rust."""


app.add_typer(rules_app, name="rules")
app.command(short_help="Say what a rule means, and how to silence it.")(explain)
app.command(short_help="Judge findings true or false; later runs heed it.", epilog=TRIAGE_EXAMPLES)(triage)


@app.command(epilog=EXAMPLES, short_help="Scan with the rules alone: no model.")
@taking_scan_options
def fast(ctx: typer.Context, options: ScanOptions) -> int:
    """Scan with the rules alone and report: no model, nothing leaves this machine."""
    settings, wanted, asked = _read(ctx, options)
    from jarvis_cli.scan import scan_tree  # noqa: PLC0415

    return scan_tree(settings, wanted, asked, detach=options.detach, quiet=options.quiet)


@app.command(epilog=AGENT_EXAMPLES, short_help="Scan, and have agents judge what was found.")
@taking_scan_options
def agent(
    ctx: typer.Context,
    options: ScanOptions,
    group: Group = None,
    cluster_limit: ClusterLimit = 50,
    max_findings: MaxFindings = None,
    votes: Votes = 1,
    second_group: SecondGroup = None,
    second_look: SecondLook = False,
    canary: Canary = False,
    budget: Budget = None,
    dry_run: DryRun = False,
    as_json: DryJson = False,
) -> int:
    """Scan, have agents judge what was found by the code around it, and report what they have confirmed."""
    settings, wanted, asked = _read(ctx, options, {"agent.budget": budget})
    from jarvis_cli import inquiry  # noqa: PLC0415

    agents = inquiry.Asked(group, second_group, cluster_limit, max_findings, votes, second_look, canary)
    if dry_run:
        _check_dry(options, budget)
        return inquiry.foresee(settings, wanted, agents, as_json=as_json, quiet=options.quiet)
    if as_json:
        raise UsageError("--json is for --dry-run; a report as JSON: --format json")
    return inquiry.inquire(settings, wanted, agents, asked, detach=options.detach, quiet=options.quiet)


def _check_dry(options: ScanOptions, budget: str | None) -> None:
    """Refuse what is of a report or a run: a dry run leaves neither."""
    asked = {"-o": options.output, "--format": options.form, "--fail-on": options.fail_on, "--budget": budget}
    given = [name for name, value in asked.items() if value is not None] + ["--detach"] * options.detach
    if given:
        raise UsageError(f"{given[0]} does not go with --dry-run, which writes no report and leaves no run")


def _read(
    ctx: typer.Context, options: ScanOptions, more: Mapping[str, object] = NO_MORE
) -> "tuple[Settings, Wanted, Delivery]":
    """Check all that was asked for, before any work is done."""
    flags = flags_of(options) | dict(more)
    settings = settings_of(options, flags)
    from jarvis_cli.choice import rules_for, tree_of  # noqa: PLC0415
    from jarvis_cli.deliver import delivery  # noqa: PLC0415  (the store takes a third of a second to import)
    from jarvis_cli.judge import heeded  # noqa: PLC0415
    from jarvis_cli.scan import Wanted  # noqa: PLC0415
    from jarvis_workers.service.targets import target_of  # noqa: PLC0415

    default_output = (ctx.find_object(Frame) or Frame()).default_output
    asked = delivery(options.output, options.form, options.fail_on, default_output, quiet=options.quiet)
    target = target_of([*(options.paths or ()), *(options.path or ())], options.root)
    tree = tree_of(target.root) if options.project_rules else None
    chosen = rules_for(settings, flags, options.exclude_rules, tree)
    globs = (tuple(options.include or ()), tuple(options.exclude or ()))
    heed = heeded(options.triage, nobody=options.no_triage, learned=settings.rules.learned)
    wanted = Wanted(target, globs, chosen, options.profile, options.baseline, options.since, heed)
    if not options.quiet and (notice := scope_notice(flags, Path.cwd())):
        typer.echo(f"jarvis: {notice}", err=True)
    return settings, replace(wanted, language=language_of(options.lang)), asked
