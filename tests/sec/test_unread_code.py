"""Code that the flow engine does not read is named: it never looks like code without defects."""

import pytest

from jarvis_workers.dataflow import FlowResult, analyze
from jarvis_workers.sec.rules.families.flow import HARMLESS
from tests.sec.following import look_nowhere, model_of, stored

TWICE = "char *p = malloc(4); if (!p) return 0; free(p); free(p); return 0;"
# What is read although it is spelled in an old or unusual way.
READ = {
    "digraphs": f"int f(int n) <% char a<:4:>; a<:n:> = 0; {TWICE} %>\n",
    "a block that always ends a try": "void f(void)\n{\n    char *p = malloc(3);\n    if (!p) return;\n"
    "    __try { g(0); free(p); }\n    __finally { g(0); free(p); }\n}\n",
    "trigraphs": f"int f(int n)\n??<\n    {TWICE}\n??>\n",
    "a one-line K&R definition": f"int f(a, b) char *a; int b; {{ {TWICE} }}\n",
    "a K&R definition with a callback": f"int f(a)\nint (*a)();\n{{ {TWICE} }}\n",
    "a default argument of a template": f"template <class T = int> int f(T a) {{ {TWICE} }}\n",
}
LEAK = "flow_memory_leak"
OUTSIDE = "code outside of functions"
NO_FUNCTION = "the parser finds no function around it"
MACRO = "it is a macro whose text is not understood"
# The function, line and reason of what is not read.
NAMED = {
    "braces from macros": (
        f"#define BEGIN {{\n#define END }}\nint f(int n)\nBEGIN\n    {TWICE}\nEND\n",
        (OUTSIDE, 5, NO_FUNCTION),
    ),
    "a brace from a macro, and one statement": (
        "int f(char *p)\nBEGIN\n    gets(p);\nEND\n",
        (OUTSIDE, 3, NO_FUNCTION),
    ),
    "no opening brace": (f"int f(int n)\n    {TWICE}\n}}\n", (OUTSIDE, 2, NO_FUNCTION)),
    "a closing brace too many": (
        f"int f(int n) {{\n    if (n) {{\n        n++;\n    }}}}\n    {TWICE}\n}}\n",
        (OUTSIDE, 5, NO_FUNCTION),
    ),
    "a closing brace in the first column": (
        f"int f(int n)\n{{\n    if (n)\n{{\n    n++;\n}}\n    {TWICE}\n}}\n",
        ("f", 1, "its braces do not match: it seems to end in line 6"),
    ),
    "a closing brace in the first column between two releases": (
        "int x;\nvoid f(char *p, int n)\n{\n  free(p);\n  while (n--) {\n    g(0);\n}\n  if (n)\n    free(p);\n}\n",
        ("f", 2, "its braces do not match: it seems to end in line 7"),
    ),
    "a closing brace too many between two releases": (
        "void f(char *p) {\n  free(p);\n  }\n  g(1);\n  free(p);\n}\n",
        (OUTSIDE, 4, NO_FUNCTION),
    ),
    "a function that is not finished": (
        f"int f(int n) {{\n  if (n) {{\n    g(n);\n\nint h(int n) {{\n  {TWICE}\n}}\n",
        ("f", 1, "its braces do not match: it seems to end in line 7"),
    ),
    "no closing brace": (
        f"int f(int n)\n{{\n    if (n) {{\n    {TWICE}\nint g(int n)\n{{\n    return n;\n}}\n",
        ("f", 1, "the parser does not find its body"),
    ),
    "statements alone": (f"int x;\n{TWICE}\n", (OUTSIDE, 2, NO_FUNCTION)),
    "a part of a function for #include": (f"case 3:\n    {TWICE}\n", (OUTSIDE, 2, NO_FUNCTION)),
    "a head that is too long": (
        f"int f({', '.join(f'int argument_{k}' for k in range(100))})\n{{\n    {TWICE}\n}}\n",
        (OUTSIDE, 3, NO_FUNCTION),
    ),
    "a lambda in an initializer": (
        f"struct s table[] = {{\n    {{1, [](int n) {{ {TWICE} }}}},\n}};\n",
        (OUTSIDE, 2, NO_FUNCTION),
    ),
    "a statement expression": (
        f"int f(int n)\n{{\n    return ({{ {TWICE} }});\n}}\n",
        ("f", 1, "its block in an expression in line 3 is not analyzed"),
    ),
    "a statement expression in a condition": (
        f"int f(int n)\n{{\n    if (({{ {TWICE} }}))\n        n++;\n    return n;\n}}\n",
        ("f", 1, "its block in an expression in line 3 is not analyzed"),
    ),
    "a block as an argument of a macro": (
        f"int f(int n)\n{{\n    LOCKED(n, {{ {TWICE} }});\n    return n;\n}}\n",
        ("f", 1, "its block in an expression in line 3 is not analyzed"),
    ),
    "a statement expression in a macro": (
        f"#define TWICE(n) ({{ {TWICE} }})\nint f(int n) {{ return TWICE(n); }}\n",
        ("TWICE", 1, MACRO),
    ),
    "a function in a macro": (
        f"int a;\n#define DEFINE(name) \\\nint name##_f(int n) \\\n{{ {TWICE} }}\nDEFINE(f)\n",
        ("DEFINE", 2, MACRO),
    ),
    "a nested function": (
        f"int f(int n)\n{{\n    int g(int m) {{ {TWICE} }}\n    return g(n);\n}}\n",
        ("f", 1, "its nested function in line 3 is not analyzed"),
    ),
    "a lambda": (
        f"int f(int n)\n{{\n    auto g = [&](int m) {{ {TWICE} }};\n    return g(n);\n}}\n",
        ("f", 1, "its lambda in line 3 is not analyzed"),
    ),
    "a call that is not closed": (
        "void f(char *q) {\n  q = malloc(2);\n  free(q;\n  g(1);\n}\n",
        ("f", 1, "its unparsed code in line 3 is not analyzed"),
    ),
    "a loop head that is not closed": (
        "void f(char *q, int n) {\n  free(q);\n  for (int i = 0; i < n; i++\n  g(1);\n  free(q);\n}\n",
        ("f", 1, "its unparsed code in line 3 is not analyzed"),
    ),
    "an initializer without a semicolon": (
        "void f(int n) {\n  char *q = malloc(2)\n  free(q);\n  g(1);\n  free(q);\n}\n",
        ("f", 1, "its unparsed code in line 2 is not analyzed"),
    ),
    "a conflict of a merge": (
        "int f(int n)\n{\n    g(1);\n<<<<<<< HEAD\n    g(2);\n=======\n>>>>>>> x\n    free(q); free(q);\n}\n",
        ("f", 1, "its unparsed code in line 6 is not analyzed"),
    ),
    "a macro that opens a block": (
        "#define IF(c) if (c) {\n#define FI }\nvoid f(int n)\n{\nchar b[4];\n    IF(n)\n g(b);\n    FI\n}\n",
        ("f", 3, "its macro IF opens or closes a block"),
    ),
    "a part of a function in another file": (
        'int x;\nvoid f(void)\n{\n    char *p = malloc(3);\n    g(p);\n#include "some/part.inc"\n    free(p);\n}\n',
        ("f", 2, "it includes some/part.inc"),
    ),
    "a lambda as an argument": (
        f"int f(int n)\n{{\n    each(n, [](int m) {{ {TWICE} }});\n    return n;\n}}\n",
        ("f", 1, "its lambda in line 3 is not analyzed"),
    ),
    "an awaited lambda": (
        f"task f(int n)\n{{\n    co_await run([] {{ {TWICE} }});\n}}\n",
        ("f", 1, "its unknown expression in line 3 is not analyzed"),
    ),
    "a local class": (
        f"int f(int n)\n{{\n    struct s {{ int g() {{ {TWICE} }} }} l;\n    return l.g();\n}}\n",
        ("f", 1, "its local class in line 3 is not analyzed"),
    ),
    "a case from a macro": (
        f"int f(int n)\n{{\n    switch (n) {{\n    CASE(1) {{ {TWICE} }}\n    }}\n    return n;\n}}\n",
        ("f", 1, "its code before the first case in line 4 is not analyzed"),
    ),
}
# How memory may be released between braces from macros.
RELEASES = (
    "std::free(p);",
    "(void)free(p);",
    "(free)(p);",
    "release(p);",
    "release(&one->p);",
    "SAFE_DELETE(p);",
    "kfree_rcu(p, rcu);",
    "pool->release(p);",
    "this->q = p, delete p;",
)
# What is no code, or such that no flow rule could find anything in it.
NOTHING = (
    "enum e {\n    A = 1,\n} mode = A;\nstruct s { int a; char b[8]; } one = { 1, { 2 } }, *two = &one;\n",
    "API(int) count = 3;\nAPI(void) close(int a);\nTABLE(a, b);\nint v[] = { F(1), G(2), };\n",
    "class C { int a = 1; int b{2}; static const int c = 3; C *next = nullptr; using T = int; };\n",
    "#define SWAP(a, b) do { int t = a; a = b; b = t; } while (0)\n#define INIT { 0, 0 }\n#define F(n) int n(int a);\n",
    "int f(int n)\n{\n    return each(n, [](int m) { return m + 1; }) + ({ n + 1; });\n}\n",
    "void *one(int a);\nvoid *malloc(size_t);\nFREE_FUNC(p);\nLICENSE(MIT);\nstruct s { int a;\n  BIT(b);\n};\n",
    '#include "a.h"\nint f(int n)\n{\n#ifdef A\n    n++;\n#endif\n    return n;\n}\n#include "b.h"\n',
    "class C { int a; C(int); C(const C &o); C(char *p, int n); ~C(); void *p = new D(); };\n",
    "#ifdef A\nint f(int n)\n{\n#else\nint f(long n)\n{\n#endif\n    return n;\n}\n",
)


