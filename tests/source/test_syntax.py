"""What functions of C and C++ are lowered to, statement by statement and expression by expression."""

from typing import Any

import pytest

from jarvis_workers.dataflow.frontend import model
from jarvis_workers.source.lex import mask


def read(code: str, *, cpp: bool | None = False) -> dict[str, Any]:
    content = code.encode()
    text = mask(content, "c/cpp").text
    return model(content, text, lambda function, body: True, header=False, cpp=cpp)


def functions(code: str, *, cpp: bool | None = False) -> list[dict[str, Any]]:
    return read(code, cpp=cpp)["functions"]


def body(statements: str, *, cpp: bool = False) -> list[Any]:
    """Return the statements of a function; none of them may be in error."""
    [function] = functions(f"void f(int known) {{ {statements} }}", cpp=cpp)
    assert function["bad"] == 0
    return function["body"]


def value(expression: str, *, cpp: bool = False) -> Any:
    [[op, _, found]] = body(f"return {expression};", cpp=cpp)
    assert op == "ret"
    return found


A, B, C, P = ["v", "a"], ["v", "b"], ["v", "c"], ["v", "p"]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("12", ["n", 12]),
        ("0x1Fu", ["n", 31]),
        ("017", ["n", 15]),
        ("0b101", ["n", 5]),
        ("0", ["n", 0]),
        ("10UL", ["n", 10]),
        ("1'000'000", ["n", 1000000]),
        ("1.5f", ["f", 1.5]),
        ("1e3", ["f", 1000.0]),
        ("0x1p4", ["f", 16.0]),
        ("1e999", ["x"]),
        ("1" * 100, ["x"]),
        ("'a'", ["n", 97]),
        ("L'a'", ["n", 97]),
        (r"'\n'", ["n", 10]),
        (r"'\0'", ["n", 0]),
        (r"'\x41'", ["n", 65]),
        (r"'\''", ["n", 39]),
        ("'ab'", ["n", 97 * 256 + 98]),
        ("'abcdef'", ["x"]),
        ("NULL", ["null"]),
        ("nullptr", ["null"]),
        ("true", ["n", 1]),
        ("false", ["n", 0]),
        ('"ab"', ["s", "ab", False]),
        ('L"ab"', ["s", "ab", True]),
        (r'"a\tb\101\x42\"\\"', ["s", 'a\tbAB"\\', False]),
        ('"a" "b"', ["s", "ab", False]),
        ('L"a" L"b"', ["s", "ab", True]),
        (r'L"\u00e9"', ["s", "é", True]),
        ('"%" PRIu64 ";"', ["s", "%lu;", False]),
        ('"%" PRId32', ["s", "%d", False]),
        ('"a" OTHER "b"', ["x"]),
        ('"a\\\nb"', ["s", "ab", False]),
        (r'L"\ud800"', ["s", "\ufffd", True]),
        ('"' + "a" * 500 + '"', ["s", "a" * 400, False, 500]),
    ],
)
def test_a_literal_becomes_its_value(code, expected):
    assert value(code) == expected


