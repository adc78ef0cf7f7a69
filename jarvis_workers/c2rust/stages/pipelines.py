"""The kinds of runs over C projects: read them; replace functions with libraries; convert them without or with a model;
write the bodies of a given interface; optimize a crate.
"""

from collections.abc import Mapping

from jarvis_workers.pipeline.stages import CONTROL_QUEUE, RunKind, Stage, register_kind
from jarvis_workers.store.values import AGENT_QUEUE, PARTIAL_KINDS

STEPS = "jarvis_workers.c2rust.stages"
SCAN, SKELETON, FAST, TRANSPILE = "c2rust.scan", "c2rust.skeleton", "c2rust.fast", "c2rust.transpile"
REPLACE, RUN, INTERFACE, OPTIMIZE = "c2rust.replace", "c2rust.run", "c2rust.interface", "c2rust.optimize"
PREPARE, (PARTIAL, PARTIAL_FAST) = "c2rust.prepare", PARTIAL_KINDS
# Dry runs, which end with the last questions that can be planned without answers.
DRY: Mapping[str, str] = {kind: f"{kind}-dry" for kind in (REPLACE, PREPARE, TRANSPILE, RUN)}
NOT_READ = "unit was not read", "units were not read"
FAILED = "check of the crate failed", "checks of the crate failed"
UNJUDGED = "function was not judged", "functions were not judged"
UNTRANSLATED = "function is not translated by the model", "functions are not translated by the model"
UNFINISHED = "function or test of the interface is not done", "functions and tests of the interface are not done"
UNOPTIMIZED = "file is not optimized", "files are not optimized"
UNPLANNED = "plan of the modules is missing", "plans of the modules are missing"
UNSIGNED = "signature is not planned by the model", "signatures are not planned by the model"
UNDRIVEN = "function has no driver", "functions have no driver"
UNPROVEN = "function is unproven and stays in C", "functions are unproven and stay in C"

READING = (
    Stage(
        "symbols",
        module=f"{STEPS}.parse_units",
        queue="scan",
        units="batches of units",
        missing=NOT_READ,
        warm_up=f"{STEPS}.unit_cache:load_reader",
    ),
    Stage("graph", module=f"{STEPS}.link_symbols", queue=CONTROL_QUEUE, on_open=f"{STEPS}.result_writers:drop_symbols"),
)

register_kind(
    RunKind(
        SCAN,
        (*READING, Stage("report", module=f"{STEPS}.write_report", queue=CONTROL_QUEUE)),
        output="jarvis_workers.c2rust.commands.scan",
        result="jarvis_workers.c2rust.runs.scan_results",
    )
)
REPLACING = (
    Stage("replace", module=f"{STEPS}.replace_functions", queue=AGENT_QUEUE, units="functions", missing=UNJUDGED),
    Stage("prune", module=f"{STEPS}.prune_symbols", queue=CONTROL_QUEUE),
)
register_kind(
    RunKind(
        REPLACE,
        REPLACING,
        output="jarvis_workers.c2rust.commands.replace",
        result="jarvis_workers.c2rust.runs.replacement_results",
    )
)
PLANNING = (
    Stage("layout", module=f"{STEPS}.lay_out", queue=AGENT_QUEUE, units="questions", missing=UNPLANNED),
    Stage("signatures", module=f"{STEPS}.sign_functions", queue=AGENT_QUEUE, units="questions", missing=UNSIGNED),
)
BUILDING = (
    Stage(
        "skeleton",
        module=f"{STEPS}.make_skeleton",
        queue="build",
        units="builds",
        warm_up=f"{STEPS}.gate_cache:gate_code",
    ),
    Stage("check", module=f"{STEPS}.check_bodies", queue="build", units="batches of functions"),
)
CONVERSION = (*READING, *BUILDING)
ENDING = (
    Stage("merge", module=f"{STEPS}.merge_bodies", queue="build", units="builds", missing=FAILED),
    Stage("report", module=f"{STEPS}.write_conversion", queue=CONTROL_QUEUE, missing=UNPROVEN),
)
TRANSLATION = Stage(
    "translate", module=f"{STEPS}.translate_function", queue="translate", units="functions", missing=UNTRANSLATED
)
# Few functions get another signature, and are translated again with the callers that this breaks.
TRANSLATING = (
    TRANSLATION,
    Stage("resign", module=f"{STEPS}.change_signatures", queue="build", units="builds"),
    TRANSLATION._replace(name="retranslate", module=f"{STEPS}.translate_again"),
)
# A function that nothing reaches gets a program that calls it before the gates run.
DRIVEN = (
    BUILDING[0],
    Stage("driver", module=f"{STEPS}.write_drivers", queue="translate", units="functions", missing=UNDRIVEN),
    *BUILDING[1:],
)
register_kind(
    RunKind(
        INTERFACE,
        (
            Stage("interface", module=f"{STEPS}.write_interface", queue="translate", units="groups of files"),
            Stage("merge", module=f"{STEPS}.merge_interface", queue="build", units="builds", missing=UNFINISHED),
            Stage("report", module=f"{STEPS}.deliver_interface", queue=CONTROL_QUEUE),
        ),
        output="jarvis_workers.c2rust.commands.interface_output",
        result="jarvis_workers.c2rust.runs.interface_results",
    )
)
OPTIMIZING = (
    Stage("optimize", module=f"{STEPS}.optimize_crate", queue="build", units="passes"),
    Stage("improve", module=f"{STEPS}.improve_files", queue="translate", units="files"),
)
register_kind(
    RunKind(
        OPTIMIZE,
        (
            *OPTIMIZING,
            Stage("report", module=f"{STEPS}.write_optimization", queue=CONTROL_QUEUE, missing=UNOPTIMIZED),
        ),
        output="jarvis_workers.c2rust.commands.optimize",
        result="jarvis_workers.c2rust.runs.optimize_results",
    )
)
LIBRARIES, POLISH = (tuple(one._replace(optional=True) for one in stages) for stages in (REPLACING, OPTIMIZING))
# The kinds that convert a project, or at least its signatures. In the skeleton, a forwarder stands for the body of each
# function; `fast` translates it.
CONVERTING: Mapping[str, tuple[Stage, ...]] = {
    SKELETON: (*CONVERSION, *ENDING),
    PREPARE: (*READING, *PLANNING, *BUILDING, *ENDING),
    FAST: (*CONVERSION, *ENDING),
    TRANSPILE: (*READING, *DRIVEN, *TRANSLATING, *ENDING),
    RUN: (*READING, *LIBRARIES, *PLANNING, *DRIVEN, *TRANSLATING, ENDING[0], *POLISH, ENDING[1]),
    # The crate of a paused run: what is accepted so far; before its gates have run, the project as `fast` converts it.
    PARTIAL: ENDING,
    PARTIAL_FAST: (*CONVERSION, *ENDING),
}
for name, stages in CONVERTING.items():
    register_kind(
        RunKind(
            name,
            stages,
            output="jarvis_workers.c2rust.commands.conversion_output",
            result="jarvis_workers.c2rust.runs.conversion_results",
            compare="jarvis_workers.c2rust.commands.conversion_diff",
        )
    )
ASKING = (*DRIVEN[:2], TRANSLATION)
register_kind(RunKind(DRY[REPLACE], REPLACING[:1]))
register_kind(RunKind(DRY[PREPARE], (*READING, *PLANNING)))
register_kind(RunKind(DRY[TRANSPILE], (*READING, *ASKING)))
register_kind(RunKind(DRY[RUN], (*READING, *LIBRARIES, *PLANNING, *ASKING)))
