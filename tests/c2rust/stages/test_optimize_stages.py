"""What the stages of `jarvis c2rust optimize` decide for a crate; nothing is built, see FakeCrateBench."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jarvis_workers.c2rust.bench.crate_archive import files_of, tar_of
from jarvis_workers.c2rust.runs.optimize_run import OptimizeInput
from jarvis_workers.c2rust.stages.improve_files import TEXT_MAX
from jarvis_workers.c2rust.stages.optimize_crate import SPENT, PassPayload
from jarvis_workers.c2rust.stages.optimize_options import OptimizeOptions
from jarvis_workers.c2rust.stages.pipelines import OPTIMIZE
from jarvis_workers.errors import StepFailed
from tests.agents.loop.server import Body, Step, calls
from tests.agents.loop.translating import task_of
from tests.c2rust.stages.conversion_runs import ConversionRun, conversion_run
from tests.c2rust.stages.fake_benches import FakeBench, FakeCrateBench

PLAIN = b"pub fn f() {}\r\n"
CRATE = {
    "Cargo.toml": b'[package]\nname = "c"\n',
    "src/lib.rs": b"pub mod plain;\npub mod sharp;\n",
    "src/plain.rs": PLAIN,
    "src/sharp.rs": b"pub fn g(x: &[i32]) -> i32 {\n    // SAFETY: full.\n    unsafe { *x.get_unchecked(0) }\n}\n",
    "src/bytes.rs": b"// \xff\n",
}
SHARP = {"search": "unsafe { *x.get_unchecked(0) }", "replacement": "x[0]"}

Optimize = Callable[..., tuple[ConversionRun, dict[str, Any], FakeCrateBench]]


class DocBench(FakeCrateBench):
    """A bench on which the tests fail once a file whose functions are documented is tested, for files in `refused`."""

    refused: tuple[str, ...] = ()

    def test(self) -> Any:
        changed = [name for name in self.refused if self.files[name] != CRATE[name]]
        return super().test()._replace(failure="exit code 101") if changed else super().test()


@pytest.fixture
def optimize(tmp_path: Path, sqlite_template: Path, request: pytest.FixtureRequest) -> Optimize:
    """Return a function that optimizes a crate with a model that answers so; it returns the run and its report."""

    def optimized(
        crate: dict[str, bytes] = CRATE,
        answer: Callable[[Body], Step] = lambda _: calls("submit_report", edits=[]),
        refused: tuple[str, ...] = (),
        name: str = "doc",
        **options: Any,
    ) -> tuple[ConversionRun, dict[str, Any], FakeCrateBench]:
        bench = DocBench()
        bench.refused = refused
        opened = conversion_run(tmp_path, sqlite_template, answer, FakeBench(tmp_path / "bench", (), ()), bench)
        run = opened.__enter__()
        request.addfinalizer(lambda: opened.__exit__(None, None, None))
        given = OptimizeOptions(passes=[name], **options)
        run.do_all(OPTIMIZE, {"a.c": ""}, OptimizeInput(given, tar_of(crate)))
        return run, json.loads(run.artifact("optimize_report.json")), bench

    return optimized


def changes(run: ConversionRun, name: str) -> dict[str, str]:
    return {file: content.decode() for file, content in files_of(run.artifact(f"changes_{name}.tar")).items()}


def test_a_file_with_which_the_tests_fail_stays_as_it_was(optimize: Optimize) -> None:
    run, report, _ = optimize(refused=("src/sharp.rs",))
    assert set(changes(run, "doc")) == {"src/plain.rs", "src/lib.rs"}
    assert "src/sharp.rs: the tests fail after the pass doc; it stays as it was" in report["errors"]
    assert "src/bytes.rs: not UTF-8" in report["errors"]


def test_a_file_keeps_its_line_ends(optimize: Optimize) -> None:
    run, _, _ = optimize()
    text = changes(run, "doc")["src/plain.rs"]
    assert text.endswith(PLAIN.decode()) and text.count("\n") == text.count("\r\n") > 1


def test_the_number_of_test_runs_is_limited(optimize: Optimize) -> None:
    run, report, bench = optimize(max_checks=1, model_group="m")
    assert (bench.tests, report["cargo_checks"], set(report["errors"])) == (1, 1, {SPENT})
    assert run.runtime.requests == []


def test_a_model_improves_the_files_that_have_unsafe_code(optimize: Optimize) -> None:
    run, report, bench = optimize(
        answer=lambda _: calls("submit_report", edits=[SHARP]), name="visibility", model_group="m"
    )
    assert report["files_improved"] == ["src/sharp.rs"]
    assert "x[0]" in changes(run, "model")["src/sharp.rs"]
    assert [task_of(body).split()[2] for body in run.runtime.requests] == ["src/sharp.rs."]
    payloads = [PassPayload.from_json(one.payload) for one in run.jobs("improve")]
    assert [one.number for one in payloads] == list(range(len(payloads)))
    assert b"x[0]" in bench.files["src/sharp.rs"]


def test_edits_with_which_the_tests_fail_are_not_made(optimize: Optimize) -> None:
    wrong = {**SHARP, "replacement": "{ let WRONG = x[0]; WRONG }"}
    _, report, _ = optimize(answer=lambda _: calls("submit_report", edits=[wrong]), model_group="m", fix_retries=0)
    assert report["files_improved"] == []
    assert any("no edits of the model pass; the last: exit code 101" in one for one in report["errors"])


def test_a_file_that_is_too_long_is_not_shown_to_a_model(optimize: Optimize) -> None:
    long = {**CRATE, "src/sharp.rs": CRATE["src/sharp.rs"] + b"// unsafe\n" * (TEXT_MAX // 10)}
    run, report, _ = optimize(long, name="visibility", model_group="m")
    assert run.runtime.requests == []
    assert any("not shown to the model: longer than 60,000 characters" in one for one in report["errors"])


def test_a_crate_whose_tests_fail_before_is_not_optimized(optimize: Optimize) -> None:
    with pytest.raises(StepFailed, match="cargo test fails before any change: exit code 101"):
        optimize({**CRATE, "src/plain.rs": b"// WRONG\n"})
