"""The C that remains: cut functions compile, link and behave as before beside their replacements."""

import subprocess
from pathlib import Path

import pytest

from jarvis_workers.c2rust.project import ProjectItem, slot_name
from jarvis_workers.c2rust.remainder import aliases, build_script, cut_functions
from jarvis_workers.source.clang.c_types import CDefinition, CType, UnitDefinitions
from jarvis_workers.source.clang.syntax_tree import SyntaxNode
from jarvis_workers.source.clang.unit import CompileCommand, Extent

INT = CType("integer", "int", 4, 4, signed=True)
VOID = CType("void", "void")
UNIT = UnitDefinitions(b"a.c", (), (), {}, {})


def function(
    text: str, name: str, source: str, *parameters: str, internal: bool = False, **facts: object
) -> ProjectItem:
    """Return the item of the function whose definition is `text` in a source."""
    start = source.index(text)
    line, column = source.count("\n", 0, start) + 1, start - source.rfind("\n", 0, start)
    last = start + len(text) - 1
    extent = Extent(b"a.c", line, column, source.count("\n", 0, last) + 1, last - source.rfind("\n", 0, last))
    tree = SyntaxNode("function", line, children=tuple(SyntaxNode("parameter", line, name=one) for one in parameters))
    type_ = CType("function", "", target=facts.get("result", INT))  # type: ignore[arg-type]
    definition = CDefinition(f"c:@F@{name}", name, extent, internal, type_, tree)
    return ProjectItem(definition, UNIT, slot_name(definition, UNIT), name, "a")


def test_an_exported_function_becomes_a_prototype_and_lines_stay() -> None:
    text = "int twice(int a)\n{\n    return 2 * a; /* } */\n}"
    source = f"#include <stdio.h>\n{text}\nint last;\n"
    cut = cut_functions(source.encode(), [function(text, "twice", source, "a")])

    assert cut.content == b"#include <stdio.h>\nint twice(int a);\n\n\n\nint last;\n"
    assert cut.uncut == ()


def test_a_static_function_forwards_to_its_slot() -> None:
    text = "static void note(int a, char *b) { puts(b); }"
    cut = cut_functions(text.encode(), [function(text, "note", text, "a", "b", internal=True, result=VOID)])

    assert cut.content == (b"static void note(int a, char *b) { extern __typeof__(note) a__note; a__note(a, b); }")


def test_originals_stay_under_the_names_that_forwarders_call(tmp_path: Path) -> None:
    cut = cut_functions(
        SOURCE.encode(),
        [
            function(SOURCE.splitlines()[3], "next", SOURCE, "a", internal=True),
            function(SOURCE.splitlines()[4], "exported", SOURCE, "a"),
        ],
        originals=True,
    )
    (tmp_path / "a.c").write_bytes(cut.content)
    (tmp_path / "b.c").write_text(FORWARDERS)
    subprocess.run(["cc", "-O2", "-o", "program", "a.c", "b.c"], cwd=tmp_path, check=True)

    output = subprocess.run([tmp_path / "program"], capture_output=True, check=True).stdout
    assert output == b"exported next 14 7\n"


def test_a_definition_in_the_old_style_is_declared_without_parameters() -> None:
    text = "int old(a, b)\n    int a, b;\n{ return a + b; }"
    cut = cut_functions(text.encode(), [function(text, "old", text, "a", "b")])

    assert cut.content == b"int old();\n\n"


@pytest.mark.parametrize(
    ("text", "name", "parameters"),
    [
        ("DEFINE(one)", "one", ()),
        ("int f(int a)\n{\n#ifdef X\n  return 1; }", "f", ("a",)),
        ("inline int g(int a) { return a; }", "g", ("a",)),
        ("int unnamed(int) { return 1; }", "unnamed", ("",)),
    ],
)
def test_what_is_no_plain_text_stays_and_is_named(text: str, name: str, parameters: tuple[str, ...]) -> None:
    cut = cut_functions(text.encode(), [function(text, name, text, *parameters)])

    assert cut == (text.encode(), (name,))


SOURCE = """#include <stdio.h>
static int counter = 5;
static int add(int a, int b) { return a + b; }
static int next(int a) { counter += add(a, 1); return counter; }
int exported(int a) { return next(a) * 2; }
int main(void) { int first = exported(1); printf("%d %d\\n", first, counter); return 0; }
"""
REPLACEMENTS = """
extern int a__counter; int a__add(int, int);
int a__next(int a) { a__counter += a__add(a, 1); return a__counter; }
int a__next(int); int exported(int a) { return a__next(a) * 2; }
"""
FORWARDERS = """
#include <stdio.h>
int jvc_a__next(int); int a__next(int a) { printf("next "); return jvc_a__next(a); }
int jvc_exported(int); int exported(int a) { printf("exported "); return jvc_exported(a); }
"""


def test_cut_functions_are_replaced_at_link_time(tmp_path: Path) -> None:
    cut = cut_functions(
        SOURCE.encode(),
        [
            function(SOURCE.splitlines()[3], "next", SOURCE, "a", internal=True),
            function(SOURCE.splitlines()[4], "exported", SOURCE, "a"),
        ],
    )
    add = function(SOURCE.splitlines()[2], "add", SOURCE, "a", "b", internal=True)
    counter = function("counter = 5;", "counter", SOURCE, internal=True)
    (tmp_path / "a.c").write_bytes(cut.content + aliases([add, counter]))
    (tmp_path / "b.c").write_text(REPLACEMENTS)
    subprocess.run(["cc", "-O2", "-o", "program", "a.c", "b.c"], cwd=tmp_path, check=True)

    assert subprocess.run([tmp_path / "program"], capture_output=True, check=True).stdout == b"14 7\n"


def test_arguments_of_units_are_strings_of_rust() -> None:
    command = CompileCommand(b'od"d.c', b".", ("-I{root}/inc", '-DNAME="a\\b"'))
    script = build_script([command], ["m"])

    assert '("od\\u{22}d.c", &["-I{root}/inc", "-DNAME=\\u{22}a\\u{5c}b\\u{22}"])' in script
    assert 'for library in ["m"]' in script
