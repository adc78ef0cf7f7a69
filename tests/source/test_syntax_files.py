"""What is known of a file beside its functions, and which branches of the preprocessor are read."""

from typing import Any

import pytest

from jarvis_workers.dataflow.frontend import is_cpp, model
from jarvis_workers.source.lex import mask


def read(code: str, *, cpp: bool | None = False, header: bool = False) -> dict[str, Any]:
    content = code.encode()
    text = mask(content, "c/cpp").text
    return model(content, text, lambda function, body: True, header=header, cpp=cpp)


def called(code: str, *, cpp: bool = False) -> list[str]:
    return [name for function in read(code, cpp=cpp)["functions"] for name in function["calls"]]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("int x;", ["int", [], None, ""]),
        ("static int x = 3;", ["int", [], ["n", 3], "s"]),
        ("extern char *x;", ["char*", [], None, "e"]),
        ('const char *x = "a";', ["char*", [], ["s", "a", False], ""]),
        ("char x[16];", ["char", [["n", 16]], None, ""]),
        ("static const int x[] = { 1, 2 };", ["int", [None], ["{}", [["n", 1], ["n", 2]]], "sc"]),
        ("struct s x = { .a = 0 };", ["s", [], ["{}", [[".=", "a", ["n", 0]]]], ""]),
        ("int (*x)(int) = handler;", ["fn*", [], ["v", "handler"], ""]),
        ("extern int x; int x = 1;", ["int", [], ["n", 1], ""]),
        ("int y, *x;", ["int*", [], None, ""]),
        ("int f(void) { return 0; }\nint x;", ["int", [], None, ""]),
        ("/* int x; */ char x;", ["char", [], None, ""]),
        ("#include <a.h>\nint x;", ["int", [], None, ""]),
        ("int x[] = {" + "1, " * 900 + "};", ["int", [None], ["x"], ""]),
    ],
)
def test_a_variable_is_known_with_its_type_and_value(code, expected):
    assert read(code)["globals"]["x"] == expected


@pytest.mark.parametrize(
    "code", ["int x(void);", "int *x(char *a, int b);", "void f(void) { int x; }", "typedef int x;"]
)
def test_what_is_no_variable_is_none(code):
    assert read(code)["globals"] == {}


def test_a_header_announces_variables_that_others_define():
    assert read("int x;\nstatic int y;", header=True)["globals"] == {
        "x": ["int", [], None, "e"],
        "y": ["int", [], None, "s"],
    }


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("struct s { int a; char *b, c[4]; };", {"a": ["int", []], "b": ["char*", []], "c": ["char", [["n", 4]]]}),
        ("typedef struct { int a; } s;", {"a": ["int", []]}),
        ("typedef struct s { struct s *next; } other;", {"next": ["s*", []]}),
        ("struct s { int a : 3; void (*go)(int); };", {"a": ["int", []], "go": ["fn*", []]}),
        ("struct s { union { int a; float b; }; };", {"a": ["int", []], "b": ["float", []]}),
        ("void f(void) { struct s { int a; } x; }", {"a": ["int", []]}),
    ],
)
def test_the_fields_of_a_struct_are_known(code, expected):
    assert read(code)["types"]["s"]["fields"] == expected


def test_a_union_is_told_from_a_struct():
    types = read("union u { int a; }; struct s { int a; };")["types"]

    assert (types["u"]["union"], types["s"]["union"]) == (True, False)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("typedef unsigned long t;", "unsigned long"),
        ("typedef struct node *t;", "node*"),
        ("typedef struct node { int a; } t;", "node"),
        ("typedef int (*t)(int, void *);", "fn*"),
        ("typedef char t[80];", "char[]"),
        ("using t = std::vector<int>;", "vector<int>"),
    ],
)
def test_a_name_for_a_type_is_known(code, expected):
    assert read(code, cpp=code.startswith("using"))["typedefs"] == {"t": expected}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("#define M 10", ["n", 10]),
        ("#define M 0xffUL /* why */", ["n", 255]),
        ('#define M "a/b"', ["s", "a/b", False]),
        ("#define M stat", ["v", "stat"]),
        ("#define M NULL", ["null"]),
        ("#define M (A + \\\n 1)", ["b", "+", ["v", "A"], ["n", 1]]),
        ("#define M(a, b) ((a) > (b))", [["a", "b"], ["b", ">", ["v", "a"], ["v", "b"]]]),
        ("#define M(p) free(p)", [["p"], ["c", ["v", "free"], [["v", "p"]], 0]]),
        ("#define M(p) do { free(p); } while (0)", [["p"], ["c", ["v", "free"], [["v", "p"]], 0]]),
        ("#define M(...) f(__VA_ARGS__)", [["..."], ["c", ["v", "f"], [["v", "__VA_ARGS__"]], 0]]),
        ("#define M() f()", [[], ["c", ["v", "f"], [], 0]]),
        ("#ifdef _WIN32\n#define M 1\n#else\n#define M 2\n#endif", ["n", 2]),
        ("#ifdef OTHER\n#define M 1\n#else\n#define M 2\n#endif", ["n", 1]),
        ("#define M 1\n#define M 2", ["n", 1]),
        ("enum { A, M = 5 };", ["n", 5]),
        ("enum e { A = 3, M };", ["n", 4]),
        ("enum { M = -1 };", ["n", -1]),
    ],
)
def test_a_macro_that_is_one_expression_is_known(code, expected):
    assert read(code)["macros"]["M"] == expected


