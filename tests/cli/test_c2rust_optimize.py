"""`jarvis c2rust optimize` on a small crate: cargo, rustc and the sandbox are real."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from jarvis_workers.runs import wiring
from jarvis_workers.source.rust.rust_syntax import RustText
from jarvis_workers.source.rust.unsafe_edits import blanked
from jarvis_workers.store import jobs, runs
from tests.agents.loop.server import Body, ModelServer, Step, calls
from tests.chaos.commands import until
from tests.cli.commands import Jarvis
from tests.support.servers import require
from tests.support.settings_files import write_settings

LIBRARY = """pub mod counters;

/// The first element.
///
/// # Safety
/// `numbers` points to an element.
pub unsafe fn first(numbers: *const i32) -> i32 {
    unsafe {
        let offset = 0;
        if offset == 1 {
            return 1;
        }
        *numbers
    }
}

pub fn sum(numbers: &[i32]) -> i32 {
    unsafe {
        let mut total = 0;
        for number in numbers {
            total += number;
        }
        total
    }
}

pub fn windows() -> u32 {
    unsafe {
        #[cfg(windows)]
        return extern_call();
        1
    }
}

#[cfg(windows)]
pub fn other() -> u32 {
    unsafe { extern_call() }
}

macro_rules! read {
    ($place:expr) => {
        unsafe { $place }
    };
}

pub fn both(pointer: &i32) -> i32 {
    let pointer: *const i32 = pointer;
    read!(*pointer) + read!(1)
}

#[cfg(test)]
mod tests {
    #[test]
    fn sums() {
        assert_eq!(super::sum(&[1, 2]) + unsafe { super::first(&3) } + super::both(&1), 8);
    }
}
"""
COUNTERS = """static mut COUNT: u32 = unsafe { 1 };

pub fn next() -> u32 {
    unsafe {
        let step = 1;
        let unused = step;
        COUNT += step;
        assert_eq!(unused, step);
        COUNT
    }
}
"""
FILES: dict[str, str | bytes] = {
    "Cargo.toml": '[package]\nname = "small"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/lib.rs": LIBRARY,
    "src/counters.rs": COUNTERS,
    "tests/all.rs": "#[test]\nfn counts() {\n    assert_eq!(small::counters::next(), unsafe { 2 });\n}\n",
}
SCALED = "(numbers: &[i32]) -> i32 {\n    let mut sum = 0;\n    for n in numbers {\n        sum += n * 3 + 1;\n    }\n"
SCALED += "    sum\n}\n"
# A function that only the crate can reach, one that C code can link to, and a duplicate.
INNER = "\nmod inner {\n    pub fn hidden() {}\n\n    #[no_mangle]\n    pub fn exported() {}\n}\n\n"
CALL = "pub fn call() {\n    inner::hidden();\n    inner::exported();\n}\n"
UNREACHABLE = f"{LIBRARY}{INNER}pub fn scaled{SCALED}\npub fn tripled{SCALED}\n{CALL}"
RESULT = """static mut COUNT: u32 = 1;

