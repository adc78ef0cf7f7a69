"""Each construct that a translation to Rust must know is a fact of the symbol that has it."""

import re
from pathlib import Path

import pytest

from jarvis_workers.source.clang.declaration_facts import ATTRIBUTE_FACTS, TYPE_FACTS
from jarvis_workers.source.clang.read import BODY_FACTS, CALL_FACTS
from tests.source.clang.reading import read_source

# The construct, and the facts of the symbol "it".
CONSTRUCTS = {
    "static function": ("static int it(void) { return 0; }", {"internal"}),
    "static inline": ("static inline int it(void) { return 0; }", {"internal", "inline"}),
    "K&R function": ("int it(a, b) int a; char *b; { return a; }", {"k_and_r"}),
    "no prototype": ("int it() { return 0; }", {"no_prototype"}),
    "K&R definition after a declaration without prototype": ("int it(); int it(a) int a; { return a; }", {"k_and_r"}),
    "definition after a declaration without prototype": ("int it(); int it(int a) { return a; }", set()),
    "variadic": ("int it(const char *form, ...) { return 0; }", {"variadic"}),
    "bit-fields": ("struct it { unsigned a : 3, b : 5; };", {"bit_fields"}),
    "packed": ("struct it { char c; int i; } __attribute__((packed));", {"packed"}),
    "packed before the name": ("struct __attribute__((packed)) it { char c; int i; };", {"packed"}),
    "pragma pack": ("#pragma pack(push, 1)\nstruct it { char c; int i; };\n#pragma pack(pop)", {"packed"}),
    "anonymous members": ("struct it { union { int i; float f; }; int n; };", {"anonymous_members"}),
    "flexible array": ("struct it { int n; char bytes[]; };", {"flexible_array"}),
    "array of length zero": ("struct it { int n; char bytes[0]; };", {"flexible_array"}),
    "variable-length array": ("int it(int n) { int values[n]; return values[0]; }", {"vla"}),
    "variable-length parameter": ("int it(int n, int values[n][n]) { return values[0][0]; }", {"vla"}),
    "long double parameter": ("int it(long double x) { return x > 1; }", {"long_double"}),
    "long double behind typedef and pointer": ("typedef long double wide; wide *it;", {"long_double"}),
    "long double in a body": ("double it(double x) { return (long double)x * 2; }", {"long_double"}),
    "long double field": ("struct it { long double x[2]; };", {"long_double"}),
    "vector": ("typedef int it __attribute__((vector_size(16)));", {"vector"}),
    "vector in a body": (
        "typedef int v __attribute__((vector_size(16))); int it(void) { v x = {1}; return x[0]; }",
        {"vector"},
    ),
    "complex": ("double _Complex it;", {"complex"}),
    "atomic": ("_Atomic int it;", {"atomic"}),
    "128 bits": ("unsigned __int128 it;", {"int128"}),
    "weak": ("__attribute__((weak)) int it(void) { return 0; }", {"weak"}),
    "weak declaration, strong definition": ("int it(void) __attribute__((weak)); int it(void) { return 0; }", {"weak"}),
    "pragma weak": ("#pragma weak it\nint it(void) { return 0; }", {"weak"}),
    "alias": ('int real(void) { return 0; } int it(void) __attribute__((alias("real")));', {"alias"}),
    "ifunc": ('static void *pick(void) { return 0; } int it(void) __attribute__((ifunc("pick")));', {"ifunc"}),
    "assembler name": ('int it(void) __asm__("other"); int it(void) { return 0; }', {"asm_label"}),
    "constructor": ("static void __attribute__((constructor)) it(void) { }", {"constructor", "internal"}),
    "constructor with priority": ("__attribute__((constructor(101))) void it(void) { }", {"constructor"}),
    "destructor": ("void it(void) __attribute__((destructor)); void it(void) { }", {"destructor"}),
    "thread-local": ("static _Thread_local int it;", {"internal", "thread_local"}),
    "__thread": ("__thread int it;", {"thread_local"}),
    "section": ('int it __attribute__((section("data"))) = 1;', {"section"}),
    "inline assembly": ('int it(void) { __asm__ volatile("nop"); return 0; }', {"inline_asm"}),
    "goto": ("int it(int n) { if (n) goto end; n = 1; end: return n; }", {"goto"}),
    "computed goto": (
        "int it(int n) { static void *to[] = { &&a, &&b }; goto *to[n]; a: return 1; b: return 2; }",
        {"computed_goto", "static_locals"},
    ),
    "setjmp": ("#include <setjmp.h>\nstatic jmp_buf at; int it(void) { return setjmp(at); }", {"setjmp"}),
    "longjmp": ("#include <setjmp.h>\nstatic jmp_buf at; void it(void) { longjmp(at, 1); }", {"longjmp"}),
    "alloca": ("#include <alloca.h>\nvoid it(int n) { char *p = alloca(n); p[0] = 0; }", {"alloca"}),
    "statement expression": ("int it(int a) { return ({ int b = a; b + 1; }); }", {"statement_expression"}),
    "indirect call": ("int it(int (*f)(void)) { return f(); }", {"indirect_calls"}),
    "indirect call of a member": (
        "struct s { int (*f)(void); }; int it(struct s *s) { return s->f(); }",
        {"indirect_calls"},
    ),
    "indirect call by a condition": (
        "int a(void), b(void); int it(int c) { return (c ? a : b)(); }",
        {"indirect_calls"},
    ),
    "generic selection": ("int it(int a) { return _Generic(a, int: 1, default: 2); }", {"generic_selection"}),
    "static local": ("int it(void) { static int n; return n++; }", {"static_locals"}),
    "noreturn of C11": ("_Noreturn void it(void) { for (;;) { } }", {"noreturn"}),
    "noreturn of gcc": ("void it(void) __attribute__((noreturn)); void it(void) { for (;;) { } }", {"noreturn"}),
    "cleanup": (
        "void drop(int *); int it(void) { __attribute__((cleanup(drop))) int a = 1; return a; }",
        {"cleanup"},
    ),
    "aligned": ("struct it { int a; } __attribute__((aligned(64)));", {"aligned"}),
    "transparent union": (
        "typedef union { int *a; char *b; } it __attribute__((transparent_union));",
        {"transparent_union"},
    ),
    "builtin for variadic arguments": (
        "#include <stdarg.h>\nint it(int n, ...)"
        " { va_list l; va_start(l, n); int a = va_arg(l, int); va_end(l); return a; }",
        {"variadic"},
    ),
    "empty macro": ("#define it", {"empty"}),
    "function-like macro": ("#define it(a) (a)", {"function_like"}),
}


@pytest.mark.parametrize("construct", CONSTRUCTS)
def test_construct(construct: str, tmp_path: Path) -> None:
    source, facts = CONSTRUCTS[construct]
    unit = read_source(tmp_path, source + "\n")

    assert not unit.unit.errors
    assert unit.facts("it") == facts


def test_the_facts_are_documented() -> None:
    page = (Path(__file__).parents[3] / "docs" / "architecture" / "reading-c.md").read_text()
    rows = page.partition("\n## Facts\n")[2].partition("\n## ")[0]
    facts = {*ATTRIBUTE_FACTS, *TYPE_FACTS.values(), *BODY_FACTS.values(), *CALL_FACTS.values()}

    assert facts.union(*(facts for _, facts in CONSTRUCTS.values())) <= set(re.findall(r"`(\w+)`", rows))
