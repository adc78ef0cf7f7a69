"""What the stages of `jarvis c2rust fast` decide, and gates of edited functions; nothing is built, see FakeBench."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from jarvis_workers.c2rust.bench.crate_archive import files_of
from jarvis_workers.c2rust.conversion import Conversion, FunctionResult, decode_conversion
from jarvis_workers.c2rust.crate_edits import read_edits
from jarvis_workers.c2rust.runs.conversion_files import export_conversion
from jarvis_workers.c2rust.stages import check_edits, make_skeleton, merge_bodies
from jarvis_workers.c2rust.stages.check_bodies import batch_size
from jarvis_workers.c2rust.stages.check_edits import EditedCrate, EditOutcome
from jarvis_workers.c2rust.stages.options import FastOptions
from jarvis_workers.c2rust.stages.pipelines import FAST
from jarvis_workers.c2rust.stages.skeleton import skeleton_of
from jarvis_workers.c2rust.stages.suite_runs import BenchSuites
from jarvis_workers.errors import StepFailed
from jarvis_workers.pipeline.runner import recall
from jarvis_workers.store.values import StageJob
from tests.c2rust.stages.conversion_runs import ConversionRun, conversion_run
from tests.c2rust.stages.fake_benches import FakeBench, FakeCrateBench
from tests.store.arrange import run_now

# The names of the variables decide what the benches do.
FILES = {
    "a.c": """int fine(int a) { return a + 1; }
