"""Make functions private to the crate that its users cannot reach.

rustc's lint `unreachable_pub` names them, for the library alone if there is one: programs and tests may compile the
same files as modules of their own, where nobody can reach them. Exported symbols stay public.
"""

import re
from collections.abc import Iterator

from jarvis_workers.c2rust.unsafe_cleaning import Compiler, Texts, removable_together
from jarvis_workers.source.rust.rust_items import public_function
from jarvis_workers.source.rust.rust_syntax import Patch, RustText, apply_patches

UNREACHABLE = "unreachable_pub"
EXPORTED = re.compile(r"\b(?:no_mangle|export_name)\b")
VISIBLE = "pub"
RESTRICTED = "pub(crate)"

FunctionPlace = tuple[str, int]


def reduce_visibility(texts: Texts, compile_crate: Compiler) -> dict[str, tuple[str, int]]:
    """Return the files with functions that become private to the crate, and their number."""
    found = sorted(set(_unreachable(texts, compile_crate)))
    chosen = removable_together(found, lambda own: compile_crate({**texts, **_restricted(texts, own)}).passed)
    counts = {file: sum(one == file for one, _ in chosen) for file, _ in chosen}
    return {file: (text, counts[file]) for file, text in _restricted(texts, chosen).items()}


def _unreachable(texts: Texts, compile_crate: Compiler) -> Iterator[FunctionPlace]:
    diagnostics = compile_crate(texts, UNREACHABLE, users=False).diagnostics
    named = [one for one in diagnostics if one.code == UNREACHABLE and one.file in texts]
    for file in {one.file for one in named}:
        source = RustText(texts[file])
        for one in named:
            at = source.offset(one.line, one.column) if one.file == file else -1
            attributes = public_function(source, at) if at >= 0 else None
            if attributes is not None and not any(map(EXPORTED.search, attributes)):
                yield file, at


def _restricted(texts: Texts, places: list[FunctionPlace]) -> dict[str, str]:
    files = {file for file, _ in places}
    return {
        file: apply_patches(
            texts[file], (Patch(at, at + len(VISIBLE), RESTRICTED) for name, at in places if name == file)
        )
        for file in files
    }
