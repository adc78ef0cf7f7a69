"""Which functions of a run libraries replace: decided by its own stages, or stated by the files of the project.

A function whose crates are not vendored is not replaced.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from jarvis_workers.c2rust.bench.crate_archive import crates_of
from jarvis_workers.c2rust.body_translation import TranslatedBody
from jarvis_workers.c2rust.library_plan import LibraryPlan
from jarvis_workers.c2rust.project import Project
from jarvis_workers.c2rust.stages.options import FastOptions
from jarvis_workers.c2rust.stages.run_values import of_run
from jarvis_workers.c2rust.vendored_crates import VendoredCrates
from jarvis_workers.pipeline.history import StageHistory, read_result
from jarvis_workers.snapshots.blobs import Blobs

STEP = "prune"
# The name of the blob.
LIBRARIES = "libraries"
NOT_VENDORED = "is not vendored; set c2rust.vendor, or use --fetch-crates"


class RunLibraries(NamedTuple):
    """The plan of a run, as far as its crates are vendored, and the missing crates of the other functions, by key."""

    plan: LibraryPlan
    missing: dict[str, list[str]]
    crates: VendoredCrates

    @property
    def unneeded(self) -> frozenset[str]:
        """The keys of the functions about which no model is asked: only replaced functions need them, or no root."""
        return self.plan.aside.union(self.plan.pruned)

    def not_vendored(self, project: Project) -> Iterator[str]:
        """Yield a line per function that crates would replace if they were vendored."""
        for item in project.functions:
            if names := self.missing.get(item.definition.key):
                yield f"{item.definition.name} is not replaced: {', '.join(names)} {NOT_VENDORED}"

    def users(self, bodies: Mapping[str, TranslatedBody]) -> frozenset[str]:
        """Return the slots of the bodies that use vendored crates."""
        return frozenset(slot for slot, one in bodies.items() if self.crates.used_in([one.text]))


def libraries_in(options: FastOptions, pruning: Iterable[str], blobs: Blobs) -> RunLibraries:
    """Return the plan of a run, from its jobs of stage `prune` (their results) or its options; empty without one."""
    return _libraries(blobs, options.libraries, options.crates, tuple(pruning))


@of_run
def _libraries(blobs: Blobs, stated: str, archive: str, pruning: tuple[str, ...]) -> RunLibraries:
    found = (read_result(blobs, result).blobs.get(LIBRARIES) for result in pruning)
    name = next((name for name in found if name), stated)
    plan = LibraryPlan.model_validate_json(blobs.read(name)) if name else LibraryPlan()
    crates = crates_of(blobs.read(archive) if archive else b"")
    missing = {key: crates.missing(one.libraries) for key, one in plan.replaced.items()}
    missing = {key: names for key, names in missing.items() if names}
    return RunLibraries(plan.without(missing), missing, crates)


def unneeded_functions(options: FastOptions, earlier: StageHistory, blobs: Blobs) -> frozenset[str]:
    """Return the keys of the functions about which no model is asked: only replaced functions need them, or no root."""
    return libraries_in(options, [one.result for one in earlier.outcomes(STEP) if one.result], blobs).unneeded