def test_a_character_of_a_narrow_string_is_a_byte_and_of_a_wide_one_a_character():
    assert len(value('"é"')[1]) == 2
    assert value('L"é"') == ["s", "é", True]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("a + b * c", ["b", "+", A, ["b", "*", B, C]]),
        ("(a + b) * c", ["b", "*", ["b", "+", A, B], C]),
        ("a << b", ["b", "<<", A, B]),
        ("a != b && c || p", ["||", ["&&", ["b", "!=", A, B], C], P]),
        ("-a", ["u", "-", A]),
        ("- 1", ["n", -1]),
        ("-0x10", ["n", -16]),
        ("-1.5", ["f", -1.5]),
        ("!a", ["u", "!", A]),
        ("~a", ["u", "~", A]),
        ("*p", ["*", P]),
        ("&a", ["&", A]),
        ("a[b]", ["i", A, B]),
        ("a[b][c]", ["i", ["i", A, B], C]),
        ("a.b", [".", A, "b"]),
        ("p->b.c", [".", ["->", P, "b"], "c"]),
        ("a++", ["++", "+", False, A]),
        ("--a", ["++", "-", True, A]),
        ("a ? b : c", ["?:", A, B, C]),
        ("a ?: b", ["?:", A, A, B]),
        ("(a, b, c)", [",", [A, B, C]]),
        ("a = b", ["=", "", A, B, 1]),
        ("a <<= b", ["=", "<<", A, B, 1]),
        ("f(a, b)", ["c", ["v", "f"], [A, B], 1]),
        ("p->f(a)", ["c", ["->", P, "f"], [A], 1]),
        ("(*p)(a)", ["c", ["*", P], [A], 1]),
        ("a.b[c](p)", ["c", ["i", [".", A, "b"], C], [P], 1]),
        ("(char *) p", ["t", "char*", P]),
        ("(const struct node **) p", ["t", "node**", P]),
        ("(unsigned long int) a", ["t", "unsigned long", A]),
        ("(int (*)(void)) p", ["t", "fn*", P]),
        ("(size_t) -1", ["t", "size_t", ["n", -1]]),
        ("(mode_t) -1", ["t", "mode_t", ["n", -1]]),
        ("(mode_t) *p", ["t", "mode_t", ["*", P]]),
        ("(BYTE)(a)", ["t", "BYTE", A]),
        ("(free)(p)", ["c", ["v", "free"], [P], 1]),
        ("(known)(a)", ["c", ["v", "known"], [A], 1]),
        ("(a) - 1", ["b", "-", A, ["n", 1]]),
        ("sizeof(int)", ["z", "int", None]),
        ("sizeof(struct s *)", ["z", "s*", None]),
        ("sizeof(known)", ["z", None, ["v", "known"]]),
        ("sizeof(item_t)", ["z", "item_t", None]),
        ("sizeof *p", ["z", None, ["*", P]]),
        ("sizeof(*p)", ["z", None, ["*", P]]),
        ("sizeof(p->name)", ["z", None, ["->", P, "name"]]),
        ("sizeof(known) * a", ["b", "*", ["z", None, ["v", "known"]], A]),
        ("(struct pair){1, .b = a}", ["t", "pair", ["{}", [["n", 1], [".=", "b", A]]]]),
        ("({ int y = 1; y; })", ["x"]),
        ("va_arg(a, char *)", ["c", ["v", "va_arg"], [A, ["v", "char*"]], 1]),
    ],
)
def test_an_expression_of_c_is_lowered(code, expected):
    assert value(code) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("a and not b", ["&&", A, ["u", "!", B]]),
        ("a not_eq b", ["b", "!=", A, B]),
        ("static_cast<char *>(p)", ["t", "char*", P]),
        ("reinterpret_cast<const Foo &>(a)", ["t", "Foo&", A]),
        ("int(a)", ["t", "int", A]),
        ("new Foo", ["new", "Foo", None, [], 1]),
        ("new ns::Foo(a, b)", ["new", "ns::Foo", None, [A, B], 1]),
        ("new char[a]", ["new", "char", A, [], 1]),
        ("new (p) Foo(a)", ["new", "Foo", None, [A], 1, [["v", "p"]]]),
        ("Foo{a, b}", ["t", "Foo", ["{}", [A, B]]]),
        ("ns::f(a)", ["c", ["v", "ns::f"], [A], 1]),
        ("::f(a)", ["c", ["v", "f"], [A], 1]),
        ('printf("%" PRId64 "!", a)', ["c", ["v", "printf"], [["s", "%ld!", False], A], 1]),
        ("f(a...)", ["c", ["v", "f"], [A], 1]),
        ("a->~T()", ["c", ["->", A, "~T"], [], 1]),
        ("f<int>(a)", ["c", ["v", "f"], [A], 1]),
        ("Foo<int>::f(a)", ["c", ["v", "Foo::f"], [A], 1]),
        ("this->f(a)", ["c", ["->", ["v", "this"], "f"], [A], 1]),
        ("a.f<int>(b)", ["c", [".", A, "f"], [B], 1]),
        ("a[b]", ["i", A, B]),
        ("[&](int a) { return a; }", ["fn", ["a"], [["ret", 1, A]], ["&"]]),
        ('R"(a"b\\n)"', ["s", 'a"b\\n', False]),
        ("delete p", ["del", False, P, 1]),
        ("delete [] p->b", ["del", True, ["->", P, "b"], 1]),
    ],
)
def test_an_expression_of_cpp_is_lowered(code, expected):
    [[_, _, found]] = body(f"{code};", cpp=True)

    assert found == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("a;", [["e", 1, A]]),
        (";", []),
        ("{ a; }", [["blk", 1, [["e", 1, A]], 1]]),
        ("if (a) b; else { c; }", [["if", 1, A, [["e", 1, B]], [["e", 1, C]]]]),
        ("if (a) b; else if (c) p;", [["if", 1, A, [["e", 1, B]], [["if", 1, C, [["e", 1, P]], []]]]]),
        ("while (a) b;", [["loop", 1, "while", [], A, None, [["e", 1, B]]]]),
        ("do { b; } while (a);", [["loop", 1, "do", [], A, None, [["e", 1, B]]]]),
        ("for (;;) break;", [["loop", 1, "for", [], None, None, [["brk", 1]]]]),
        ("for (a; b; c) continue;", [["loop", 1, "for", [["e", 1, A]], B, C, [["cont", 1]]]]),
        (
            "for (int i = 0; b;) ;",
            [["loop", 1, "for", [["d", 1, "i", "int", [], ["n", 0], ""]], B, None, []]],
        ),
        ("goto out; out: a;", [["goto", 1, "out"], ["lab", 1, "out"], ["e", 1, A]]),
        ("return;", [["ret", 1, None]]),
        ('asm("nop");', [["?", 1]]),
        (
            "switch (a) { case 1: case 2: b; break; default: c; }",
            [["sw", 1, A, [[[["n", 1], ["n", 2]], [["e", 1, B], ["brk", 1]]], [[None], [["e", 1, C]]]]]],
        ),
        ("switch (a) { case 1 ... 5: b; }", [["sw", 1, A, [[[["x"]], [["e", 1, B]]]]]]),
        (
            "switch (a) { int y; case 1: b; }",
            [["sw", 1, A, [[[], [["d", 1, "y", "int", [], None, ""]]], [[["n", 1]], [["e", 1, B]]]]]],
        ),
        (
            "switch (a) { case 1: { case 2: b; } }",
            [["sw", 1, A, [[[["n", 1]], [["blk", 1, [["?", 1], ["e", 1, B]], 1]]]]]],
        ),
        ("struct s { int x; };", []),
        ("typedef int number;", []),
        ("int g(char *p);", []),
        (
            "switch (a) { case 1: out: case 2: b; }",
            [["sw", 1, A, [[[["n", 1]], [["lab", 1, "out"], ["?", 1], ["e", 1, B]]]]]],
        ),
    ],
)
def test_a_statement_of_c_is_lowered(code, expected):
    assert body(code) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("int x;", [["x", "int", [], None, ""]]),
        (
            "int x = 1, *y = &x, z[3];",
            [
                ["x", "int", [], ["n", 1], ""],
                ["y", "int*", [], ["&", ["v", "x"]], ""],
                ["z", "int", [["n", 3]], None, ""],
            ],
        ),
        ("static const char *x;", [["x", "char*", [], None, "s"]]),
        ("const int x = 1;", [["x", "int", [], ["n", 1], "c"]]),
        ("char *const x = a;", [["x", "char*", [], A, "c"]]),
        ("unsigned x;", [["x", "unsigned int", [], None, ""]]),
        ("long unsigned int x;", [["x", "unsigned long", [], None, ""]]),
        ("struct node *x;", [["x", "node*", [], None, ""]]),
        ("enum color x;", [["x", "color", [], None, ""]]),
        ('char x[] = "a";', [["x", "char", [None], ["s", "a", False], ""]]),
        ("int x[2][3];", [["x", "int", [["n", 2], ["n", 3]], None, ""]]),
        ("char *x[4];", [["x", "char*", [["n", 4]], None, ""]]),
        ("int (*x)[4];", [["x", "int*", [], None, ""]]),
        ("int (*x)(int, char);", [["x", "fn*", [], None, ""]]),
        ("int (*x[4])(void);", [["x", "fn*", [["n", 4]], None, ""]]),
        ("int x[3] = {1, [2] = a};", [["x", "int", [["n", 3]], ["{}", [["n", 1], [".=", "[2]", A]]], ""]]),
        ("static __thread int x;", [["x", "int", [], None, "st"]]),
    ],
)
def test_a_declaration_becomes_one_statement_for_each_name(code, expected):
    assert [[*rest] for _, _, *rest in body(code)] == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("Foo x(a, 1);", ["x", "Foo", [], ["ctor", "Foo", [A, ["n", 1]]], ""]),
        ("Foo x(known);", ["x", "Foo", [], ["ctor", "Foo", [["v", "known"]]], ""]),
        ("Foo x{a};", ["x", "Foo", [], ["ctor", "Foo", [A]], ""]),
        ("Foo x;", ["x", "Foo", [], None, ""]),
        ("Foo &x = a;", ["x", "Foo&", [], A, ""]),
        ("const Foo &x(known);", ["x", "Foo&", [], ["ctor", "Foo&", [["v", "known"]]], "c"]),
        ("std::vector<char *> x;", ["x", "vector<char*>", [], None, ""]),
        (
            "std::shared_ptr<Foo> x(new Foo);",
            ["x", "shared_ptr<Foo>", [], ["ctor", "shared_ptr<Foo>", [["new", "Foo", None, [], 1]]], ""],
        ),
        ("auto x = a;", ["x", "auto", [], A, ""]),
    ],
)
def test_an_object_of_cpp_is_constructed(code, expected):
    [[_, _, *found]] = body(code, cpp=True)

    assert found == expected


