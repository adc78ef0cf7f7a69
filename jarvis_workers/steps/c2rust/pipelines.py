"""The pipeline that reads a C project: symbols, graph and report."""

from jarvis_workers.pipeline.stages import CONTROL_QUEUE, Stage, register_pipeline

STEPS = "jarvis_workers.steps.c2rust"
SCAN = "c2rust.scan"
NOT_READ = "unit was not read", "units were not read"

register_pipeline(
    SCAN,
    (
        Stage(
            "symbols",
            module=f"{STEPS}.parse_units",
            queue="scan",
            units="batches of units",
            missing=NOT_READ,
            warm_up=f"{STEPS}.unit_cache:load_reader",
        ),
        Stage(
            "graph", module=f"{STEPS}.link_symbols", queue=CONTROL_QUEUE, on_open=f"{STEPS}.result_writers:drop_symbols"
        ),
        Stage("report", module=f"{STEPS}.write_report", queue=CONTROL_QUEUE),
    ),
)
