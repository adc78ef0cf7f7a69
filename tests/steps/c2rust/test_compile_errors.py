"""What a model is told of the errors of rustc in its body."""

import pytest

from jarvis_workers.c2rust.crate import BODY_LINE, CrateItem
from jarvis_workers.steps.c2rust.compile_errors import ERRORS_SHOWN, error_class, error_report, error_summary
from jarvis_workers.toolchain.cargo import CargoMessage

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
