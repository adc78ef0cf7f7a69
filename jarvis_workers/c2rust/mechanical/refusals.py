"""What a mechanical translation refuses: such a definition stays C, by name."""

from typing import NamedTuple, NoReturn

from jarvis_workers.source.clang.syntax_tree import SyntaxNode


class Refusal(NamedTuple):
    """Why a definition is not translated: a key of REFUSALS, and the line of C."""

    reason: str
    line: int


class RefusalRule(NamedTuple):
    """One sentence about what is refused, and a C definition `refused` that is."""

    meaning: str
    example: str


REFUSALS = {
    "variadic": RefusalRule("Stable Rust cannot define a variadic function.", "int refused(int n, ...) { return n; }"),
    "va_list": RefusalRule(
        "A va_list has no counterpart in stable Rust.",
        "int refused(__builtin_va_list list) { return __builtin_va_arg(list, int); }",
    ),
    "setjmp": RefusalRule(
        "A function that returns twice, such as setjmp or vfork, cannot be called from Rust.",
        "int setjmp(long *); long state[32]; int refused(void) { return setjmp(state); }",
    ),
    "inline_asm": RefusalRule(
        "Inline assembly is written for a C compiler.", 'void refused(void) { __asm__ volatile("nop"); }'
    ),
    "vla": RefusalRule(
        "Rust has no arrays of variable length.", "int refused(int n) { int a[n]; a[0] = n; return a[0]; }"
    ),
    "alloca": RefusalRule(
        "Rust cannot allocate on the stack at run time.", "char *refused(int n) { return __builtin_alloca(n); }"
    ),
    "floating_type": RefusalRule(
        "Rust has no long double, _Float16 or __float128.", "long double refused(long double x) { return x + 1; }"
    ),
    "complex": RefusalRule("Rust has no complex numbers.", "double refused(double _Complex z) { return __real__ z; }"),
    "vector": RefusalRule(
        "Vector types of the compiler have no counterpart in stable Rust.",
        "typedef int four __attribute__((vector_size(16))); four refused(four a) { return a + a; }",
    ),
    "atomic": RefusalRule(
        "Atomic types, and atomic operations other than those on integers and pointers.",
        "_Atomic int shared; int refused(void) { return shared++; }",
    ),
    "thread_local": RefusalRule(
        "Stable Rust has no thread-local variables that C can share.",
        "_Thread_local int each; int refused(void) { return each++; }",
    ),
    "cleanup": RefusalRule(
        "The cleanup attribute calls a function at the end of a scope.",
        "void end(int *n); void refused(void) { int n __attribute__((cleanup(end))) = 1; }",
    ),
    "builtin": RefusalRule(
        "A builtin of the compiler that is not in the table of builtins.",
        "void *refused(void) { return __builtin_return_address(0); }",
    ),
    "label_in_expression": RefusalRule(
        "A jump into, or a loop of jumps within, a statement expression.",
        "int refused(int n) { goto in; return ({ in: n++; n; }); }",
    ),
    "initializer": RefusalRule(
        "An initialiser that Rust cannot evaluate at compile time, or that is larger than its type.",
        "struct s { int n; char c[]; }; struct s refused = { 1, { 1, 2 } };",
    ),
    "cast": RefusalRule(
        "A conversion between types that Rust cannot convert, such as a cast to a union.",
        "union u { int i; float f; }; int refused(int n) { return ((union u)n).i; }",
    ),
    "type": RefusalRule(
        "A type that cannot be read or has no counterpart in Rust.",
        "typedef unsigned _BitInt(24) odd; odd refused(odd x) { return x; }",
    ),
    "expression": RefusalRule(
        "An expression that the syntax tree does not show in full.",
        "#define BOTH(x) for (; x;) for (;;) if (0) for (; ; x)\nvoid refused(int n) { BOTH(n) ; }",
    ),
    "deep_nesting": RefusalRule(
        "Expressions or statements that are nested too deeply.", f"int refused(int n) {{ return n{' + n' * 1000}; }}"
    ),
}


class Refused(Exception):
    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason, line)
        self.refusal = Refusal(reason, line)


def refuse(reason: str, node: SyntaxNode | None = None) -> NoReturn:
    raise Refused(reason, node.line if node else 0)