def result_of(content: str, name: str = "a.cpp") -> FlowResult:
    model = model_of(content.encode(), name)
    hits, gaps = ((), ()) if model is None else analyze(stored(model), look_nowhere, test=False)
    return FlowResult(tuple(hit for hit in hits if hit.pattern not in HARMLESS), gaps)


@pytest.mark.parametrize("form", READ)
def test_a_function_in_an_unusual_form_is_read(form: str) -> None:
    hits, gaps = result_of(READ[form])

    assert [hit.pattern for hit in hits] == ["flow_double_free"]
    assert gaps == ()


@pytest.mark.parametrize("form", NAMED)
def test_code_that_is_not_read_is_named(form: str) -> None:
    content, expected = NAMED[form]

    hits, gaps = result_of(content)

    assert not hits
    assert tuple(gaps[0]) == expected


@pytest.mark.parametrize("release", RELEASES)
def test_a_release_between_braces_from_macros_is_named(release: str) -> None:
    hits, gaps = result_of(f"START(f)\n  char *p = malloc(3);\n  {release}\n  {release}\nEND\n")

    assert not hits
    assert [tuple(gap) for gap in gaps] == [(OUTSIDE, gaps[0].line, NO_FUNCTION)]


@pytest.mark.parametrize("content", NOTHING)
def test_declarations_and_plain_code_are_not_named(content: str) -> None:
    assert result_of(content).gaps == ()


