"""A crate is built and tested in the sandbox; code under test cannot pass by anything but its tests. All is real."""

from pathlib import Path

import pytest

from jarvis_workers.c2rust.bench.crate_tests import crate_outcome, judge_tests
from jarvis_workers.c2rust.interface_result import CrateTest
from jarvis_workers.sandbox.limits import BenchLimits, CommandOutcome
from tests.support.servers import require

LIMITS = BenchLimits(build_seconds=120, test_seconds=5, memory_mb=2048, disk_mb=1024)
CARGO = '[package]\nname = "small"\nversion = "0.1.0"\nedition = "2021"\n'
TESTS = """fn main() {}
#[test]
fn a() { assert_eq!(small::f(), 1); }
#[test]
#[ignore]
fn slow() { panic!(); }
#[test]
#[should_panic]
fn panics() { panic!("as it should"); }
"""


def run(body: str, **more: str) -> dict[str, tuple[bool, str]]:
    """Return whether the tests of a crate pass, whose function f has a body, with their details."""
    require("cargo")
    files = {"Cargo.toml": CARGO, "src/lib.rs": f"pub fn f() -> u8 {{ {body} }}", "tests/all.rs": TESTS, **more}
    outcome = crate_outcome({name: text.encode() for name, text in files.items()}, LIMITS)
    assert outcome.error == ""
    return {one.label: (one.passed, one.detail) for one in outcome.tests}


def ended(code: int | None, output: str) -> CommandOutcome:
    return CommandOutcome(code, None, output.encode(), b"", 1.0, 1.0, 0, None)


@pytest.mark.slow
def test_each_test_is_listed_with_its_outcome() -> None:
    assert run("1") == {"tests/all.rs: a": (True, ""), "tests/all.rs: panics": (True, "")}
    found = run("2", **{"src/bin/b.rs": 'fn main() {} #[test] fn data() { std::fs::write("x", "y").unwrap(); }'})
    assert [name for name, (passed, _) in found.items() if passed] == ["src/bin/b.rs: data", "tests/all.rs: panics"]
    assert "assertion `left == right` failed left: 2 right: 1" in found["tests/all.rs: a"][1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ('println!("test result: ok. 2 passed; 0 failed; 0 ignored"); std::process::exit(101)', "exit code 101"),
        ("std::process::exit(0)", "exit code 0"),
        ("std::process::abort()", "signal"),
        ("loop {}", "its limit of"),
    ],
)
def test_a_program_that_ends_in_another_way_passes_no_test(body: str, detail: str) -> None:
    found = run(body)
    assert [passed for passed, _ in found.values()] == [False, False]
    assert all(detail in why for _, why in found.values()), found


@pytest.mark.slow
def test_code_under_test_cannot_replace_programs_and_sources(tmp_path: Path) -> None:
    """It looks for files that it can write, in the directories of its own program and of the sources."""
    body = """
        let program = std::env::current_exe().unwrap();
        let written = std::fs::write(&program, "x").is_ok() || std::fs::remove_file(&program).is_ok();
        let beside = std::fs::write(program.with_file_name("other"), "x").is_ok();
        let source = std::fs::write(env!("CARGO_MANIFEST_DIR").to_string() + "/tests/all.rs", "x").is_ok();
        u8::from(!written && !beside && !source)"""
    assert run(body)["tests/all.rs: a"] == (True, "")


@pytest.mark.slow
def test_a_program_without_the_harness_is_a_test_of_its_own() -> None:
    cargo = CARGO + '[[test]]\nname = "own"\npath = "own.rs"\nharness = false\n'
    found = run("1", **{"Cargo.toml": cargo, "own.rs": "fn main() { assert_eq!(small::f(), 2); }"})
    assert found["own.rs: the whole program"] == (False, "exit code 101")


@pytest.mark.slow
def test_a_crate_that_does_not_build_has_errors_with_places() -> None:
    require("cargo")
    files = {"Cargo.toml": CARGO.encode(), "src/lib.rs": b"pub fn f() -> u8 {\n nonsense }"}
    outcome = crate_outcome(files, LIMITS)
    assert outcome.error == "src/lib.rs:2: E0425 cannot find value `nonsense` in this scope"
    refused = crate_outcome({"Cargo.toml": b"[package"}, LIMITS)
    assert refused.error.startswith("cargo: exit code 101: error: ")


def test_forged_lines_pass_no_test() -> None:
    names = {b"a", b"b"}
    forged = "test a ... ok\ntest b ... ok\ntest result: ok. 2 passed; 0 failed; 0 ignored\n"
    real = (
        "\nfailures:\n\n---- a stdout ----\nwrong\n\n\nfailures:\n    a\n\ntest result: FAILED. 1 passed; 1 failed;\n"
    )
    assert list(judge_tests("x.rs", names, ended(101, forged + real))) == [
        CrateTest("x.rs", "a", passed=False, detail="wrong"),
        CrateTest("x.rs", "b", passed=True),
    ]
    for outcome in (ended(101, forged), ended(0, ""), ended(0, forged.replace("2 passed", "1 passed")), ended(3, real)):
        assert not any(one.passed for one in judge_tests("x.rs", names, outcome))
