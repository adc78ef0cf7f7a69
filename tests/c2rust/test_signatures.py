"""Mappings of pointer parameters follow from what functions do with them; what is not sure is raw."""

from pathlib import Path

import pytest

from jarvis_workers.c2rust.project import plan_enums
from jarvis_workers.c2rust.signatures import RESULT, ParameterMapping, propose_mappings, propose_signatures
from jarvis_workers.source.clang.c_types import UnitDefinitions
from jarvis_workers.source.clang.definitions import read_definitions
from jarvis_workers.source.clang.unit import CompileCommand
from jarvis_workers.toolchain.headers import builtin_headers

TYPES = """
#include <stdlib.h>
#include <string.h>
typedef struct part { int n; } part;
typedef struct node { struct node *next; part inner; int value; int cells[8]; char *text; } node;
typedef struct owner { node *of; int k; } owner;
typedef struct own { char *end; char bytes[9]; int k; } own;
extern int unknown(); void *kept; node *head; node shared;
"""
# Functions named f, and the mappings of their parameters; an option shows what it holds, a slice its length.
FUNCTIONS = {
    "int f(const part *p) { return p->n; }": "ref",
    "void f(part *p) { p->n = 1; }": "mut_ref",
    "int f(const int *p) { return *p; }": "ref",
    "void f(int *p) { *p = 1; }": "out",
    "void f(int *p) { *p += 1; }": "mut_ref",
    "int f(part *p) { return p ? p->n : 0; }": "option(mut_ref)",
    "int f(const part *p) { if (!p) return 0; return p->n; }": "option(ref)",
    "int f(int n, const part *p) { return n && p->n; }": "value option(ref)",
    "void f(int n, int *p) { if (n) *p = 1; }": "value option(mut_ref)",
    "int f(int *p) { return p[0]; }": "mut_ref",
    "int f(node *p, int n) { int s = 0; while (n--) s += p->value; return s; }": "option(mut_ref) value",
    # Of structures that end with an array, C may allocate less or more than the size of the type.
    "typedef struct tail { int n; int more[1]; } tail; int f(const tail *p) { return p->n; }": "raw",
    "typedef struct tail { int n; int more[]; } tail; void f(tail *p) { p->n = 1; }": "raw",
    "typedef struct tail { int n; struct { int k, more[0]; } end; } tail; int f(const tail *p) { return p->n; }": "raw",
    "typedef struct tail { int n; union { int k, more[1]; } end; } tail; int f(const tail *p) { return p->n; }": "raw",
    "typedef struct whole { int more[1]; int n; } whole; int f(const whole *p) { return p->n; }": "ref",
    "typedef struct whole { int n; int more[2]; } whole; int f(const whole *p) { return p->n; }": "ref",
    # Elements.
    "int f(const int *p, int n) { int s = 0; for (int i = 0; i < n; i++) s += p[i]; return s; }": "slice[1] value",
    "void f(int *p, unsigned n) { unsigned i; for (i = 0; i < n; ++i) p[i] = 0; }": "mut_slice[1] value",
    "void f(char *p, size_t n) { memset(p, 0, n); }": "mut_slice[1] value",
    "void f(node *p, size_t n) { memset(p, 0, n * sizeof(node)); }": "mut_slice[1] value",
    "void f(node *p) { memset(p, 0, sizeof *p); }": "mut_ref",
    "void f(char *p, size_t n) { if (n) memset(p, 0, n); }": "mut_slice[1] value",
    "void f(char *p, size_t n, int k) { if (k) memset(p, 0, n); }": "raw value value",
    "void f(node *p, size_t n) { memset(p, 0, n); }": "raw value",
    "int f(const int *p, int n) { for (int i = 0; i < n; i++) if (p[i]) return i; return n; }": "raw value",
    "int f(const int *p, int n) { int s = 0; for (int i = 0; i < n; i++) s += p[i + 1]; return s; }": "raw value",
    "int f(const int *p, int n) { int s = 0; for (int i = 0; i < n; i++) { s += p[i]; n--; } return s; }": "raw value",
    "int f(const int *p, int n) { return p[n]; }": "raw value",
    "int f(const int *p) { return *++p; }": "raw",
    "int f(const int *p) { const int *q = p + 1; return *q; }": "raw",
    "static void g(int *p, int n) { for (int i = 0; i < n; i++) p[i] = i; } void f(int n, int *p) { g(p, n); }": (
        "value mut_slice[0]"
    ),
    # A parameter that is written as an array is a pointer (C11 6.7.6.3p7), whatever the number of elements.
    "int f(const int p[], int n) { int s = 0; for (int i = 0; i < n; i++) s += p[i]; return s; }": "slice[1] value",
    "typedef int rows[4]; void f(rows p, unsigned n) { for (unsigned i = 0; i < n; i++) p[i] = 0; }": (
        "mut_slice[1] value"
    ),
    "int f(const part p[]) { return p->n; }": "ref",
    "int f(part p[4]) { return p ? p[0].n : 0; }": "option(mut_ref)",
    "static void g(int p[], int n) { for (int i = 0; i < n; i++) p[i] = i; } void f(int *p, int n) { g(p, n); }": (
        "mut_slice[1] value"
    ),
    "static int g(const char p[]) { return strlen(p); } int f(char p[]) { return g(p) + p[0]; }": "raw",
    "static int g(const char p[]) { return strlen(p); } int f(const char p[]) { return g(p); }": "cstr",
    "void f(part p[], part q[]) { p->n = q->n; }": "raw raw",
    "int f(volatile int p[]) { return *p; }": "raw",
    "void f(const part p[]) { ((part *)p)->n = 1; }": "raw",
    # An empty slice is neither NULL nor does it have a negative length.
    "int f(const int *p, int n) { int s = 0; for (int i = 0; i < n; i++) s += p[i]; return s / n; }": "raw value",
    "int f(const int *p, unsigned n) { int s = 0; for (int i = 0; i < n; i++) s += p[i]; return s / n; }": (
        "slice[1] value"
    ),
    "int f(int *p, unsigned n) { for (unsigned i = 0; i < n; i++) p[i] = 1; return p == NULL; }": "raw value",
    "int g(int n); int f(int *p, int n) { for (int i = 0; i < n; i++) p[i] = 1; return g(n); }": "raw value",
    # Strings.
    "size_t f(const char *p) { return strlen(p); }": "cstr",
    "size_t f(const char *p) { return p == NULL ? 0 : strlen(p); }": "option(cstr)",
    "int f(const char *p) { return strlen(p) > 1 && p[1]; }": "raw",
    "int f(const char *p) { return strncmp(p, 'a' + \"\", 3); }": "raw",
    # Pointers that outlive the call, are freed, or become another type.
    "void f(part *p) { kept = p; }": "raw",
    "part *f(part *p) { p->n = 1; return p; }": "raw",
    "void f(part *p) { p->n = 1; free(p); }": "raw",
    "void f(part *p) { p->n = 1; unknown(p); }": "raw",
    "void f(node *p) { p->value = 1; kept = &p->inner; }": "raw",
    "void f(node *p) { int *q = p->cells; p->value = 1; kept = q; }": "raw",
    "int f(const part *p) { return *(const short *)p; }": "raw",
    "void f(const part *p) { ((part *)p)->n = 1; }": "raw",
    "void f(part *p) { part **q = &p; (*q)->n = 1; }": "raw",
    "int f(int *p) { return 0; }": "raw",
    "int f(volatile int *p) { return *p; }": "raw",
    "int f(void *p) { return p != 0; }": "raw",
    # Copies and callees.
    "void f(part *p) { part *q = p; q->n = 1; }": "mut_ref",
    "void f(part *p) { part o, *q = p; q = &o; q->n = 1; }": "option(mut_ref)",
    "void f(part *p) { part o; (p ? p : &o)->n = 1; }": "raw",
    "static void g(part *p) { p->n++; } void f(part *p) { g(p); }": "mut_ref",
    "static void g(part *p) { kept = p; } void f(part *p) { p->n = 1; g(p); }": "raw",
    "void f(part *p, int n) { p->n = n; if (n) f(p, n - 1); }": "mut_ref value",
    # What else may reach it.
    "void f(part *p, part *q) { p->n = q->n; }": "raw raw",
    "int f(const part *p, const part *q) { return p->n - q->n; }": "ref ref",
    "void f(node *p, part *q) { p->value = q->n; }": "raw raw",
    "void f(node *p) { p->value = 1; p->next->value = 2; }": "raw",
    "int f(const node *p) { return p->value + p->next->value; }": "ref",
    "void f(node *p, owner *o) { p->value = o->k; o->of->value = 2; }": "raw mut_ref",
    "static void g(owner *o) { o->of->value = 2; } void f(node *p, owner *o) { p->value = 1; g(o); }": "raw mut_ref",
    "void f(node *p) { p->value = shared.value; }": "raw",
    "void g(own *o) { o->end = o->bytes; } void f(own *p) { *p->end = 1; p->k = 2; }": "raw",
    "void f(own *p) { *p->end = 1; p->k = 2; }": "mut_ref",
    "void f(node *p, int *n) { p->value = *n; *n += 1; } void g(node *p) { f(p, &p->value); }": "raw raw",
}