def test_a_function_with_several_unread_parts_is_named_once() -> None:
    lines = "".join(f"    each(n, [](int m) {{ {TWICE} }});\n" for _ in range(3))

    assert [gap.line for gap in result_of(f"int f(int n)\n{{\n{lines}    return n;\n}}\n").gaps] == [1]


HEAD = "int f(int n)\n{\n    char *p = malloc(4); if (!p) return 0; p[0] = n;\n"
# The release of `p` is not read.
RELEASED_UNREAD = {
    "a statement expression": HEAD + "    return ({ free(p); 1; });\n}\n",
    "a block as an argument of a macro": HEAD + "    LOCKED(n, { free(p); });\n    return 1;\n}\n",
    "a macro": "#define DONE ({ free(p); 1; })\n" + HEAD + "    return DONE;\n}\n",
    "a macro with parameters": "#define DONE() ({ free(p); 1; })\n" + HEAD + "    return DONE();\n}\n",
    "an included file": HEAD + '#include "release.inc"\n    return 1;\n}\n',
    "a closing brace too many": HEAD + "    if (n) {\n        n++;\n    }}\n    free(p);\n    return 1;\n}\n",
    "a closing brace in the first column": HEAD + "    if (n)\n{\n    n++;\n}\n    free(p);\n    return 1;\n}\n",
    "a lambda": HEAD + "    run([&]() { free(p); });\n    return 1;\n}\n",
    "a callee": "static int g(char *p) { return ({ free(p); 1; }); }\n" + HEAD + "    return g(p);\n}\n",
    "a callee that releases what it makes": (
        "static int g(int n) { char *p = malloc(4); return ({ free(p); 1; }); }\n"
        "int f(int n)\n{\n    char *q = malloc(4);\n    free(q);\n    return g(n);\n}\n"
    ),
}


def test_what_is_read_leaks() -> None:
    assert [hit.pattern for hit in result_of(HEAD + "    return 1;\n}\n").hits] == [LEAK]


@pytest.mark.parametrize("form", RELEASED_UNREAD)
def test_what_may_be_released_in_code_that_is_not_read_is_no_leak(form: str) -> None:
    found = result_of(RELEASED_UNREAD[form])

    assert LEAK not in [hit.pattern for hit in found.hits]
