"""The functions of a file are found by their braces, whatever the preprocessor and the language make of them."""

import time

import pytest

from jarvis_workers.source.functions import MARKS_MAX, Functions, functions
from jarvis_workers.source.lex import mask
from tests.support.machine import assert_cpu_within


def found(text: str, language: str = "c/cpp") -> Functions:
    return functions(mask(text.encode(), language).text, language)


def names(text: str, language: str = "c/cpp") -> list[str]:
    return [function.name.decode() for function in found(text, language)]


def parts(text: str, language: str = "c/cpp") -> list[tuple[str, str, str]]:
    return [
        (one.name.decode(), text[slice(*one.parameters)], text[slice(*one.body)].strip())
        for one in found(text, language)
    ]


def test_a_function_has_a_name_parameters_and_a_body() -> None:
    text = "static int\nadd(int a, int (*f)(int))\n{\n    return a;\n}\nchar *none(void) { return 0; }\n"

    assert parts(text) == [("add", "int a, int (*f)(int)", "return a;"), ("none", "void", "return 0;")]


def test_a_long_remark_in_front_of_the_brace_hides_no_function() -> None:
    text = "int f(int a) /* this is where it all begins */\n{\n    g(a);\n}\nint t[] = /* numbers */ { 1, 2 };\n"

    assert parts(text) == [("f", "int a", "g(a);")]


def test_an_offset_is_in_the_function_around_it_or_in_none() -> None:
    text = "int a;\nint f(void)\n{\n    g();\n}\nint b;\nint h(void) { i(); }\n"
    all_of_them = found(text)

    def name_at(what: str) -> bytes | None:
        function = all_of_them.at(text.index(what))
        return function.name if function else None

    assert [name_at(what) for what in ("a;", "g()", "b;", "i()")] == [None, b"f", None, b"h"]


def test_blocks_and_loops_belong_to_their_function() -> None:
    text = "int f(int n)\n{\n    for (;;) {\n        if (n) { g(); } else { h(); }\n    }\n}\nint k(void)\n{\n}\n"

    assert names(text) == ["f", "k"]


def test_braces_in_both_branches_of_an_if_are_counted_once() -> None:
    text = """
int f(int n)
{
#ifdef FAST
    if (n > 1) {
#else
    if (n > 2) {
#endif
        g();
    }
}
int after(void)
{
}
"""
    assert names(text) == ["f", "after"]


def test_two_heads_of_one_body_are_one_function() -> None:
    text = """
#if WITH_SIZE
int f(char *p, int n)
{
#else
int f(char *p)
{
#endif
    return g(p);
}
int after(void) { return 1; }
"""
    assert names(text)[-1] == "after"
    assert set(names(text)) == {"f", "after"}


def test_a_brace_too_many_spoils_one_function_alone() -> None:
    text = "int a(void)\n{\n    if (x) {\n    g();\n}\nint b(void)\n{\n    h();\n}\nint c(void)\n{\n}\n"

    assert names(text) == ["a", "b", "c"]


def test_the_types_of_parameters_may_stand_behind_the_head() -> None:
    text = "int\nmain(argc, argv)\n    int argc;\n    char **argv, *names[];\n{\n    return 0;\n}\nint b()\n{\n}\n"

    assert parts(text) == [("main", "argc, argv", "return 0;"), ("b", "", "")]


def test_the_types_of_parameters_may_stand_in_the_line_of_the_brace() -> None:
    text = "f(a, b) char *a; int b; { return 0; }\nint g(h) int (*h)(); {\n    h();\n}\nint b()\n{\n}\n"

    assert parts(text) == [("f", "a, b", "return 0;"), ("g", "h", "h();"), ("b", "", "")]


def test_digraphs_are_braces() -> None:
    assert names("int f(int a) <% if (a) <% g(); %> %>\nint h(int a)\n??<\n    g();\n??>\n") == ["f", "h"]


def test_attributes_and_macros_around_a_head_are_not_its_name() -> None:
    text = "static int __attribute__((noinline)) f(int a) { }\nint g(int a) __attribute__((cold)) { }\n"

    assert names(text) == ["f", "g"]


def test_macros_between_functions_are_none() -> None:
    text = """
#define LOOP(x) do { use(x); } while (0)
#define LONG(x) \\
    if (x) { \\
        use(x); \\
    }
EXPORT_SYMBOL(f);
int f(void)
{
}
"""
    assert names(text) == ["f"]


