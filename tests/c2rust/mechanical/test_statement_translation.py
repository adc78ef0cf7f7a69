"""What translated functions look like."""

from pathlib import Path

import pytest

from tests.c2rust.mechanical.translating import rust_lines

# Bodies of `int it(int n, char *s, struct s *p)`, and what is within the braces of the Rust function.
BODIES = {
    "return n + 1;": ["return n.wrapping_add(1);"],
    "for (int i = 0; i < n; i++) if (s[i] == 'x') return i; return -1;": [
        "let mut i: i32 = 0;",
        "while i < n {",
        "    if *s.wrapping_offset(i as isize) as i32 == 120 {",
        "        return i;",
        "    }",
        "    i = i.wrapping_add(1);",
        "}",
        "return -1;",
    ],
    "for (;;) { if (!s) break; else continue; } return p->a[2] / 3;": [
        "loop {",
        "    if s.is_null() {",
        "        break;",
        "    } else {",
        "        continue;",
        "    }",
        "}",
        "return (*p).a[2] / 3;",
    ],
    "while (((char)1)) n = f(s);": [
        "loop {",
        "    n = f(s);",
        "}",
    ],
    "switch (n) { case 1: case 3: return 2; default: n = 4; } return n;": [
        "match n {",
        "    1 | 3 => {",
        "        return 2;",
        "    }",
        "    _ => {",
        "        n = 4;",
        "    }",
        "}",
        "return n;",
    ],
    "if (n) goto out; n = f(s); out: return n;": [
        "'out: {",
        "    if n != 0 {",
        "        break 'out;",
        "    }",
        "    n = f(s);",
        "}",
        "return n;",
    ],
    "again: if (f(s)) goto again; return 0;": [
        "'again: loop {",
        "    if f(s) != 0 {",
        "        continue;",
        "    }",
        "    break 'again;",
        "}",
        "return 0;",
    ],
    "*s++ += 2; p->n = p->a[0] = 1; return *s;": [
        "let t2 = { let t1 = s; s = t1.wrapping_add(1); t1 };",
        "*t2 = (*t2 as i32).wrapping_add(2) as i8;",
        "(*p).a[0] = 1;",
        "(*p).n = (*p).a[0];",
        "return *s as i32;",
    ],
    "return *g().a;": [
        "let mut value_1: s = core::mem::zeroed();",
        "return *(core::ptr::addr_of_mut!((*({ value_1 = g(); core::ptr::addr_of_mut!(value_1) })).a) as *mut i32);",
    ],
    "int type = n, None = 2; return type << None;": [
        "let mut r#type: i32 = n;",
        "let mut None_2: i32 = 2;",
        "return r#type.wrapping_shl(None_2 as u32);",
    ],
}


@pytest.mark.parametrize("body", BODIES)
def test_a_body_in_rust(tmp_path: Path, body: str) -> None:
    declarations = "struct s { int n, a[3]; } g(void);\nint f(char *);\n"
    lines = rust_lines(tmp_path, f"{declarations}int it(int n, char *s, struct s *p) {{ {body} }}", "it")

    assert lines[0] == 'pub unsafe extern "C" fn it(mut n: i32, mut s: *mut i8, mut p: *mut s) -> i32 {'
    assert [line.removeprefix("    ") for line in lines[1:-1]] == BODIES[body]


GLOBALS = {
    "int it = 1 << 4;": "pub static mut it: i32 = unsafe { 1i32 << 4 };",
    'unsigned char it[4] = "ab";': 'pub static mut it: [u8; 4] = unsafe { *b"ab\\0\\0" };',
    'const char *it = "a\\n";': 'pub static mut it: *const i8 = unsafe { c"a\\n".as_ptr() as *const i8 };',
    "extern int n; int *it = &n;": "pub static mut it: *mut i32 = unsafe { core::ptr::addr_of!(n) as *mut i32 };",
    "void f(void); void (*it)(void) = f;": 'pub static mut it: Option<unsafe extern "C" fn()> = unsafe { Some(f) };',
    "int it[1000];": "pub static mut it: [i32; 1000] = unsafe { core::mem::zeroed() };",
}


@pytest.mark.parametrize("source", GLOBALS)
def test_a_global_in_rust(tmp_path: Path, source: str) -> None:
    assert rust_lines(tmp_path, source, "it") == [GLOBALS[source]]
