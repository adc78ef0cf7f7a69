"""The items of a Rust file, whatever their literals, comments and types contain."""

import pytest

from jarvis_workers.source.rust.rust_items import RustItem, read_items

LITERALS = """fn f<'a>(a: &'a str) -> [char; 2] {
    let b = r##"}"# { "##; /* } /* } */ { */
    let c = b'{'; // }
    match a { '\\''..='\\u{7d}' | '\\\\' => ['{', '\\n'], _ => b' ' }
}"""


def kinds(text: str) -> list[tuple[str, str]]:
    return [(one.kind, one.name) for one in read_items(text)]


def only(text: str) -> RustItem:
    (item,) = read_items(text)
    return item


def test_literals_and_comments_do_not_end_an_item() -> None:
    assert [one.text for one in read_items(f"{LITERALS}\nfn g() {{}}")] == [LITERALS, "fn g() {}"]


@pytest.mark.parametrize(
    ("text", "kind", "name", "head"),
    [
        ("fn f<const N: usize>(a: A<{ N + 1 }>) -> B { 1 }", "fn", "f", "fn f<const N: usize>(a: A<{ N + 1 }>) -> B "),
        ('#[unsafe(no_mangle)]\npub unsafe extern "C" fn f() {}', "fn", "f", 'pub unsafe extern "C" fn f() '),
        ("static F: fn() = { fn g() {} g };", "static", "F", "static F: fn() = { fn g() {} g };"),
        ("impl<T> A for B<{ 1 }> where T: C {}", "impl", "", "impl<T> A for B<{ 1 }> where T: C "),
        ("macro_rules! m { () => { fn f() {} } }", "macro_rules", "m", "macro_rules! m { () => { fn f() {} } }"),
        ("m!(fn f() {});", "text", "", "m!(fn f() {});"),
        ('unsafe extern "C" { safe fn f(); }', "extern", "", 'unsafe extern "C" '),
        ("extern crate a;", "extern", "a", "extern crate a;"),
        ("fn f() { async || { gen { &raw const A } } }", "fn", "f", "fn f() "),
        ("fn \u0435() {}", "fn", "\u0435", "fn \u0435() "),
    ],
)
def test_the_head_of_an_item_ends_at_its_body(text: str, kind: str, name: str, head: str) -> None:
    item = only(text)
    assert (item.kind, item.name, item.head, item.text) == (kind, name, head, text)


def test_attributes_and_comments_belong_to_the_item_that_follows() -> None:
    item = read_items('use a;\n/// Why.\n#[cfg(x = "]")] // why\n#[inline]\n\nfn f() {}\n')[1]

    assert (item.attributes, item.line, item.definition) == (('cfg(x = "]")', "inline"), 6, "fn f() {}")


@pytest.mark.parametrize("text", ["fn f() {", "fn f() { let a = 1;", "fn f(", "}", 'fn f() { r#"}'])
def test_what_is_not_understood_is_not_left_out(text: str) -> None:
    assert kinds(f"use a;\n{text}")[-1] == ("text", "")