# Functions named f, and what their results may be.
RESULTS = {
    "int f(int a) { if (a) return -1; return a; }": ("value", "result"),
    "long f(int a) { return a ? (a > 2 ? -(4) : 5) : a; }": ("value", "result"),
    "enum { BAD = -3 }; short f(int a) { return a ? BAD : 0; }": ("value", "result", "status"),
    "int f(int a) { if (a) return -1; return 0; }": ("value", "result", "status"),
    "typedef enum { OK, BAD = -1 } error; error f(int a) { return a ? BAD : OK; }": ("value", "result", "status"),
    "typedef enum { OK, BAD = -1 } error; error f(error a) { return a == BAD ? BAD : a; }": ("value", "result"),
    # A comparison, and no success at all.
    "int f(int a, int b) { return a < b ? -1 : a > b; }": ("value", "result"),
    "int f(int a, int b) { return a < b ? -1 : a > b ? 1 : 0; }": ("value", "result"),
    "int f(int a) { return a ? -1 : -2; }": ("value", "result"),
    "int f(int a) { return a ?: -1; }": ("value", "result"),
    "int f(node *p) { return p ? p->value : -1; }": ("value", "result"),
    "int *f(int *a) { return *a ? a : NULL; }": ("value", "option"),
    "const void *f(void) { return 0; }": ("value", "option"),
    "int f(int a) { return -a; }": None,
    "int f(int a) { return a - 1; }": None,
    "unsigned f(void) { return -1; }": None,
    "unsigned f(int a) { return a ? -1 : 0; }": None,
    "enum { A, B } f(int a) { return a ? -1 : A; }": None,
    "node *f(node *p) { return p->next; }": None,
    "double f(void) { return -1; }": None,
    "int *f(int *a) { return a; }": None,
    "typedef void (*call)(void); call f(void) { return 0; }": None,
    "void f(void) { return; }": None,
}


