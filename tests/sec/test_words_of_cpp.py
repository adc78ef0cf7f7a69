"""The words of C++ are names in C: a variable, function, tag or label of such a name changes no finding."""

import re
from functools import cache

import pytest

from jarvis_workers.dataflow.frontend import is_cpp
from tests.sec.following import tell

WORDS = [
    *("this", "class", "new", "delete", "template", "private", "public", "protected", "namespace", "using", "try"),
    *(
        "catch",
        "throw",
        "operator",
        "virtual",
        "friend",
        "typename",
        "explicit",
        "mutable",
        "export",
        "and",
        "or",
        "not",
    ),
]
# `p` is a variable, `f` a function, `t` a tag, `n` a number.
PROGRAMS = {
    "local": "void f(void)\n{\n    char *p = malloc(8);\n    free(p);\n    free(p);\n}\n",
    "parameter": "void f(char *p)\n{\n    free(p);\n    p[0] = 1;\n}\n",
    "member": "struct t { char *a; };\nvoid f(struct t *p)\n{\n    free(p->a);\n    free(p->a);\n}\n",
    "leak": "int f(int n)\n{\n    char *p = malloc(8);\n    if (!p) return 1;\n    p[0] = n;\n    return n;\n}\n",
    "null": "struct t { int a; };\nint f(struct t *p)\n{\n    if (p == NULL) p->a = 1;\n    return p->a;\n}\n",
    "global": "static char *p;\nvoid f(void)\n{\n    p = malloc(8);\n    free(p);\n    free(p);\n}\n",
    "number": "int f(void)\n{\n    char a[4];\n    int n = 5;\n    a[n] = 0;\n    return a[0];\n}\n",
    "unset": "int f(int a)\n{\n    int n;\n    if (a) n = 1;\n    return n;\n}\n",
    "call": "static void g(char *p)\n{\n    free(p);\n}\nvoid f(void)\n{\n"
    "    char *q = malloc(8);\n    g(q);\n    free(q);\n}\n",
}


@cache
def found(program: str, file: str) -> list[tuple[int, str]]:
    return [(hit.line, hit.pattern) for hit in tell(program.encode(), file)]


def test_the_programs_have_findings() -> None:
    assert all(found(program, file) for program in PROGRAMS.values() for file in ("a.c", "a.h"))


@pytest.mark.parametrize("file", ["a.c", "a.h"])
@pytest.mark.parametrize("word", WORDS)
def test_a_name_that_is_a_word_of_cpp_changes_nothing(word: str, file: str) -> None:
    changed = {
        (name, letter)
        for name, program in PROGRAMS.items()
        for letter in "pftgn"
        if found(re.sub(rf"\b{letter}\b", word, program), file) != found(program, file)
    }

    assert changed == set()


@pytest.mark.parametrize(
    "text",
    [
        "struct pid_namespace {\n int a;\n};",
        "struct namespace { int a; };",
        "struct flags { unsigned private : 3; unsigned public : BITS; unsigned protected:1, other:2; };",
        "static inline int f(int private) { return private ? private : 0; }",
        "static inline int f(int a, int private) { return a ? private : g(a); }",
        "static inline int f(int template) { return template < 3 || template < MAX || template < sizeof template; }",
        "int catch(const char *text);\nvoid * catch (...);",
        "struct new a[3];\nstruct delete b;\nextern struct new (*made)(void);",
        "static inline int f(int x_cast) { return x_cast < 3; }",
        "struct subclass x {",
    ],
)
def test_a_header_with_these_is_c(text: str) -> None:
    assert not is_cpp(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "class A {\n};",
        "class A : public B {",
        "namespace a {\n",
        "namespace {\n",
        "template <class T> T f(T a);",
        "template<> int f<int>(int a);",
        "template <std::size_t N> int f();",
        "using namespace std;",
        "int A::f() {",
        "struct A {\nprivate:\n    int a;\n};",
        "struct A { public: A(); };",
        "void f() { p = new A(3); }",
        "void f() { delete p; delete[] q; }",
        "void f() { try { g(); } catch (const E &e) { } }",
        "void f() { try { g(); }\n    catch (...) { } }",
        "int a = static_cast<int>(b);",
        "#include <vector>",
    ],
)
def test_a_header_with_these_is_cpp(text: str) -> None:
    assert is_cpp(text.encode())
