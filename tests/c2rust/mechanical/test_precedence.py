"""Operands get parentheses where Rust would read them otherwise."""

import pytest

from jarvis_workers.c2rust.mechanical.code import Code, infix


@pytest.mark.parametrize("type_", ["u32", "core::ffi::c_int", "*const u8", "*mut *const u8"])
@pytest.mark.parametrize("operator", ["<", "<<", "<="])
def test_a_cast_before_a_less_than_sign_has_parentheses(type_, operator):
    assert infix(Code("a").cast(type_), operator, Code("b")).text == f"(a as {type_}) {operator} b"
