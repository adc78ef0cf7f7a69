"""How much of a crate is unsafe: counted in the text of its modules, without types, declarations and tests."""

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import NamedTuple

from jarvis_workers.c2rust.crate import TESTS
from jarvis_workers.source.rust.rust_items import masked
from jarvis_workers.source.rust.unsafe_blocks import UNSAFE_FUNCTION, RustText, unsafe_lines

RAW_POINTER = re.compile(r"\*\s*(?:const|mut)\b")
CAST = re.compile(r"\bas\s+(?=[\w*])")
GENERATED = ("types", "c")


class CrateMetrics(NamedTuple):
    """The lines of the modules; their unsafe blocks, functions and lines; raw pointer types; casts with `as`."""

    lines: int = 0
    unsafe_blocks: int = 0
    unsafe_functions: int = 0
    unsafe_lines: int = 0
    raw_pointers: int = 0
    casts: int = 0


def crate_metrics(files: Mapping[str, bytes]) -> CrateMetrics:
    """Return the metrics of a crate from its files."""
    names = sorted(name for name in files if is_module(name))
    texts = [files[name].decode(errors="replace") for name in names]
    codes = [masked(text) for text in texts]

    def count(pattern: re.Pattern[str]) -> int:
        return sum(len(pattern.findall(code)) for code in codes)

    return CrateMetrics(
        lines=sum(bool(line.strip()) for code in codes for line in code.split("\n")),
        unsafe_blocks=sum(len(RustText(text).blocks) for text in texts),
        unsafe_functions=count(UNSAFE_FUNCTION),
        unsafe_lines=sum(map(unsafe_lines, texts)),
        raw_pointers=count(RAW_POINTER),
        casts=count(CAST),
    )


def is_module(name: str) -> bool:
    """Return whether a file of a crate is a module with functions, not one of types, declarations or tests."""
    path = PurePosixPath(name)
    return path.suffix == ".rs" and path.parts[0] == "src" and path.stem not in (*GENERATED, TESTS)
