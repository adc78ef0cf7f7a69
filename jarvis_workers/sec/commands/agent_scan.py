"""Execute `jarvis sec agent`: scan and verify the findings by agents; without a model, scan only, with a remark."""

from dataclasses import replace
from typing import Any

import typer

from jarvis_cli.kit import exits
from jarvis_cli.kit.progress import display
from jarvis_cli.kit.status_output import write_line
from jarvis_workers.errors import UsageError
from jarvis_workers.runs import wiring
from jarvis_workers.runs.conversation_limits import agent_limits_of
from jarvis_workers.runs.models import model_group, model_name, models_are_set, untrusted_groups
from jarvis_workers.runs.runs import discard_run
from jarvis_workers.runs.scan_request import blobs_of
from jarvis_workers.sec.commands import scan_estimate
from jarvis_workers.sec.commands.agent_scan_options import AgentScanOptions
from jarvis_workers.sec.commands.scan import scan_here, scan_tree
from jarvis_workers.sec.commands.scan_request import ScanRequest
from jarvis_workers.sec.runs.estimate import estimate as estimated
from jarvis_workers.sec.runs.project_builds import can_compile
from jarvis_workers.sec.runs.reading import with_reader
from jarvis_workers.sec.runs.scan_settings import with_scan_settings
from jarvis_workers.sec.runs.security_notes import read_notes
from jarvis_workers.sec.stages.dry_run import Plan
from jarvis_workers.sec.stages.judge_options import JudgeOptions
from jarvis_workers.settings import Settings

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
    if build is not None and prove is False and not seconds and not settings.scan.witness:
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
