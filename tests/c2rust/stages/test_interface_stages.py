"""What the stages of `jarvis c2rust run --interface` plan and decide; no crate is built."""

import asyncio
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from jarvis_workers.c2rust.bench.crate_archive import files_of, tar_of
from jarvis_workers.c2rust.interface_result import CrateOutcome, CrateTest
from jarvis_workers.c2rust.stages import deliver_interface, merge_interface, write_interface
from jarvis_workers.c2rust.stages.interface_options import InterfaceOptions
from jarvis_workers.c2rust.stages.merge_interface import UNBUILT, MergeInterfaceWork
from jarvis_workers.c2rust.stages.write_interface import GroupPayload, InterfaceWork
from jarvis_workers.errors import StepFailed
from jarvis_workers.snapshots.blobs import DirectoryBlobs
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.store.values import Claimed, Commit, Run, StageJob
from tests.agents.loop.server import Body, calls
from tests.c2rust.stages.conversion_runs import FakeRuntime

LIBRARY, ONE, TWO = (
    "pub mod one;\npub mod two;\n",
    "pub fn one() -> u8 { todo!() }\n",
    "pub fn two() -> u8 { todo!() }\n",
)
CRATE = {"src/lib.rs": LIBRARY.encode(), "src/one.rs": ONE.encode(), "src/two.rs": TWO.encode(), "Cargo.toml": b""}
DONE = {"src/one.rs": ONE.replace("todo!()", "1"), "src/two.rs": TWO.replace("todo!()", "2")}
JOB = Claimed(1, "r1", "interface", "interface", "translate", 1, "", "{}", 0, 0)


@pytest.fixture(autouse=True)
def outcomes(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Mapping[str, bytes]]]:
    """Crates do not build while a file contains BREAKS, and the test of `one` fails unless it returns 1."""
    built = list[Mapping[str, bytes]]()

    def outcome(files: Mapping[str, bytes], *_: object, run_tests: bool = True) -> CrateOutcome:
        built.append(files)
        if broken := [name for name, content in files.items() if b"BREAKS" in content]:
            return CrateOutcome(f"cargo: {broken[0]}" if broken[0] == "Cargo.toml" else f"{broken[0]}:1: E0425")
        passed = b"{ 1 }" in files["src/one.rs"]
        return CrateOutcome(tests=(CrateTest("tests/a.rs", "a", passed),) if run_tests else ())

    for module in (write_interface, merge_interface):
        monkeypatch.setattr(module, "crate_outcome", outcome)
    yield built


@pytest.fixture
def blobs(tmp_path: Path) -> DirectoryBlobs:
    return DirectoryBlobs(tmp_path / "blobs")


def options(blobs: DirectoryBlobs, crate: Mapping[str, bytes] = CRATE) -> InterfaceOptions:
    return InterfaceOptions(model_group="m", crate=blobs.put(tar_of(crate)), max_retries=0)


def write(
    blobs: DirectoryBlobs, tmp_path: Path, crate: Mapping[str, bytes], files: Mapping[str, str] = DONE
) -> tuple[Commit, list[Body]]:
    """Let a model answer with files; return the result and what it was asked."""
    (tmp_path / "one.c").write_text("int one(void) { return 1; }\n")

    class Runtime(FakeRuntime):
        async def unpack(self, *_: Any) -> Path:
            return tmp_path

    answer = [{"path": path, "rust": text} for path, text in files.items()]
    runtime = Runtime(tmp_path, lambda _: calls("submit_report", files=answer))
    work = InterfaceWork(JOB, [*files], options(blobs, crate), "", [])
    return asyncio.run(write_interface.converse(work, blobs, runtime)), runtime.requests  # type: ignore[arg-type]


def merge(blobs: DirectoryBlobs, *jobs: tuple[list[str], str], crate: Mapping[str, bytes] = CRATE) -> Commit:
    """Merge the files of jobs, given by their paths and results."""
    written = [StageJob("done", None, "", 0, GroupPayload(paths).to_json(), result, 0) for paths, result in jobs]
    return merge_interface.decide(MergeInterfaceWork(options(blobs, crate), written), Resources(blobs))


def result_of(commit: Commit) -> str:
    return json.dumps(dict(commit.blobs))


def test_files_that_fit_into_a_question_are_one_job(blobs: DirectoryBlobs) -> None:
    run = Run("r1", "", "", b"", "", "", "", options(blobs).encode())
    (job,) = write_interface.plan(run, blobs)
    assert (job.label, job.queue) == ("src/lib.rs and 2 more", "translate")
    assert GroupPayload.from_json(job.payload).paths == ["src/lib.rs", "src/one.rs", "src/two.rs"]


