"""Bodies and initialisers become plain nested values."""

from pathlib import Path

import pytest

from jarvis_workers.source.clang.definitions import read_definitions
from jarvis_workers.source.clang.syntax_tree import SyntaxNode, walk
from jarvis_workers.source.clang.unit import CompileCommand
from jarvis_workers.toolchain.headers import builtin_headers


def trees_of(root: Path, source: str) -> dict[str, SyntaxNode]:
    (root / "a.c").write_text(source)
    unit = read_definitions(root, CompileCommand(b"a.c", b"", ()), builtin_headers(None))
    return {one.name: one.tree for one in unit.definitions}


def shown(node: SyntaxNode | None) -> str:
    """Return a tree as an S-expression: kind, name or operator, children; casts with their type."""
    if node is None:
        return "-"
    words = [node.kind, node.operator, node.name or ("" if node.value is None else str(node.value))]
    words += [f"<{node.type}>"] if node.kind in ("cast", "implicit_cast", "va_arg") else []
    return f"({' '.join([word for word in words if word] + [shown(child) for child in node.children])})"


def statement(root: Path, body: str, before: str = "") -> str:
    """Return the first statement of the body of a function with an int n, a double d and an int *p."""
    source = f"{before}\nint x(int), y(int);\nint it(int n, double d, int *p) {{ {body} }}\n"
    compound = trees_of(root, source)["it"].children[-1]
    assert compound is not None
    return shown(compound.children[0])


# Statements, and their trees.
STATEMENTS = {
    "n = d;": "(binary = (name n) (implicit_cast <int> (name d)))",
    "n += 2, n <<= 1;": "(binary , (binary += (name n) (integer 2)) (binary <<= (name n) (integer 1)))",
    "n++; ": "(unary x++ (name n))",
    "--n;": "(unary -- (name n))",
    "*p = -n + ~n + !n;": (
        "(binary = (unary * (name p)) (binary + (binary + (unary - (name n)) (unary ~ (name n))) (unary ! (name n))))"
    ),
    "x((unsigned char)n);": "(call (implicit_cast <int (*)(int)> (name x)) "
    "(implicit_cast <int> (cast <unsigned char> (name n))))",
    "p[n] = 'a';": "(binary = (subscript (name p) (name n)) (character 'a'))",
    "return n ? x(1) : 2;": "(return (conditional (name n) "
    "(call (implicit_cast <int (*)(int)> (name x)) (integer 1)) (integer 2)))",
    "return n ?: 3;": "(return (conditional (name n) (integer 3)))",
    "return sizeof(long) + sizeof n;": (
        "(return (implicit_cast <int> (binary + (sizeof sizeof) (sizeof sizeof (name n)))))"
    ),
    "if (n) x(1); else ;": "(if (name n) (call (implicit_cast <int (*)(int)> (name x)) (integer 1)) (null))",
    "while (n) break;": "(while (name n) (break))",
    "do continue; while (n);": "(do (continue) (name n))",
    "switch (n) { case 1: case 2 ... 3: break; default: ; }": (
        "(switch (name n) (compound (case (integer 1) (case (integer 2) (integer 3) (break))) (default (null))))"
    ),
    "again: goto again;": "(label again (goto again))",
    "static int a = 1, b;": "(declaration (variable static a (integer 1)) (variable static b))",
    "int a[2] = { [1] = n };": "(declaration (variable a (initializers (designated [] (integer 1) (name n)))))",
    "int a[9] = { [1 ... 3] = 4 };": (
        "(declaration (variable a (initializers (designated [...] (integer 1) (integer 3) (integer 4)))))"
    ),
    "int a[n];": "(declaration (variable a))",
    "p = (int[]){ 1, n };": (
        "(binary = (name p) (implicit_cast <int *> (compound_literal (initializers (integer 1) (name n)))))"
    ),
    "return ({ int a = n; a; });": (
        "(return (statement_expression (compound (declaration (variable a (name n))) (name a))))"
    ),
    'return "a\\0b" "c"[0];': (
        '(return (implicit_cast <int> (subscript (implicit_cast <char *> (string "a\\000bc")) (integer 0))))'
    ),
    "return __builtin_offsetof(struct s, b);": "(return (implicit_cast <int> (integer 4)))",
    "return _Generic(n, int: 1, default: 2);": "(return (generic 1 (name n) (integer 1) (integer 2)))",
    "return __builtin_choose_expr(0, d, n);": (
        "(return (builtin __builtin_choose_expr (integer 0) (name d) (name n)))"
    ),
    "struct s v = { .b = n, .in.c = 1 };": (
        "(declaration (variable v (initializers (designated .b (name n)) (designated .in.c (integer 1)))))"
    ),
    "return ((struct s *)p)->in.c;": (
        "(return (member . c (member -> in (parentheses (cast <struct s *> (name p))))))"
    ),
    "struct local { int q; } v = { 1 };": ("(declaration (type local) (variable v (initializers (integer 1))))"),
    "__attribute__((unused)) int a;": "(declaration (variable a))",
    "void *to = &&end; goto *to; end: return 1;": "(declaration (variable to (address_of_label end)))",
    "__builtin_va_list l; n = __builtin_va_arg(l, int);": "(declaration (variable l))",
}


@pytest.mark.parametrize("body", STATEMENTS)
def test_statement(tmp_path: Path, body: str) -> None:
    assert statement(tmp_path, body, "struct s { int a, b; struct { int c; } in; };") == STATEMENTS[body]