def test_what_looks_like_a_function_without_arguments_declares_one():
    assert body("Foo x();", cpp=True) == []


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("for (auto &x : a) b;", [["each", 1, "x", "auto&", A, [["e", 1, B]]]]),
        (
            "try { a; } catch (const E &e) { b; }",
            [["try", 1, [["e", 1, A]], [[["d", 1, "e", "E&", [], ["x"], "c"], ["e", 1, B]]]]],
        ),
        ("try { a; } catch (...) { }", [["try", 1, [["e", 1, A]], [[]]]]),
        ("throw a;", [["throw", 1, A]]),
        ("throw;", [["throw", 1, None]]),
        ("if (int x = a; b) c;", [["blk", 1, [["d", 1, "x", "int", [], A, ""], ["if", 1, B, [["e", 1, C]], []]], 1]]),
        (
            "if (T *x = a) b;",
            [["blk", 1, [["d", 1, "x", "T*", [], A, ""], ["if", 1, ["v", "x"], [["e", 1, B]], []]], 1]],
        ),
        (
            "while (int x = a) b;",
            [
                [
                    "blk",
                    1,
                    [
                        ["d", 1, "x", "int", [], None, ""],
                        ["loop", 1, "while", [], ["=", "", ["v", "x"], A, 1], None, [["e", 1, B]]],
                    ],
                    1,
                ]
            ],
        ),
        ("auto [x, y] = a;", [["e", 1, A], ["d", 1, "x", "auto", [], ["x"], ""], ["d", 1, "y", "auto", [], ["x"], ""]]),
        ("using namespace std;", []),
        ("[[fallthrough]];", []),
        (
            "for (int x = a; auto y : b) c;",
            [["blk", 1, [["d", 1, "x", "int", [], A, ""], ["each", 1, "y", "auto", B, [["e", 1, C]]]], 1]],
        ),
    ],
)
def test_a_statement_of_cpp_is_lowered(code, expected):
    assert body(code, cpp=True) == expected


