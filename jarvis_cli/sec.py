"""`jarvis sec`: scan a tree, verify the findings by agents, and report."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from jarvis_cli.agent_scan_options import AgentScanOptions, judge_options_of, reading_flags, with_current_names
from jarvis_cli.app import App
from jarvis_cli.fix_options import FixCommandOptions
from jarvis_cli.language import language_of
from jarvis_cli.main import Frame
from jarvis_cli.option_records import taking_options
from jarvis_cli.options import form_of, joined
from jarvis_cli.reproduce import EXAMPLES as REPRODUCE_EXAMPLES
from jarvis_cli.reproduce import reproduce
from jarvis_cli.rules import EXPLAIN_EXAMPLES, explain
from jarvis_cli.rules import app as rules_app
from jarvis_cli.scan_options import ScanOptions, flags_of, settings_of, taking_scan_options
from jarvis_cli.scope_warnings import scope_notice
from jarvis_cli.sec_discuss import ASK_EXAMPLES, DISPUTE_EXAMPLES, DiscussOptions, ask, dispute
from jarvis_cli.triage import EXAMPLES as TRIAGE_EXAMPLES
from jarvis_cli.triage import triage
from jarvis_workers.errors import UsageError

NO_MORE: Mapping[str, object] = {}

if TYPE_CHECKING:
    from jarvis_cli.report_target import Delivery
    from jarvis_cli.scan import ScanCommand
    from jarvis_workers.service.targets import ScanTarget
    from jarvis_workers.settings import Settings

app = App(no_args_is_help=True)

EXAMPLES = """\
\b
Examples:
  jarvis sec fast                             scan this directory
  jarvis sec fast src lib/url.c               directories and files
  jarvis sec fast src -o report.html          or .json .sarif .md .xml
  jarvis sec fast --json | jq .summary
  jarvis sec fast --fail-on high -q           for CI: exit 1 on a high finding
  jarvis sec fast --exclude 'tests/**'
  jarvis sec fast --baseline main             only what is new since main
  jarvis sec fast --since main                only files changed since

\b
Files that could not be checked are named in the report; the exit code is 3.
"""

AGENT_EXAMPLES = """\
\b
Examples:
  export OPENAI_API_KEY=... OPENAI_MODEL=...  any OpenAI-compatible server
  jarvis sec agent src
  jarvis sec agent src -g local               a model group of jarvis.yaml
  jarvis sec agent src --max-findings 50      verify the 50 highest-scoring
  jarvis sec agent src --dry-run              estimate tokens and cost
  jarvis sec agent src --budget 5usd          pause before the cost exceeds this
  jarvis sec agent src --read-budget 1usd     read what this pays for, the most exposed files first
                                              also look for defects without a rule
  jarvis sec agent src --category buffer_overflow
  jarvis sec agent . --prove --build make     prove findings in the built project
  jarvis sec agent src --fail-on high         exit 1 if confirmed or in need of review

\b
Findings that could not be verified are undecided; the exit code is then 3.
Without a model, findings are not verified, and the report notes that.
"""


FIX_EXAMPLES = """\
\b
Examples:
  jarvis sec fix last --top 5 --build 'make' --test 'make check'
  jarvis sec fix 1f3a C12ab34 C98fe01
  jarvis sec fix last -o report.html          the report, with the patches
  git switch jarvis/fix-RUN                   one commit for each root cause

