"""How much of a crate is unsafe: counted in the text of its modules, without types, declarations and tests.

Types of expressions are not known: a dereference is each unary `*` in unsafe code, also of a reference, and an unsafe
call one of an unsafe function of the crate, of a C function, or of FOREIGN.
"""

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import NamedTuple

from jarvis_workers.c2rust.crate import TESTS
from jarvis_workers.source.rust.rust_syntax import RustText

RAW_POINTER = re.compile(r"\*\s*(?:const|mut)\b")
CAST = re.compile(r"\bas\s+(?=[\w*])")
TOKEN = re.compile(r"\w+|\*\s*(?:const|mut)\b|\S")
# A `*` after these words, or after anything but a value, is unary.
BEFORE_VALUE = frozenset(("break", "else", "if", "in", "match", "move", "mut", "return", "while"))
CALL = re.compile(r"(?<!fn )\b([A-Za-z_]\w*)\s*\(")
UNSAFE_NAME = re.compile(r'\bunsafe\s+(?:extern\s+"[^"]*"\s+)?fn\s+(\w+)')
DECLARED_NAME = re.compile(r"\bfn\s+(\w+)[^{;]*;")
# Unsafe functions of the standard library that bodies use.
FOREIGN = frozenset(
    ("copy", "copy_nonoverlapping", "from_ptr", "from_raw_parts", "from_raw_parts_mut", "from_utf8_unchecked",
     "get_unchecked", "get_unchecked_mut", "new_unchecked", "offset", "offset_from", "transmute", "unwrap_unchecked",
     "write_bytes", "zeroed")
)  # fmt: skip
GENERATED = ("types", "c")
DECLARATIONS = "src/c.rs"


class CrateMetrics(NamedTuple):
    """The lines of the modules; their unsafe blocks, functions and lines; raw pointer types; casts with `as`.

    Dereferences and calls are those in unsafe code.
    """

    lines: int = 0
    unsafe_blocks: int = 0
    unsafe_functions: int = 0
    unsafe_lines: int = 0
    raw_pointers: int = 0
    casts: int = 0
    dereferences: int = 0
    unsafe_calls: int = 0


def crate_metrics(files: Mapping[str, bytes]) -> CrateMetrics:
    """Return the metrics of a crate from its files."""
    names = sorted(name for name in files if is_module(name))
    sources = [RustText(files[name].decode(errors="replace")) for name in names]
    codes = [source.code for source in sources]

    unsafe = [_unsafe_code(source) for source in sources]
    declared = RustText(files.get(DECLARATIONS, b"").decode(errors="replace")).code
    unsafe_names = FOREIGN.union(DECLARED_NAME.findall(declared), *map(UNSAFE_NAME.findall, codes))

    def count(pattern: re.Pattern[str]) -> int:
        return sum(len(pattern.findall(code)) for code in codes)

    return CrateMetrics(
        lines=sum(bool(line.strip()) for code in codes for line in code.split("\n")),
        unsafe_blocks=sum(len(source.blocks) for source in sources),
        unsafe_functions=sum(len(source.unsafe_functions) for source in sources),
        unsafe_lines=sum(source.lines(source.unsafe_code) for source in sources),
        raw_pointers=count(RAW_POINTER),
        casts=count(CAST),
        dereferences=sum(map(_dereferences, unsafe)),
        unsafe_calls=sum(name in unsafe_names for code in unsafe for name in CALL.findall(code)),
    )


def _unsafe_code(source: RustText) -> str:
    """Return the masked unsafe blocks and functions of a file."""
    parts, last = list[str](), 0
    for one in source.unsafe_code:
        parts.append(source.code[max(last, one.brace) : one.end - 1])
        last = max(last, one.end - 1)
    return "\n".join(parts)


def is_module(name: str) -> bool:
    """Return whether a file of a crate is a module with functions, not one of types, declarations or tests."""
    path = PurePosixPath(name)
    return path.suffix == ".rs" and path.parts[0] == "src" and path.stem not in (*GENERATED, TESTS)


def _dereferences(code: str) -> int:
    """Return the number of unary `*` outside of types."""
    last, found = "", 0
    for match in TOKEN.finditer(code):
        is_value = last in (")", "]") or ((last[:1].isidentifier() or last[:1].isdigit()) and last not in BEFORE_VALUE)
        found += match[0] == "*" and not is_value
        last = match[0]
    return found
