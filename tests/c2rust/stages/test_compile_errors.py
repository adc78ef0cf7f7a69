"""What a model is told of the errors of rustc in its body."""

import pytest

from jarvis_workers.c2rust.crate import BODY_LINE, CrateItem
from jarvis_workers.c2rust.stages.compile_errors import (
    ERRORS_SHOWN,
    crate_failure,
    error_class,
    error_report,
    error_summary,
)
from jarvis_workers.c2rust.vendored_crates import read_vendored
from jarvis_workers.toolchain.cargo import CargoMessage, error_line
from tests.c2rust.vendors import crate_files

ITEM = CrateItem(
    "sum", "sum", "lib", "fn shim() {\n}\n\nfn rust_sum(n: i32) -> i32 {\n    let x: i32 = 1u8;\n    x\n}\n"
)
FIRST = 4


def error(code: str, text: str = "", line: int = 0, **more: object) -> CargoMessage:
    return CargoMessage("error", code, text, "src/f_sum.rs", line, 18, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("message", "name"),
    [
        (error("E0425", "cannot find function `nope` in this scope"), "missing_import"),
        (error("E0432", "unresolved import `crate::c::nope`", label="no `nope` in `c`"), "missing_import"),
        (error("E0433", "failed to resolve: use of undeclared type `Vec2`"), "missing_import"),
        (error("E0308", "mismatched types"), "type_mismatch"),
        (error("E0277", "the type `[u8]` cannot be indexed by `i32`"), "type_mismatch"),
        (error("E0616", "field `a` of struct `pair` is private"), "visibility"),
        (error("E0499", "cannot borrow `*a` as mutable more than once at a time"), "borrow_checker"),
        (error("E0463", "can't find crate for `libc`"), "dependency_missing"),
        (error("E0433", "failed to resolve: use of undeclared crate or module `libc`"), "dependency_missing"),
        (error("E0433", "cannot find module or crate `libc` in this scope"), "dependency_missing"),
        (
            error("E0432", "unresolved import `libc`", label="use of unresolved module or unlinked crate"),
            "dependency_missing",
        ),
        (
            error("E0432", "unresolved import `crate::a::b`", label="could not find `a` in the crate root"),
            "module_not_found",
        ),
        (error("E0583", "file not found for module `a`"), "module_not_found"),
        (error("E0015", "cannot call non-const function"), "other"),
        (error("", "linking with `cc` failed"), "other"),
    ],
)
def test_errors_have_the_classes_of_the_seeds(message: CargoMessage, name: str) -> None:
    assert error_class(message) == name


def test_an_error_has_its_place_in_the_body_and_the_help_of_rustc() -> None:
    line = BODY_LINE + FIRST
    one = error("E0308", "mismatched types", line, label="expected `i32`", help=("help: convert it: `1u8.into()`",))
    assert error_report([one], ITEM, FIRST).split("\n") == [
        "type_mismatch, E0308, line 2, column 18: mismatched types (expected `i32`)",
        "    let x: i32 = 1u8;",
        "    help: convert it: `1u8.into()`",
    ]
    assert error_summary([one], ITEM) == "E0308 (type_mismatch) mismatched types: `let x: i32 = 1u8;`"


def test_an_error_outside_of_the_body_has_no_line_of_it() -> None:
    report = error_report([error("E0308", "mismatched types", BODY_LINE)], ITEM, FIRST)
    assert report.startswith(
        "type_mismatch, E0308, in the code that calls your function: mismatched types\n    fn shim()"
    )


def test_a_report_is_short() -> None:
    many = [error("E0308", "mismatched types", BODY_LINE + FIRST, help=("help: x",) * 50)] * 50
    assert error_report(many, ITEM, FIRST).count("\n") < 6 * ERRORS_SHOWN <= 60


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        ([CargoMessage("error", "E0308", "mismatched types", "/vendor/mix/src/f_sum.rs", 1)], "E0308 mismatched types"),
        ([CargoMessage("error", "", "cargo: exit code 101: no crate `a`")], "exit code 101: no crate `a`"),
        ([], "no message"),
    ],
)
def test_a_crate_that_does_not_build_is_named(messages: list[CargoMessage], reason: str) -> None:
    crates = read_vendored(crate_files("mix") | crate_files("other"))
    body = ITEM._replace(text="fn rust_sum() { mix::sum() }")

    assert crate_failure(messages, body, crates) == f"dependency_missing: mix 1.2.0 cannot be used: {reason}"
    assert crate_failure([*messages, error("E0425")], body, crates) == "", "the error is in the function"
    assert crate_failure(messages, ITEM, crates) == "", "it uses no crate"


def test_the_error_of_cargo_is_one_line_without_paths() -> None:
    output = b"""{"reason":"compiler-artifact"}
   Compiling mix v1.2.0
error: failed to run custom build command for `mix v1.2.0`

Caused by:
  process didn't exit successfully: `/data/benches/1/target/build-script-build` (exit status: 3)
"""
    assert error_line(output) == (
        "failed to run custom build command for `mix v1.2.0`: "
        "process didn't exit successfully: `build-script-build` (exit status: 3)"
    )
    assert error_line(b"Compiling mix v1.2.0") == ""