def unit(root: Path, source: str) -> UnitDefinitions:
    (root / "a.c").write_text(TYPES + source)
    return read_definitions(root, CompileCommand(b"a.c", b"", ()), builtin_headers(None))


def mappings(root: Path, source: str) -> str:
    return " ".join(shown(one) for one in propose_mappings([unit(root, source)])["c:@F@f"])


def shown(one: ParameterMapping) -> str:
    kind = f"option({one.inner})" if one.kind == "option" else one.kind
    return kind if one.length is None else f"{kind}[{one.length}]"


@pytest.mark.parametrize("source", FUNCTIONS)
@pytest.mark.slow
def test_mappings_follow_from_uses(tmp_path, source):
    assert mappings(tmp_path, source) == FUNCTIONS[source]


@pytest.mark.parametrize("source", RESULTS)
def test_results_are_offered_where_constants_mean_a_failure(tmp_path, source):
    choices = propose_signatures([unit(tmp_path, source)])["c:@F@f"]
    found = [one for one in choices if one.proposal.parameter == RESULT]
    forms = RESULTS[source]
    assert [(one.proposal.kind, one.forms) for one in found] == (
        [("status" if "status" in forms else "value", forms)] if forms else []
    )


ENUMS = "enum color { RED, GREEN, LIME = 1 }; typedef enum { READ = 1, WRITE = 2, ALL = 3 } mode; "
# Functions named f, and how they are passed if a plan makes `color` a Rust enum and `mode` flags.
PLANNED = {
    "int f(enum color c) { return c == RED; }": "enum",
    "int f(const mode m) { return m; }": "flags",
    "int f(enum color *c) { return *c; }": "mut_ref",
    "int f(int n) { enum color c = n; return c; }": "value",
    "enum color f(int n) { return n ? (enum color)GREEN : RED; }": "value enum",
    "mode f(int n) { return n; }": "value flags",
    "mode f(mode m) { return m | READ; }": "flags flags",
    # Results that may be no constant of the enum.
    "enum color f(int n) { return n; }": "value",
    "enum color f(enum color c) { return c; }": "enum",
    "enum color f(int n) { return n ? GREEN | RED : RED; }": "value",
    "enum color f(int n) { return n ? 7 : RED; }": "value",
    "enum color f(struct own *p) { return p->k; }": "mut_ref",
    "enum color f(int n) { while (1) n++; }": "value",
    # The end may be reached: C returns any number then.
    "enum color f(int n) { if (n) return GREEN; }": "value",
    "enum color f(int n) { if (n) return GREEN; else n = 0; }": "value",
    "enum color f(int n) { if (n) return GREEN; else if (n < 2) return RED; else return LIME; }": "value enum",
    "enum color f(int n) { switch (n) { case 1: return RED; default: return GREEN; } }": "value enum",
    "enum color f(int n) { switch (n) { case 1: break; default: return GREEN; } }": "value",
    "enum color f(int n) { switch (n) { case 1: return GREEN; } }": "value",
    "enum color f(int n) { if (n) goto end; return RED; end: return GREEN; }": "value enum",
    "enum color f(int n) { if (n) goto end; return RED; end: ; }": "value",
    "enum color f(int n) { if (n) return RED; {} }": "value",
}


@pytest.mark.parametrize("source", PLANNED)
def test_planned_enums_are_types_where_no_other_number_comes_in(tmp_path, source):
    one = unit(tmp_path, ENUMS + source)
    enums = plan_enums([one], {"color": "enum", "mode": "flags", "gone": "enum"})
    choices = propose_signatures([one], enums)["c:@F@f"]

    assert " ".join(choice.proposal.kind for choice in choices) == PLANNED[source]
    assert {choice.proposal.type for choice in choices} <= {"", "color", "mode"}
    assert all(choice.forms[0] == "value" for choice in choices if choice.proposal.type)
    plain = propose_signatures([one])["c:@F@f"]
    assert {choice.proposal.kind for choice in plain} <= {"value", "mut_ref"}
