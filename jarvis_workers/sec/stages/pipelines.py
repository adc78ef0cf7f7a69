"""The kinds of runs of the scanner: scans without and with verification by agents, fixes, questions about a finding."""

from jarvis_workers.pipeline.stages import CONTROL_QUEUE, RunKind, Stage, register_kind
from jarvis_workers.store.values import AGENT_QUEUE

STEPS = "jarvis_workers.sec.stages"
NUMBER_CANDIDATES = f"{STEPS}.candidates:number_candidates"
NOT_READ = "file was not read", "files were not read"
NOT_PLACED = "alert was not placed", "alerts were not placed"
UNDECIDED = "candidate is undecided", "candidates are undecided"
FIX = "fix"
# Findings of other analyzers alone.
IMPORT = "sec.import"
# The scan of a dry run that also maps the files to read, from which their ranks follow.
RANKED = "sec.ranked"
WRITE_REPORT = f"{STEPS}.write_report"
UNFIXED = "finding was not fixed", "findings were not fixed"
WITNESS = Stage(
    "witness",
    module=f"{STEPS}.run_witnesses",
    queue="build",
    options=("witness",),
    units="units",
    warm_up=f"{STEPS}.run_witnesses:warm_up",
)
ALERTS = Stage(
    "alerts",
    module=f"{STEPS}.place_alerts",
    queue="scan",
    options=("alerts", "witness"),
    missing=NOT_PLACED,
    units="reports",
)
SCANNING = (
    Stage("scan", module=f"{STEPS}.scan_batch", queue="scan", warm_up=f"{STEPS}.scan_files:load_identity"),
    Stage("summarize", module=f"{STEPS}.summarize", queue="scan", warm_up=f"{STEPS}.flow_cache:loaded_flow"),
    Stage("flow", module=f"{STEPS}.trace_flows", queue="scan"),
    WITNESS,
    ALERTS,
)

READING = (
    Stage("map", module=f"{STEPS}.map_files", queue="scan", options=("read",)),
    Stage("read", module=f"{STEPS}.read_files", queue=AGENT_QUEUE, options=("read",), missing=NOT_READ),
)
FUZZING = (
    Stage("fuzz", module=f"{STEPS}.fuzz", queue=AGENT_QUEUE, options=("fuzz_seconds",)),
    Stage(
        "crashes",
        module=f"{STEPS}.crashes",
        queue=CONTROL_QUEUE,
        on_open=f"{STEPS}.crashes:number_crashes",
        options=("prove", "fuzz_seconds"),
    ),
)

SCAN = RunKind(
    "sec.fast",
    (*SCANNING, Stage("report", module=WRITE_REPORT, queue=CONTROL_QUEUE, on_open=NUMBER_CANDIDATES)),
    has_findings=True,
    output="jarvis_workers.sec.commands.output",
    totals="jarvis_workers.sec.run_reports.totals:notified_totals",
)
VERIFYING = (
    Stage("cluster", module=f"{STEPS}.cluster_file", queue=AGENT_QUEUE, on_open=NUMBER_CANDIDATES),
    Stage("verify", module=f"{STEPS}.verify_cluster", queue=AGENT_QUEUE, streamed=True, missing=UNDECIDED),
    Stage(
        "verify_seen",
        module=f"{STEPS}.verify_seen",
        queue=AGENT_QUEUE,
        on_open=f"{STEPS}.verify_seen:number_seen",
        missing=UNDECIDED,
    ),
    Stage("prove", module=f"{STEPS}.prove", queue=AGENT_QUEUE, options=("prove",)),
    *FUZZING,
    Stage("report", module=WRITE_REPORT, queue=CONTROL_QUEUE),
)
FIXING = (
    Stage("fix", module=f"{STEPS}.fix_finding", queue=AGENT_QUEUE, units="findings", missing=UNFIXED),
    Stage("combine", module=f"{STEPS}.combine_fixes", queue=AGENT_QUEUE),
)
DISCUSSING = (Stage("discuss", module=f"{STEPS}.discuss_finding", queue=AGENT_QUEUE, state_if_failed="incomplete"),)

register_kind(SCAN)
register_kind(SCAN._replace(name=IMPORT, stages=(ALERTS, SCAN.stages[-1])))
register_kind(SCAN._replace(name=RANKED, stages=(*SCANNING, READING[0], SCAN.stages[-1])))
register_kind(
    SCAN._replace(
        name="sec.agent",
        stages=(*SCANNING, *READING, *VERIFYING),
        sandboxes="jarvis_workers.sec.store.verdicts:sandboxes",
    )
)
register_kind(
    RunKind(
        FIX, FIXING, output="jarvis_workers.sec.commands.fix_output", result="jarvis_workers.sec.fix_runs.fix_results"
    )
)
for name in ("ask", "dispute"):
    register_kind(
        RunKind(name, DISCUSSING, output="jarvis_cli.kit.answer_output", result="jarvis_workers.runs.conversations")
    )