@pytest.mark.parametrize(
    "head",
    [
        "list_for_each_entry(pos, head, member) {",
        "TAILQ_FOREACH(pos, &head, entries) {",
        "TAILQ_FOREACH(pos, &head, entries)",
        "a_macro(a, b) {",
    ],
)
def test_a_macro_with_a_body_is_a_loop_whose_head_is_its_call(head):
    [[*loop, step, inner]] = body(f"{head} b(); }}" if "{" in head else f"{head} b();")

    assert loop == ["loop", 1, "while", [], ["x"]]
    assert step[:2] == ["c", ["v", head.partition("(")[0]]]
    assert inner == [["e", 1, ["c", B, [], 1]]]


def test_a_macro_without_semicolon_is_a_call():
    [function] = functions("void f(void)\n{\n    START(a)\n    if (b)\n        c();\n    END_OF_IT\n    c();\n}\n")

    assert function["bad"] == 0
    assert function["body"] == [
        ["e", 3, ["c", ["v", "START"], [A], 3]],
        ["if", 4, B, [["e", 5, ["c", C, [], 5]]], []],
        ["e", 6, ["v", "END_OF_IT"]],
        ["e", 7, ["c", C, [], 7]],
    ]


def test_a_macro_without_semicolon_in_front_of_a_call_leaves_both():
    assert [found[2][1] for found in body("FOO(x) y(1);")] == [["v", "FOO"], ["v", "y"]]


