"""The libraries of a run: a function whose crates are not vendored is not replaced."""

from pathlib import Path

import pytest

from jarvis_workers.builds.command_words import BuildCommands
from jarvis_workers.c2rust.bench.crate_archive import tar_of
from jarvis_workers.c2rust.bench.project_bench import ProjectBuild
from jarvis_workers.c2rust.body_translation import TranslatedBody
from jarvis_workers.c2rust.library_plan import LibraryPlan
from jarvis_workers.c2rust.library_replacement import LibraryChoice
from jarvis_workers.c2rust.stages.library_plans import libraries_in
from jarvis_workers.c2rust.stages.options import FastOptions
from jarvis_workers.snapshots.blobs import Blobs, DirectoryBlobs
from tests.c2rust.vendors import crate_files

PLAN = LibraryPlan(
    replaced={
        "mix": LibraryChoice(libraries=("Tiny_Mix", "std")),
        "twice": LibraryChoice(libraries=("tiny-mix", "absent")),
        "sort": LibraryChoice(libraries=("core",)),
    },
    pruned={"step": ("mix",), "double": ("mix", "twice")},
)


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    return DirectoryBlobs(tmp_path)


def options(blobs: Blobs, crates: bytes) -> FastOptions:
    plan = blobs.put(PLAN.model_dump_json().encode())
    return FastOptions(libraries=plan, crates=blobs.put(crates) if crates else "")


def test_functions_whose_crates_are_missing_are_not_replaced(blobs: Blobs) -> None:
    found = libraries_in(options(blobs, tar_of(crate_files("tiny-mix"))), (), blobs)

    assert set(found.plan.replaced) == {"mix", "sort"}
    assert dict(found.plan.pruned) == {"step": ("mix",)}
    assert found.missing == {"twice": ["absent"]}
    bodies = {name: TranslatedBody(name, text) for name, text in (("mix", "tiny_mix::mix()"), ("sort", "core::min()"))}
    assert found.users(bodies) == {"mix"}


def test_without_vendored_crates_only_those_of_the_compiler_replace_functions(blobs: Blobs) -> None:
    found = libraries_in(options(blobs, b""), (), blobs)

    assert (set(found.plan.replaced), dict(found.plan.pruned)) == ({"sort"}, {})
    assert found.missing == {"mix": ["Tiny_Mix"], "twice": ["tiny-mix", "absent"]}


def test_a_bench_is_not_used_for_other_crates() -> None:
    """Cargo would not build a vendored crate again that has changed."""
    build = ProjectBuild(b"", BuildCommands(build="make"))
    states = {one.state for one in (build, build._replace(crates=b"a"), build._replace(crates=b"b"))}
    assert len(states) == 3
