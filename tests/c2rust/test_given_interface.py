"""What an answer may change in a file of a given interface, and which functions have no body; read as text."""

import pytest

from jarvis_workers.c2rust.given_interface import interface_items, interface_problem, missing_functions

GIVEN = """//! A stack.
use std::fmt;

/// Of bytes.
#[derive(Debug, Clone)]
pub struct Stack<T> {
    pub items: Vec<T>, // newest last
}

pub const LIMIT: usize = 8;

impl<T: Clone> Stack<T> {
    pub fn new() -> Self { Stack { items: Vec::new() } }
    #[must_use]
    pub fn pop(&mut self) -> Option<T> {
        unimplemented!()
    }
}

impl<T> fmt::Display for Stack<T> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result { todo!() }
}

pub fn depth(text: &str) -> usize { unimplemented!("the depth") }

#[cfg(test)]
mod tests {
    #[test]
    fn starts_empty() { assert!(super::Stack::<u8>::new().items.is_empty()); }
}
"""
BODIES = {
    "unimplemented!()": "self.items.pop()",
    "todo!()": 'write!(f, "{}", self.items.len())',
    'unimplemented!("the depth")': "text.len()",
}


def answer(*changes: tuple[str, str]) -> str:
    """Return the interface with all bodies, and further changes."""
    text = GIVEN
    for old, new in (*BODIES.items(), *changes):
        assert old in text
        text = text.replace(old, new)
    return text


def test_functions_without_a_body_are_found_in_implementations_too() -> None:
    assert [(one.label, one.line) for one in missing_functions(GIVEN)] == [
        ("Stack::pop", 15),
        ("Stack::fmt", 21),
        ("depth", 24),
    ]
    assert missing_functions(answer()) == []


def test_macros_in_comments_and_strings_are_no_missing_bodies() -> None:
    assert missing_functions('fn f() -> &\'static str { /* todo!() */ "unimplemented!()" }') == []


def test_a_declaration_in_a_trait_is_not_missing() -> None:
    found = interface_items("trait Shape { fn area(&self) -> f64; fn name(&self) -> String { todo!() } }")
    assert [(one.label, one.missing) for one in found if one.kind == "fn"] == [
        ("Shape::area", False),
        ("Shape::name", True),
    ]


@pytest.mark.parametrize(
    "change",
    [
        ("use std::fmt;", "use std::collections::HashMap;\nuse std::fmt;"),
        ("text: &str", "_name: &str"),
        ("pub fn pop(&mut self)", "pub fn pop(\n        &mut self,\n    )"),
        ("Debug, Clone", "Clone, Debug, PartialEq, Default"),
        ("fmt::Formatter)", "fmt::Formatter<'_>)"),
        ("Stack { items: Vec::new() }", "Stack { items: Vec::with_capacity(LIMIT) }"),
        ("pub const LIMIT", "fn helper(c: char) -> bool { c == '(' }\npub const LIMIT"),
        ("pub const LIMIT", "thread_local! { static DEPTH: u8 = 0; }\npub const LIMIT"),
        ("pub const LIMIT", "impl<T> Drop for Stack<T> { fn drop(&mut self) { println!() } }\npub const LIMIT"),
        ("/// Of bytes.", "/// Of anything: a std::process::exit in a comment is no code."),
        ("// newest last", "// oldest first"),
    ],
)
def test_bodies_imports_helpers_and_derived_traits_may_change(change: tuple[str, str]) -> None:
    assert interface_problem(GIVEN, answer(change)) == ""


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (("text: &str", "text: &String"), "it must keep `pub fn depth ( _ : & str ) - > usize`"),
        (("pub fn depth", "fn depth"), "it must keep `pub fn depth"),
        (("pub fn pop", "pub unsafe fn pop"), "it must keep `pub fn pop"),
        (("impl<T: Clone> Stack", "impl<T: Copy> Stack"), "it must keep `impl < T : Clone > Stack < T >`"),
        (("pub items: Vec<T>", "pub items: std::collections::VecDeque<T>"), "it must keep `pub struct Stack"),
        (("LIMIT: usize = 8", "LIMIT: usize = 9"), "it must keep `pub const LIMIT"),
        (("Debug, Clone", "Debug"), "it must keep the attribute derive(Clone)"),
        (("assert!(super", "assert!(true || super"), "it must keep `mod tests"),
        (("pub const LIMIT", "#[test]\nfn more() {}\npub const LIMIT"), "`fn more ( ) { }` may not be added"),
        (("pub const LIMIT", "mod more;\npub const LIMIT"), "`mod more ;` may not be added"),
        (("pub const LIMIT", "macro_rules! no { () => {} }\npub const LIMIT"), "`macro_rules ! no"),
        (("pub const LIMIT", "#[no_mangle]\nfn more() {}\npub const LIMIT"), "the attribute no_mangle is not allowed"),
        (("pub const LIMIT", "#![feature(x)]\npub const LIMIT"), "the attribute feature is not allowed"),
        (("text.len()", "std::process::exit(0)"), "`std::process` is not allowed"),
        (("text.len()", "std::r#process::exit(0)"), "`std::r#process` is not allowed"),
        (("use std::fmt;", "use std::{fmt, process};"), "is not allowed"),
        (("use std::fmt;", "use std as s; use std::fmt;"), "`std as` is not allowed"),
        (("use std::fmt;", "use std::{self as s, fmt};"), "is not allowed"),
        (("use std::fmt;", "use std::*;"), "`std::*` is not allowed"),
        (("text.len()", "std::net::TcpStream::connect(text).map_or(0, |_| 1)"), "`std::net` is not allowed"),
        (("text.len()", 'env!("HOME").len()'), "`env!` is not allowed"),
        (("text.len()", 'include_str!("../../secret").len()'), "`include_str!` is not allowed"),
        (("pub const LIMIT", 'extern "C" { fn exit(code: i32) -> !; }\npub const LIMIT'), "may not be added"),
        (("text.len()", 'extern "C" { fn exit(code: i32) -> !; } 0'), "`extern` is not allowed"),
        (("text.len()", "text.len() // é\n + é"), "it has a character outside of ASCII"),
    ],
)
def test_anything_else_is_refused(change: tuple[str, str], problem: str) -> None:
    assert problem in interface_problem(GIVEN, answer(change))


def test_what_the_given_file_uses_itself_is_allowed() -> None:
    given = "use std::process::Command;\npub fn run() { todo!() }"
    assert interface_problem(given, given.replace("todo!()", 'let _ = Command::new("x");')) == ""


def test_a_file_that_is_too_long_is_refused() -> None:
    assert "longer than" in interface_problem(GIVEN, answer() + "\n" * 400_000)


def test_modules_within_modules_without_end_are_one_item() -> None:
    text = "mod a { " * 5_000 + "fn f() {}" + "}" * 5_000

    assert 1 < len(interface_items(text)) < 100