def test_bodies_with_which_the_tests_pass_are_delivered(
    blobs: DirectoryBlobs, tmp_path: Path, outcomes: list[Mapping[str, bytes]]
) -> None:
    commit, requests = write(blobs, tmp_path, CRATE)
    assert len(requests) == 1 and "int one(void)" in str(requests[0]["messages"])
    assert len(outcomes) == 2, "the given crate is built before a model is asked"
    merged = merge(blobs, (["src/one.rs", "src/two.rs"], result_of(commit)))
    assert merged.not_checked == ()
    job = StageJob("done", None, "", 0, "{}", result_of(merged), 0)
    artifacts = dict(deliver_interface.decide(job, Resources(blobs)).artifacts)
    assert files_of(artifacts["crate.tar"])["src/two.rs"] == DONE["src/two.rs"].encode()
    assert json.loads(artifacts["interface.json"])["answers"] == 1


@pytest.mark.parametrize("placeholder", ['todo!("one")', 'if true { 2 } else { unimplemented!("one") }'])
def test_a_placeholder_for_a_symbol_becomes_its_call_and_is_tested(
    blobs: DirectoryBlobs, tmp_path: Path, placeholder: str
) -> None:
    crate = {**CRATE, "src/one.rs": DONE["src/one.rs"].encode()}
    crate["src/two.rs"] = TWO.replace("todo!()", placeholder).encode()
    call = {"src/two.rs": TWO.replace("todo!()", "crate::one::one() + 1")}

    commit, requests = write(blobs, tmp_path, crate, call)
    merged = merge(blobs, (["src/two.rs"], result_of(commit)), crate=crate)

    assert len(requests) == 1 and placeholder in str(requests[0]["messages"])
    contents = {name: blobs.read(blob) for name, blob in merged.blobs}
    assert files_of(contents["crate.tar"])["src/two.rs"].decode() == call["src/two.rs"]
    assert [one["passed"] for one in json.loads(contents["interface.json"])["outcome"]["tests"]] == [True]
    assert merged.not_checked == ()


def test_no_model_is_asked_about_a_crate_that_cargo_refuses(blobs: DirectoryBlobs, tmp_path: Path) -> None:
    commit, requests = write(blobs, tmp_path, {**CRATE, "Cargo.toml": b"BREAKS"})
    assert requests == []
    gaps = [reason for _, reason in merge(blobs, (["src/one.rs"], result_of(commit))).not_checked]
    assert any("the given crate does not build: cargo: Cargo.toml" in reason for reason in gaps)


def test_a_file_that_breaks_the_union_gives_way(blobs: DirectoryBlobs, tmp_path: Path) -> None:
    """Each group was checked alone; together, the file that rustc names stays as it was given."""
    good, bad = ({name: text} for name, text in DONE.items())
    first, _ = write(blobs, tmp_path, CRATE, good)
    second, _ = write(blobs, tmp_path, CRATE, bad)
    broken = json.loads(blobs.read(dict(second.blobs)["written"]))
    broken = json.loads(json.dumps(broken).replace("{ 2 }", "{ BREAKS }"))
    lost = json.dumps({"written": blobs.put(json.dumps(broken).encode())})
    merged = merge(blobs, (["src/one.rs"], result_of(first)), (["src/two.rs"], lost))
    crate = files_of(blobs.read(dict(merged.blobs)["crate.tar"]))
    assert (crate["src/one.rs"], crate["src/two.rs"]) == (DONE["src/one.rs"].encode(), TWO.encode())
    assert any(UNBUILT in reason for _, reason in merged.not_checked)


def test_a_failed_job_and_a_failing_test_are_named(blobs: DirectoryBlobs) -> None:
    failed = StageJob("failed", "no model", "", 0, GroupPayload(["src/one.rs"]).to_json(), None, 0)
    merged = merge_interface.decide(MergeInterfaceWork(options(blobs), [failed]), Resources(blobs))
    reasons = "\n".join(reason for _, reason in merged.not_checked)
    assert "no model" in reasons and "its body is still missing" in reasons and "tests/a.rs: a" in reasons


def test_without_a_merged_crate_there_is_nothing_to_deliver(blobs: DirectoryBlobs) -> None:
    with pytest.raises(StepFailed, match="no cargo"):
        deliver_interface.decide(StageJob("failed", "no cargo", "", 0, "{}", None, 0), Resources(blobs))


def test_the_work_of_the_merge_survives_its_encoding(blobs: DirectoryBlobs) -> None:
    work = MergeInterfaceWork(options(blobs), (StageJob("done", None, "a", 1, "{}", "{}", 0),))
    assert merge_interface.read_work(json.loads(work.to_json())) == work
    assert SimpleNamespace(**work.options.encode()).max_retries == 0
