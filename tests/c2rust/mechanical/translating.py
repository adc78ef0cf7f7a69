"""Translate C source texts for tests."""

from pathlib import Path

from jarvis_workers.c2rust.mechanical.names import Names, RustBody
from jarvis_workers.c2rust.mechanical.refusals import Refusal
from jarvis_workers.c2rust.mechanical.translate import translate_function, translate_global
from jarvis_workers.c2rust.rust_types import project_types
from jarvis_workers.source.clang.definitions import read_definitions
from jarvis_workers.source.clang.unit import CompileCommand
from jarvis_workers.toolchain.headers import builtin_headers


def translations(root: Path, source: str) -> dict[str, RustBody | Refusal]:
    """Return what each function and global of a source text becomes, by its C name."""
    (root / "a.c").write_text(source)
    unit = read_definitions(root, CompileCommand(b"a.c", b"", ()), builtin_headers(None))
    names = Names(project_types([unit]).of(unit))
    return {
        one.name: (translate_function if one.type.kind == "function" else translate_global)(one, unit, names)
        for one in unit.definitions
    }


def rust_lines(root: Path, source: str, name: str) -> list[str]:
    """Return the lines of a definition's translation; its own function without head and end."""
    body = translations(root, source)[name]
    assert isinstance(body, RustBody), body
    return body.text.splitlines()