def test_a_macro_around_statements_leaves_the_statements():
    [function] = functions("void f(void)\n{\n  IGNORE_WARNINGS(\n    a = b();\n  )\n  c();\n}\n")

    assert function["bad"] == 0
    assert [statement[1] for statement in function["body"]] == [4, 6]


def test_a_macro_that_aligns_an_array_declares_it():
    assert body("LOCAL_ALIGNED_16(int, x, [64]);") == [["d", 1, "x", "int", [["n", 64]], None, ""]]


def test_a_type_among_the_arguments_of_a_macro_does_no_harm():
    [swap, rest] = body("SWAP(unsigned char *, a, b); c;")

    assert (swap[2][0], swap[2][2][1:], rest) == ("c", [A, B], ["e", 1, C])


def test_the_rest_of_a_function_is_kept_when_a_statement_is_not_understood():
    [function] = functions("void f(void) { a(); x = = 3 @ ; b(); }")

    assert function["bad"] > 0
    lost = [["?", 1], ["e", 1, ["x"]], ["?", 1]]
    assert function["body"] == [["e", 1, ["c", A, [], 1]], *lost, ["e", 1, ["c", B, [], 1]]]


def test_what_is_nested_too_deep_is_not_understood_and_is_counted():
    [function] = functions("void f(void) { x = " + "!" * 500 + "a; b(); }")

    assert function["bad"] == 1
    assert function["body"][-1] == ["e", 1, ["c", B, [], 1]]


HEADS = [
    ("int f(void) {}", ([], False)),
    ("int f() {}", ([], False)),
    ("static char *f(const char *a, int b) {}", ([["a", "char*", []], ["b", "int", []]], True)),
    ("int f(const char *a, ...) {}", ([["a", "char*", []]], False)),
    ("void f(char a[], int b[2][3]) {}", ([["a", "char*", []], ["b", "int*", [["n", 3]]]], False)),
    ("void f(int (*a)(int), int b(void)) {}", ([["a", "fn*", []], ["b", "fn*", []]], False)),
    ("void f(int, char *) {}", ([["", "int", []], ["", "char*", []]], False)),
    ("int f(a, b)\n    int a;\n    char *b;\n{}", ([["a", "int", []], ["b", "char*", []]], False)),
    ("struct node *f(struct node *a) {}", ([["a", "node*", []]], False)),
    ("__attribute__((noinline)) static int f(int a) {}", ([["a", "int", []]], True)),
    ("API_EXPORT(x) int f(int a) {}", ([["a", "int", []]], False)),
    ("static SOME_MACRO int f(int a) {}", ([["a", "int", []]], True)),
    ("int f(int a UNUSED_PARAM, my_unused char *b) {}", ([["a", "int", []], ["b", "char*", []]], False)),
]


@pytest.mark.parametrize(("code", "expected"), HEADS)
def test_the_head_of_a_function_is_read(code, expected):
    [found] = functions(code)

    assert (found["params"], found["static"]) == expected
    assert (found["name"], found["bad"]) == ("f", 0)


def test_lines_are_those_of_the_file():
    [function] = functions("\n\nstatic int\nf(void)\n{\n    a;\n    {\n        b;\n    }\n}\n")

    assert (function["line"], function["end"]) == (3, 10)
    assert function["body"] == [["e", 6, A], ["blk", 7, [["e", 8, B]], 9]]


