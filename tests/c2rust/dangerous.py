"""A stand-in for rustc: every call of `danger` is unsafe, and nothing else."""

import re

from jarvis_workers.c2rust.unsafe_cleaning import IN_FUNCTIONS, NEEDED, UNUSED, Compilation, RustDiagnostic, Texts
from jarvis_workers.source.rust.rust_syntax import RustText, UnsafeBlock


class DangerCompiler:
    """Rejects `broken` outside of unsafe blocks; its lint does not see that `hidden` is unsafe."""

    def __init__(self, files: Texts) -> None:
        self._files, self.runs = files, list[Texts]()

    def __call__(self, texts: Texts, *lints: str, users: bool = True) -> Compilation:
        self.runs.append(texts)
        found = [one for file, text in {**self._files, **texts}.items() for one in _diagnostics(file, text, lints)]
        return Compilation(all(one.level != "error" for one in found), found)


def _diagnostics(file: str, text: str, lints: tuple[str, ...]) -> list[RustDiagnostic]:
    source, found = RustText(text), list[RustDiagnostic]()
    dangers = [match.start() for match in re.finditer(r"\bdanger\(|\bhidden\b", source.code)]
    for offset in dangers:
        own = [block for block in source.blocks if block.start <= offset < block.end]
        in_function = source.in_unsafe_function(UnsafeBlock(offset, offset, offset))
        if not own and (not in_function or IN_FUNCTIONS in lints):
            level = "warning" if in_function else "error"
            message = "call to unsafe function `crate::danger` is unsafe and requires unsafe block"
            found.append(RustDiagnostic(level, NEEDED, message, file, *_place(source, offset)))
    for block in source.blocks if UNUSED in lints else ():
        seen = [offset for offset in dangers if source.code.startswith("danger", offset)]
        outer = any(one.start < block.start < one.end for one in source.blocks)
        if outer or not any(block.start <= offset < block.end for offset in seen):
            found.append(RustDiagnostic("warning", UNUSED, "unnecessary", file, *_place(source, block.start)))
    if re.search(r"(?<!unsafe \{ )broken", text):
        found.append(RustDiagnostic("error", "E0425", "broken", file, 1, 1))
    return found


def _place(source: RustText, offset: int) -> tuple[int, int]:
    line = source.line_of(offset)
    return line + 1, offset - source.line_starts[line] + 1
