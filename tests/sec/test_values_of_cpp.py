"""What C++ adds to pointers, memory and variables: placement, references, classes made from addresses, containers."""

import pytest

from tests.sec.following import tell

ALLOCATES = "    int *p = new (std::nothrow) int(3);\n    if (p)\n        *p = 2;\n"
RETURNS = """
#include <string>
typedef char *typed_text;
TYPE text_of(int n) {
    char text[32];
    snprintf(text, sizeof text, "%d", n);
    return text;
}
"""
TO_REFERENCE = """
struct Button { int id; };
Button *find(std::vector<Button> &all, int id) {
    for (HEAD) {
        if (one.id == id)
            return &one;
    }
    Button LAST = all.back();
    last.id = id;
    return &last;
}
"""
KEEPS = """
void Options::add(const std::string &name) {
    Option one;
    one.number = new int(4);
    one.owned = true;
    STORE
}
"""


def rules_in(code: str) -> list[str]:
    return [hit.pattern for hit in tell(code.encode(), "a.cpp")]


def test_placement_allocates_nothing_but_nothrow_does() -> None:
    inside = "void f(char *data) {\n    new (data) Type(1);\n    new (place.data) Type(2);\n}\n"
    assert rules_in(inside) == []
    assert rules_in(f"void f(void) {{\n{ALLOCATES}}}\n") == ["flow_memory_leak"]


@pytest.mark.parametrize(
    ("kind", "rules"),
    [
        ("std::string", []),
        ("QString", []),
        ("const char *", ["flow_stack_address"]),
        ("auto", ["flow_stack_address"]),
        ("typed_text", ["flow_stack_address"]),
        ("std::string_view", ["flow_stack_address"]),
        ("StringRef", ["flow_stack_address"]),
    ],
)
def test_a_class_that_is_made_from_an_address_copies_what_is_there(kind: str, rules: list[str]) -> None:
    assert rules_in(RETURNS.replace("TYPE", kind)) == rules


def test_a_struct_that_is_returned_takes_the_address_of_a_variable_along() -> None:
    body = 'char text[32]; struct s r; snprintf(text, sizeof text, "%d", n); r.p = text; return r;'
    assert rules_in(f"struct s {{ char *p; }};\nstruct s f(int n) {{ {body} }}\n") == ["flow_stack_address"]


def test_the_address_of_a_reference_is_not_that_of_a_variable() -> None:
    assert rules_in(TO_REFERENCE.replace("HEAD", "auto &one : all").replace("LAST", "&last")) == []
    copies = TO_REFERENCE.replace("HEAD", "auto &one : all").replace("LAST", "last")
    assert rules_in(copies) == ["flow_stack_address"]


@pytest.mark.parametrize(
    ("store", "rules"), [("all[name] = one;", []), ("all.insert(one);", []), ("", ["flow_memory_leak"])]
)
def test_a_struct_that_a_container_gets_takes_its_memory_along(store: str, rules: list[str]) -> None:
    assert rules_in(KEEPS.replace("STORE", store)) == rules


def test_a_method_may_set_what_it_gets_by_reference() -> None:
    assert rules_in("char f(std::istream &in) { char c; if (!in.get(c)) throw 1; return c == 'a' ? c : 'b'; }\n") == []
    assert rules_in("int f(int k) { int n; if (k) n = 1; return n; }\n") == ["flow_uninitialized"]


def test_a_function_that_copies_to_its_argument_may_return_it() -> None:
    assert (
        rules_in("char *f(const char *s, long n) { char *to = g_malloc(n); return g_utf8_strncpy(to, s, n); }\n") == []
    )