def test_a_field_of_the_class_is_a_variable_in_its_methods():
    code = "class A { char data[8]; void f(); };\nvoid A::f() { return sizeof(data); }"
    [function] = functions(code, cpp=True)

    assert function["body"] == [["ret", 2, ["z", None, ["v", "data"]]]]


def test_what_is_called_by_name_is_listed_once_and_in_order():
    [function] = functions("void f(void) { b(a()); b(2); p->c(); ns_d(e); }")

    assert function["calls"] == ["a", "b", "ns_d"]


def test_only_functions_that_are_asked_for_are_read():
    content = b"void a(void) { x(); } void b(void) { y(); }"
    text = mask(content, "c/cpp").text
    asked: list[bytes] = []

    def wanted(function: Any, body: bytes) -> bool:
        asked.append(body)
        return b"y" in body

    found = model(content, text, wanted, header=False)

    assert [function["name"] for function in found["functions"]] == ["b"]
    assert asked == [b" x(); ", b" y(); "]


CLASSES = """
namespace outer {
class Base { public: virtual ~Base(); };
class Foo final : public Base, private ns::Other {
 public:
  Foo(int n) : Base(), size_(n), data{new char[n]} { start(); }
  ~Foo() override { delete [] data; }
  virtual void run(int x) const { x; }
  static Foo *make() { return new Foo(3); }
 private:
  char *data;
  int size_;
  struct Inner { int a; void in() {} } inner;
};
int alone() { return 0; }
void Foo::late(Foo &other) { other; }
}
outer::Foo::Foo() : size_(0) {}
int outer::thing() { return 0; }
template <class T> void Tpl<T>::put(T v) { v; }
bool operator==(const Foo &a, const Foo &b) { return true; }
extern "C" int plain(char *p) { return 0; }
"""


def test_a_method_is_named_by_its_class_and_never_by_its_namespace():
    assert [found["name"] for found in functions(CLASSES, cpp=None)] == [
        *("Foo::Foo", "Foo::~Foo", "Foo::run", "Foo::make", "Inner::in", "alone", "Foo::late"),
        *("Foo::Foo", "thing", "Tpl::put", "operator==", "plain"),
    ]


def test_a_constructor_tells_what_it_initialises_and_its_body_stands_behind_that():
    first = functions(CLASSES, cpp=None)[0]

    assert first["init"] == [["Base", []], ["size_", [["v", "n"]]], ["data", [["new", "char", ["v", "n"], [], 6]]]]
    assert first["body"] == [["e", 6, ["c", ["v", "start"], [], 6]]]
    assert first["bad"] == 0


def test_methods_tell_whether_they_are_static():
    found = {function["name"]: function for function in functions(CLASSES, cpp=None)}

    assert [name for name, function in found.items() if function["static"]] == ["Foo::make"]


def test_the_fields_and_bases_of_a_class_are_known():
    types = read(CLASSES, cpp=None)["types"]

    assert types["Foo"]["bases"] == ["Base", "ns::Other"]
    assert types["Foo"]["fields"] == {"data": ["char*", []], "size_": ["int", []], "inner": ["Inner", []]}
    assert types["Inner"] == {"fields": {"a": ["int", []]}, "bases": [], "union": False}


def test_a_macro_as_parameter_list_is_read_by_its_text() -> None:
    code = "#define ARGS (const char *s, int n) /* all */\nint f ARGS\n{\n    return s[n];\n}\nint g OTHER { g(s); }\n"

    first, second = functions(code)

    assert (first["name"], first["line"], first["end"], first["bad"]) == ("f", 2, 5, 0)
    assert first["params"] == [["s", "char*", []], ["n", "int", []]]
    assert (second["name"], second["line"], second["params"], second["bad"]) == ("g", 6, [], 0)


def test_a_head_with_directives_is_read_with_its_branches() -> None:
    code = "int f(int a\n#ifdef DEBUG\n, int line\n#endif\n)\n{\n    return a;\n}\n"

    [function] = functions(code)

    assert function["bad"] == 0
    assert [name for name, *_ in function["params"]] == ["a", "line"]
