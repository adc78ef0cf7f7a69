"""Enums that a plan makes types in Rust: their text, and what rustc makes of it."""

import subprocess
from pathlib import Path

import pytest

from jarvis_workers.c2rust.project import enum_definitions, plan_enums, plannable_enums
from jarvis_workers.source.clang.c_types import UnitDefinitions
from jarvis_workers.source.clang.definitions import read_definitions
from jarvis_workers.source.clang.unit import CompileCommand
from jarvis_workers.toolchain.headers import builtin_headers
from tests.support.servers import missing

# Keywords, duplicate values, negative and large ones, names of methods and of what an enum has.
SOURCE = """
enum color { RED, GREEN, LIME = 1, type = 7, self = 9, self_ = 10 };
typedef enum { LOW = -2147483647 - 1, NONE = -1, Ok = 0, Err = 2147483647 } level;
enum wide { FIRST = 1, LAST = 0xffffffffffffffffull };
enum type { bits = 1, contains = 2, contains_ = 4, both = 3, Self = 0x80000000u };
typedef enum { DOWN = -4, UP = 4 } step;
enum u8 { EIGHT }; enum Option { SOME };
int f(enum color c, level l, enum wide w, enum type t, step s, enum u8 e, enum Option o);
int f(enum color c, level l, enum wide w, enum type t, step s, enum u8 e, enum Option o) { return c; }
"""
KINDS = {"color": "enum", "level": "enum", "wide": "enum", "type": "flags", "step": "flags", "u8": "enum", "no": "enum"}
COLOR = """
/// `enum color`, a.c:2
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum color {
    RED = 0,
    GREEN = 1,
    r#type = 7,
    self_ = 9,
    self__ = 10,
}

impl color {
    pub const LIME: Self = Self::GREEN;
}

impl TryFrom<u32> for color {
    type Error = u32;

    fn try_from(value: u32) -> Result<Self, u32> {
        match value {
            0 => Ok(Self::RED),
            1 => Ok(Self::GREEN),
            7 => Ok(Self::r#type),
            9 => Ok(Self::self_),
            10 => Ok(Self::self__),
            _ => Err(value),
        }
    }
}

impl From<color> for u32 {
    fn from(value: color) -> Self {
        value as Self
    }
}
"""
MAIN = """
#![deny(warnings)]
#![allow(dead_code, non_camel_case_types, non_upper_case_globals)]
mod types;
use types::*;
fn main() {
    assert_eq!(color::try_from(1), Ok(color::LIME));
    assert_eq!(color::try_from(2), Err(2));
    let numbers = [i32::MIN, -1, 0, i32::MAX];
    assert_eq!(numbers.map(|one| level::try_from(one).map(i32::from)), numbers.map(Ok));
    assert_eq!(level::try_from(1), Err(1));
    assert_eq!(u64::from(wide::LAST), u64::MAX);
    let mut all = r#type::bits | r#type::contains_;
    assert!(all.contains(r#type::both) && !r#type::bits.contains(r#type::both));
    all |= r#type::contains__;
    all &= !r#type::bits;
    assert_eq!((all ^ r#type::Self_).bits, 0x80000006);
    assert_eq!((r#type { bits: 99 } & r#type::both).bits, 3);
    assert_eq!((step::UP | step::DOWN, r#type::default().bits), (step { bits: -4 }, 0));
    println!("done");
}
"""


@pytest.fixture(scope="module")
def unit(tmp_path_factory: pytest.TempPathFactory) -> UnitDefinitions:
    root = tmp_path_factory.mktemp("enums")
    (root / "a.c").write_text(SOURCE)
    return read_definitions(root, CompileCommand(b"a.c", b"", ()), builtin_headers(None))


def test_enums_without_a_type_of_another_meaning_can_be_planned(unit: UnitDefinitions) -> None:
    assert sorted(plannable_enums([unit])) == ["color", "level", "r#type", "step", "wide"]
    planned = plan_enums([unit], {**KINDS, "color": "bits", "level": "flags"})
    assert {one.name: one.kind for one in planned.values()} == {
        "level": "flags",
        "r#type": "flags",
        "step": "flags",
        "wide": "enum",
    }
    assert (plan_enums([unit], {}), enum_definitions([])) == ({}, "")


def test_a_rust_enum_has_each_number_once(unit: UnitDefinitions) -> None:
    assert enum_definitions(plan_enums([unit], {"color": "enum"}).values()) == COLOR


@pytest.mark.slow
def test_rustc_accepts_planned_enums_and_no_number_is_lost(unit: UnitDefinitions, tmp_path: Path) -> None:
    (tmp_path / "types.rs").write_text(enum_definitions(plan_enums([unit], KINDS).values()))
    (tmp_path / "main.rs").write_text(MAIN)
    try:
        subprocess.run(["rustc", "--edition", "2021", "main.rs", "-o", "main"], cwd=tmp_path, check=True)
    except FileNotFoundError:
        missing("rustc")
    assert subprocess.run([tmp_path / "main"], capture_output=True, check=True).stdout == b"done\n"
