"""What the stages of `jarvis c2rust run` plan and decide, from C files to a crate; nothing is built, see FakeBench."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from jarvis_workers.c2rust.bench.crate_archive import files_of, tar_of
from jarvis_workers.c2rust.conversion import FunctionResult, decode_conversion
from jarvis_workers.c2rust.stages.check_bodies import BY_DRIVER
from jarvis_workers.c2rust.stages.drivers import read_driver
from jarvis_workers.c2rust.stages.options import MoveOptions
from jarvis_workers.c2rust.stages.pipelines import RUN
from jarvis_workers.c2rust.stages.translated_bodies import TranslatePayload
from tests.agents.loop.planning import answer_about_plan
from tests.agents.loop.server import Body, Step, calls
from tests.agents.loop.translating import HEAD, is_review, mechanical_body, task_of
from tests.c2rust.stages.conversion_runs import ConversionRun, conversion_run
from tests.c2rust.stages.fake_benches import FakeBench, FakeCrateBench
from tests.c2rust.vendors import crate_files
from tests.cli.test_c2rust_lib_replace import judge

FILES = {
    "sums.h": "int twice(int a);\nint idle(int a);\n",
    "sums.c": """#include "sums.h"
int twice(int a) { return a + a; }
int total(const int *numbers, int count)
{
    int all = 0;
    for (int i = 0; i < count; i++)
        all += numbers[i];
    return twice(all);
}
int idle(int a) { return a + 1; }
""",
    "crc.c": "static int step(int a) { return a * 3; }\nint checksum(int a) { return step(a) + 1; }\n",
    "odd.c": "int odd(int a) { return a & 1; }\n",
}
CALLED = ("twice", "total", "odd", "checksum")
SAFETY = ("// SAFETY: as in C.", "// SAFETY: as in the C code.")


def answer(body: Body) -> Step:
    """Answer all questions; the bodies of `odd` fail the tests, and crates replace `checksum` and `total`."""
    task = task_of(body)
    if task.startswith("Can Rust crates"):
        return judge(body, {"checksum": ["crc32fast"], "total": ["absent"]})
    if planned := answer_about_plan(body, "src/all.rs"):
        return planned
    if is_review(body):
        return calls("submit_report", issues=[])
    return calls("submit_report", **written(task))


def written(task: str) -> dict[str, object]:
    """Return the code that a question asks for."""
    if task.startswith("Write a driver"):
        return {"driver": "int idle(int a);\nint main(void) { return idle(1) - 2; }"}
    if task.startswith("The file "):
        search, replacement = SAFETY
        return {"edits": [{"search": search, "replacement": replacement}] if task.count(search) == 1 else []}
    head, name = HEAD.findall(task)[0]
    texts = {"odd": f"{mechanical_body(task)}\n// WRONG", "checksum": f"{head} {{ a.wrapping_mul(3).wrapping_add(1) }}"}
    return {"rust": texts.get(name, mechanical_body(task))}


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Iterator[ConversionRun]:
    directory = tmp_path_factory.mktemp("run")
    bench = FakeBench(directory / "bench", CALLED, [*CALLED, "idle"])
    with conversion_run(directory, sqlite_template, answer, bench, FakeCrateBench()) as run:
        passes = ["visibility", "doc"]
        crates = run.resources.blobs.put(tar_of(crate_files("crc32fast")))
        allowed = ["crc32fast", "absent"]
        options = MoveOptions(
            model_group="m", translate=True, allowed=allowed, crates=crates, passes=passes, max_retries=1, lang="zh"
        )
        run.convert(RUN, FILES, options)
        yield run


def functions(run: ConversionRun, name: str = "conversion") -> dict[str, FunctionResult]:
    return {one.name: one for one in decode_conversion(run.artifact(name)).functions}


def questions(run: ConversionRun, start: str) -> list[str]:
    """Return the questions that begin so."""
    return [task for body in run.runtime.requests if (task := task_of(body)).startswith(start)]


@pytest.mark.slow
def test_the_page_is_in_the_language_of_the_run(ended: ConversionRun) -> None:
    page = ended.artifact("report.html").decode()
    assert '<html lang="zh-CN">' in page
    assert "unsafe 代码：" in page


def test_a_function_is_translated_if_the_gates_accept_its_body(ended: ConversionRun) -> None:
    found = functions(ended)
    assert {name: one.state for name, one in found.items()} == {
        **dict.fromkeys(("twice", "total", "idle"), "translated"),
        "checksum": "replaced",
        "odd": "mechanical",
        "step": "pruned",
    }
    assert found["total"].rust_signature == "fn rust_total(numbers: &[i32]) -> i32"
    assert (found["odd"].attempts, found["odd"].refused) == (2, ("suite", "suite"))
    assert found["odd"].not_translated.endswith("the last one failed the gate suite: make check: exit code 1")
    assert ended.gaps() == []


def test_no_model_is_asked_about_what_a_library_replaces(ended: ConversionRun) -> None:
    labels = [one.label for one in ended.jobs("translate")]
    assert labels == ["checksum", "idle", "odd", "total", "twice"]
    (task,) = (one for one in questions(ended, "") if "fn rust_checksum" in one and "crc32fast" in one)
    assert "step" in task and "versions: crc32fast 1.2.0" in task
    assert all("crc32fast" not in one for one in questions(ended, "") if "fn rust_total" in one)


def test_a_function_whose_crate_is_not_vendored_is_translated(ended: ConversionRun) -> None:
    warnings = decode_conversion(ended.artifact("conversion")).warnings
    assert "total is not replaced: absent is not vendored" in "".join(warnings)
    assert all("absent" not in one for one in questions(ended, "") if "fn rust_total" in one)


def test_functions_that_others_need_are_translated_first(ended: ConversionRun) -> None:
    weights = {one.label: one.weight for one in ended.jobs("translate")}
    assert weights["twice"] > weights["total"]


def test_a_driver_is_written_only_for_what_nothing_reaches(ended: ConversionRun) -> None:
    (job,) = ended.jobs("driver")
    assert job.label == "idle"
    payloads = (TranslatePayload.from_json(one.payload) for one in ended.jobs("translate"))
    drivers = {one.slot: one.driver for one in payloads if one.driver}
    assert list(drivers) == ["idle"]
    assert read_driver(ended.resources.blobs, drivers["idle"])[0] == "idle"
    assert {gate.gate: gate.detail for gate in functions(ended)["idle"].gates}["reached"] == BY_DRIVER


def test_the_modules_of_the_plan_are_those_of_the_crate(ended: ConversionRun) -> None:
    assert {one.module for name, one in functions(ended).items() if name != "step"} == {"all"}
    crate = {name: content.decode() for name, content in files_of(ended.artifact("crate.tar")).items()}
    assert "fn rust_total(numbers: &[i32]) -> i32" in crate["src/all.rs"]
    assert "fn step" not in crate["src/all.rs"]


def test_the_plan_of_the_signatures_is_kept_beside_the_result(ended: ConversionRun) -> None:
    planned = functions(ended, "planned")
    assert planned["total"].state == "forwarded" and planned["odd"].rust_signature == "fn forward_odd(a: i32) -> i32"
    assert [one.form for one in planned["total"].mapping] == ["slice", "value"]


def test_the_passes_and_the_model_improve_the_crate(ended: ConversionRun) -> None:
    assert [one.label for one in ended.jobs("optimize")] == ["visibility", "doc"]
    report = json.loads(ended.artifact("optimize_report.json"))
    assert report["errors"] == [] and report["cargo_checks"] >= 2
    assert "<script" in ended.artifact("report.html").decode()
