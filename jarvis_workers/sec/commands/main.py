"""`jarvis sec`: scan a tree, verify the findings by agents, and report."""

import json
from dataclasses import replace
from pathlib import Path

import typer

from jarvis_cli.kit.app import App, Frame
from jarvis_cli.kit.option_records import taking_options
from jarvis_workers.errors import UsageError
from jarvis_workers.sec.commands.agent_scan_options import (
    AgentScanOptions,
    check_dry,
    reading_flags,
    with_current_names,
)
from jarvis_workers.sec.commands.discuss import ASK_EXAMPLES, DISPUTE_EXAMPLES, DiscussOptions, ask, dispute
from jarvis_workers.sec.commands.fix_options import FixCommandOptions
from jarvis_workers.sec.commands.import_options import IMPORT_EXAMPLES, ImportOptions
from jarvis_workers.sec.commands.reproduce import EXAMPLES as REPRODUCE_EXAMPLES
from jarvis_workers.sec.commands.reproduce import reproduce
from jarvis_workers.sec.commands.rules import EXPLAIN_EXAMPLES, explain
from jarvis_workers.sec.commands.rules import app as rules_app
from jarvis_workers.sec.commands.scan_options import ScanCommandOptions, taking_scan_options
from jarvis_workers.sec.commands.triage import EXAMPLES as TRIAGE_EXAMPLES
from jarvis_workers.sec.commands.triage import triage

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
def fast(ctx: typer.Context, options: ScanCommandOptions) -> int:
    """Scan with rules and data-flow analysis. No model is asked; nothing leaves this machine."""
    from jarvis_workers.sec.commands.scan_resolution import resolve, with_rules  # noqa: PLC0415  (the settings and formats are slow to import)

    request = resolve(options, _default_output(ctx))
    if (build := options.options.proof_build) is not None and not (build.strip() and request.settings.scan.witness):
        raise UsageError("--build is the command that builds the project for other analyzers: add --witness auto")
    if options.is_plain and not request.notice:
        from jarvis_workers.sec.commands.small_tree_scan import scan_small_tree  # noqa: PLC0415

        if (code := scan_small_tree(request, options.exclude_rules or ())) is not None:
            return code
    from jarvis_workers.sec.commands.scan import scan_tree  # noqa: PLC0415  (the database libraries are slow to import)

    return scan_tree(with_rules(request, options))


def agent(ctx: typer.Context, options: AgentScanOptions) -> int:
    """Scan, have a model verify each finding against the surrounding code, and report the confirmed ones."""
    from jarvis_workers.sec.commands.scan_resolution import resolve, with_rules  # noqa: PLC0415

    options = with_current_names(options)
    request = with_rules(resolve(options, _default_output(ctx), reading_flags(options)), options)
    from jarvis_workers.sec.commands import agent_scan  # noqa: PLC0415  (the models and the store are slow to import)

    agents = agent_scan.judge_options_of(request, options)
    if options.dry_run:
        check_dry(options)
        return agent_scan.print_estimate(request, agents, as_json=options.as_json)
    return agent_scan.scan_and_judge(request, agents)


app.command(
    "agent", uses="conversations", epilog=AGENT_EXAMPLES, short_help="Scan, then verify the findings with a model."
)(taking_options(AgentScanOptions, agent))


def _import(ctx: typer.Context, options: ImportOptions) -> int:
    """Take the findings of other analyzers as those of a run, to judge, compare and report them. Nothing is scanned."""
    from jarvis_workers.sec.commands.scan import scan_tree  # noqa: PLC0415  (the database libraries are slow to import)
    from jarvis_workers.sec.commands.scan_resolution import resolve, with_rules  # noqa: PLC0415

    scan = options.of_scan
    return scan_tree(replace(with_rules(resolve(scan, _default_output(ctx)), scan), imports=True))


app.command("import", epilog=IMPORT_EXAMPLES, short_help="Take the findings of other analyzers.")(
    taking_options(ImportOptions, _import)
)


def _fix(ctx: typer.Context, options: FixCommandOptions) -> int:
    """Let a model fix confirmed findings: patches that are tested, and a branch of their own."""
    from jarvis_workers.sec.commands.fix import fix_findings  # noqa: PLC0415  (the store is slow to import)

    return fix_findings(options)


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


def _default_output(ctx: typer.Context) -> Path | None:
    return (ctx.find_object(Frame) or Frame()).default_output
