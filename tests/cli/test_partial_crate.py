"""The crate so far of a paused run: where it is written, and what the command says."""

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from jarvis_cli.kit.status_output import Quiet
from jarvis_workers.c2rust.commands.conversion_output import conclude_partial_crate, write_new_crate
from jarvis_workers.c2rust.conversion import Conversion, GateOutcome, SuiteResult
from jarvis_workers.c2rust.runs.conversion_files import export_conversion
from jarvis_workers.c2rust.runs.crate_directory import MANIFEST, write_files
from jarvis_workers.c2rust.stages.pipelines import PARTIAL
from jarvis_workers.errors import BrokerUnavailable, StoreFull, UsageError
from jarvis_workers.runs import wiring
from jarvis_workers.runs.run_kinds import StoredRun
from jarvis_workers.runs.runs import find_run
from jarvis_workers.runs.scan_request import blobs_of
from jarvis_workers.settings import Settings
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run
from tests.cli.commands import Jarvis
from tests.cli.stored_conversions import function, store_conversion

CONVERSION = Conversion(
    (function("half", state="mechanical", proof="reached"),),
    suites=(SuiteResult("make test"),),
    crate=(GateOutcome("cargo build", passed=False, detail="E0308"),),
    not_checked=(("a.c", "no header"),),
)
PART, WHOLE = "// so far\n", "// whole\n"


class PausedRun(NamedTuple):
    """A paused run, and the run that has made its crate so far."""

    settings: Settings
    store: Store
    blobs: Blobs
    paused: Run
    run: Run

    def write(self, place: Path) -> Path:
        stored = StoredRun(self.settings, self.store, self.blobs, self.run)
        return write_new_crate(stored, place, Quiet(), self.paused)

    def conclude(self, made: AbstractContextManager[Run], place: Path) -> bool:
        stored = StoredRun(self.settings, self.store, self.blobs, self.paused)
        return conclude_partial_crate(stored, made, lambda _: self.write(place), Quiet())


@pytest.fixture
def found(jarvis: Jarvis) -> Iterator[PausedRun]:
    tree = jarvis.tree("lib", {"lib.c": "int half(int a) { return a / 2; }\n"})
    paused = store_conversion(jarvis, tree, CONVERSION, state="paused", reason="budget")
    run = store_conversion(jarvis, tree, CONVERSION, {"src/lib.rs": PART}, kind=PARTIAL)
    with wiring.store_of(jarvis.settings) as store:
        blobs = blobs_of(jarvis.settings)
        yield PausedRun(jarvis.settings, store, blobs, find_run(store, paused), find_run(store, run))


def writer(crate: Path) -> str:
    return str(json.loads((crate / MANIFEST).read_text())["run"])


def test_it_replaces_no_crate_of_another_run(
    found: PausedRun, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    crate = tmp_path / "lib_rs"
    write_files(crate, {"src/lib.rs": WHOLE.encode()}, "earlier")
    beside = found.write(crate)

    assert beside == crate.with_name(f"lib_rs_{found.paused.id}")
    assert ((crate / "src" / "lib.rs").read_text(), (beside / "src" / "lib.rs").read_text()) == (WHOLE, PART)
    assert (writer(crate), writer(beside)) == ("earlier", found.paused.id)
    assert f"has the crate of run earlier, which the crate so far of run {found.paused.id} " in capfd.readouterr().err
    with pytest.raises(UsageError, match="has the crate of run earlier"):
        write_files(tmp_path / "out" / "crate", {}, "earlier")
        export_conversion(found.store, found.blobs, found.run, tmp_path / "out", paused=found.paused)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["crate"], "the files of the other run are kept"


def test_it_replaces_its_own_crate_of_an_earlier_pause(found: PausedRun, tmp_path: Path) -> None:
    write_files(tmp_path / "lib_rs", {"src/lib.rs": b"// less\n"}, found.paused.id)

    assert found.write(tmp_path / "lib_rs") == tmp_path / "lib_rs"
    assert (tmp_path / "lib_rs" / "src" / "lib.rs").read_text() == PART


def test_it_can_be_checked_only_when_its_run_has_ended(jarvis: Jarvis, found: PausedRun, tmp_path: Path) -> None:
    checked = jarvis("c2rust", "check", "--crate-dir", found.write(tmp_path / "lib_rs"))

    assert checked.code == 2
    assert checked.line.endswith(
        f"lib_rs: cannot be checked: run {found.paused.id} is paused; "
        f"continue with: jarvis runs resume {found.paused.id} --budget AMOUNT"
    )


def test_its_failures_and_units_that_were_not_read_are_printed(
    found: PausedRun, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert found.conclude(nullcontext(found.run), tmp_path / "lib_rs")
    assert capfd.readouterr().err == (
        f"jarvis: run {found.paused.id} is paused (budget); crate so far: {tmp_path}/lib_rs/; "
        "1 of 1 functions in Rust; the crate DOES NOT BUILD: E0308; make test: FAILS with Rust; "
        "NOT CHECKED: translation units that could not be read: 1; "
        f"continue with: jarvis runs resume {found.paused.id} --budget AMOUNT\n"
    )


def test_without_a_crate_only_the_state_of_its_merge_is_printed(
    found: PausedRun, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run = replace(found.run, state="failed", reason="merge: StepFailed: cargo is missing")

    assert not found.conclude(nullcontext(run), tmp_path / "lib_rs")
    assert capfd.readouterr().err == (
        f"jarvis: run {found.paused.id} is paused (budget); no crate so far: merge failed (cargo is missing); "
        f"continue with: jarvis runs resume {found.paused.id} --budget AMOUNT\n"
    )
    assert not (tmp_path / "lib_rs").exists()


@contextmanager
def _failing(run: Run, problem: BaseException, *, at_end: bool = False) -> Iterator[Run]:
    if at_end:
        yield run
    raise problem


@pytest.mark.parametrize("at_end", [False, True])
@pytest.mark.parametrize("problem", [StoreFull("no space left"), BrokerUnavailable("no broker"), KeyboardInterrupt()])
def test_whatever_happens_the_last_line_says_how_to_continue(
    found: PausedRun, tmp_path: Path, capfd: pytest.CaptureFixture[str], problem: BaseException, *, at_end: bool
) -> None:
    interrupted = isinstance(problem, KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt) if interrupted else nullcontext():
        assert found.conclude(_failing(found.run, problem, at_end=at_end), tmp_path / "lib_rs") == at_end

    line = capfd.readouterr().err.splitlines()[-1]
    made = (
        f"crate so far: {tmp_path}/lib_rs/; "
        if at_end
        else f"no crate so far: {'interrupted' if interrupted else problem}; "
    )
    assert line.startswith(f"jarvis: run {found.paused.id} is paused (budget); {made}")
    assert line.endswith(f"continue with: jarvis runs resume {found.paused.id} --budget AMOUNT")


def test_a_directory_that_cannot_be_written_is_named_with_how_to_continue(
    found: PausedRun, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in ("lib_rs", f"lib_rs_{found.paused.id}"):
        write_files(tmp_path / name, {"src/lib.rs": b""}, "earlier")

    assert not found.conclude(nullcontext(found.run), tmp_path / "lib_rs")
    assert f"no crate so far: {tmp_path}/lib_rs_{found.paused.id}: has the crate of" in capfd.readouterr().err
