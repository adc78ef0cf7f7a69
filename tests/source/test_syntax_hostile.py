"""Whatever a file holds, reading it ends soon, and gives something that can be kept and is the same each time."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jarvis_workers.dataflow.frontend import model
from jarvis_workers.source.lex import mask
from tests.support.machine import assert_cpu_within

pytestmark = pytest.mark.long

SAMPLES = [path.read_bytes() for path in sorted(Path(__file__).parent.parent.joinpath("data").rglob("*.c*"))]
PIECES = [
    *(
        b"{",
        b"}",
        b"(",
        b")",
        b"[",
        b"]",
        b";",
        b",",
        b"<",
        b">",
        b'"',
        b"'",
        b"/*",
        b"*/",
        b"//",
        b"\\\n",
        b"\n",
        b"=",
    ),
    *(b"#if 0\n", b"#ifdef _WIN32\n", b"#else\n", b"#endif\n", b"#define A(x) ", b"case 1:", b"switch (x) {", b"else "),
    *(
        b"class A {",
        b"struct s {",
        b"template <",
        b"operator",
        b"::",
        b"~",
        b"new ",
        b"delete [] ",
        b"try {",
        b"[&](int",
    ),
    *(
        b"int f(int a) {",
        b"FOO(x)",
        b"for (;;)",
        b"return ",
        b"sizeof",
        b"0x",
        b"1'0",
        b'L"',
        b"\xff\xc3",
        b"\x00",
        b"a ",
    ),
    *(
        b"typedef ",
        b"enum {",
        b"union ",
        b"static ",
        b"int *p",
        b": a(1), b{2} {",
        b"va_arg(ap, char *)",
        b"do ",
        b"while(",
    ),
]


def read(content: bytes, *, cpp: bool | None = None) -> dict[str, Any]:
    return model(content, mask(content, "c/cpp").text, lambda function, body: True, header=False, cpp=cpp)


def assert_can_be_kept(content: bytes, *, cpp: bool | None) -> None:
    found = read(content, cpp=cpp)
    kept = json.dumps(found, allow_nan=False)

    assert json.loads(kept) == found
    assert json.dumps(read(content, cpp=cpp)) == kept
    kept.encode()


@given(st.binary(max_size=300), st.booleans())
def test_any_bytes_can_be_read(content, cpp):
    assert_can_be_kept(b"int f(int a) {" + content + b"}\n" + content, cpp=cpp)


@settings(max_examples=200)
@given(st.lists(st.sampled_from(PIECES), max_size=60), st.sampled_from([True, False, None]))
def test_any_pieces_of_code_can_be_read(pieces, cpp):
    assert_can_be_kept(b"int f(int a) {\n" + b"".join(pieces) + b"\n}\n", cpp=cpp)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_code_that_was_damaged_can_be_read(data):
    content = data.draw(st.sampled_from(SAMPLES))
    start = data.draw(st.integers(0, len(content)))
    damaged = bytearray(content[start : start + 3_000])
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(damaged)))
        damaged[at : at + data.draw(st.integers(0, 12))] = data.draw(st.sampled_from([*PIECES, b""]))

    assert_can_be_kept(bytes(damaged), cpp=data.draw(st.sampled_from([True, False, None])))


HOSTILE = {
    "parentheses": (b"int f() { x = ", b"(", b"a", b")", b"; }"),
    "signs": (b"int f() { x = ", b"!", b"a", b"", b"; }"),
    "blocks": (b"int f() {", b"{", b"a;", b"}", b"}"),
    "questions": (b"int f() {", b"if (a) b; else ", b"c;", b"", b"}"),
    "sums": (b"int f() { x = ", b"a + ", b"b", b"", b"; }"),
    "smaller": (b"int f() { x = ", b"a < ", b"b", b"", b"; }"),
    "calls": (b"int f() { ", b"a(", b"b", b")", b"; }"),
    "declarators": (b"int ", b"(*", b"f", b")()", b" {}"),
    "structs": (b"", b"struct a {", b"int b;", b"};", b""),
    "namespaces": (b"", b"namespace a { ", b"int f() {}", b"}", b""),
    "branches": (b"int f() {\n", b"#if 0\n", b"a();\n", b"#endif\n", b"}"),
    "alternatives": (b"int f() {\n", b"#if A\na();\n#else\nb();\n#endif\n", b"", b"", b"}"),
    "macros": (b"int f() {\n", b"FOO(x)\n", b"", b"", b"}"),
    "errors": (b"int f() {", b"@ $ ) ", b"", b"", b"}"),
    "initialisers": (b"", b"f() : a{} {", b"", b"", b""),
    "quotes": (b"int f() {", b'"\n', b"", b"", b"}"),
    "methods": (b"", b"class A { int f() {}", b"", b"", b""),
    "templates": (b"int f() {", b"a<", b"b", b">", b"(1); }"),
    "definitions": (b"", b"#define A(x) (x)\n", b"", b"", b""),
    "variables": (b"", b"int a;\n", b"", b"", b""),
    "lambdas": (b"int f() {", b"[]() {", b"", b"}", b"; }"),
    "tries": (b"int f() {", b"try {", b"", b"} catch (...) {}", b"}"),
    "labels": (b"int f() {", b"a: ", b";", b"", b"}"),
    "cases": (b"int f() { switch (a) {", b"case 1: ", b";", b"", b"} }"),
}


@pytest.mark.timing
@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("cpp", [True, False])
def test_reading_takes_time_in_proportion_to_the_file(name, cpp):
    head, opening, inner, closing, tail = HOSTILE[name]
    count = 60_000 // len(opening + closing)
    content = head + opening * count + inner + closing * count + tail
    begun = time.process_time()

    read(content, cpp=cpp)

    assert_cpu_within(4, since=begun)


@pytest.mark.timing
def test_many_variables_and_functions_that_use_them_take_no_longer_than_their_number():
    content = b"".join(b"int a%d;\nint f%d() { return sizeof(a%d); }\n" % (n, n, n) for n in range(2_000))
    begun = time.process_time()

    found = read(content)

    assert_cpu_within(4, since=begun)
    assert found["functions"][-1]["body"][0][2] == ["z", None, ["v", "a1999"]]