\b
Your files, index and branch stay as they are; the patches are in ROOT/.jarvis/sec/patches.
Exit 1: a patch was refused by a check. Exit 3: a finding was not decided.
"""


@app.command(epilog=EXAMPLES, short_help="Scan with rules and data-flow analysis; no model.")
@taking_scan_options
def fast(ctx: typer.Context, options: ScanOptions) -> int:
    """Scan with rules and data-flow analysis. No model is asked; nothing leaves this machine."""
    if options.is_plain and (code := _scan_small(ctx, options)) is not None:
        return code
    settings, command, delivery = _read(ctx, options)
    from jarvis_cli.scan import scan_tree  # noqa: PLC0415

    return scan_tree(settings, command, delivery, detach=options.detach, quiet=options.quiet)


def _scan_small(ctx: typer.Context, options: ScanOptions) -> int | None:
    """Scan a small tree without the database libraries; return None if that is not possible."""
    flags = flags_of(options)
    settings = settings_of(options, flags)
    from jarvis_cli.small_tree_scan import scan_small_tree  # noqa: PLC0415
    from jarvis_workers.service.labels import parse_labels  # noqa: PLC0415

    delivery = _delivery(ctx, options)
    if settings.scope.notice or scope_notice(flags, Path.cwd()):
        return None
    return scan_small_tree(
        settings,
        _target(options),
        options.globs,
        language_of(options.lang),
        delivery,
        parse_labels(options.label or ()),
    )


def agent(ctx: typer.Context, options: AgentScanOptions) -> int:
    """Scan, have a model verify each finding against the surrounding code, and report the confirmed ones."""
    options = with_current_names(options)
    settings, command, delivery = _read(ctx, options, {"agent.budget": options.budget, **reading_flags(options)})
    from jarvis_cli import sec_agent  # noqa: PLC0415

    agents = judge_options_of(settings, options)
    if options.dry_run:
        _check_dry(options)
        return sec_agent.print_estimate(settings, command, agents, as_json=options.as_json, quiet=options.quiet)
    return sec_agent.scan_and_judge(settings, command, agents, delivery, detach=options.detach, quiet=options.quiet)


app.command(
    "agent", uses="conversations", epilog=AGENT_EXAMPLES, short_help="Scan, then verify the findings with a model."
)(taking_options(AgentScanOptions, agent))


def _fix(ctx: typer.Context, options: FixCommandOptions) -> int:
    """Let a model fix confirmed findings: patches that are tested, and a branch of their own."""
    from jarvis_cli import sec_fix  # noqa: PLC0415

    return sec_fix.fix_findings(options)


app.command(
    "fix",
    uses="conversations",
    epilog=FIX_EXAMPLES,
    short_help="Fix confirmed findings with a model; each patch is tested.",
)(taking_options(FixCommandOptions, _fix))


@app.command(uses="none", examples="jarvis sec schema > report.schema.json")
def schema() -> None:
    """Print the JSON schema of the JSON report."""
    from jarvis_workers.sec.report.json_schema import report_schema  # noqa: PLC0415

    typer.echo(json.dumps(report_schema(), indent=2))


app.command(uses="conversations", short_help="Ask an agent about a finding.", epilog=ASK_EXAMPLES)(
    taking_options(DiscussOptions, ask)
)
app.command(
    uses="conversations", short_help="Have a finding verified again, with an objection.", epilog=DISPUTE_EXAMPLES
)(taking_options(DiscussOptions, dispute))
app.command(short_help="Run the proof of a finding again.", epilog=REPRODUCE_EXAMPLES)(reproduce)
app.command(short_help="Judge findings; later runs apply the verdicts.", epilog=TRIAGE_EXAMPLES)(triage)
app.command(short_help="Explain a rule, and how to suppress it.", examples=EXPLAIN_EXAMPLES)(explain)
app.add_typer(rules_app, name="rules")


def _check_dry(options: AgentScanOptions) -> None:
    """Raise UsageError for options of a report or a run, as a dry run produces neither."""
    flags = {"-o": options.output, "--format": options.form, "--fail-on": options.fail_on, "--budget": options.budget}
    flag_names = [name for name, value in flags.items() if value is not None] + ["--detach"] * options.detach
    if flag_names:
        raise UsageError(
            f"{flag_names[0]} cannot be combined with --dry-run, which writes no report and records no run"
        )


def _read(
    ctx: typer.Context, options: ScanOptions, more: Mapping[str, object] = NO_MORE
) -> "tuple[Settings, ScanCommand, Delivery]":
    """Check and convert all options before any work is done."""
    flags = flags_of(options) | dict(more)
    settings = settings_of(options, flags)
    from jarvis_cli.rule_selection import rules_for, tree_of  # noqa: PLC0415  (the rules and the store are slow to import)
    from jarvis_cli.scan import ScanCommand  # noqa: PLC0415
    from jarvis_cli.triage_actions import triage_of_options  # noqa: PLC0415
    from jarvis_workers.service.labels import parse_labels  # noqa: PLC0415
    from jarvis_workers.service.named_runs import check_name  # noqa: PLC0415
    from jarvis_workers.service.scan_input import ScanInput  # noqa: PLC0415
    from jarvis_workers.service.scan_request import scan_options_of  # noqa: PLC0415
    from jarvis_workers.steps.sec.options import SecOptions  # noqa: PLC0415

    delivery = _delivery(ctx, options)
    tree = tree_of(_target(options).root) if options.project_rules else None
    rules = rules_for(settings, flags, joined(options.exclude_rules), tree)
    triage = triage_of_options(options.triage, nobody=options.no_triage, learned=settings.rules.learned)
    scan_options = scan_options_of(settings, SecOptions, profile=options.profile, lang=language_of(options.lang))
    scan_input = ScanInput(scan_options, rules=rules, triage=triage, build=_build_flags(options))
    labels = parse_labels(options.label or ())
    name = check_name(options.name) if options.name is not None else None
    command = ScanCommand(
        _target(options), options.globs, scan_input, options.baseline, options.since, labels=labels, name=name
    )
    if not options.quiet and (notice := settings.scope.notice or scope_notice(flags, Path.cwd())):
        typer.echo(f"jarvis: {notice}", err=True)
    return settings, command, delivery


def _build_flags(options: ScanOptions) -> bytes | None:
    """Return the flags with which the files are compiled, if the user names them."""
    if options.compile_commands is None:
        return None
    from jarvis_workers.service.scan_flags import flags_of_files  # noqa: PLC0415  (rarely needed)
    from jarvis_workers.service.sources import is_address  # noqa: PLC0415  (slow to import)

    if is_address(_target(options).root):
        raise UsageError("--compile-commands needs a directory on this machine: clone the repository first")
    return flags_of_files(Path(_target(options).root), options.compile_commands)


def _delivery(ctx: typer.Context, options: ScanOptions) -> "Delivery":
    from jarvis_cli.report_target import delivery  # noqa: PLC0415  (the formats are slow to import)

    form, default_output = form_of(options.form, options.as_json), (ctx.find_object(Frame) or Frame()).default_output
    return delivery(
        options.output, form, options.fail_on, default_output, quiet=options.quiet, relative_to=options.relative_to
    )


def _target(options: ScanOptions) -> "ScanTarget":
    from jarvis_workers.service.targets import target_of  # noqa: PLC0415

    return target_of(options.names, options.root)
