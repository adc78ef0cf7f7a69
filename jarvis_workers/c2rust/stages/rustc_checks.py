"""Find the bodies that rustc accepts, and the errors of the others."""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from jarvis_workers.c2rust.bench.project_bench import ProjectBench
from jarvis_workers.c2rust.crate import CrateItem, bench_crate, function_of
from jarvis_workers.c2rust.translation import TranslatedProject
from jarvis_workers.errors import StepFailed
from jarvis_workers.toolchain.cargo import CUT, CargoMessage, find_rust

# A broken body can hide the errors of others: rustc stops after a phase with errors.
MOST_CHECKS = 12
CLIPPY = "cargo-clippy"
# Lints that are errors, by default or in a crate, do not fail: another failure means that not all of it was read.
CAP = "--cap-lints", "warn"


class Checks(NamedTuple):
    """The bodies that rustc accepts, and the first error of each rejected body, by slot."""

    bodies: dict[str, CrateItem]
    errors: dict[str, CargoMessage]


def check_project(translated: TranslatedProject, bench: ProjectBench) -> Checks:
    """Return the functions of a project that rustc accepts. Raises StepFailed for an error outside of bodies."""
    texts = {one.item.slot: one.crate_item() for one in translated.functions if one.body}
    return check_bodies(bench, translated.types, list(translated.declarations().values()), texts)


def check_bodies(bench: ProjectBench, types: str, declarations: Sequence[str], bodies: dict[str, CrateItem]) -> Checks:
    """Leave out bodies until rustc accepts the others. Raises StepFailed for an error outside of bodies."""
    left, errors = dict(bodies), dict[str, CargoMessage]()
    by_name = {item.name.removeprefix("r#"): slot for slot, item in bodies.items()}
    for _ in range(MOST_CHECKS):
        bench.write_crate(bench_crate(types, declarations, list(left.values())))
        passed, messages, _ = bench.cargo("check")
        if passed:
            return Checks(left, errors)
        found = defaultdict[str, list[CargoMessage]](list)
        for message in messages:
            name = function_of(message.file)
            if message.level == "error" and name in by_name:
                found[by_name[name]].append(message)
        if not found:
            first = next(message for message in messages if message.level == "error")
            raise StepFailed(f"the crate does not compile: {first.file}:{first.line}: {first.code} {first.text}")
        for slot, some in found.items():
            left.pop(slot, None)
            errors.setdefault(slot, some[0])
    raise StepFailed(f"the crate does not compile after {MOST_CHECKS} attempts")


class ClippyRun(NamedTuple):
    """The warnings of clippy about a crate; if it was not measured, `problem` is the reason."""

    warnings: tuple[CargoMessage, ...] = ()
    problem: str = ""


def run_clippy(bench: ProjectBench) -> ClippyRun:
    """Return the warnings of clippy about the crate of a bench."""
    if not (find_rust().root / "bin" / CLIPPY).is_file():
        return ClippyRun(problem=f"{CLIPPY} is not installed")
    passed, messages, _ = bench.cargo("clippy", rustc=CAP)
    if not passed:
        return ClippyRun(problem=f"failed: {next((one.text for one in messages if one.level == 'error'), CLIPPY)}")
    if any(one.text == CUT for one in messages):
        return ClippyRun(problem="failed: too many messages")
    return ClippyRun(tuple(one for one in messages if one.code.startswith("clippy::")))