FORS = {
    "for (;;) ;": "(for - - - (null))",
    "for (n = 0; n < 3; n++) ;": (
        "(for (binary = (name n) (integer 0)) (binary < (name n) (integer 3)) (unary x++ (name n)) (null))"
    ),
    "for (n = 0;;) ;": "(for (binary = (name n) (integer 0)) - - (null))",
    "for (; n;) ;": "(for - (name n) - (null))",
    "for (;; n++) ;": "(for - - (unary x++ (name n)) (null))",
    "for (n = 0; ; n++) ;": "(for (binary = (name n) (integer 0)) - (unary x++ (name n)) (null))",
    "for (int i = 0; i;) ;": "(for (declaration (variable i (integer 0))) (name i) - (null))",
    "for (/* ; */; n /* ) */ ;) ;": "(for - (name n) - (null))",
    "for (; n == ';';) ;": "(for - (binary == (name n) (character ';')) - (null))",
    "UNTIL(n) ;": "(for - (name n) - (null))",
    "NESTED(n) ;": "(for - (name n) - (null))",
    "SAME(for (;; n++)) ;": "(for - - (unary x++ (name n)) (null))",
}
MACROS = """
#define UNTIL(x) for (; x;)
#define NESTED(x) UNTIL(x)
#define SAME(x) x
#define EITHER(x) for (; x;) for (;;) if (0) for (; ; x)
"""


def loop_tree(root: Path, loop: str) -> str:
    compound = trees_of(root, f"{MACROS}\nint it(int n) {{ {loop} return 0; }}\n")["it"].children[-1]
    assert compound is not None
    return shown(compound.children[0])


@pytest.mark.parametrize("loop", FORS)
def test_the_missing_parts_of_a_for(tmp_path: Path, loop: str) -> None:
    assert loop_tree(tmp_path, loop) == FORS[loop]


def test_a_for_whose_parts_cannot_be_told_is_unknown(tmp_path: Path) -> None:
    assert loop_tree(tmp_path, "EITHER(n) ;").startswith("(unknown for statement with omitted parts")


def test_operators_and_constants_within_macros(tmp_path: Path) -> None:
    before = "#define SHIFT 3\n#define MASK ((1u << SHIFT) - 1)\n#define CLEAR(v) ((v) &= ~MASK)"

    assert statement(tmp_path, "CLEAR(n);", before) == (
        "(parentheses (binary &= (parentheses (name n)) (unary ~ (parentheses (binary - "
        "(parentheses (binary << (integer 1) (integer 3))) (implicit_cast <unsigned int> (integer 1)))))))"
    )


def test_a_builtin_within_a_macro(tmp_path: Path) -> None:
    before = "#define LOAD(p) __atomic_load_n((p), 0)\n#define READ(p) LOAD(p)"

    assert statement(tmp_path, "n = READ(p);", before).startswith("(binary = (name n) (builtin __atomic_load_n ")


def test_va_arg(tmp_path: Path) -> None:
    source = """
    #include <stdarg.h>
    typedef long number;
    int it(int n, ...) { va_list l; va_start(l, n); n = va_arg(l, int) + va_arg(l, number); va_end(l); return n; }
    """
    kinds = [(node.kind, node.type) for node in walk(trees_of(tmp_path, source)["it"]) if node.kind == "va_arg"]

    assert kinds == [("va_arg", "int"), ("va_arg", "number")]


def test_names_refer_to_keys_and_local_numbers(tmp_path: Path) -> None:
    source = """
    static int global;
    enum { SMALL = -5 };
    int it(int n) { int a = n; { int a = global; n = a; } return a + SMALL; }
    """
    names = [
        (node.name, node.local, node.target, node.value)
        for node in walk(trees_of(tmp_path, source)["it"])
        if node.kind in ("name", "variable", "parameter")
    ]

    assert names == [
        ("n", 1, "", None),
        ("a", 2, "", None),
        ("n", 1, "", None),
        ("a", 3, "", None),
        ("global", 0, "a.c#c:a.c@global", None),
        ("n", 1, "", None),
        ("a", 3, "", None),
        ("a", 2, "", None),
        ("SMALL", 0, "a.c#c:@Ea@SMALL", -5),
    ]


def test_the_initialiser_of_a_global(tmp_path: Path) -> None:
    source = "int f(void);\nenum { N = 2 };\nstatic int (*const table[N])(void) = { f, &f };\nint size = 1 + N;\n"
    trees = trees_of(tmp_path, source)

    assert shown(trees["table"]) == (
        "(variable static table (initializers (implicit_cast <int (*)(void)> (name f)) (unary & (name f))))"
    )
    assert shown(trees["size"]) == "(variable size (binary + (integer 1) (name N)))"


@pytest.mark.parametrize(
    ("literal", "value"),
    [("0x7fffffffffffffff", 2**63 - 1), ("18446744073709551615u", 2**64 - 1), ("1e10", 1e10), ("-1", 1), ("L'x'", 120)],
)
def test_the_value_of_a_literal(tmp_path: Path, literal: str, value: float) -> None:
    tree = trees_of(tmp_path, f"double it = {literal};\n")["it"]

    assert [node.value for node in walk(tree) if node.value is not None] == [value]


def test_depth_needs_no_recursion(tmp_path: Path) -> None:
    tree = trees_of(tmp_path, f"int it(int n) {{ return {' + '.join(['n'] * 3000)}; }}\n")["it"]

    assert sum(node.kind == "binary" for node in walk(tree)) == 2999


def test_parameters_of_a_function_that_is_returned_are_not_its_own(tmp_path: Path) -> None:
    trees = trees_of(tmp_path, "int (*f(char a, int (*b)(long c)))(int d) { return a ? 0 : (int (*)(int))b; }")

    assert [child.name for child in trees["f"].children if child and child.kind == "parameter"] == ["a", "b"]