pub fn next() -> u32 {
    let step = 1;
    let unused = step;
    // SAFETY: assumed, not proven: nothing else uses the mutable statics meanwhile
    unsafe { COUNT += step; }
    assert_eq!(unused, step);
    // SAFETY: assumed, not proven: nothing else uses the mutable statics meanwhile
    unsafe { COUNT }
}
"""

ONLY_UNSAFE = ("--no-structure", "--no-visibility", "--no-doc")
PASSES = ("unsafe", "structure", "visibility", "doc")

pytestmark = pytest.mark.slow


@pytest.fixture
def crate(jarvis: Jarvis) -> Path:
    require("cargo", "cc")
    return jarvis.tree("small", FILES)


def contents(crate: Path) -> dict[str, bytes]:
    """Return the files of a crate without those of commands."""
    paths = (path for path in sorted(crate.rglob("*")) if path.is_file() and ".jarvis" not in path.parts)
    return {str(path.relative_to(crate)): path.read_bytes() for path in paths if "target" not in path.parts}


def removable_blocks(crate: Path, target: Path) -> list[str]:
    """Return the unsafe blocks that rustc does not need, each tried alone; unsafe functions count as safe."""
    flags = "--force-warn unsafe_op_in_unsafe_fn"
    environ = {**os.environ, "CARGO_TARGET_DIR": str(target), "RUSTFLAGS": flags}
    command = ["cargo", "check", "--all-targets", "--offline", "--quiet"]
    found = []
    for path in sorted(crate.rglob("*.rs")):
        source = RustText(path.read_text())
        for block in source.blocks:
            path.write_text(blanked(source, [block]))
            done = subprocess.run(command, cwd=crate, env=environ, capture_output=True, text=True, check=False)
            if done.returncode == 0 and "E0133" not in done.stderr:
                found.append(f"{path.name}:{source.line_of(block.start) + 1}")
        path.write_text(source.text)
    return found


def test_unsafe_blocks_are_removed_and_reduced(jarvis: Jarvis, crate: Path, tmp_path: Path) -> None:
    ended = jarvis.spawn("c2rust", "optimize", "--crate-dir", crate, *ONLY_UNSAFE)

    assert ended.code == 0, ended.err
    assert (crate / "src/counters.rs").read_text() == RESULT
    library = (crate / "src/lib.rs").read_text()
    assert "    let mut total = 0;\n    for number" in library
    assert "    unsafe { *numbers }\n}" in library
    assert library.count("cfg(windows)") == 2 and "    unsafe { extern_call() }" in library
    report = json.loads((crate / ".jarvis/c2rust/optimize_report.json").read_text())
    assert (report["files_scanned"], report["unsafe_removed"], report["errors"]) == (3, 3, [])
    assert report["cargo_checks"] == 2
    # What contains `cfg`, and what another platform compiles, is not rustc's to judge here.
    others = {
        f"lib.rs:{1 + library[: library.index(mark)].count(chr(10))}"
        for mark in ("unsafe {\n        #[cfg", "unsafe { ext")
    }
    assert set(removable_blocks(crate, tmp_path / "target")) == others

    before = contents(crate)
    again = jarvis.spawn("c2rust", "optimize", "--crate-dir", crate, "--no-resume", *ONLY_UNSAFE)
    assert (again.code, contents(crate)) == (0, before), again.err
    assert "0 changed" in again.out
    skipped = jarvis("c2rust", "optimize", "--crate-dir", str(crate), *ONLY_UNSAFE)
    assert "no file to optimize" in skipped.out


def test_a_command_killed_in_each_pass_gives_the_result_of_a_calm_one(jarvis: Jarvis, crate: Path) -> None:
    (crate / "src/lib.rs").write_text(UNREACHABLE)
    calm = Path(shutil.copytree(crate, crate.with_name("calm")))
    assert jarvis.spawn("c2rust", "optimize", "--crate-dir", calm).code == 0
    before = contents(crate)
    arguments: tuple[object, ...] = ("c2rust", "optimize", "--crate-dir", crate)
    for done in range(len(PASSES)):
        with jarvis.start(*arguments, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as command:
            until(lambda done=done: begun(jarvis, crate, done))  # type: ignore[misc]
            command.kill()
        assert contents(crate) == before
        arguments = ("runs", "resume", "last")
    ended = jarvis.spawn(*arguments)

    assert ended.code == 0, ended.err
    assert contents(crate) == contents(calm) != before
    library = (crate / "src/lib.rs").read_text()
    assert library.count("/// TODO: duplicate of ") == 1
    assert "pub(crate) fn hidden" in library and "pub fn exported" in library and "pub fn windows" in library
    report = json.loads((crate / ".jarvis/c2rust/optimize_report.json").read_text())
    assert (report["duplicates_tagged"], report["visibility_downgraded"], report["cargo_checks"]) == (1, 1, 5)
    again = jarvis.spawn("c2rust", "optimize", "--crate-dir", crate, "--no-resume")
    assert (again.code, contents(crate)) == (0, contents(calm)), again.err


def begun(jarvis: Jarvis, crate: Path, number: int) -> bool:
    """Return whether the pass of a number has begun in the last run over a crate."""
    with wiring.store_of(jarvis.settings) as store, store.read() as session:
        (run,) = runs.newest(session, 1) or (None,)
        rows = jobs.outcomes(session, run.id, "optimize") if run and run.root == str(crate) else []
        return len(rows) > number and rows[number].state == "running"


def test_a_dry_run_writes_nothing(jarvis: Jarvis, crate: Path) -> None:
    before = contents(crate)
    ended = jarvis.spawn("c2rust", "optimize", "--crate-dir", crate, "--dry-run", "--include", "src/counters.rs")

    assert ended.code == 0, ended.err
    assert "would change: src/counters.rs" in ended.out and "lib.rs" not in ended.out
    assert contents(crate) == before and not (crate / ".jarvis").exists()


def test_a_crate_whose_tests_fail_is_not_touched(jarvis: Jarvis, crate: Path) -> None:
    (crate / "tests/all.rs").write_text("#[test]\nfn fails() {\n    assert!(small::counters::next() == 9);\n}\n")
    before = contents(crate)
    ended = jarvis.spawn("c2rust", "optimize", "--crate-dir", crate)

    assert ended.code == 2
    assert "cargo test fails before any change" in ended.err and "fails" in ended.err
    assert contents(crate) == before


def test_changes_that_could_not_be_tested_are_not_written(jarvis: Jarvis, crate: Path) -> None:
    before = contents(crate)
    ended = jarvis.spawn("c2rust", "optimize", "--crate-dir", crate, "-m", "1")

    assert ended.code == 3
    assert "--max-checks" in ended.err
    assert contents(crate) == before


def test_windows_line_ends_are_preserved(jarvis: Jarvis, crate: Path) -> None:
    (crate / "src/counters.rs").write_bytes(COUNTERS.replace("\n", "\r\n").encode())
    ended = jarvis.spawn("c2rust", "optimize", "--crate-dir", crate, "--include", "src/counters.rs", *ONLY_UNSAFE)

    assert ended.code == 0, ended.err
    assert (crate / "src/counters.rs").read_bytes() == RESULT.replace("\n", "\r\n").encode()


def test_each_pass_is_a_commit_of_a_branch(jarvis: Jarvis, crate: Path) -> None:
    def git(*words: str) -> str:
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words]
        return subprocess.run(command, cwd=crate, capture_output=True, text=True, check=True).stdout

    git("init", "--quiet", "--initial-branch=main", "..")
    git("add", ".")
    git("commit", "--quiet", "--message", "First")
    (crate / "staged").write_text("mine")
    git("add", "staged")
    ended = jarvis.spawn("c2rust", "optimize", "--crate-dir", crate, "--include", "src/*")

    assert ended.code == 0, ended.err
    (branch,) = git("branch", "--format=%(refname:short)", "--list", "jarvis/*").split()
    assert f"branch {branch} has a commit per pass" in ended.err
    subjects = git("log", "--reverse", "--format=%s", branch).splitlines()
    assert subjects[1:] == [
        "State of the crate before its optimization",
        "Optimize the crate: unsafe",
        "Optimize the crate: doc",
    ]
    assert git("diff", "--name-only", branch, "--", "src") == ""
    assert git("diff", "--name-only", "--cached").split() == ["small/staged"]
    assert git("diff", "--name-only", f"{branch}~3", branch).split() == ["small/src/counters.rs", "small/src/lib.rs"]


def test_a_model_proposes_edits_that_the_tests_accept(jarvis: Jarvis, crate: Path) -> None:
    def answer(body: Body) -> Step:
        task = str(next(message["content"] for message in body["messages"] if message["role"] == "user"))
        edits = [{"search": "    unsafe { *numbers }", "replacement": "    unsafe { numbers.read() }"}]
        found = edits if "The file src/lib.rs" in task else []
        return calls("submit_report", edits=found)

    with ModelServer(forever=answer) as server:
        group = {"model": "m", "base_url": server.url, "profile": "deepseek", "api_key": "k"}
        write_settings(jarvis.place, {"models": {"m": group}})
        command = ("c2rust", "optimize", "--crate-dir", crate, "-g", "m", "--include", "src/*")
        ended = jarvis.spawn(*command)

    assert ended.code == 0, ended.err
    assert "no model was asked" not in ended.out
    assert "    unsafe { numbers.read() }" in (crate / "src/lib.rs").read_text()
    report = json.loads((crate / ".jarvis/c2rust/optimize_report.json").read_text())
    assert (report["cargo_checks"], report["errors"]) == (4, [])


def test_a_file_edited_during_the_run_is_not_overwritten(jarvis: Jarvis, crate: Path) -> None:
    edited = crate / "src/counters.rs"
    with jarvis.start("c2rust", "optimize", "--crate-dir", crate, stderr=subprocess.PIPE) as command:
        assert command.stderr
        until(lambda: any((jarvis.settings.data_dir / "cache").glob("benches/*/state")))
        edited.write_text(COUNTERS + "// mine\n")
        before = contents(crate)
        errors = command.stderr.read().decode()

    assert command.returncode == 2
    assert f"no file was written: {edited}: edited meanwhile" in errors
    assert contents(crate) == before
    assert "src/lib.rs" in jarvis("runs", "export", "last", "-d", str(crate.with_name("result"))).out


def test_the_crate_is_found(jarvis: Jarvis, tmp_path: Path) -> None:
    ended = jarvis("c2rust", "optimize", "--crate-dir", str(tmp_path))

    assert ended.code == 2
    assert "not a Rust crate: it has no Cargo.toml" in ended.err