@pytest.mark.parametrize(
    "initialised",
    [
        "int a[] = { 1, 2 };",
        "static struct ops ops = {\n    .open = my_open,\n    .read = (reader) { 1 },\n};",
        "struct { int x; } pair[2] = { { 1 }, { 2 } };",
        "enum color { RED, GREEN = (1 << 2) };",
        "struct node { int x; struct { int y; } z; };",
        "int (*table[])(int) = { f, g };",
    ],
)
def test_initialisers_and_types_are_no_functions(initialised: str) -> None:
    assert names(f"{initialised}\nint f(void)\n{{\n}}\n") == ["f"]


def test_methods_constructors_and_operators_are_functions() -> None:
    text = """
namespace net {
class Packet : public Base {
public:
    explicit Packet(int n) : Base(n), size_(n) { grow(); }
    ~Packet() { }
    int size() const noexcept { return size_; }
    bool operator==(const Packet &other) const { return true; }
    void later();
};
void Packet::later()
{
    use(size_);
}
Packet::Packet(const char *text)
    : size_(0),
      text_(text)
{
    use(text_);
}
template <typename T> T largest(T a, T b) { return a < b ? b : a; }
auto lambda_inside(int n) -> int { auto f = [n](int m) { return n + m; }; return f(1); }
}
extern "C" {
int plain(void) { return 0; }
}
"""
    assert names(text) == [
        "Packet",
        "~Packet",
        "size",
        "operator==",
        "later",
        "Packet",
        "largest",
        "lambda_inside",
        "plain",
    ]


def test_functions_of_rust_are_found_in_impls_traits_and_modules() -> None:
    text = """
pub struct Point { x: u32 }
#[derive(Debug)]
enum Shape { Round { radius: u32 }, Flat }
impl<T: Into<u32>> Point {
    pub fn new(x: T) -> Self { Point { x: x.into() } }
    unsafe fn raw(
        &self,
        at: *const u8,
    ) -> Option<u8> {
        match self.x { 0 => None, _ => Some(1) }
    }
}
trait Area {
    fn area(&self) -> u32;
    fn twice(&self) -> u32 { 2 * self.area() }
}
mod tests {
    #[test]
    fn it_works() { let braces = '{'; assert!(true); }
}
extern "C" fn callback(n: i32) {}
"""
    assert names(text, "rust") == ["new", "raw", "twice", "it_works", "callback"]


def test_the_indentation_of_a_block_does_not_decide_alone() -> None:
    text = "int f(void) {\n  if (x) {\n}\n  g(); }\nint h(void)\n{\n    k();\n    }\nint m(void) { }\n"

    assert names(text)[0] == "f"
    assert names(text)[-1] == "m"


def test_what_nothing_closes_ends_with_the_text() -> None:
    text = "int f(void)\n{\n    g();\n"

    (function,) = found(text)
    assert function.body[1] == len(text)


@pytest.mark.slow
@pytest.mark.parametrize("head", ["int g(void)\n{\n", "\n\n"])
def test_where_the_search_for_functions_ends_is_known(head: str) -> None:
    text = "int f(void)\n{\n    g();\n}\n" + head + "#if 1\n" * MARKS_MAX + "}\nint h(void)\n{\n    g();\n}\n"

    searched = found(text)

    assert [function.name for function in searched] == [b"f"]
    assert searched.unsearched is not None
    assert ("g(void)" in head) == (text[searched.unsearched :].startswith("g(void)"))
    assert found(text.replace("#if 1\n", "", 9)).unsearched is None


@pytest.mark.sample(1)
@pytest.mark.timing
@pytest.mark.parametrize(
    "hostile",
    [
        b"int f() {" * 60_000,
        b"int f() { {" * 40_000 + b"\n}" * 1_000,
        b"{" * 400_000,
        b"}" * 400_000,
        b"#if 1\n" * 60_000 + b"int f() {\n#else\n" * 20_000,
        b"(" * 200_000 + b"{" * 200_000,
        b"f" + b"()" * 100_000 + b"{",
        b"\n f(a) {\n   {\n" * 30_000,
        b")\n#x\n{}" * 60_000,
        b"=a{}=b{}=c{} ) {}" * 30_000,
        b"int a B C {;}" * 60_000,
    ],
)
def test_no_input_takes_long(hostile: bytes) -> None:
    begun = time.process_time()
    list(functions(hostile, "c/cpp"))
    list(functions(hostile, "rust"))

    assert_cpu_within(10, since=begun)
