"""All accepted bodies in one library: those with which the tests fail beside the others give way."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from jarvis_workers.c2rust.bench.project_bench import ProjectBench
from jarvis_workers.c2rust.body_translation import TranslatedBody
from jarvis_workers.c2rust.conversion import BY_MODEL, FunctionResult, SuiteResult
from jarvis_workers.c2rust.gates import union_culprits
from jarvis_workers.c2rust.stages.options import FastOptions
from jarvis_workers.c2rust.stages.skeleton import Skeleton
from jarvis_workers.c2rust.stages.suite_runs import BenchSuites
from jarvis_workers.c2rust.stages.translated_bodies import failing_slots, with_bodies, with_translation, without_texts
from jarvis_workers.errors import StepFailed

# Unions with bodies of a model; the last one has none.
MOST_UNIONS = 4
BESIDE = "the tests fail when it runs in Rust together with the other converted functions"


class Union(NamedTuple):
    """All bodies in one library: the skeleton, the functions, and the slots of those with which the tests fail."""

    skeleton: Skeleton
    functions: list[FunctionResult]
    culprits: frozenset[str]

    def run_suites(self, bench: ProjectBench) -> list[SuiteResult]:
        """Run each test command with all functions that it passes with."""
        left = [one.slot for one in self.functions if one.accepted and one.slot not in self.culprits]
        runs = ((suite, BenchSuites(bench, [suite.command]).run(left)) for suite in self.skeleton.suites)
        return [
            SuiteResult(suite.command, suite.seconds, run.seconds, suite.deterministic, run.passed)
            for suite, run in runs
        ]


def unite(
    mechanical: Skeleton,
    functions: Sequence[FunctionResult],
    bodies: Mapping[str, TranslatedBody],
    bench: ProjectBench,
    options: FastOptions,
    crate_users: Collection[str] = (),
) -> Union:
    """Build all bodies and run the tests with them.

    If bodies of a model fail beside the others, the mechanical ones take their places; at last all of them. Bodies
    that use crates, whose slots are given, are the first to go if rustc names none.
    """
    for left in reversed(range(MOST_UNIONS)):
        skeleton = with_bodies(mechanical, bodies)
        united = [with_translation(one, bodies.get(one.slot), skeleton) for one in functions]
        bench.write_crate(skeleton.crate)
        built, messages = bench.build_library()
        if built:
            # A culprit is the last of a failing prefix: a body of a model rather than a mechanical one.
            accepted = sorted((one for one in united if one.accepted), key=lambda one: one.state in BY_MODEL)
            runs = BenchSuites(bench, options.tests, skeleton.suite_limits)
            culprits = frozenset(union_culprits(runs, [one.slot for one in accepted]))
        else:
            culprits = failing_slots(messages, skeleton)
        texts = {slot for slot, one in bodies.items() if one.text}
        if built and not culprits & texts:
            return Union(skeleton, united, culprits)
        if not texts:
            break
        first = culprits & texts or texts.intersection(crate_users)
        bodies = without_texts(bodies, BESIDE, (first if left > 1 else texts) or texts)
    raise StepFailed("the crate does not build")