@pytest.mark.parametrize(
    "code",
    [
        "#define M",
        "#define M do { free(p); p = 0; } while (0)",
        "#define M(a) a##b",
        "#define M return",
        "#define M {",
        "#define M static inline",
        "#define M " + "1 + " * 100 + "1",
        "#if 0\n#define M 1\n#endif",
    ],
)
def test_a_macro_that_is_no_expression_is_left_out(code):
    assert "M" not in read(code)["macros"]


def test_a_model_says_whether_it_was_read_as_cpp():
    assert not read("int f(int *new) { return *new; }")["cpp"]
    assert read("class A { public: int x; };", cpp=None)["cpp"]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("#ifdef X\na();\n#else\nb();\n#endif", ["a"]),
        ("#ifndef X\na();\n#else\nb();\n#endif", ["a"]),
        ("#if X\na();\n#elif Y\nb();\n#else\nc();\n#endif", ["a"]),
        ("#ifdef _WIN32\na();\n#else\nb();\n#endif", ["b"]),
        ("#if defined(_WIN32)\na();\n#elif defined(Y)\nb();\n#else\nc();\n#endif", ["b"]),
        ("#if defined(_WIN32) || defined(_MSC_VER)\na();\n#else\nb();\n#endif", ["b"]),
        ("#if defined(_WIN32) && X\na();\n#else\nb();\n#endif", ["b"]),
        ("#if defined(_WIN32) || X\na();\n#else\nb();\n#endif", ["a"]),
        ("#if !defined(_WIN32)\na();\n#else\nb();\n#endif", ["a"]),
        ("#ifndef _WIN32\na();\n#else\nb();\n#endif", ["a"]),
        ("#if _MSC_VER >= 1400\na();\n#else\nb();\n#endif", ["b"]),
        ("#if 0\na();\n#endif", []),
        ("#if (0)\na();\n#else\nb();\n#endif", ["b"]),
        ("#ifdef _WIN32\n#ifdef X\na();\n#else\nb();\n#endif\n#else\nc();\n#endif", ["c"]),
        ("#ifdef X\nif (p) {\n#else\nif (q) {\n#endif\na(); }", ["a"]),
        ("#define X \\\n  b()\na();", ["a"]),
        ("#ifdef __cplusplus\na();\n#else\nb();\n#endif", ["b"]),
    ],
)
def test_one_branch_of_the_preprocessor_is_read(code, expected):
    assert called(f"void f(void)\n{{\n{code}\n}}\n") == expected


def test_in_cpp_the_branch_for_cpp_is_read():
    code = "void f()\n{\n#ifdef __cplusplus\na();\n#else\nb();\n#endif\n#ifndef __cplusplus\nc();\n#endif\n}\n"

    assert called(code, cpp=True) == ["a"]


def test_a_function_in_a_branch_that_is_left_out_is_read_all_the_same():
    code = "#ifdef _WIN32\nvoid f(void)\n{\n#if X\na();\n#else\nb();\n#endif\n}\n#endif\n"

    assert called(code) == ["a"]


def test_a_function_within_a_macro_is_none():
    assert read("#define F(n) \\\nvoid f_##n(void) \\\n{ \\\n a(); \\\n}\n")["functions"] == []


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (b"int f(int class) { return class; }", False),
        (b"int f(int new, int delete) { if (new & delete) { return new; } }", False),
        (b'// class A {\nconst char *a = "a::b";', False),
        (b"class A { };", True),
        (b"template <class T> T f(T a);", True),
        (b"namespace a { }", True),
        (b"int f() { return a::b(); }", True),
        (b"int *f() { return new int[3]; }", True),
        (b"void f(char *p) { delete [] p; }", True),
        (b"#include <string>", True),
        (b"#include <string.h>", False),
        (b"int f() { return static_cast<int>(3); }", True),
    ],
)
def test_cpp_is_told_from_c(code, expected):
    assert is_cpp(mask(code, "c/cpp").text) is expected
