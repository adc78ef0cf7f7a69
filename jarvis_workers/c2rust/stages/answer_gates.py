"""The gates on an answer of the model: the tool of a conversation about a function, which runs them on a bench.

A bench is held only while an answer is checked, not while the model thinks.
"""

import os
from collections.abc import Callable
from dataclasses import replace
from itertools import count

from jarvis_workers.agents.tools.tool import Tool
from jarvis_workers.c2rust.bench.priority_semaphore import PrioritySemaphore
from jarvis_workers.c2rust.body_translation import GATES_TOOL, encode_report
from jarvis_workers.c2rust.conversion import GateOutcome
from jarvis_workers.c2rust.gates import GateReport, judge_differences
from jarvis_workers.c2rust.stages.bench_tools import bench_tool
from jarvis_workers.c2rust.stages.check_bodies import run_gates
from jarvis_workers.c2rust.stages.compile_errors import crate_failure, error_report, error_summary, own_errors
from jarvis_workers.c2rust.stages.drivers import driven_suites
from jarvis_workers.c2rust.stages.options import TranslateOptions
from jarvis_workers.c2rust.stages.skeleton import checked_bench, project_bench, with_all_declared
from jarvis_workers.c2rust.stages.suite_runs import BenchSuites
from jarvis_workers.c2rust.stages.translation_input import Translation
from jarvis_workers.snapshots.resources import Resources

# One bench keeps two thirds of a processor busy: the programs of its tests wait for each other.
GATES = PrioritySemaphore(max(1, (os.cpu_count() or 1) * 3 // 2))


def gates_tool(check: Callable[[str], GateReport]) -> Tool:
    """Return the tool with which a conversation runs the gates on an answer.

    First answers go first: after a refusal, the model writes the next answer while others are tested.
    """
    answers = count()

    def run(text: object) -> str:
        with GATES.hold(next(answers)):
            return encode_report(check(str(text)))

    return bench_tool(GATES_TOOL, "Run the gates on a body.", "the gates did not run", run)


def check_body(
    found: Translation, options: TranslateOptions, resources: Resources, driver: str, text: str
) -> GateReport:
    """Run the gates on a body; `driver` is the blob of its driver, or "". Raises StepFailed if they cannot run."""
    slot = found.question.slot
    item = found.question.item(found.skeleton.targets[slot].item, text)
    skeleton = replace(with_all_declared(found.skeleton), bodies={**found.skeleton.bodies, slot: item})
    with project_bench(resources, options) as bench, checked_bench(resources, options) as checked:
        bench.write_crate(skeleton.crate)
        passed, messages = bench.build_library()
        if not passed and (why := crate_failure(messages, item, found.crates)):
            return GateReport(slot, (GateOutcome("check", passed=False, detail=why),), log=why)
        if not passed:
            errors, first = own_errors(messages, item), found.question.first_line
            gate = GateOutcome("check", passed=False, detail=error_summary(errors, item))
            return GateReport(slot, (gate,), log=error_report(errors, item, first))
        suites = BenchSuites(bench, options.tests, skeleton.suite_limits, checked)
        driven = driven_suites(bench, checked, resources.blobs, [driver] if driver else [])
        reached = {slot: found.reached} if found.reached else {}
        return judge_differences(run_gates(suites, skeleton, [slot], driven, reached)[0], found.types(slot))
