"""`jarvis sec`: scan a tree, verify the findings by agents, and report."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from jarvis_cli.kit import exits
from jarvis_cli.kit.app import App, Frame
from jarvis_cli.kit.option_records import taking_options
from jarvis_cli.kit.options import form_of
from jarvis_cli.kit.progress import display
from jarvis_cli.kit.project_run import RunCommand, deliver_as, execute_run, project_settings
from jarvis_cli.kit.report_target import delivery as delivery_of
from jarvis_cli.kit.status_output import Display, write_line
from jarvis_workers.errors import UsageError
from jarvis_workers.runs import wiring
from jarvis_workers.runs.conversation_limits import agent_limits_of
from jarvis_workers.runs.labels import parse_labels
from jarvis_workers.runs.models import model_group, model_name, models_are_set, untrusted_groups
from jarvis_workers.runs.request import RunRequest
from jarvis_workers.runs.run_kinds import StoredRun
from jarvis_workers.runs.runs import discard_run
from jarvis_workers.runs.scan_request import blobs_of
from jarvis_workers.runs.sources import SourceTree
from jarvis_workers.sec.commands import scan_estimate
from jarvis_workers.sec.commands.agent_scan_options import AgentScanOptions, reading_flags, with_current_names
from jarvis_workers.sec.commands.discuss import ASK_EXAMPLES, DISPUTE_EXAMPLES, DiscussOptions, ask, dispute
from jarvis_workers.sec.commands.fix_options import FixCommandOptions
from jarvis_workers.sec.commands.fix_output import deliver
from jarvis_workers.sec.commands.reproduce import EXAMPLES as REPRODUCE_EXAMPLES
from jarvis_workers.sec.commands.reproduce import reproduce
from jarvis_workers.sec.commands.rules import EXPLAIN_EXAMPLES, explain
from jarvis_workers.sec.commands.rules import app as rules_app
from jarvis_workers.sec.commands.scan import scan_here, scan_tree
from jarvis_workers.sec.commands.scan_options import ScanCommandOptions, taking_scan_options
from jarvis_workers.sec.commands.scan_request import ScanRequest
from jarvis_workers.sec.commands.triage import EXAMPLES as TRIAGE_EXAMPLES
from jarvis_workers.sec.commands.triage import triage
from jarvis_workers.sec.fix_runs.fix_request import FixInput, find_judged_run, fix_request, root_of
from jarvis_workers.sec.runs.estimate import estimate as estimated
from jarvis_workers.sec.runs.proofs import can_compile
from jarvis_workers.sec.runs.reading import with_reader
from jarvis_workers.sec.runs.scan_settings import with_scan_settings
from jarvis_workers.sec.runs.security_notes import read_notes
from jarvis_workers.sec.stages.dry_run import Plan
from jarvis_workers.sec.stages.judge_options import JudgeOptions
from jarvis_workers.settings import Settings
from jarvis_workers.snapshots.blobs import Blobs

# Execute `jarvis sec agent`: scan and verify the findings by agents; without a model, scan only, with a remark.

NO_MODEL = (
    "no model is set, so the findings are not verified; set OPENAI_API_KEY and OPENAI_MODEL, or models in jarvis.yaml"
)


def judge_options_of(request: ScanRequest, options: AgentScanOptions) -> JudgeOptions:
    """Return the options of the run that verifies what a scan finds. Raises UsageError."""
    return with_scan_settings(
        request.settings,
        options.options,
        lang=request.scan_input.options.lang,
        **request.delivery.run_options,
        **_proof_options(request.settings, options),
    )


def scan_and_judge(request: ScanRequest, agents: JudgeOptions) -> int:
    """Scan and verify locally or on the cluster, as the settings say, and report unless the run is detached."""
    settings = request.settings
    if agents.model_group is None and not models_are_set(settings):
        notice = next(iter(untrusted_groups(settings).values()), None)
        return scan_tree(
            request.with_options(remark=f"the findings are not verified: {notice}" if notice else NO_MODEL)
        )
    return scan_tree(replace(request, agents=_with_models(settings, agents)))


def print_estimate(request: ScanRequest, agents: JudgeOptions, *, as_json: bool) -> int:
    """Scan locally and print an estimate of the verification; no model is called, and no run is stored."""
    settings = request.settings
    agents = _with_models(settings, agents)
    plan = Plan(agents, model_group(settings, agents.group))
    escalation = model_group(settings, agents.escalate) if agents.escalate else None
    if agents.read:
        request = replace(request, ranks=True, scan_input=replace(request.scan_input, options=agents))
    request = replace(request, name=None)  # the run of this name is not that of an estimate
    with wiring.store_of(settings, tell=write_line) as store, display(request.delivery.quiet) as screen:
        run = scan_here(store, request, screen, resumable=False)
        try:
            if run.state not in ("done", "incomplete"):
                raise UsageError(f"run {run.id} is {run.state}: findings in unscanned files are unknown")
            unpacked = settings.data_dir / "cache" / "sources"
            found = estimated(store, blobs_of(settings), run, plan, unpacked=unpacked, escalation=escalation)
        finally:
            discard_run(store, run.id, settings.lease_seconds)
    typer.echo(scan_estimate.as_json(found) if as_json else "\n".join(scan_estimate.as_table(found)))
    return exits.DONE if run.state == "done" else exits.INCOMPLETE


def _proof_options(settings: Settings, options: AgentScanOptions) -> dict[str, Any]:
    """Return the options of proofs: by default of findings of high severity, if this machine or a worker can compile.

    Raises UsageError for options that contradict each other.
    """
    prove, fuzz, build = options.prove, options.fuzz_seconds, options.options.proof_build
    seconds = settings.agent.fuzz_seconds if fuzz is None else fuzz
    if build is not None and prove is False and not seconds:
        raise UsageError("--build is the build for proofs, and cannot be combined with --no-prove")
    if build is not None and not build.strip():
        raise UsageError("--build needs a command, such as: --build 'make -j2'")
    may_compile = settings.place == "cluster" or can_compile()
    if prove and not may_compile:
        raise UsageError("--prove needs gcc or clang, neither of which is installed")
    if fuzz and not may_compile:
        raise UsageError("--fuzz-seconds needs gcc or clang, neither of which is installed")
    least = "low" if prove else None
    if prove is None and settings.agent.prove and may_compile:
        least = "high"
    elif prove is None and settings.agent.prove and not options.quiet and models_are_set(settings):
        write_line("neither gcc nor clang is installed: confirmed findings are not proved by execution")
    return {"prove": least, "fuzz_seconds": seconds}


def _with_models(settings: Settings, agents: JudgeOptions) -> JudgeOptions:
    """Return the options with the names of configured model groups, the limits, the notes, and what is read."""

    def name_of(group: str | None) -> str | None:
        return model_name(settings, group) if group else None

    group = model_name(settings, agents.model_group)
    chosen = replace(
        agents,
        model_group=group,
        second_group=name_of(agents.second_group),
        escalate=name_of(agents.escalate),
        agent_limits=agent_limits_of(settings),
        notes=read_notes(settings),
    )
    return with_reader(settings, chosen, group)


# Execute `jarvis sec fix`: let agents fix the confirmed findings of a run, and write their patches.


def fix_findings(options: FixCommandOptions) -> int:
    """Fix findings of a run; return the exit code."""
    settings = project_settings(options.flags, detach=options.detach)
    target = delivery_of(options.output, form_of(options.form, options.as_json), None, None, quiet=options.quiet)
    labels = parse_labels(options.label or ())
    model_name(settings, options.request.options.model_group)
    with wiring.store_of(settings, tell=write_line, create=False) as store:
        scanned = find_judged_run(store, options.request.run)

    def request(_: SourceTree, executor: str, screen: Display) -> RunRequest[FixInput]:
        with wiring.store_of(settings, tell=write_line, create=False) as store:
            tell = _no_line if options.quiet else screen.tell
            made = fix_request(settings, store, _blobs(settings), scanned, options.request, executor, tell)
        return deliver_as(replace(made, labels={**labels, **made.labels}), target)

    def write(stored: StoredRun, screen: Display) -> int:
        return deliver(stored, target, screen, directory=options.directory)

    command = RunCommand(
        path=str(root_of(scanned)), request=request, deliver=write, detach=options.detach, quiet=options.quiet
    )
    return execute_run(settings, command)


def _blobs(settings: Settings) -> Blobs:
    return blobs_of(settings) if settings.place == "local" else wiring.shared_blobs_of(settings)


def _no_line(_: str) -> None:
    """Take the place of a function that writes notices, with -q."""


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
    from jarvis_workers.sec.commands.scan_request import resolve, with_rules  # noqa: PLC0415  (the settings and formats are slow to import)

    request = resolve(options, _default_output(ctx))
    if options.is_plain and not request.notice:
        from jarvis_workers.sec.commands.small_tree_scan import scan_small_tree  # noqa: PLC0415

        if (code := scan_small_tree(request)) is not None:
            return code
    from jarvis_workers.sec.commands.scan import scan_tree  # noqa: PLC0415  (the database libraries are slow to import)

    return scan_tree(with_rules(request, options))


def agent(ctx: typer.Context, options: AgentScanOptions) -> int:
    """Scan, have a model verify each finding against the surrounding code, and report the confirmed ones."""
    from jarvis_workers.sec.commands.scan_request import resolve, with_rules  # noqa: PLC0415

    options = with_current_names(options)
    request = with_rules(resolve(options, _default_output(ctx), reading_flags(options)), options)

    agents = judge_options_of(request, options)
    if options.dry_run:
        _check_dry(options)
        return print_estimate(request, agents, as_json=options.as_json)
    return scan_and_judge(request, agents)


app.command(
    "agent", uses="conversations", epilog=AGENT_EXAMPLES, short_help="Scan, then verify the findings with a model."
)(taking_options(AgentScanOptions, agent))


def _fix(ctx: typer.Context, options: FixCommandOptions) -> int:
    """Let a model fix confirmed findings: patches that are tested, and a branch of their own."""

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


def _check_dry(options: AgentScanOptions) -> None:
    """Raise UsageError for options of a report or a run, as a dry run produces neither."""
    flags = {"-o": options.output, "--format": options.form, "--fail-on": options.fail_on, "--budget": options.budget}
    flag_names = [name for name, value in flags.items() if value is not None] + ["--detach"] * options.detach
    if flag_names:
        raise UsageError(
            f"{flag_names[0]} cannot be combined with --dry-run, which writes no report and records no run"
        )


def _default_output(ctx: typer.Context) -> Path | None:
    return (ctx.find_object(Frame) or Frame()).default_output