int broken(int a) { int BREAKS = a; return BREAKS; }
int wrong(int a) { int WRONG = a; return WRONG; }
int unreached(int a) { return a - 1; }
int chosen(int a) { return fine(a); }
""",
    "b.c": "int variadic(int a, ...) { return a; }\n__attribute__((constructor)) void begins(void) {}\n",
}
CALLED = ("fine", "broken", "wrong", "chosen", "begins")


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> FakeBench:
    return FakeBench(tmp_path_factory.mktemp("bench") / "place", CALLED, [*CALLED, "unreached", "variadic"])


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path, bench: FakeBench) -> Iterator[ConversionRun]:
    bench.coverage = {("a.c", "fine"): {1: True}, ("a.c", "wrong"): {3: False}}

    def unasked(_: object) -> None:
        raise AssertionError("no model is asked")

    directory = tmp_path_factory.mktemp("run")
    with conversion_run(directory, sqlite_template, unasked, bench, FakeCrateBench()) as run:  # type: ignore[arg-type]
        run.convert(FAST, FILES, FastOptions())
        yield run


def conversion(run: ConversionRun) -> Conversion:
    return decode_conversion(run.artifact("conversion"))


def functions(run: ConversionRun) -> dict[str, FunctionResult]:
    return {one.name: one for one in conversion(run).functions}


@pytest.mark.slow
def test_what_the_gates_do_not_accept_stays_in_c_for_a_reason(ended: ConversionRun) -> None:
    found = functions(ended)
    assert {name: (one.state, one.cause) for name, one in found.items()} == {
        "fine": ("mechanical", ""),
        "chosen": ("mechanical", ""),
        "broken": ("forwarded", "refused"),
        "wrong": ("forwarded", "different"),
        "unreached": ("forwarded", "not_checked"),
        "variadic": ("forwarded", "refused"),
        "begins": ("forwarded", "refused"),
    }
    assert found["broken"].reason == "its Rust code does not compile: E0308 mismatched types"
    assert found["wrong"].reason == "suite: make check: exit code 1"
    assert "constructor" in found["begins"].reason and "variadic" in found["variadic"].reason
    assert (found["fine"].lines, found["fine"].lines_run, found["wrong"].lines_run) == (1, 1, 0)
    assert ended.gaps() == ["suite: make check: exit code 1", "no test reaches it"]


def test_the_crate_has_the_accepted_functions_only(ended: ConversionRun) -> None:
    module = files_of(ended.artifact("crate.tar"))["src/a.rs"].decode()
    assert "fn fine" in module and "WRONG" not in module and "BREAKS" not in module


def test_the_map_and_the_progress_are_exported_with_the_crate(ended: ConversionRun, tmp_path: Path) -> None:
    export_conversion(ended.store, ended.resources.blobs, run_now(ended.store, ended.run_id), tmp_path / "out")

    rows = [json.loads(line) for line in (tmp_path / "out" / "symbol_map.jsonl").read_text().splitlines()]
    fields = ["c_name", "c_qname", "c_file", "start_line", "end_line", "module", "rust_symbol", "rust_signature"]
    assert [list(row)[:10] for row in rows] == [[*fields, "state", "proof"]] * len(functions(ended))
    progress = json.loads((tmp_path / "out" / "progress.json").read_text())
    assert progress == {"current": None, "converted": ["fine", "chosen"]}
    assert (tmp_path / "out" / "crate" / "src" / "a.rs").is_file()


def test_the_results_of_the_builds_are_cached(ended: ConversionRun) -> None:
    run = run_now(ended.store, ended.run_id)
    with ended.store.read() as session:
        works = [(module, module.load(session, run, None)) for module in (make_skeleton, merge_bodies)]
    for module, work in works:
        found = recall(module.__name__, work, ended.resources)
        assert found is not None and found.cached == 1 and found.blobs
        uncached = replace(work, options=replace(work.options, cache=False))
        assert recall(module.__name__, uncached, ended.resources) is None
        other = replace(work, options=replace(work.options, tests=["make other"]))
        assert recall(module.__name__, other, ended.resources) is None


def edit(run: ConversionRun, *changes: tuple[str, str]) -> EditOutcome:
    """Run the gates on the crate of a run with these replacements in src/a.rs."""
    before = files_of(run.artifact("crate.tar"))
    text = before["src/a.rs"].decode()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    now: Mapping[str, bytes] = {**before, "src/a.rs": text.encode()}
    with run.store.read() as session:
        work = merge_bodies.load(session, run_now(run.store, run.run_id))
    found = conversion(run)
    skeleton = work.read_skeleton(run.resources.blobs, found)
    accepted = [skeleton.bodies[one.slot] for one in found.functions if one.accepted]
    edits = read_edits(before, now, accepted).functions
    return check_edits.check_edits(EditedCrate(before, now, edits), work, found, run.resources)


ADDITION = "a.wrapping_add(1)"


def test_an_edit_that_passes_the_gates_is_accepted(ended: ConversionRun) -> None:
    (one,), crate = edit(ended, (ADDITION, "1i32.wrapping_add(a)"))
    assert (one.name, one.state, one.file) == ("fine", "mechanical", "src/a.rs")
    assert [gate.gate for gate in one.gates] == ["form", "signature", "check", "reached", "suite", "shadow"]
    assert [gate.gate for gate in crate] == ["cargo build", "clippy"] and all(gate.passed for gate in crate)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("todo!()", "form: it contains todo!"),
        ("{ let WRONG = 1; WRONG }", "suite: make check: exit code 1"),
        ("{ let BREAKS = 1; BREAKS }", "check: src/a.rs:"),
    ],
)
def test_an_edit_that_a_gate_refuses_stays_in_c(ended: ConversionRun, text: str, reason: str) -> None:
    (one,), _ = edit(ended, (ADDITION, text))
    assert (one.state, one.cause) == ("forwarded", "different")
    assert one.reason.startswith(reason)


def test_new_warnings_of_clippy_are_a_failed_gate(ended: ConversionRun) -> None:
    (one,), (_, clippy) = edit(ended, (ADDITION, "{ let WARNS = 1; a.wrapping_add(WARNS) }"))
    assert one.accepted and not clippy.passed
    assert clippy.detail == "1 new warnings, such as src/a.rs:5: shorter"


def test_a_stopped_clippy_is_not_a_clean_crate(ended: ConversionRun) -> None:
    _, (_, clippy) = edit(ended, (ADDITION, "{ let STOPS = 1; a.wrapping_add(STOPS) }"))
    assert clippy.detail == "not run: failed: cargo: stopped at its limit of CPU time"


def test_functions_whose_union_fails_are_found(ended: ConversionRun, bench: FakeBench) -> None:
    bench.crate = {"src/f_fine.rs": "", "src/f_wrong.rs": "WRONG"}
    suites = BenchSuites(bench, ["make check"])  # type: ignore[arg-type]
    assert check_edits.union_culprits(suites, ["fine", "wrong"]) == ["wrong"]
    assert suites.load_failure() == ""


def test_a_batch_takes_a_bounded_time() -> None:
    assert [batch_size(1_000, seconds) for seconds in (0.0, 100_000.0)] == [63, 1]
    assert 1 < batch_size(1_000, 500.0) < 32
    assert (batch_size(5, 0.0), batch_size(66, 0.0), batch_size(20, 0.0)) == (5, 33, 10)


def test_a_run_without_a_skeleton_fails_for_its_reason(ended: ConversionRun) -> None:
    blobs = ended.resources.blobs
    failed = StageJob("failed", "no compiler", "", 0, "{}", None, 0)
    with pytest.raises(StepFailed, match="no compiler"):
        skeleton_of(blobs, [failed])
    gap = failed._replace(state="done", reason=None, result='{"not_checked": [["", "--test make check: fails"]]}')
    with pytest.raises(StepFailed, match="--test make check: fails"):
        skeleton_of(blobs, [gap])
    with pytest.raises(StepFailed, match="there is no skeleton"):
        skeleton_of(blobs, [])
