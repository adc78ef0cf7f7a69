"""The pipelines of a scan without and with verification by agents."""

from jarvis_workers.pipeline.stages import CONTROL_QUEUE, Stage, register_pipeline
from jarvis_workers.store.values import AGENT_QUEUE

STEPS = "jarvis_workers.steps.sec"
NUMBER_CANDIDATES = f"{STEPS}.candidates:number_candidates"
UNDECIDED = "candidate is undecided", "candidates are undecided"
SCANNING = (
    Stage("scan", module=f"{STEPS}.scan_batch", queue="scan", warm_up=f"{STEPS}.scan_cache:load_identity"),
    Stage("summarize", module=f"{STEPS}.summarize", queue="scan", warm_up=f"{STEPS}.flow_cache:loaded_flow"),
    Stage("flow", module=f"{STEPS}.trace_flows", queue="scan"),
)

register_pipeline(
    "sec.fast",
    (*SCANNING, Stage("report", module=f"{STEPS}.write_report", queue=CONTROL_QUEUE, on_open=NUMBER_CANDIDATES)),
)
register_pipeline(
    "sec.agent",
    (
        *SCANNING,
        Stage("cluster", module=f"{STEPS}.cluster_file", queue=AGENT_QUEUE, on_open=NUMBER_CANDIDATES),
        Stage("verify", module=f"{STEPS}.verify_cluster", queue=AGENT_QUEUE, streamed=True, missing=UNDECIDED),
        Stage("prove", module=f"{STEPS}.prove", queue=AGENT_QUEUE, optional=True),
        Stage("report", module=f"{STEPS}.write_report", queue=CONTROL_QUEUE),
    ),
)
