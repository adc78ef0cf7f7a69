"""The plan of a crate that the files of a project state, and those of other projects."""

from pathlib import Path

import pytest

from jarvis_workers.c2rust.conversion import PassedParameter
from jarvis_workers.c2rust.crate_layout import CratePlan
from jarvis_workers.c2rust.layout_question import PLANNED_LAYOUT, PlannedLayout
from jarvis_workers.c2rust.plan_files import PlanFiles
from jarvis_workers.c2rust.project import Project, read_project
from jarvis_workers.c2rust.signature_question import PLANNED_SIGNATURES, PlannedSignatures
from jarvis_workers.c2rust.stages.crate_plans import CrateModules, read_files, read_plan
from jarvis_workers.snapshots.blobs import DirectoryBlobs
from jarvis_workers.source.clang.definitions import read_definitions
from jarvis_workers.source.clang.unit import CompileCommand
from jarvis_workers.toolchain.headers import builtin_headers

RAW = (PassedParameter("p", "raw"),)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "a.c").write_text("int first(int *p) { return *p; }\nint second(int *p) { return *p; }\n")
    return read_project([read_definitions(tmp_path, CompileCommand(b"a.c", b"", ()), builtin_headers(None))])


@pytest.fixture
def blobs(tmp_path: Path) -> DirectoryBlobs:
    return DirectoryBlobs(tmp_path / "blobs")


def files(blobs: DirectoryBlobs, project: Project, **plan: object) -> CrateModules:
    return read_files(blobs, blobs.put(PlanFiles.model_validate(plan).model_dump_json().encode()), project)


def test_plans_of_another_project_are_named_and_not_used(blobs: DirectoryBlobs, project: Project) -> None:
    modules = CratePlan.model_validate({"src/a.rs": ["first", "elsewhere"]})
    found = files(blobs, project, modules=modules, functions={"first": RAW, "gone": RAW, "lost": RAW})

    assert found.modules == {"first": "a"}
    assert found.warnings == (
        "signatures.jsonl: there is no function gone, lost",
        "crate_plan.yaml: src/a.rs: there is no function elsewhere",
    )
    only_signatures = files(blobs, project, functions={"gone": RAW})
    assert only_signatures.warnings == ("signatures.jsonl: there is no function gone",)
    assert files(blobs, project, functions={"first": RAW}).warnings == ()


def test_enums_of_the_project_that_mean_the_same_in_all_files_can_be_planned(
    tmp_path: Path, blobs: DirectoryBlobs
) -> None:
    texts = {
        "a": "enum same { A = 1 }; enum other { B }; struct s { int n; }; typedef enum { C } T; enum { D } nameless;",
        "b": "enum same { A = 1 }; enum other { B = 2 }; struct s { int n; }; typedef enum { C } T; enum type { E } t;",
    }
    units = []
    for name, text in texts.items():
        taking = " ".join(f"{kind} {name}_{number}," for number, kind in enumerate(("enum same", "enum other", "T")))
        (tmp_path / f"{name}.c").write_text(f"{text}\nint {name}({taking} struct s *s) {{ return s->n; }}\n")
        units.append(read_definitions(tmp_path, CompileCommand(f"{name}.c".encode(), b"", ()), builtin_headers(None)))
    wanted = dict.fromkeys(("same", "other", "T", "s", "type", "nameless", ""), "enum")

    found = files(blobs, read_project(units), modules=CratePlan.model_validate({"modules": [], "enums": wanted}))

    assert found.enums == dict.fromkeys(("same", "type"), "enum")
    assert [one.split(" with ")[0] for one in found.warnings] == [
        f"crate_plan.yaml: enums: there is no enum {name}" for name in ("other", "T", "s", "nameless", "")
    ]


def test_without_files_nothing_is_planned(blobs: DirectoryBlobs, project: Project) -> None:
    assert read_files(blobs, "", project) == CrateModules()


def test_a_model_overrides_the_files_and_what_it_leaves_out_is_named(blobs: DirectoryBlobs) -> None:
    given = CrateModules(
        {"first": "a", "second": "b"}, {"first": RAW}, ("from a file",), {"color": "enum", "mode": "flags"}
    )
    layout = PlannedLayout({"first": "c"}, "src/d.rs: not a name", enums={"color": "flags"})
    signed = PlannedSignatures({"second": RAW}, {"first": "it is odd", "third": "it is odd"})
    results = [
        f'{{"layout": "{blobs.put(PLANNED_LAYOUT.dump_json(layout))}"}}',
        f'{{"signatures": "{blobs.put(PLANNED_SIGNATURES.dump_json(signed))}"}}',
    ]

    found = read_plan(blobs, results[:1], results[1:], given)

    assert (found.modules, found.functions) == ({"first": "c", "second": "b"}, {"first": RAW, "second": RAW})
    assert found.enums == {"color": "flags", "mode": "flags"}
    assert found.warnings == (
        "from a file",
        "the plan of the modules is used in part: src/d.rs: not a name",
        "signatures as proposed: first, third: it is odd",
    )
