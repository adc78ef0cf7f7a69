"""Crates from bodies: the same functions chosen by environment for the gates, and called directly for the user."""

import subprocess
from pathlib import Path

import pytest

from jarvis_workers.c2rust.crate import CrateItem, bench_crate, export, function_of, user_crate
from jarvis_workers.c2rust.project import module_names
from jarvis_workers.c2rust.rust_names import identifier
from tests.support.servers import missing

ADD = 'pub unsafe extern "C" fn add(a: i32) -> i32 {\n    a + step(a)\n}\n'
STEP = 'pub static mut step_static_n: i32 = 0;\npub unsafe extern "C" fn step(a: i32) -> i32 {\n    a\n}\n'


def test_the_definition_is_exported_and_not_the_statics_before_it() -> None:
    exported = export(CrateItem("step", "b__step", "b", STEP, exported="jvr_b__step"))

    assert exported == STEP.replace("pub unsafe", '#[export_name = "jvr_b__step"]\npub unsafe')


def test_each_function_of_the_crate_for_gates_has_a_file() -> None:
    files = bench_crate("", ["pub fn step(a: i32) -> i32;"], [CrateItem("r#type", "type", "a", ADD)])

    assert sorted(files) == [
        "Cargo.lock",
        "Cargo.toml",
        "fallback.c",
        "shapes.txt",
        "src/c.rs",
        "src/f_type.rs",
        "src/lib.rs",
        "src/types.rs",
    ]
    assert [function_of(name) for name in sorted(files)] == [None, None, None, None, None, "type", None, None]


def test_a_crate_has_the_type_of_errors_if_a_signature_mentions_it() -> None:
    item, declared = CrateItem("add", "add", "a", ADD), ["pub fn abs(a: i32) -> i32;"]
    failing = item._replace(text=f"{ADD}fn rust_add() -> Result<(), ErrorCode<i32>> {{ Ok(()) }}\n")
    wrapper = "pub fn rust_abs() -> Result<i32, ErrorCode<i32>> {\n    Ok(1)\n}\n"
    for items, declarations, expected in (
        ([item], declared, False),
        ([failing], declared, True),
        ([item], [*declared, wrapper], True),
    ):
        for files in (bench_crate("", declarations, items), user_crate("sample", "", declarations, items, {})):
            assert ("pub struct ErrorCode<T>" in files["src/types.rs"]) is expected


@pytest.mark.parametrize(
    ("files", "modules"),
    [
        (["src/Foo-Bar.c", "b.c"], ["b", "foo_bar"]),
        (["x/util.c", "y/util.c"], ["x_util_c", "y_util_c"]),
        (["types.c", "type.c", "1.c"], ["c_1", "type_c", "types_c"]),
        (["a.c", "a_.c", "A.c"], ["a_", "a_c", "a_c_"]),
    ],
)
def test_modules_are_unique_and_in_snake_case(files: list[str], modules: list[str]) -> None:
    assert sorted(module_names(files).values()) == modules


@pytest.mark.parametrize(
    ("name", "rust"), [("type", "r#type"), ("self", "self_"), ("_", "__"), ("été", "_ue9_t_ue9_"), ("a$b", "a_u24_b")]
)
def test_names_become_identifiers(name: str, rust: str) -> None:
    assert identifier(name) == rust


@pytest.mark.slow
def test_the_crate_of_a_user_builds(tmp_path: Path) -> None:
    items = [CrateItem("add", "add", "a", ADD, exported="add"), CrateItem("step", "b__step", "b", STEP)]
    for name, text in user_crate("sample", "", ["pub fn abs(a: i32) -> i32;"], items, {"a": "//! a.c\n"}).items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    try:
        subprocess.run(["cargo", "build", "--quiet", "--offline"], cwd=tmp_path, check=True)
    except FileNotFoundError:
        missing("cargo")
    symbols = subprocess.run(
        ["nm", tmp_path / "target/debug/libsample.a"], capture_output=True, text=True, check=True
    ).stdout

    assert " T add\n" in symbols
    assert " T step\n" not in symbols
